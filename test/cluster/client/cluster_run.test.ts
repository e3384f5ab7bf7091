import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { runId } from "../../../src/cluster/client/run_id.ts";
import { columnsMissing } from "../../../src/cluster/protocol/errors.ts";
import { packProgram } from "../../../src/cluster/protocol/packed_program.ts";
import type { TaskGraph } from "../../../src/cluster/protocol/protocol.ts";
import { compile } from "../../../src/compile.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import { Engine } from "../../../src/engine.ts";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { startHost } from "../../../src/evaluation/start_host.ts";
import { differenceOf } from "../support/difference.ts";
import { openInProcess, tableOfRun } from "../support/in_process_run.ts";

const LANES = 10;
const ROWS = 1000;
const panel = syntheticPanel({ lanes: LANES, rows: ROWS, nullShare: 0.02 });
const program = compile("a = ts_mean(rank(close), 5)\nb = delta(volume, 2)");
const mixed = compile("a = ts_mean(rank(close), 5)\nb = cum_sum(volume)");
/** Of two factors. */
const rowBytes = LANES * (2 * 8 + 1);
/** A quarter of which is requested ahead. */
const workers = [{ threads: 2, memoryLimitBytes: 120_000 }];

let host: EngineHost;
beforeAll(async () => {
  host = await startHost({ threads: 1, cores: 1 });
});
afterAll(() => host.pool.close());

test("an abort while the tasks are being sent is heard", async () => {
  const controller = new AbortController();
  const reason = new Error("so soon");
  const onSubmit = () => controller.abort(reason);
  const request = { program, source: panelSource(panel) };
  const run = await openInProcess(host, request, { onSubmit }, { signal: controller.signal });
  await expect(Array.fromAsync(run.blocks())).rejects.toBe(reason);
});

describe("what a client has requested and not taken", () => {
  /** Rows that were submitted and not taken, before and after slabs are submitted. */
  async function outstanding(prescribed?: number): Promise<{ before: number[]; after: number[] }> {
    const seen = { before: [] as number[], after: [] as number[] };
    let [submitted, taken] = [0, 0];
    const onSubmit = ({ tasks }: TaskGraph) => {
      const slabs = tasks.flatMap(({ work }) =>
        work.kind === "run" && work.task.kind === "slab" ? [work.task.slab] : [],
      );
      const { slabRows } = run.job.cut;
      seen.before.push(submitted - taken);
      submitted += slabRows[slabs.at(-1)! + 1]! - slabRows[slabs[0]!]!;
      seen.after.push(submitted - taken);
    };
    const run = await openInProcess(
      host,
      { program, source: panelSource(panel), workers, slabRows: prescribed },
      { onSubmit },
    );
    Object.assign(run.job, { cut: { ...run.job.cut, chunkRows: 7 } });
    for await (const { rowCount } of run.blocks()) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      taken += rowCount;
    }
    expect([submitted, taken]).toEqual([ROWS, ROWS]);
    return seen;
  }

  test("is at most a quarter of the workers' memory, in several slabs", async () => {
    const { before, after } = await outstanding();
    expect(Math.max(...after) * rowBytes).toBeLessThanOrEqual(30_000);
    expect(Math.max(...after) * rowBytes).toBeGreaterThan(20_000);
    expect(before.slice(1).every((rows) => rows > 0)).toBe(true);
  });

  test("is one slab if that alone is larger", async () => {
    const { before, after } = await outstanding(250);
    expect(before).toEqual([0, 0, 0, 0]);
    expect(after).toEqual([250, 250, 250, 250]);
  });
});

test("a run that begins again in the middle gives each row once, with the bits of the engine", async () => {
  await using engine = await Engine.start({ threads: 1 });
  const source = panelSource(panel);
  const { table: expected } = await engine.evaluate(mixed, panel);
  let slabs = 0;
  const onTask = ({ kind }: { kind: string }) => {
    if (kind === "slab" && [3, 5].includes(++slabs)) throw columnsMissing("what it reads");
  };
  const run = await openInProcess(host, { program: mixed, source, slabRows: 200 }, { onTask });
  Object.assign(run.job, { cut: { ...run.job.cut, chunkRows: 70 } });
  expect(run.job.cut.shares.map(({ warmUpRows }) => warmUpRows)).toEqual([null, 4]);
  expect(differenceOf(await tableOfRun(run, source), expected)).toBe(null);
  expect(run.restarts).toBe(2);
});

test("a run that fails three times ends with its error", async () => {
  const onTask = () => {
    throw columnsMissing("what it reads");
  };
  const run = await openInProcess(host, { program, source: panelSource(panel) }, { onTask });
  await expect(Array.fromAsync(run.blocks())).rejects.toThrow("E610 what it reads");
  expect(run.restarts).toBe(2);
});

const NOTHING = { inputs: [], modules: {} };

test("a run is named by what its formulas compute, with which params, and not by how they are written or compiled", () => {
  const nameOf = (text: string, disabledPasses: string[] = []) => {
    const packed = packProgram(compile(text, { disabledPasses }));
    return runId({ program: packed, options: {} } as never, {} as never, NOTHING, "code");
  };
  const text = "param n = 2\na = rank(close) * n\nb = ema(close, 3)";
  const known = nameOf(text);
  expect(nameOf("param n = 2 # twice\nlet ranks = rank(close)\na = n * ranks\nb = ema(close, 3)")).toBe(
    known,
  );
  expect(nameOf(text, ["share_subexpressions"])).toBe(known);
  expect(nameOf(text.replace("2", "3"))).not.toBe(known);
  expect(nameOf(text.replace("ema(close, 3)", "ema(close, 4)"))).not.toBe(known);
});

test("runs of other options, restarts as dates among them, have other names", () => {
  const dates = [0, 1].map((ms) => [new Date(ms)]);
  const options = [
    {},
    { restarts: dates[0] },
    { restarts: dates[1] },
    { params: { x: -0 } },
    { params: { x: 0 } },
  ];
  const nameOf = (given: object) =>
    runId({ program: packProgram(program), options: given } as never, {} as never, NOTHING, "code");
  expect(new Set(options.map(nameOf)).size).toBe(options.length);
  expect(nameOf({ restarts: [new Date(0)] })).toBe(nameOf({ restarts: dates[0] }));
});
