import { expect, test } from "vitest";
import { compile, Engine, type TraceEvent, type TraceSink } from "../../src/index.ts";
import { panelOf } from "../panels.ts";

const bars = panelOf({
  close: [
    [1, 10, 7],
    [2, null, 6],
    [4, 30, 5],
    [8, 20, 4],
  ],
});
const program = compile("a = rank(ts_mean(close, 2) - close)\nb = ts_max(close, 3) / close");

async function evaluate(trace?: TraceSink) {
  await using engine = await Engine.start({ threads: 2, trace });
  const { table } = await engine.evaluate(program, bars, { blockRows: 2 });
  return table.toArray().map((row) => JSON.stringify(row));
}

test("a traced engine gives the same table, and what its plans, threads and queues did", async () => {
  const events: TraceEvent[] = [];
  const traced = await evaluate((batch) => void events.push(...batch));
  expect(traced).toEqual(await evaluate());
  const opened = events.filter((event) => event.kind === "opened");
  expect(opened).toHaveLength(1);
  const { nodes } = opened[0]!;
  expect(nodes[0]).toMatchObject({ name: "input", kind: "input" });
  expect(nodes.map(({ name }) => name)).toContain("rank");
  expect(nodes.find(({ name }) => name === "rank")?.kind).toBe("rows");
  // What rolls is fused: a node says how many tasks it has, and which.
  expect(nodes.some(({ name }) => /^\d tasks: .*ts_mean/.test(name))).toBe(true);
  const parts = events.filter((event) => event.kind === "part");
  expect(parts).toHaveLength(2 * nodes.reduce((sum, { partCount }) => sum + partCount, 0));
  expect(new Set(events.map(({ kind }) => kind))).not.toContain("dropped");
});

test("what the sink throws is thrown where the engine is closed, after the result", async () => {
  const engine = await Engine.start({
    threads: 1,
    trace: async () => {
      throw new Error("no space left");
    },
  });
  const { table } = await engine.evaluate(program, bars);
  expect(table.numRows).toBe(12);
  await expect(engine.close()).rejects.toThrow("no space left");
});
