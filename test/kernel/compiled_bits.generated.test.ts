import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { formulaBatches } from "../fuzz/random_formulas.ts";
import { testSeed } from "../support/seeded.ts";
import { trials as trialCount } from "../support/trials.ts";
import { randomCall } from "./random_calls.ts";
import { Draws, randomPanel } from "./random_panel.ts";
import type { RunOptions } from "./run_plan.ts";
import { smallest } from "./shrink_trial.ts";
import { byReference, dagOf, firstDifference, hasCode, type Trial } from "./trial.ts";

const SEED = testSeed();
const RUNS = trialCount(1, 6);
const CALLS = trialCount(2, 3);
const TIMEOUT_MS = 300_000 + 1000 * RUNS;

/** Without bias: a few runs with mostly tiny panels would find little. */
const trials = fc.noBias(
  fc.record({
    seed: fc.nat(),
    rowCount: fc.integer({ min: 1, max: 80 }),
    laneCount: fc.integer({ min: 1, max: 9 }),
    isOptimised: fc.boolean(),
  }),
);

type Drawn = typeof trials extends fc.Arbitrary<infer T> ? T : never;

/** Ways of running a panel, none of which may change a bit. */
const WAYS: Readonly<Record<string, (rowCount: number) => RunOptions[]>> = {
  "in blocks and parts": (rowCount) => [
    { blockRows: rowCount },
    { blockRows: 1 },
    { blockRows: 7, partCount: 2 },
    ...(rowCount > 64 ? [{ blockRows: 64 }] : []),
    { blockRows: [7, 1, 20], partCount: 2 },
  ],
  "with parts that are run again": () => [
    { blockRows: 1, repeats: 2 },
    { blockRows: [7, 1, 64], repeats: 2 },
    { blockRows: 9, givesUp: true },
  ],
};

/** @throws Error with the smallest counterexample found if a way of running changes the references' bits, or without code. */
function expectReferenceBits(trial: Omit<Trial, "run">, runs: readonly RunOptions[]): void {
  const dag = dagOf(trial);
  if (!hasCode(dag)) throw new Error(`no code in ${trial.formulas.join(", ")}`);
  const expected = byReference(dag, trial.panel);
  for (const run of runs) {
    if (firstDifference(dag, expected, trial.panel, run)) throw new Error(smallest({ ...trial, run }));
  }
}

test("kernels that are tried out after a helper that writes anywhere", () => {
  const formulas = [
    "ts_argmin(x, 2)",
    "ts_quantile(group_std(regression_proj(group_count(x, g), x), g), 2, 0.8)",
    "scale_down(x, 0)",
  ];
  expectReferenceBits({ formulas, panel: randomPanel(1, 5, 3), isOptimised: true }, [{ blockRows: 5 }]);
});

