import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { Evaluation } from "../../src/evaluation/evaluation.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { sharedColumn } from "../../src/evaluation/shared_columns.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { PLAN_ROWS_MAX } from "../../src/limits.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";

/** Numbers of runs, calls and rows near the end of the range of Int32. */

const ROWS = 120;
const LANES = 5;
const PROGRAM = compile(
  `param p = 1
  a = ts_mean(rank(close), 7) + ts_argmax(close, 5) * ts_rank(close, 9)
  b = cum_sum(close) - ts_corr(close, rank(close), 11) + delay(close, 3)
  c = ts_std(ts_max(close, 13), 6) when p == 1`,
  { fields: ["close"] },
);
const close = Float64Array.from({ length: ROWS * LANES }, (_, cell) => ((cell * 7919) % 101) / 8);

interface Start {
  readonly firstNumber?: number;
  readonly firstRow?: number;
}

/** The bits of each row's results; two evaluations take turns. */
async function run({ firstNumber, firstRow = 0 }: Start): Promise<string[]> {
  const pool = await ExecutorPool.start({
    threads: 2,
    ...(firstNumber === undefined ? {} : { firstNumber }),
  });
  try {
    const host = {
      pool,
      budget: new MemoryBudget(2 ** 30),
      threads: 2,
      costs: DEFAULT_COSTS,
    };
    const opened = await Promise.all([openOne(host), openOne(host)]);
    for (const { openPlan } of opened) openPlan.restart(firstRow);
    const lines: string[] = [];
    for (let row = 0; row < ROWS; row++) {
      const holds = [row % 50 < 3];
      await Promise.all(
        opened.map(async (one) => {
          one.buffers.fields.get("close")!.set(close.subarray(row * LANES, (row + 1) * LANES));
          await one.run({ rowCount: 1, inputRow: 0, outputRow: 0 }, undefined, holds);
        }),
      );
      const shown = opened.map(({ buffers }) =>
        buffers.results.map((values, index) => (index < 2 || holds[0] ? values!.join(" ") : "")).join(" | "),
      );
      expect(shown[1]).toBe(shown[0]);
      lines.push(shown[0]!);
    }
    return lines;
  } finally {
    await pool.close();
  }
}

const openOne = (host: Parameters<typeof Evaluation.open>[0]) =>
  Evaluation.open(host, {
    dag: finalDag(PROGRAM),
    laneCount: LANES,
    rowCount: 1,
    registry: builtInRegistry,
    operators: [],
    blockRows: 1,
    memoryNeed: () => ({ bytes: {}, held: [], remedy: "" }),
    allocate: () => ({
      fields: new Map([["close", sharedColumn(LANES)]]),
      groups: new Map(),
      params: {},
      results: [0, 1, 2].map(() => sharedColumn(LANES)),
    }),
  });

test("run numbers and calls go on beyond 2^31", async () => {
  const expected = await run({});
  expect(await run({ firstNumber: 2 ** 31 - 50 })).toEqual(expected);
  expect(await run({ firstNumber: -20 })).toEqual(expected);
});

test("rows up to the last that a plan counts have the same bits; the next one is refused", async () => {
  expect(await run({ firstRow: PLAN_ROWS_MAX - ROWS })).toEqual(await run({}));
  await expect(run({ firstRow: PLAN_ROWS_MAX - ROWS + 1 })).rejects.toMatchObject({ code: "E406" });
});
