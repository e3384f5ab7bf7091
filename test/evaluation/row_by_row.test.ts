import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../../src/evaluation/evaluation.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { Arena } from "../../src/kernel/memory/arena.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { MANAGED_ONLY } from "../support/managed_only.ts";

/**
 * What a live session does: rows come one by one, the newest may be corrected.
 */

const LANES = 3;
const ROWS = 40;
const program = compile(
  `
  mean = ts_mean(close, 7) - ema(close, 5)
  ranked = ts_rank(rank(close), 6) + ts_argmax(close, 4)
  spread = correlation(close, delay(close, 3), 9)
  total = cum_sum(close)
  raw = close`,
  { fields: ["close"] },
);
const dag = finalDag(program);
const close = Float64Array.from({ length: ROWS * LANES }, (_, cell) =>
  cell % 29 === 7 ? Number.NaN : Math.round(1000 * Math.sin(cell * 1.3)) / 8,
);

let host: EngineHost;
beforeAll(async () => {
  const threads = 2;
  const pool = await ExecutorPool.start({ threads });
  host = {
    pool,
    budget: new MemoryBudget(2 ** 30, { thresholds: MANAGED_ONLY }),
    threads,
    costs: DEFAULT_COSTS,
  };
});
afterAll(() => host.pool.close());

const shared = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));

/** One row of input and of output, reused for each row. */
async function openRow(kernel: "compiled" | "reference" = "compiled", blockRows = 1, snapshots = false) {
  return await Evaluation.open<PlanBuffers>(host, {
    dag,
    laneCount: LANES,
    rowCount: ROWS,
    registry: builtInRegistry,
    operators: [],
    blockRows,
    kernel,
    snapshots,
    memoryNeed: () => ({ bytes: {}, held: [], remedy: "" }),
    allocate: (rows) => ({
      fields: new Map([["close", shared(rows * LANES)]]),
      groups: new Map(),
      params: {},
      results: dag.outputs.map(() => shared(rows * LANES)),
    }),
  });
}

type Row = Awaited<ReturnType<typeof openRow>>;

/** The outputs of one row as text. */
async function push(row: Row, values: Float64Array): Promise<string> {
  row.buffers.fields.get("close")?.set(values);
  await row.run({ rowCount: 1, inputRow: 0, outputRow: 0 });
  return outputsOf(row);
}

const outputsOf = ({ buffers }: Row) => buffers.results.map((result) => result?.join(" ")).join("; ");
const rowOf = (row: number) => close.subarray(row * LANES, (row + 1) * LANES);

async function pushAll(row: Row, first: number, end: number): Promise<string[]> {
  const seen: string[] = [];
  for (let at = first; at < end; at++) seen.push(await push(row, rowOf(at)));
  return seen;
}

describe("row by row", () => {
  test("gives the bits of one block, by kernels and by references", async () => {
    const whole = await openRow("compiled", ROWS);
    whole.buffers.fields.get("close")?.set(close);
    await whole.run({ rowCount: ROWS, inputRow: 0, outputRow: 0 });
    const expected = Array.from({ length: ROWS }, (_, row) =>
      whole.buffers.results
        .map((result) => result?.subarray(row * LANES, (row + 1) * LANES).join(" "))
        .join("; "),
    );
    expect(await pushAll(await openRow(), 0, ROWS)).toEqual(expected);
    expect(await pushAll(await openRow("reference"), 0, ROWS)).toEqual(expected);
  });

  test.each([
    false,
    true,
  ])("a row that is corrected leaves no trace of what it was (snapshots: %s)", async (snapshots) => {
    const expected = await pushAll(await openRow(), 0, ROWS);
    const row = await openRow("compiled", 1, snapshots);
    for (let at = 0; at < ROWS; at++) {
      await push(row, Float64Array.of(1e9, -1e9, Number.NaN));
      row.buffers.fields.get("close")?.set(rowOf(at));
      await row.openPlan.run({ rowCount: 1, inputRow: 0, outputRow: 0 }, { block: "again" });
      expect(outputsOf(row)).toBe(expected[at]);
    }
  });

  test.each([
    false,
    true,
  ])("window state is rebuilt from the columns unless there is a snapshot of it (%s)", async (snapshots) => {
    const row = await openRow("compiled", 1, snapshots);
    const seen = await pushAll(row, 0, 30);
    const { plan, memory } = row.arenas[0]!;
    const column = plan.columns.findIndex(({ source }) => source.kind === "field");
    const arena = new Arena(plan, memory);
    // Within the window of the newest row, not at its ends: only code that adds up the window reads it.
    arena.values.fill(64, arena.rowStart(column, 26), arena.rowStart(column, 26) + LANES);
    row.buffers.fields.get("close")?.set(rowOf(29));
    await row.openPlan.run({ rowCount: 1, inputRow: 0, outputRow: 0 }, { block: "again" });
    const [mean] = outputsOf(row).split("; ");
    expect(mean === seen[29]!.split("; ")[0]).toBe(snapshots);
  });
});
