import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { PLAN_PASS_NAMES } from "../../src/plan/passes.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { testSeed } from "../support/seeded.ts";
import { trials as tried } from "../support/trials.ts";
import { ROLLING, randomProgram, randomSwitches } from "./random_conditions.ts";
import { Draws, randomPanel } from "./random_panel.ts";
import { blocksOf, type PanelColumns, type RunOptions, runDag, UNTOUCHED } from "./run_plan.ts";

const SEED = testSeed();
const RUNS = tried(2, 40);
const TIMEOUT_MS = 300_000 + 3000 * RUNS;

type Way = Pick<RunOptions, "repeats" | "givesUp" | "partCount" | "disabledPasses"> & {
  readonly blockRows: readonly number[];
  /** Blocks first run with another input and under other conditions. */
  readonly isRevised?: boolean;
};

const WAYS: readonly Way[] = [
  { blockRows: [1] },
  { blockRows: [7] },
  { blockRows: [7, 1, 3, 1, 1] },
  { blockRows: [1], repeats: 2 },
  { blockRows: [7, 1, 1], givesUp: true, partCount: 2 },
  { blockRows: [1, 1, 5], isRevised: true },
  { blockRows: [1, 4], disabledPasses: PLAN_PASS_NAMES },
];

type Switches = readonly (readonly boolean[])[];

/** Runs under the switches of each block, after those of `before` if there are any. */
function skipping(
  dag: Dag,
  panel: PanelColumns,
  way: Way,
  switches: Switches,
  before?: Switches,
): Float64Array[] {
  const conditionsOf = (block: number) => (before ? [before[block]!, switches[block]!] : [switches[block]!]);
  return runDag(dag, panel, { ...way, conditionsOf });
}

/** The first cell of a wanted factor that differs from a run without skips, as text. */
function differenceOf(
  dag: Dag,
  panel: PanelColumns,
  way: Way,
  switches: Switches,
  before?: Switches,
): string | null {
  const { laneCount, rowCount } = panel;
  const expected = runDag({ ...dag, conditionSets: null }, panel, { blockRows: 16 });
  const actual = skipping(dag, panel, way, switches, before);
  for (const [index, { firstRow, rowCount: rows }] of [...blocksOf(rowCount, way.blockRows)].entries()) {
    for (const [output, { name, condition }] of dag.outputs.entries()) {
      const isOn = (on: readonly boolean[]) => condition === null || on[condition] === true;
      if (!isOn(switches[index]!)) continue;
      for (let cell = firstRow * laneCount; cell < (firstRow + rows) * laneCount; cell++) {
        const [wanted, given] = [expected[output]![cell], actual[output]![cell]];
        if (Object.is(wanted, given)) continue;
        const place = `row ${Math.floor(cell / laneCount)} lane ${cell % laneCount}`;
        const pattern = switches.slice(0, index + 1).map((on) => (isOn(on) ? 1 : 0));
        return `${name} ${place}: ${given} instead of ${wanted}; on in blocks ${pattern.join("")}`;
      }
    }
  }
  return null;
}

const trials = fc.noBias(
  fc.record({
    seed: fc.nat(),
    rowCount: fc.integer({ min: 20, max: 260 }),
    laneCount: fc.integer({ min: 1, max: 9 }),
    way: fc.constantFrom(...WAYS),
  }),
);