test("windows of few ranks, which code leaves open again and again", () => {
  const formulas = [
    "correlation(ts_rank(x, 7), ts_rank(y, 4), 3)",
    "correlation(ts_rank(x, 4), ts_rank(y, 7), 3)",
    "covariance(ts_rank(x, 3), ts_rank(y, 3), 3)",
  ];
  const values = new Draws(5);
  const panel = randomPanel(5, 400, 16);
  for (const name of ["x", "y"]) {
    const field = panel.fields.get(name)!;
    for (let i = 0; i < field.length; i++) field[i] = values.pick([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  }
  const runs = [{ blockRows: 1 }, { blockRows: 64, partCount: 2 }];
  expectReferenceBits({ formulas, panel, isOptimised: true }, runs);
});

test("ranks among values that are alike in their upper bits, or in their lower", () => {
  const near = [1, 1 + 2 ** -52, 1 + 2 ** -20, 1 + 2 ** -21, 1 - 2 ** -53, -1, -1 - 2 ** -52];
  const far = [0, -0, 5e-324, -5e-324, 1e-310, Number.MAX_VALUE, Infinity, -Infinity, NaN, NaN];
  const values = new Draws(11);
  const panel = randomPanel(3, 200, 9);
  const x = panel.fields.get("x")!;
  for (let i = 0; i < x.length; i++) x[i] = values.pick(i < x.length / 2 ? near : [...near, ...far]);
  const formulas = [
    ...[11, 12, 13, 40].map((d) => `ts_rank(x, ${d})`),
    ...[12, 33].map((d) => `ts_rank(x, ${d}, min_periods = 2)`),
  ];
  const runs = [...WAYS["in blocks and parts"]!(200), ...WAYS["with parts that are run again"]!(200)];
  expectReferenceBits({ formulas, panel, isOptimised: true }, runs);
});

test("values that grow, from far below the least bound up to it", () => {
  const formulas = ["covariance(x, y, 5)", "ts_regbeta(x, y, 5)", "ts_zscore(x, 5)"];
  const values = new Draws(7);
  const panel = randomPanel(4, 400, 9);
  const [x, y] = ["x", "y"].map((name) => panel.fields.get(name)!);
  for (let i = 0; i < x!.length; i++) {
    const small = 2 ** -(420 + 3 * (i % 9)) * (4 / 3 + values.next() * 1e-9);
    x![i] = i < x!.length / 20 ? small : (2 ** -402 * (values.next() - 0.5)) / 3;
    // Reaching the bound of one column chooses the pivots of both.
    y![i] = values.next() * (i < x!.length / 40 ? 1e-3 : 1);
  }
  expectReferenceBits({ formulas, panel, isOptimised: true }, [{ blockRows: 1 }, { blockRows: 64 }]);
});

/** How many drawn graphs had code, and how many had none: those of references alone. */
const drawn = { withCode: 0, without: 0 };

function expectReferenceBitsWhereCode(trial: Omit<Trial, "run">, runs: readonly RunOptions[]): void {
  drawn[hasCode(dagOf(trial)) ? "withCode" : "without"]++;
  if (hasCode(dagOf(trial))) expectReferenceBits(trial, runs);
}

/** @throws Error with the smallest counterexample found. */
function check<T>(
  cases: fc.Arbitrary<T>,
  numRuns: number,
  expectation: (drawn: T) => void,
  seed = SEED,
): void {
  // Counterexamples are shrunk by their own structure, not by fast-check, and are complete messages.
  const parameters = { seed, numRuns, endOnFailure: true };
  const { failed, errorInstance } = fc.check(fc.property(cases, expectation), parameters);
  if (failed) throw errorInstance;
}

describe.each(
  Object.entries(WAYS),
)(`code gives the bits of the reference %s, seed ${SEED}`, (_, waysToRun) => {
  const operators = builtInRegistry.operators.map(
    (operator, index) => [operator.name, operator, SEED + index] as const,
  );

  test.each(operators)(
    "%s",
    (_name, operator, operatorSeed) => {
      const expectation = ({ seed, rowCount, laneCount, isOptimised }: Drawn) => {
        const draws = new Draws(seed);
        const formulas = Array.from({ length: CALLS }, () => randomCall(operator, draws));
        const panel = randomPanel(seed, rowCount, laneCount);
        expectReferenceBitsWhereCode({ formulas, panel, isOptimised }, waysToRun(rowCount));
      };
      check(trials, RUNS, expectation, operatorSeed);
    },
    TIMEOUT_MS,
  );

  test(
    "several operators in one kernel",
    () => {
      const batches = fc.record({ trial: trials, formulas: formulaBatches });
      check(batches, 5 * RUNS, ({ trial: { seed, rowCount, laneCount, isOptimised }, formulas }) => {
        const panel = randomPanel(seed, rowCount, laneCount);
        expectReferenceBitsWhereCode({ formulas, panel, isOptimised }, waysToRun(rowCount));
      });
    },
    TIMEOUT_MS,
  );

  test(
    "more lanes than a tile",
    () => {
      const few = fc.record({ seed: fc.nat(), laneCount: fc.constantFrom(1_023, 1_024, 1_027, 2_060) });
      check(few, RUNS, ({ seed, laneCount }) => {
        const draws = new Draws(seed);
        const formulas = Array.from({ length: 12 }, () =>
          randomCall(draws.pick(builtInRegistry.operators), draws),
        );
        const panel = randomPanel(seed, 9, laneCount);
        expectReferenceBitsWhereCode({ formulas, panel, isOptimised: true }, waysToRun(9));
      });
    },
    TIMEOUT_MS,
  );
});

test("most drawn graphs had code", () => {
  expect(drawn.without).toBeLessThan(0.5 * drawn.withCode);
});
