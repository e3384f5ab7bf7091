import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { DagBuilder } from "../../src/dag/dag.ts";
import type { KernelOperator, RollingDefinition, WindowRows } from "../../src/operator/definition.ts";
import type { Value } from "../../src/operator/lowering.ts";
import { Registry } from "../../src/operator/registry.ts";
import type { Series, WindowBuilder } from "../../src/operator/window_code.ts";
import * as rolling from "../../src/rolling/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { runDag } from "./run_plan.ts";
import { sharedCopy, testOperator } from "./small_panel.ts";

const ROWS = 70;
const LANES = 9;
/** Operators of one plan: they share window state, and open lanes of one must not affect the next. */
const PLAN_OPERATORS = 4;

const SHARE = 0.3;

/** A statistic: its code, and the built-in operator whose reference is its exact function. */
interface Statistic {
  readonly exact: string;
  readonly isOfTwo?: boolean;
  readonly emit: (
    on: WindowBuilder,
    x: Series,
    y: Series,
    rows: number,
    least: number | null,
  ) => Value | null;
}

const STATISTICS: readonly Statistic[] = [
  { exact: "ts_sum", emit: (on, x, _, rows, least) => rolling.sum(on, x, rows, least) },
  { exact: "ts_mean", emit: (on, x, _, rows, least) => rolling.mean(on, x, rows, least) },
  { exact: "decay_linear", emit: (on, x, _, rows) => rolling.linearlyWeightedMean(on, x, rows) },
  { exact: "ts_count", emit: (on, x, _, rows, least) => rolling.countNonZero(on, x, rows, least) },
  { exact: "ts_var", emit: (on, x, _, rows, least) => rolling.variance(on, x, rows, least) },
  { exact: "ts_std", emit: (on, x, _, rows, least) => rolling.standardDeviation(on, x, rows, least) },
  { exact: "ts_max", emit: (on, x, _, rows, least) => rolling.largest(on, x, rows, least) },
  { exact: "ts_min", emit: (on, x, _, rows, least) => rolling.smallest(on, x, rows, least) },
  { exact: "ts_argmax", emit: (on, x, _, rows, least) => rolling.positionOfLargest(on, x, rows, least) },
  { exact: "ts_argmin", emit: (on, x, _, rows, least) => rolling.positionOfSmallest(on, x, rows, least) },
  { exact: "ts_rank", emit: (on, x, _, rows, least) => rolling.rankOfToday(on, x, rows, least) },
  { exact: "ts_quantile", emit: (on, x, _, rows, least) => rolling.quantile(on, x, rows, SHARE, least) },
  { exact: "ts_product", emit: (on, x, _, rows) => rolling.product(on, x, rows) },
  { exact: "ts_slope", emit: (on, x, _, rows, least) => rolling.slope(on, x, rows, least) },
  { exact: "ts_resid", emit: (on, x, _, rows, least) => rolling.residualOfLine(on, x, rows, least) },
  { exact: "ts_rsquare", emit: (on, x, _, rows, least) => rolling.rSquare(on, x, rows, least) },
  { exact: "ts_mad", emit: (on, x, _, rows, least) => rolling.meanAbsoluteDeviation(on, x, rows, least) },
  { exact: "ts_skew", emit: (on, x, _, rows, least) => rolling.skewness(on, x, rows, least) },
  { exact: "ts_kurt", emit: (on, x, _, rows, least) => rolling.kurtosis(on, x, rows, least) },
  { exact: "ts_zscore", emit: (on, x, _, rows, least) => rolling.standardScore(on, x, rows, least) },
  { exact: "ts_ir", emit: (on, x, _, rows, least) => rolling.meanOverDeviation(on, x, rows, least) },
  {
    exact: "ts_regbeta",
    isOfTwo: true,
    emit: (on, y, x, rows, least) => rolling.regressionSlope(on, y, x, rows, least),
  },
  {
    exact: "ts_regalpha",
    isOfTwo: true,
    emit: (on, y, x, rows, least) => rolling.regressionIntercept(on, y, x, rows, least),
  },
  {
    exact: "ts_regresid",
    isOfTwo: true,
    emit: (on, y, x, rows, least) => rolling.regressionResidual(on, y, x, rows, least),
  },
  {
    exact: "covariance",
    isOfTwo: true,
    emit: (on, x, y, rows, least) => rolling.covariance(on, x, y, rows, least),
  },
  {
    exact: "correlation",
    isOfTwo: true,
    emit: (on, x, y, rows, least) => rolling.correlation(on, x, y, rows, least),
  },
];
/** Their code supports full windows only. */
const OF_FULL_WINDOWS = ["decay_linear", "ts_product"];

/** Joins two values: null where either is. */
interface Join {
  readonly sign: string;
  readonly emit: (on: WindowBuilder, a: Value, b: Value) => Value;
  readonly compute: (a: number, b: number) => number;
}

