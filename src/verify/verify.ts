import { builtInRegistry } from "../../operators/index.ts";
import { COMPILER_PASS_NAMES, type FactorInfo, type Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { collectPanel, type PanelSource, panelSource } from "../data/panel/panel_source.ts";
import { UsageError } from "../errors.ts";
import { broughtFields } from "../evaluation/has_row.ts";
import { MemoryBudget } from "../evaluation/memory/memory_budget.ts";
import { isMemoryShort, memoryShort } from "../evaluation/memory/memory_need.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { type PreparedCall, prepareCall } from "../evaluation/prepared_call.ts";
import { expectRows } from "../evaluation/row_range.ts";
import { sharedColumn } from "../evaluation/shared_columns.ts";
import { defaultMemoryLimit } from "../evaluation/start_host.ts";
import { threadsOfMachine } from "../evaluation/threads_of_machine.ts";
import { type Check, checksOf } from "./checks.ts";
import { type Findings, isBroken, RunComparison, type UsualValues } from "./comparison.ts";
import { Runs } from "./runs.ts";

/** What is verified. */
export interface Subject {
  /** The program compiled without these passes. */
  readonly programWithout: (passes: readonly string[]) => Program;
  readonly source: PanelSource;
}

export interface VerifyOptions
  extends Pick<EvaluateOptions, "select" | "params" | "paramsByTime" | "from" | "to" | "restarts"> {
  /** Default: as `EngineOptions.threads`. */
  readonly threads?: number;
  /** Default: as an engine's. */
  readonly memoryLimitBytes?: number;
  /** Receives the name of the current step and the share of it that is done. */
  readonly onProgress?: (what: string, share: number) => void;
}

/** The result of one check. */
export interface CheckResult extends Findings {
  readonly name: string;
  /** True if the check was left out: with this program it would repeat the usual run. */
  readonly isAsUsual: boolean;
  readonly elapsedMs: number;
}

export interface Verification {
  /** The factors that were computed. */
  readonly factors: readonly string[];
  /** Factors whose conditions hold in no row. */
  readonly factorsNotWanted: readonly string[];
  /** Computed factors that are null in all cells: nothing is proven of them. */
  readonly factorsWithoutValue: readonly string[];
  /** Rows of the input in the range of the output. */
  readonly rowCount: number;
  readonly threads: number;
  readonly checks: readonly CheckResult[];
  /** False if a promise is broken; null if no value was compared. */
  readonly holds: boolean | null;
}

const REMEDY = "raise --memory-limit, or verify fewer factors (--select) or fewer rows (--from, --to)";

/**
 * Computes the factors in the usual way and in every way that must not change a bit, and compares the results.
 *
 * @throws UsageError E561 if no factor is wanted; ResourceError E401 if the panel and the values to compare with do not
 *   fit in memory; else as `Engine.stream`.
 */
export async function verify(
  { programWithout, source }: Subject,
  given: VerifyOptions,
): Promise<Verification> {
  const {
    threads = threadsOfMachine(),
    memoryLimitBytes = defaultMemoryLimit(),
    onProgress = () => {},
    ...options
  } = given;
  const program = programWithout([]);
  const registry = builtInRegistry.with(program.operators);
  // Passes only remove tasks: without them the program reads every column that any run reads.
  const call = await prepareCall(registry, programWithout(COMPILER_PASS_NAMES), source, options);
  expectRows(source.time, call.range);
  const namesOf = (isWanted: boolean) =>
    call.wanted.factors.filter(({ output }) => (output !== null) === isWanted).map(({ name }) => name);
  const wanted = new Set(namesOf(true));
  const factors = program.factors.filter(({ name }) => wanted.has(name));
  if (factors.length === 0)
    throw new UsageError("E561", "no factor is wanted with these params", "give others with --param");
  const budget = new MemoryBudget(memoryLimitBytes);
  budget.reserve({ bytes: bytesOf(source, call, factors.length), held: [], remedy: REMEDY, lasts: true });
  const { fields, groups } = call.read;
  const panel = await collectPanel({ ...source, fieldNames: broughtFields(fields), groupNames: groups });
  const runs = new Runs({ programWithout, source: panelSource(panel), options, threads, budget });
  try {
    const usual = await runUsual(runs, call, factors, source, onProgress);
    const lookbackRows = new Map(factors.map((factor) => [factor.name, factor.lookbackRows]));
    const checks: CheckResult[] = [];
    for (const check of checksOf({ factors, rowCount: call.range.end, threads }))
      checks.push(await runCheck(check, runs, usual, lookbackRows, onProgress));
    const factorsWithoutValue = factors.map(({ name }) => name).filter((name) => !hasValue(usual, name));
    const isTried =
      checks.some(({ cellCount }) => cellCount > 0) && factorsWithoutValue.length < factors.length;
    return {
      factors: factors.map(({ name }) => name),
      factorsNotWanted: namesOf(false),
      factorsWithoutValue,
      rowCount: usual.present.reduce((sum, isPresent) => sum + isPresent, 0),
      threads,
      checks,
      holds: checks.some(isBroken) ? false : isTried || null,
    };
  } catch (error) {
    throw isMemoryShort(error) ? memoryShort(error.problem, REMEDY, error) : error;
  } finally {
    await runs.close();
  }
}

/** Bytes of the panel and of the usual values; evaluations reserve their own memory. */
function bytesOf(
  { rowCount, laneCount }: PanelSource,
  { read, range }: PreparedCall,
  factorCount: number,
): Record<string, number> {
  const { fields, groups } = read;
  const { BYTES_PER_ELEMENT: valueBytes } = Float64Array;
  const { BYTES_PER_ELEMENT: codeBytes } = Int32Array;
  const cellBytes = fields.length * valueBytes + groups.length * codeBytes + 1;
  const outputRows = range.end - range.first;
  return {
    columns: rowCount * laneCount * cellBytes,
    "values to compare": outputRows * (laneCount * (factorCount * valueBytes + 1) + 2 * valueBytes),
  };
}

type Progress = NonNullable<VerifyOptions["onProgress"]>;

async function runUsual(
  runs: Runs,
  { range }: PreparedCall,
  factors: readonly FactorInfo[],
  { laneCount, symbols, time }: PanelSource,
  onProgress: Progress,
): Promise<UsualValues> {
  const rowCount = range.end - range.first;
  const columns = new Map(factors.map(({ name }) => [name, sharedColumn(rowCount * laneCount)]));
  const times = new BigInt64Array(rowCount);
  const present = new Uint8Array(rowCount * laneCount);
  const keep = (block: FactorBlock, firstRow: number) => {
    const row = firstRow - range.first;
    times.set(block.times, row);
    present.set(block.present, row * laneCount);
    for (const [name, column] of columns)
      column.set(block.columns.get(name) as Float64Array, row * laneCount);
  };
  await runs.run({}, keep, (done, all) => onProgress("the usual run", done / all));
  return { firstRow: range.first, laneCount, times, present, columns, symbols, timeType: time.type };
}

function hasValue({ columns, present }: UsualValues, factor: string): boolean {
  const values = columns.get(factor) as Float64Array;
  return values.some((value, cell) => present[cell] === 1 && !Number.isNaN(value));
}

async function runCheck(
  { name, variations }: Check,
  runs: Runs,
  usual: UsualValues,
  lookbackRows: ReadonlyMap<string, number>,
  onProgress: Progress,
): Promise<CheckResult> {
  const started = performance.now();
  const comparison = new RunComparison(usual);
  let shownName = name;
  let asUsualCount = 0;
  for (const [index, variation] of variations.entries()) {
    const { startRow, blockRows: wantedRows, select = [...usual.columns.keys()] } = variation;
    const comparableFrom = (factor: string) =>
      startRow === undefined ? 0 : startRow + (lookbackRows.get(factor) as number);
    const { blockRows, isAsUsual } = await runs.run(
      variation,
      (block, firstRow) => comparison.addBlock(block, firstRow, comparableFrom),
      (done, all) => onProgress(name, (index + done / all) / variations.length),
    );
    if (isAsUsual) asUsualCount++;
    else comparison.endRun(select, comparableFrom);
    onProgress(name, (index + 1) / variations.length);
    if (wantedRows !== undefined && blockRows !== undefined && blockRows < wantedRows)
      shownName = `blocks of ${blockRows.toLocaleString("en")} rows: ${wantedRows.toLocaleString("en")} do not fit`;
  }
  return {
    name: shownName,
    isAsUsual: asUsualCount > 0 && asUsualCount === variations.length,
    ...comparison.findings,
    elapsedMs: performance.now() - started,
  };
}
