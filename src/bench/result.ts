import { createHash } from "node:crypto";
import { availableParallelism, cpus } from "node:os";

/** What a workload has measured. Times are wall times in ms. */
export interface Measured {
  readonly blockRows: number;
  /** Factors that were evaluated. */
  readonly factors: number;
  readonly wallMs: number;
  readonly msPerRow: MsPerRow | null;
  /** Of the calls of a warm-up that had full windows. */
  readonly warmUpMsPerRow?: MsPerRow | null;
  /** Wall times of all runs, in their order, where `wallMs` is their median. */
  readonly runMs?: readonly number[];
  /** Of every call, in their order, where a call is a row: what confidence intervals are made of. */
  readonly callMs?: readonly number[];
  /** Output cells; for `elementwise` and `rank` the same. */
  readonly cellsPerSecond: number | null;
  /** From text to the first call done, the kernels being compiled by V8's optimising compiler. */
  readonly readyMs: number;
  /** The part of it that compiling the kernels took. */
  readonly kernelMs: number;
  /** Columns, operator state and scratch space, and the state's part of it. */
  readonly arenaBytes: number;
  readonly stateBytes: number;
  /** Largest resident size of the process, the panel included, by the end of the first run. */
  readonly peakRssBytes: number;
  /** Digest of every output over all rows, by its name. */
  readonly factorDigests: Readonly<Record<string, string>>;
  /** Rows that were run before the first one that was measured. */
  readonly warmUpRows?: number;
  /** The pieces of the workload, each with figures of its own. */
  readonly parts?: readonly Readonly<Record<string, string | number>>[];
}

/** Of single calls where a call is a row; else of blocks, divided by their rows. `mean` is wall time by rows. */
export interface MsPerRow {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Where something was measured. */
export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
}

export interface BenchResult extends Measured, Machine {
  readonly workload: string;
  readonly lanes: number;
  /** Rows that were measured. */
  readonly rows: number;
  readonly threads: number;
  readonly nullShare: number;
  /** Of all outputs: equal for any number of threads and any size of blocks. */
  readonly digest: string;
}

type Shape = Pick<BenchResult, "workload" | "lanes" | "rows" | "threads" | "nullShare">;

/** Adds to what was measured where it was. */
export function benchResult(shape: Shape, measured: Measured): BenchResult {
  return { ...shape, ...measured, digest: digestOf(measured.factorDigests), ...machine() };
}

/** This one. */
export function machine(): Machine {
  return { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
}

/** Largest resident size of the process so far. */
export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** One digest of all. */
export function digestOf(factorDigests: Readonly<Record<string, string>>): string {
  const lines = Object.entries(factorDigests).map(([name, digest]) => `${name} ${digest}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 32);
}

export function msPerRow(wallMs: number, rowCount: number, rowMs: readonly number[]): MsPerRow {
  const sorted = Float64Array.from(rowMs).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
  return { mean: wallMs / rowCount, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
}

/** To a tenth of a microsecond: clocks tell no more. */
export function roundedMs(callMs: readonly number[]): number[] {
  return callMs.map((ms) => Math.round(ms * 1e4) / 1e4);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