const JOINS: readonly Join[] = [
  { sign: "+", emit: (on, a, b) => on.add(a, b), compute: (a, b) => a + b },
  { sign: "-", emit: (on, a, b) => on.sub(a, b), compute: (a, b) => a - b },
  { sign: "*", emit: (on, a, b) => on.mul(a, b), compute: (a, b) => a * b },
  { sign: "/", emit: (on, a, b) => on.div(a, b), compute: (a, b) => a / b },
  { sign: "min", emit: (on, a, b) => on.min(a, b), compute: Math.min },
  { sign: "max", emit: (on, a, b) => on.max(a, b), compute: Math.max },
  {
    sign: "norm",
    emit: (on, a, b) => on.sqrt(on.add(on.mul(a, a), on.mul(b, b))),
    compute: (a, b) => Math.sqrt(a * a + b * b),
  },
];
const FACTORS = [1, 1, 2, -1, 1e-3, 1e150];

/** One statistic of a composition, over the first or the second series. */
interface Term {
  readonly statistic: Statistic;
  readonly isOfSecond: boolean;
  readonly factor: number;
}

interface Composition {
  readonly terms: readonly Term[];
  readonly joins: readonly Join[];
  readonly rows: number;
  readonly least: number | null;
  /** Its code gives up after the statistics were emitted. */
  readonly declines: boolean;
}

function pick<T>(random: Seeded, choices: readonly T[]): T {
  return choices[random.below(choices.length)] as T;
}

function randomComposition(random: Seeded, termCount: number): Composition {
  const rows = pick(random, [1, 2, 2, 3, 4, 5, 7, 10, 20, 40]);
  const least = random.uniform() < 0.35 ? 1 + random.below(rows) : null;
  // Where rows with a null are left out, windows of two series consist of rows that both have.
  const choices = STATISTICS.filter(
    ({ exact, isOfTwo }) => least === null || !(isOfTwo || OF_FULL_WINDOWS.includes(exact)),
  );
  const terms = Array.from({ length: termCount }, () => ({
    statistic: pick(random, choices),
    isOfSecond: least === null && random.uniform() < 0.3,
    factor: pick(random, FACTORS),
  }));
  const joins = terms.slice(1).map(() => pick(random, JOINS));
  return { terms, joins, rows, least, declines: random.uniform() < 0.1 };
}

const usesSecond = ({ terms }: Composition) =>
  terms.some(({ statistic, isOfSecond }) => isOfSecond || statistic.isOfTwo);

const usesFirst = ({ terms }: Composition) =>
  terms.some(({ statistic, isOfSecond }) => !isOfSecond || statistic.isOfTwo);

const textOf = ({ terms, joins, rows, least, declines }: Composition) =>
  `${terms
    .map(({ statistic, isOfSecond, factor }, i) => {
      const sign = i === 0 ? "" : `${joins[i - 1]!.sign} `;
      return `${sign}${factor} * ${statistic.exact}(${isOfSecond ? "y, x" : "x, y"})`;
    })
    .join(" ")} over ${rows} rows, min_periods ${least}${declines ? ", declined" : ""}`;

/** The operator, and how often its reference was called for one cell. */
function operatorOf(composition: Composition, name: string) {
  const { terms, joins, rows, least, declines } = composition;
  const asked = { count: 0 };
  const operator = testOperator({
    name,
    axis: "rolling",
    parameters: ["x", "y"]
      .slice(usesFirst(composition) ? 0 : 1, usesSecond(composition) ? 2 : 1)
      .map((one) => ({
        name: one,
        kind: "series" as const,
      })),
    allowsMinPeriods: true,
    windowRows: () => rows,
    nullWhere: {},
    reference: (windows, _settings, { positions, last }) => {
      asked.count++;
      const [x, y] = [windows[0]!, windows.at(-1)!];
      const values = terms.map(({ statistic, isOfSecond, factor }) => {
        const ordered = isOfSecond ? [y, x] : [x, y];
        return factor * exactOf(statistic, ordered, rows, { positions, last });
      });
      return values.reduce((a, b, i) => joins[i - 1]!.compute(a, b));
    },
    lower: (on, series) => {
      const [x, y] = [series[0]!, series.at(-1)!];
      const values: Value[] = [];
      for (const { statistic, isOfSecond, factor } of terms) {
        const value = statistic.emit(on, isOfSecond ? y : x, isOfSecond ? x : y, rows, least);
        if (value === null) return null;
        values.push(factor === 1 ? value : on.mul(on.number(factor), value));
      }
      return declines ? null : values.reduce((a, b, i) => joins[i - 1]!.emit(on, a, b));
    },
  });
  return { operator, asked };
}

function exactOf(
  { exact, isOfTwo }: Statistic,
  [x, y]: readonly Float64Array[],
  rows: number,
  places: WindowRows,
): number {
  const { reference } = builtInRegistry.kernel(exact) as RollingDefinition;
  const windows = (isOfTwo ? [x!, y!] : [x!]).map((window) => window.slice()); // references sort them
  return reference(windows, { d: rows, q: SHARE }, places);
}

