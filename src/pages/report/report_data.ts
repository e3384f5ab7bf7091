import type { NullCauseText } from "../../operator/null_causes.ts";
import type { NodeKind } from "../../plan/plan.ts";

/** What the page about a run shows, as plain data. */
export interface ReportData {
  /** The formula file. */
  readonly file: string;
  /** The bars. */
  readonly bars: string;
  readonly dialect: string;
  readonly date: string;
  readonly machine: MachineData;
  /** Of the result: times, symbols, and rows, each a symbol at a time. */
  readonly times: { readonly count: number; readonly first: string; readonly last: string };
  readonly symbolCount: number;
  readonly rowCount: number;
  readonly keepsInfinite: boolean;
  readonly coverage: CoverageData;
  readonly factors: readonly FactorData[];
  /** What `causes` and `sources` of factors refer to. */
  readonly causes: readonly NullCauseText[];
  readonly steps: readonly { readonly name: string; readonly ms: number }[];
  /** Those that cost most first. */
  readonly nodes: readonly NodeData[];
  readonly timeline: TimelineData;
}

interface MachineData {
  readonly version: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

/** Points along time; the last one may stand for fewer times than the others. */
interface CoverageData {
  readonly timesPerPoint: number;
  /** The first time of each point. */
  readonly times: readonly string[];
  /** Rows of the result by point. */
  readonly rows: readonly number[];
}

export interface FactorData {
  readonly name: string;
  readonly formula: string;
  readonly line: number;
  readonly column: number;
  readonly nullCount: number;
  readonly infiniteCount: number;
  /** Of the finite values; null without one. */
  readonly values: ValueData | null;
  /** Values by point of the coverage. */
  readonly present: readonly number[];
  /** By first cause, the most frequent first. */
  readonly causes: readonly (readonly [cause: number, nullCount: number])[];
  /** The sub-expressions that have most of the nulls. */
  readonly sources: readonly SourceData[];
}

/** Null is a number that a double does not hold. */
export interface ValueData {
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly mean: number | null;
  readonly sd: number | null;
  /** How many values the median and the histogram are made of: all, or a sample. */
  readonly sampleCount: number;
  /** Equal intervals between `low` and `high`; what lies beyond counts in the outer ones. */
  readonly histogram: { readonly low: number; readonly high: number; readonly counts: readonly number[] };
}

export interface SourceData {
  readonly formula: string;
  readonly line: number;
  readonly column: number;
  readonly cause: number;
  readonly nullCount: number;
}

/** A node of the plan, over the whole run. */
export interface NodeData {
  readonly text: string;
  readonly kind: NodeKind;
  readonly taskCount: number;
  /** Of all threads together. */
  readonly ms: number;
  readonly partCount: number;
  /** Of its columns and of what its windows carry. */
  readonly bytes: number;
  /** Indices of the factors that need it. */
  readonly factors: readonly number[];
}

export interface TimelineData {
  readonly binMs: number;
  readonly tracks: readonly TrackData[];
  /** Resident memory of the process: largest in each bin, 0 where it was not sampled. */
  readonly residentBytes: readonly number[];
}

/** What a thread did: each kind of work in all, and in percent of each bin. */
export interface TrackData {
  readonly name: string;
  readonly works: readonly {
    readonly kind: string;
    readonly ms: number;
    readonly percents: readonly number[];
  }[];
}
