import { expect, test, vi } from "vitest";
import { riseShare } from "../../examples/rise_share.ts";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { NodeStateRows } from "../../src/kernel/fallback/state_rows.ts";
import { Arena } from "../../src/kernel/memory/arena.ts";
import { WINDOW_STATES } from "../../src/rolling/state/index.ts";
import { runDag } from "../kernel/run_plan.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

// With fused instructions a product halfway between two first parts may be split otherwise than `rebuild` does it: what one
// part has more the other has less.
vi.mock("../../src/kernel/emit/fused_multiply.ts", () => ({ hasFusedMultiply: () => false }));

/** By kind of state, formulas whose code carries it. `x` and `y` have nulls, infinities, ties and values of any size. */
const CARRIERS: Readonly<Record<string, readonly string[]>> = {
  count: ["ts_mean(x, 5, min_periods=2)", "ts_count(x > y, 7)"],
  keys: ["ts_rank(x, 13)", "ts_rank(y, 20, min_periods=4)"],
  // Where nulls spread, an extreme with a null in its rows may be anything: z has none.
  level: [
    "ts_max(z, 6)",
    "ts_argmin(z, 9)",
    "ts_argmax(x, 5, min_periods=1)",
    "ts_min(y, 12, min_periods=3)",
  ],
  linear: ["ts_mean(x, 5)", "ts_sum(rank(x), 8)", "decay_linear(x, 6)", "ts_mean(y, 40)"],
  positions: ["ts_slope(x, 6, min_periods=3)"],
  quadratic: [
    "ts_std(x, 6)",
    "ts_corr(x, y, 5)",
    "ts_corr(rank(x), rank(y), 4)",
    "covariance(x, y, 9, min_periods=3)",
  ],
  "run length": ["ts_std(x, 6)", "ts_slope(y, 5, min_periods=2)", "ts_sum(x, 3)"],
  sorted: ["ts_median(x, 5)", "ts_quantile(y, 8, 0.25)"],
  rises: ["ts_rise_share(x, 5)", "ts_rise_share(y, 2)"],
};
const LANES = 11;
const registry = builtInRegistry.with([riseShare]);

/** A panel of that many rows. */
function panelOf(random: Seeded, rowCount: number) {
  const column = (nullShare = 1 / 15) => {
    const values = new Float64Array(new SharedArrayBuffer(rowCount * LANES * 8));
    for (let i = 0; i < values.length; i++) {
      const scale = random.below(12) === 0 ? 10 ** (20 * random.uniform() - 10) : 1;
      values[i] = random.below(4) === 0 ? random.below(3) : scale * (100 + random.uniform());
      if (random.uniform() < nullShare) values[i] = Number.NaN;
      if (random.below(60) === 0) values[i] = Number.POSITIVE_INFINITY;
    }
    return values;
  };
  const fields = new Map([
    ["x", column()],
    ["y", column()],
    ["z", column(0)],
  ]);
  return { rowCount, laneCount: LANES, fields, groups: new Map() };
}

/** Layouts with rows since something, of which only those within a window are read. */
interface Counters {
  readonly windowRows?: number;
  readonly truncated?: number | null;
  readonly property?: string;
  readonly columns?: readonly number[];
  readonly vector?: number;
}

function capCounters(
  rows: NodeStateRows,
  { windowRows, truncated, property, columns, vector }: Counters,
): void {
  const cap = (at: number, most: number) => {
    for (let lane = 0; lane < LANES; lane++) rows.write(at, lane, Math.min(most, rows.read(at, lane)));
  };
  if (typeof truncated === "number") cap(truncated, windowRows!);
  if (property !== undefined) cap(vector!, Math.min(...columns!.map((column) => rows.historyRows(column))));
}

test("every state is tried", () => {
  expect(Object.keys(CARRIERS).sort()).toEqual([...WINDOW_STATES.map(({ kind }) => kind), "rises"].sort());
});

/** The node runs in every row, or not for a while before the last rows: then code makes its windows from the rows. */
const WAYS = ["moved on row by row", "made after a gap"] as const;
const CASES = Object.entries(CARRIERS).flatMap(([kind, formulas]) =>
  WAYS.map((way) => ({ kind, formulas, way })),
);

test.each(CASES)("what code carries of $kind, $way, is what the rows give", ({ kind, formulas, way }) => {
  const known = new Map([...WINDOW_STATES, ...registry.windowStates].map((state) => [state.kind, state]));
  const random = new Seeded();
  let compared = 0;
  for (let trial = 0; trial < trials(6, 200); trial++) {
    const hasGap = way === "made after a gap";
    const lines = formulas.map((formula, i) => `f${i} = ${formula}${hasGap ? " when p > 0" : ""}`);
    const text = ["param p = 1", ...lines].join("\n");
    const dag = finalDag(compile(text, { fields: ["x", "y", "z"], operators: [riseShare] }));
    const panel = panelOf(random, (hasGap ? 90 : 20) + random.below(60));
    const lastRows = 1 + random.below(3);
    const isOn = (row: number) => row < 5 || row >= panel.rowCount - lastRows;
    runDag(dag, panel, {
      registry,
      ...(hasGap ? { blockRows: 1, conditionsOf: (row: number) => [[isOn(row)]] } : {}),
      inspect(plan, kernels, memory) {
        const arena = new Arena(plan, memory);
        for (const node of kernels.states.values()) {
          const rows = new NodeStateRows(arena, node);
          for (const record of node.records) {
            if (record.kind !== kind) continue;
            const cap = () => capCounters(rows, record.layout as Counters);
            cap();
            const carried = arena.values.slice();
            for (let lane = 0; lane < LANES; lane++)
              known.get(kind)!.rebuild(rows, record.layout, panel.rowCount - 1, lane);
            cap();
            const differing = [...arena.values.keys()].filter((i) => !Object.is(arena.values[i], carried[i]));
            expect(differing, `seed ${random.seed}: ${JSON.stringify(record)}`).toEqual([]);
            compared++;
          }
        }
      },
    });
  }
  expect(compared).toBeGreaterThan(0);
});