/** Kinds of lanes on which sums leave the last bit open. */
const KINDS: readonly ((random: Seeded, last: number) => number)[] = [
  (random) => random.uniform() * 20 - 10,
  (_, last) => (last === 0 ? 0.1 : last),
  (random) => 1 + random.below(4) * 2 ** -52,
  (random) => 0.1 * random.below(3) + 0.2,
  (random) => pick(random, [0, -0, 1, -1]),
  () => 0,
  (random) => pick(random, [1e16, -1e16, 1, 0.5, 1e-9, 3]),
  (random) => (random.uniform() - 0.5) * 2 ** Math.floor((random.uniform() - 0.5) * 120),
  (random) => pick(random, [1e200, -1e200, 1e-200, 3, 1e-30]),
];
const SCALES = [1, 1, 1, 1e-200, 1e200, 2 ** -1070];

function randomColumn(random: Seeded): Float64Array<SharedArrayBuffer> {
  const lanes = Array.from({ length: LANES }, () => {
    const [kind, scale] = [pick(random, KINDS), pick(random, SCALES)];
    const [nulls, infinities] = [pick(random, [0, 0, 0.05, 0.3]), pick(random, [0, 0, 0, 0.05])];
    let last = 0;
    return Array.from({ length: ROWS }, () => {
      last = kind(random, last);
      if (random.uniform() < nulls) return Number.NaN;
      if (random.uniform() < infinities) return pick(random, [Infinity, -Infinity]);
      return last * scale;
    });
  });
  return sharedCopy(
    Array.from({ length: ROWS * LANES }, (_, i) => lanes[i % LANES]![Math.floor(i / LANES)]!),
  );
}

/** Runs the compositions in one plan, by code and by reference. */
function runBoth(random: Seeded, compositions: readonly Composition[]) {
  const builder = new DagBuilder(false);
  const fields = new Map(["x", "y"].map((name) => [name, randomColumn(random)]));
  const [x, y] = ["x", "y"].map((name) => builder.add({ kind: "field", name }));
  const made = compositions.map((composition, i) => operatorOf(composition, `composed_${i}`));
  const outputs = compositions.map((composition, i) => {
    const task = builder.add({
      kind: "call",
      operator: made[i]!.operator as KernelOperator,
      inputs: [...(usesFirst(composition) ? [x!] : []), ...(usesSecond(composition) ? [y!] : [])],
      group: null,
      settings: {},
      minPeriods: composition.least,
    });
    return { name: `f${i}`, task, condition: null, priority: 0 };
  });
  const dag = { tasks: builder.tasks, outputs, params: [], conditions: [] };
  const panel = { rowCount: ROWS, laneCount: LANES, fields, groups: new Map() };
  const registry = new Registry(made.map(({ operator }) => operator));
  const blockRows = pick(random, [16, 16, 7, ROWS]);
  const actual = runDag(dag, panel, { registry, blockRows });
  const asked = made.map(({ asked }) => asked.count);
  const expected = runDag(dag, panel, { registry, reference: true });
  return { actual, expected, asked };
}

describe("statistics that a lowering composes", () => {
  test("have the bits of the composed references, also where one is undecided", { timeout: 600_000 }, () => {
    const random = new Seeded();
    const planCount = trials(10, 600);
    const seen = { alone: 0, composed: 0, cells: 0, decided: 0 };
    for (let trial = 0; trial < planCount; trial++) {
      const compositions = Array.from({ length: PLAN_OPERATORS }, (_, i) =>
        // The last one is a control: a single statistic.
        randomComposition(random, i === PLAN_OPERATORS - 1 ? 1 : 2 + random.below(2)),
      );
      const { actual, expected, asked } = runBoth(random, compositions);
      for (const [i, composition] of compositions.entries()) {
        const cell = expected[i]!.findIndex((value, at) => !Object.is(value, actual[i]![at]));
        if (cell >= 0) {
          expect.fail(
            `seed ${random.seed}, trial ${trial}: ${textOf(composition)}: row ${Math.floor(cell / LANES)}, ` +
              `lane ${cell % LANES}: ${actual[i]![cell]} instead of ${expected[i]![cell]}`,
          );
        }
        seen[composition.terms.length === 1 ? "alone" : "composed"]++;
        if (composition.declines || composition.terms.length === 1) continue;
        seen.cells += expected[i]!.filter((value) => !Number.isNaN(value)).length;
        if (asked[i]! > 0 && asked[i]! < (ROWS * LANES) / 2) seen.decided++;
      }
    }
    expect(seen.composed).toBe(planCount * (PLAN_OPERATORS - 1));
    expect(seen.alone).toBe(planCount);
    expect(seen.cells).toBeGreaterThan(planCount * 200);
    // References were called for cells of many compositions, so open ones were compared.
    expect(seen.decided).toBeGreaterThan(planCount / 4);
  });
});