describe("factors that are skipped in some blocks have the bits of a run without any skip", () => {
  test.each(ROLLING.map((operator, index) => [operator.name, operator, SEED + index] as const))(
    "%s",
    (_name, operator, operatorSeed) => {
      fc.assert(
        fc.property(trials, ({ seed, rowCount, laneCount, way }) => {
          const draws = new Draws(seed);
          const { text, dag } = randomProgram(operator, draws);
          const panel = randomPanel(seed, rowCount, laneCount);
          const blockCount = [...blocksOf(rowCount, way.blockRows)].length;
          const [switches, before] = [1, 2].map(() =>
            randomSwitches(dag.conditions.length, blockCount, draws),
          );
          const difference = differenceOf(dag, panel, way, switches!, way.isRevised ? before : undefined);
          if (difference) throw new Error(`${JSON.stringify(way)}\n${text}\n${difference}`);
        }),
        { seed: operatorSeed, numRuns: RUNS, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});

const NESTED: readonly string[] = [
  "f = ts_mean(ts_max(ts_std(x, 9), 7), 5) when c > 0",
  "f = ts_max(ts_min(x - y, 12), 20) when c > 0",
  "f = ts_argmax(ts_sum(x, 3), 17) when c > 0",
  "f = ts_mean(rank(ts_rank(x, 6)), 10) when c > 0",
  "f = ts_mean(ts_rank(x - y, 14), 10) when c > 0",
  "f = ts_median(delay(ts_quantile(x, 8, 0.3), 30), 9) when c > 0",
  "f = correlation(rank(x), rank(ts_mean(y, 4)), 12) when c > 0",
  "f = ts_mean(group_rank(ts_max(x, 5), g), 40) when c > 0",
  "f = ts_slope(ts_resid(x, 6), 8) + ts_rsquare(y, 6) when c > 0",
  "f = ts_mean(ema(ts_max(x, 9), 5), 6) when c > 0",
  "f = ema(rank(cum_sum(x)), 5) + ema(y, 3) when c > 0",
  "let m = ts_max(x, 9)\ng = ts_std(m, 4) when d > 0\nf = ts_mean(rank(m), 5) + m when c > 0",
  "let m = ts_mean(rank(x), 9)\ng = delay(m, 44)\nf = ts_argmin(m, 5, min_periods=2) when c > 0",
];

/** Runs of blocks in which the condition alternately holds and does not. */
const PATTERNS: readonly (readonly number[])[] = [
  [3, 1, 2, 2, 1, 5, 1],
  [0, 1, 1],
  [0, 4, 2, 60, 1],
  [2, 65, 1, 66, 1, 64, 1, 63, 3],
  [1, 120, 1],
  [40, 90, 3, 7, 1, 70, 1],
];

describe("a factor that is needed again after gaps of every length", () => {
  test.each(NESTED)("%s", (text) => {
    const dag = finalDag(compile(`param c = 0\nparam d = 0\n${text}`, { fields: FIELDS, groups: GROUPS }));
    const [f, g] = ["f", "g"].map(
      (name) => dag.outputs.find((output) => output.name === name)?.condition ?? -1,
    );
    for (const [i, pattern] of PATTERNS.entries()) {
      const areOn = pattern.flatMap((blocks, turn) => new Array<boolean>(blocks).fill(turn % 2 === 0));
      const switches = areOn.map((isOn, block) => {
        return dag.conditions.map((_, id) => (id === f ? isOn : id === g && block % 11 === 3));
      });
      for (const [size, repeats] of [
        [1, 2],
        [3, 1],
      ] as const) {
        const panel = randomPanel(i, size * areOn.length, 5);
        expect(differenceOf(dag, panel, { blockRows: [size], repeats }, switches)).toBeNull();
      }
    }
  });

  test("in more lanes than a tile", () => {
    const text = "f = ts_mean(rank(ts_max(ts_std(x, 9), 7)), 5) when c > 0";
    const dag = finalDag(compile(`param c = 0\n${text}`, { fields: FIELDS, groups: GROUPS }));
    const switches = Array.from({ length: 100 }, (_, block) => [block < 3 || block > 90]);
    const panel = randomPanel(7, 100, 270);
    expect(differenceOf(dag, panel, { blockRows: [1], partCount: 2 }, switches)).toBeNull();
  });

  test("is not run in between", () => {
    const dag = finalDag(compile("param c = 0\nf = ts_mean(rank(x), 5) when c > 0", { fields: FIELDS }));
    const panel = randomPanel(1, 50, 4);
    const areOn = Array.from({ length: 50 }, (_, row) => row < 3 || row > 45);
    const [f] = skipping(
      dag,
      panel,
      { blockRows: [1] },
      areOn.map((isOn) => [isOn]),
    ) as [Float64Array];
    const isWritten = areOn.map((_, row) => f[4 * row] !== UNTOUCHED);
    expect(isWritten).toEqual(areOn);
  });
});
