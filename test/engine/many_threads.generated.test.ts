import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { beforeAll, expect, test, vi } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { compile, Engine } from "../../src/index.ts";
import { MANAGED_ONLY } from "../support/managed_only.ts";
import { trials } from "../support/trials.ts";

/**
 * More threads than cores, by far: 200 in the long run. V8 keeps 2 GiB of these for a while after their end. The engine is
 * made to believe in as many cores, else no more threads start.
 */

const lanes = 90;
const rows = 120;
const panel = syntheticPanel({ lanes, rows, nullShare: 0.01 });
const program = compile(
  `a = ts_rank(correlation(rank(close), rank(volume), 9), 12) + ts_std(close, 17)
   b = ema(rank(ts_mean(volume, 21)), 5)`,
  { fields: [...panel.fields.keys()] },
);

async function valuesWith(threads: number, queueMs?: number) {
  const queue = queueMs === undefined ? {} : { queueMs };
  const memory = { memoryLimit: "2GiB", memoryThresholds: MANAGED_ONLY };
  await using engine = await Engine.start({ threads, ...memory, costs: "default", ...queue });
  const { table } = await engine.evaluate(program, panel);
  const session = await engine.openSession(program, { warmup: panel });
  const bar = (row: number) =>
    [...panel.fields].map(([name, values]) => {
      return [name, values.slice(row * lanes, (row + 1) * lanes)] as const;
    });
  const pushed = [0, 1, 2].map(async (row) => {
    const time = panel.time.values.at(-1)! + BigInt(row + 1);
    return (await session.push({ time, fields: Object.fromEntries(bar(row)) })).table;
  });
  const tables = [table, ...(await Promise.all(pushed))];
  await session.close();
  expect(engine.memory.managedBytes).toBe(0);
  return tables.map((one) => ["a", "b"].map((name) => [...one.getChild(name)!]));
}

let expected: Awaited<ReturnType<typeof valuesWith>>;
beforeAll(async () => {
  expected = await valuesWith(2);
});

test(`${trials(20, 200)} threads start, evaluate, push and close, with the bits of two`, async () => {
  const start = vi.spyOn(ExecutorPool, "start");
  const many = await withCores(trials(20, 200), () => valuesWith(trials(20, 200)));
  expect(start.mock.calls[0]?.[0].threads).toBe(trials(20, 200));
  start.mockRestore();
  expect(many).toEqual(expected);
});

test("queues of any length give the same bits", async () => {
  for (const queueMs of [0, 0.02, 1000]) expect(await valuesWith(2, queueMs)).toEqual(expected);
});

test.each([
  [-0.1, "-0.1"],
  [1000.1, "1000.1"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "Infinity"],
  ["3", "a string"],
  [null, "null"],
])("queues of %s ms are refused", async (queueMs, shown) => {
  await expect(Engine.start({ queueMs: queueMs as number })).rejects.toThrow(
    `E528 queueMs must be a number from 0 to 1000, got ${shown}`,
  );
});

test("no more than 256 are taken, which a machine of more cores has by default", async () => {
  await expect(Engine.start({ threads: 257 })).rejects.toThrow(
    "E528 threads must be a whole number from 1 to 256",
  );
  const start = vi.spyOn(ExecutorPool, "start").mockRejectedValue(new Error("as many as that"));
  await withCores(384, () => expect(Engine.start()).rejects.toThrow("as many as that"));
  expect(start.mock.calls[0]?.[0].threads).toBe(256);
  start.mockRestore();
});

async function withCores<T>(cores: number, work: () => Promise<T>): Promise<T> {
  const { availableParallelism } = os;
  os.availableParallelism = () => cores;
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    os.availableParallelism = availableParallelism;
    syncBuiltinESMExports();
  }
}
