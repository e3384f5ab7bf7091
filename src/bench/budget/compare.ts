import { UsageError } from "../../errors.ts";
import { Xoshiro128 } from "../random.ts";
import { quantileRatios, type RatioInterval, type Sample } from "./bootstrap.ts";
import type { MeasuredRun, ResultFile } from "./result_file.ts";

/** `unknown`: too few runs to tell a difference from chance. */
export type Verdict = "slower" | "faster" | "no difference" | "unknown";

/** One figure in both files. */
export interface FigureComparison {
  readonly workload: string;
  readonly figure: string;
  /** B by A. */
  readonly ratio: number;
  /** Where the ratio lies with a probability of 99 %; null if there are too few calls to say. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly verdict: Verdict;
}

export interface Comparison {
  readonly threshold: number;
  readonly figures: readonly FigureComparison[];
  /** Reasons not to trust it. */
  readonly warnings: readonly string[];
}

/** Every comparison starts with this seed, so the same files give the same intervals. */
const SEED = 20_240_103n;

/** With fewer runs the median of a figure that each run gives once has no interval. */
const RUNS_MIN = 3;

/** Of single calls. */
const PERCENTILES = [
  ["p50 ms", 0.5],
  ["p99 ms", 0.99],
] as const;

/**
 * Compares two files, A before and B after: ratios of every figure of the workloads that are in both. A figure is slower
 * if its whole interval lies above the threshold, faster if it lies below the threshold's reciprocal.
 *
 * @param threshold 1 or more: what is slower by a smaller ratio is not reported.
 * @throws UsageError E523 if the files have no workload in common.
 */
export function compareResults(a: ResultFile, b: ResultFile, threshold: number): Comparison {
  const before = Map.groupBy(a.runs, ({ workload }) => workload);
  const after = Map.groupBy(b.runs, ({ workload }) => workload);
  const common = [...before.keys()].filter((workload) => after.has(workload));
  if (common.length === 0) throw nothingInCommon(a, b);
  const random = Xoshiro128.seeded(SEED);
  const warnings = [...machineWarnings(a, b), ...absenceWarnings(a, after), ...absenceWarnings(b, before)];
  const figures = common.flatMap((workload) => {
    const [from, to] = [before.get(workload)!, after.get(workload)!];
    warnings.push(...digestWarnings(workload, from, to));
    return [...compareCalls(from, to, threshold, random), ...compareFigures(from, to, threshold, random)];
  });
  return { threshold, figures, warnings };
}

function compareCalls(
  from: readonly MeasuredRun[],
  to: readonly MeasuredRun[],
  threshold: number,
  random: Xoshiro128,
): FigureComparison[] {
  const [a, b] = [from, to].map(callsOf) as [Sample, Sample];
  if (a.runs.length === 0 || b.runs.length === 0) return [];
  const shares = PERCENTILES.map(([, share]) => share);
  return quantileRatios(a, b, shares, random).map((interval, index) =>
    judged(from[0]!.workload, PERCENTILES[index]![0], interval, threshold),
  );
}

const callsOf = (runs: readonly MeasuredRun[]): Sample => {
  return { runs: runs.flatMap(({ callMs }) => (callMs ? [callMs] : [])) };
};

/** Figures that each run gives once, by their medians. */
function compareFigures(
  from: readonly MeasuredRun[],
  to: readonly MeasuredRun[],
  threshold: number,
  random: Xoshiro128,
): FigureComparison[] {
  const { workload, figures } = from[0]!;
  return Object.keys(figures).flatMap((figure) => {
    const [a, b] = [from, to].map((runs) => runs.flatMap((run) => run.figures[figure] ?? [])) as [
      number[],
      number[],
    ];
    if (b.length === 0) return [];
    const [interval] = quantileRatios({ runs: [a] }, { runs: [b] }, [0.5], random) as [RatioInterval];
    if (Math.min(a.length, b.length) >= RUNS_MIN) return [judged(workload, figure, interval, threshold)];
    const { ratio } = interval;
    return [{ workload, figure, ratio, interval: null, verdict: "unknown" as const }];
  });
}

function judged(
  workload: string,
  figure: string,
  { ratio, low, high }: RatioInterval,
  threshold: number,
): FigureComparison {
  const difference = high < 1 / threshold ? "faster" : "no difference";
  return { workload, figure, ratio, interval: [low, high], verdict: low > threshold ? "slower" : difference };
}

function nothingInCommon(a: ResultFile, b: ResultFile): UsageError {
  const first = ({ path, runs }: ResultFile) => `${path} has ${runs[0]!.workload}`;
  return new UsageError(
    "E523",
    `the files measure different workloads: ${first(a)}; ${first(b)}`,
    "give results of the same workload, formulas, lanes, nulls and threads",
  );
}

function machineWarnings(a: ResultFile, b: ResultFile): string[] {
  const machines = new Set([...a.machines, ...b.machines]);
  return machines.size === 1 ? [] : [`different machines: ${[...machines].join("; ")}`];
}

function absenceWarnings(file: ResultFile, other: ReadonlyMap<string, unknown>): string[] {
  const missing = new Set(
    file.runs.map(({ workload }) => workload).filter((workload) => !other.has(workload)),
  );
  return [...missing].map((workload) => `only in ${file.path}: ${workload}`);
}

/** Runs over the same rows should have the same bits. */
function digestWarnings(
  workload: string,
  from: readonly MeasuredRun[],
  to: readonly MeasuredRun[],
): string[] {
  const byRows = Map.groupBy([...from, ...to], ({ rows }) => rows);
  const differs = [...byRows.values()].some((runs) => new Set(runs.map(({ digest }) => digest)).size > 1);
  return differs ? [`the results differ in their bits: ${workload}`] : [];
}
