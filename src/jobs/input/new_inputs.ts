/** Finds the files of a source that are new to a job, and those that must not be used. */
import { type OpenDatabase, openDatabase } from "../../data/duckdb/database.ts";
import { layOutPanel } from "../../data/panel/panel_layout.ts";
import { type PanelSource, panelSource } from "../../data/panel/panel_source.ts";
import { openSourceAs } from "../../data/source/open_panel_source.ts";
import { readPlainCsv } from "../../data/source/plain_csv.ts";
import { describeTimeType, formatTime } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import { BLOCK_ROWS_BEST } from "../../evaluation/fit_plan.ts";
import { UNITS_PER_SECOND } from "../../panel.ts";
import type { BadInputPolicy, RowReading } from "../config/config.ts";
import { inputChanged, inputColumnMissing, inputLate, noRegularFile, timesDiffer } from "../errors.ts";
import type { JobHistory } from "../journal/history.ts";
import type { InputColumns } from "../journal/records.ts";
import { HeldInputs } from "./held_inputs.ts";
import {
  digestOfFile,
  expectUnchanged,
  type FileIdentity,
  identify,
  isSameStamp,
  isUnfinished,
  NO_FILE,
  stampOf,
  whyNoFile,
} from "./input_files.ts";

/** A new file and the shape of its panel. */
export interface NewInput extends InputColumns {
  readonly file: FileIdentity;
  readonly symbols: readonly string[];
  readonly rowCount: number;
  readonly firstTime: bigint;
  readonly lastTime: bigint;
  /** Its rows; null if they are not held in memory. */
  readonly held: PanelSource | null;
}

/** A file that must not be used, and why. */
export interface BadInput {
  readonly path: string;
  /** Later runs skip the file silently while it has this digest. */
  readonly sha256: string;
  readonly error: DataError;
}

export interface FoundInputs {
  /** Those that can be evaluated, in the order of their first times. */
  readonly inputs: readonly NewInput[];
  /** Unless they are skipped, only the first one. */
  readonly bad: readonly BadInput[];
  /** A file that was still being written: it and the files after it wait for the next run. */
  readonly unfinished: string | null;
}

/** Opens a file of a job. The table of groups is joined later, for all symbols of the job. */
export async function openInput(
  path: string,
  names: RowReading,
  open: OpenDatabase = openDatabase,
): Promise<PanelSource> {
  const { timeColumn, symbolColumn, rename, series, renames } = names;
  const isPlain = rename === undefined && series === undefined && renames === undefined;
  const plain = isPlain ? await readPlainCsv(path, timeColumn, symbolColumn) : null;
  if (plain !== null) return panelSource(plain);
  return await openSourceAs(path, names, layOutPanel, "whole", open);
}

/** How files are opened. */
export interface Reading {
  readonly names: RowReading;
  readonly open: OpenDatabase;
  readonly signal: AbortSignal;
}

/**
 * Inspects the files and gives the new ones in the order of their first times. A file is bad if it has changed since it
 * was evaluated, if it cannot be read, or if its rows are not all later than the evaluated ones. Overlaps among new files
 * are found at evaluation: the second of two may be the good one.
 *
 * A file that changes while it is read is incomplete; with it, and with the first bad file unless bad ones are skipped, the
 * run ends. What its times are is not known: if names follow times, files of earlier names come before it, else none.
 */
export async function findNewInputs(
  paths: readonly string[],
  history: JobHistory,
  reading: Reading,
  badInput: BadInputPolicy,
): Promise<FoundInputs> {
  const inputs: NewInput[] = [];
  const bad: BadInput[] = [];
  const held = new HeldInputs();
  let end: { readonly count: number; readonly unfinished: string | null } | null = null;
  for (const path of paths) {
    reading.signal.throwIfAborted();
    const found = await inspect(path, history, reading, held);
    if (found === null) continue;
    if (found !== "unfinished" && "rowCount" in found) inputs.push(found);
    else if (found !== "unfinished" && (badInput === "skip" || end === null)) bad.push(found);
    if (end === null && (found === "unfinished" || (bad.length > 0 && badInput === "fail")))
      end = { count: inputs.length, unfinished: found === "unfinished" ? path : null };
  }
  const inTime = inputs.toSorted((a, b) => Number(instantOf(a) - instantOf(b)));
  if (end === null) return { inputs: inTime, bad, unfinished: null };
  const namesFollow = inTime.every((input, index) => input === inputs[index]);
  return { inputs: namesFollow ? inputs.slice(0, end.count) : [], bad, unfinished: end.unfinished };
}

/** What a file is to a job; null if there is nothing to do with it. */
async function inspect(
  path: string,
  history: JobHistory,
  reading: Reading,
  held: HeldInputs,
): Promise<NewInput | BadInput | "unfinished" | null> {
  const skipped = history.skipped.get(path)?.sha256;
  const badUnlessSkipped = (sha256: string, error: DataError) =>
    sha256 === skipped ? null : { path, sha256, error };
  const reason = await whyNoFile(path);
  if (reason !== null) return badUnlessSkipped(NO_FILE, noRegularFile(path, reason));
  const consumed = history.consumed.get(path);
  if (consumed) {
    const stamp = await stampOf(path);
    if (isSameStamp(consumed, stamp)) return null;
    const sha256 = await digestOfFile(path);
    if (sha256 === consumed.sha256) return null;
    return badUnlessSkipped(sha256, inputChanged(path, consumed.bytes, stamp.bytes));
  }
  const file = await identify(path);
  if (file === null) return "unfinished";
  if (file.sha256 === skipped) return null;
  try {
    const input = await describe(file, reading, held);
    const mistake = orderMistake(input, history);
    if (mistake !== null) throw mistake;
    return input;
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    return (await isUnfinished(file)) ? "unfinished" : { path, sha256: file.sha256, error };
  }
}

const DAY_NS = 86_400_000_000_000n;

/** The first time in nanoseconds since 1970, so that dates and timestamps compare; integers are what they are. */
function instantOf({ firstTime, time: { type } }: NewInput): bigint {
  if (type.kind === "integer") return firstTime;
  return firstTime * (type.kind === "date" ? DAY_NS : UNITS_PER_SECOND.ns / UNITS_PER_SECOND[type.unit]);
}

async function describe(file: FileIdentity, { names, open }: Reading, inputs: HeldInputs): Promise<NewInput> {
  const source = await openInput(file.path, names, open);
  try {
    const { symbols, fieldNames, groupNames, rowCount } = source;
    const { values, name, type } = source.time;
    const [firstTime, lastTime, time] = [values[0]!, values.at(-1)!, { name, type }];
    const held = await inputs.hold(source);
    return { file, symbols, fieldNames, groupNames, rowCount, time, firstTime, lastTime, held };
  } finally {
    await source.close();
  }
}

/** Columns that formulas read from files. */
export interface FileColumns {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** @throws DataError E366 if the file lacks one of the columns. */
export function expectColumns(file: string, source: PanelSource, { fields, groups }: FileColumns): void {
  for (const name of fields) if (!source.fieldNames.includes(name)) throw inputColumnMissing(file, name);
  for (const name of groups) if (!source.groupNames.includes(name)) throw inputColumnMissing(file, name);
}

/** Opens the rows of an input, from memory or from its file. The caller closes the source. */
export async function sourceOf({ file, held }: NewInput, { names, open }: Reading): Promise<PanelSource> {
  return held ?? (await openInput(file.path, names, open));
}

/**
 * Reads all rows of a file to check them.
 *
 * @throws DataError for a wrong row, E365 if the file changes while it is read, E366 if it lacks a column.
 */
export async function readToEnd(input: NewInput, reading: Reading, columns: FileColumns): Promise<void> {
  const source = await sourceOf(input, reading);
  const { signal } = reading;
  try {
    expectColumns(input.file.path, source, columns);
    for await (const _ of source.blocks({ ...columns, blockRows: BLOCK_ROWS_BEST, signal }));
    await expectUnchanged(input.file);
  } finally {
    await source.close();
  }
}

/** DataError E362 or E364 unless the rows follow the evaluated ones; else null. */
export function orderMistake(
  input: NewInput,
  { begin, lastTime }: Pick<JobHistory, "begin" | "lastTime">,
): DataError | null {
  if (lastTime === null) return null;
  const { path } = input.file;
  const [own, usual] = [input.time.type, begin!.time.type];
  if (JSON.stringify(own) !== JSON.stringify(usual))
    return timesDiffer(path, describeTimeType(own), describeTimeType(usual));
  if (input.firstTime > lastTime) return null;
  return inputLate(path, formatTime(input.firstTime, own), formatTime(lastTime, own));
}

/**
 * Splits the inputs into runs of ascending times. Which of two overlapping inputs is late is known once the first run is
 * evaluated, and symbols of a late input must not enter the panel.
 */
export function ascendingRuns(inputs: readonly NewInput[]): NewInput[][] {
  const runs: NewInput[][] = [];
  let lastTime: bigint | null = null;
  for (const input of inputs) {
    if (lastTime === null || input.firstTime <= lastTime) runs.push([]);
    runs.at(-1)!.push(input);
    lastTime = input.lastTime;
  }
  return runs;
}
