/** Which files of a source are new to a job, and which must not be used. */
import { type OpenDatabase, openDatabase } from "../../data/duckdb/database.ts";
import { layOutPanel } from "../../data/panel/panel_layout.ts";
import { type PanelSource, panelSource } from "../../data/panel/panel_source.ts";
import { openSourceAs } from "../../data/source/open_panel_source.ts";
import { readPlainCsv } from "../../data/source/plain_csv.ts";
import { describeTimeType, formatTime } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import { BLOCK_ROWS_BEST } from "../../evaluation/block_rows.ts";
import type { TimeType } from "../../panel.ts";
import type { ColumnNames } from "../config/config.ts";
import { columnMissing, inputChanged, inputLate, noRegularFile, timesDiffer } from "../errors.ts";
import type { JobHistory } from "../journal/history.ts";
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

/** A file that is new, and what its panel is like. */
export interface NewInput {
  readonly file: FileIdentity;
  readonly symbols: readonly string[];
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType };
  readonly rowCount: number;
  readonly firstTime: bigint;
  readonly lastTime: bigint;
  /** Its rows, where they are held in memory. */
  readonly held: PanelSource | null;
}

/** A file that must not be used, and why. */
export interface BadInput {
  readonly path: string;
  /** What it is passed over as from now on: until it is another one; null where it is reported each time. */
  readonly sha256: string | null;
  readonly error: DataError;
}

export interface FoundInputs {
  readonly inputs: readonly NewInput[];
  readonly bad: readonly BadInput[];
  /** A file that was still being written: neither it nor those behind it were looked at. */
  readonly unfinished: string | null;
}

/** How a job opens its files; groups of a table of their own are joined later, for all symbols of the job. */
export async function openInput(
  path: string,
  names: ColumnNames,
  open: OpenDatabase = openDatabase,
): Promise<PanelSource> {
  const { timeColumn, symbolColumn, rename } = names;
  const plain = rename === undefined ? await readPlainCsv(path, timeColumn, symbolColumn) : null;
  if (plain !== null) return panelSource(plain);
  const options = {
    ...(timeColumn === undefined ? {} : { timeColumn }),
    ...(symbolColumn === undefined ? {} : { symbolColumn }),
    ...(rename === undefined ? {} : { rename }),
  };
  return await openSourceAs(path, options, layOutPanel, "whole", open);
}

/** What files are opened with. */
export interface Reading {
  readonly names: ColumnNames;
  readonly open: OpenDatabase;
  readonly signal: AbortSignal;
}

/**
 * Looks at the files in their order. A file is bad if it was evaluated and has changed since, if it cannot be read, or
 * if its rows are not all later than those evaluated. Whether the new ones follow each other shows one by one: of two
 * that overlap, the second may be the good one. A file that changes meanwhile is not complete yet: it ends the search, for
 * rows come in the order of files.
 */
export async function findNewInputs(
  paths: readonly string[],
  history: JobHistory,
  reading: Reading,
): Promise<FoundInputs> {
  const inputs: NewInput[] = [];
  const bad: BadInput[] = [];
  const held = new HeldInputs();
  for (const path of paths) {
    reading.signal.throwIfAborted();
    const reason = await whyNoFile(path);
    if (reason !== null) {
      if (history.skipped.get(path)?.sha256 !== NO_FILE)
        bad.push({ path, sha256: NO_FILE, error: noRegularFile(path, reason) });
      continue;
    }
    const consumed = history.inputAt(path);
    if (consumed) {
      if (isSameStamp(consumed, await stampOf(path)) || (await digestOfFile(path)) === consumed.sha256)
        continue;
      bad.push({ path, sha256: null, error: inputChanged(path) });
      continue;
    }
    const file = await identify(path);
    if (file === null) return { inputs, bad, unfinished: path };
    if (history.skipped.get(path)?.sha256 === file.sha256) continue;
    try {
      const input = await describe(file, reading, held);
      checkOrder(input, history);
      inputs.push(input);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      if (await isUnfinished(file, error)) return { inputs, bad, unfinished: path };
      bad.push({ path, sha256: file.sha256, error });
    }
  }
  return { inputs, bad, unfinished: null };
}

async function describe(file: FileIdentity, { names, open }: Reading, inputs: HeldInputs): Promise<NewInput> {
  const source = await openInput(file.path, names, open);
  try {
    const { symbols, fieldNames, groupNames, rowCount, time } = source;
    const { values, name, type } = time;
    const [firstTime, lastTime] = [values[0]!, values.at(-1)!];
    const held = await inputs.hold(source);
    return {
      file,
      symbols,
      fieldNames,
      groupNames,
      rowCount,
      time: { name, type },
      firstTime,
      lastTime,
      held,
    };
  } finally {
    await source.close();
  }
}

/** The columns that formulas read from files. */
export interface FileColumns {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** @throws DataError E366 if the file lacks one of the columns. */
export function expectColumns(file: string, source: PanelSource, { fields, groups }: FileColumns): void {
  for (const name of fields) if (!source.fieldNames.includes(name)) throw columnMissing(file, name);
  for (const name of groups) if (!source.groupNames.includes(name)) throw columnMissing(file, name);
}

/** The rows of an input, from memory or from its file; it must be closed. */
export async function sourceOf({ file, held }: NewInput, { names, open }: Reading): Promise<PanelSource> {
  return held ?? (await openInput(file.path, names, open));
}

/**
 * Reads a file to its end and keeps nothing.
 *
 * @throws DataError for what is wrong with its rows, E365 if it changes meanwhile, E366 if it lacks a column.
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

/** @throws DataError E362, E364 unless the rows follow those that were evaluated. */
export function checkOrder(
  input: NewInput,
  { begin, lastTime }: Pick<JobHistory, "begin" | "lastTime">,
): void {
  const { path } = input.file;
  const own = input.time.type;
  const type = lastTime === null ? undefined : begin?.time.type;
  if (type !== undefined && JSON.stringify(own) !== JSON.stringify(type))
    throw timesDiffer(path, describeTimeType(own), describeTimeType(type));
  if (lastTime !== null && input.firstTime <= lastTime)
    throw inputLate(path, formatTime(input.firstTime, own), formatTime(lastTime, own));
}

/**
 * Cuts the inputs where one is not later than those before it: which of the two is late shows once those before it have
 * been evaluated, and the symbols of a late one must not stay.
 */
export function followingEachOther(inputs: readonly NewInput[]): NewInput[][] {
  const runs: NewInput[][] = [];
  let lastTime: bigint | null = null;
  for (const input of inputs) {
    if (lastTime === null || input.firstTime <= lastTime) runs.push([]);
    runs.at(-1)!.push(input);
    lastTime = input.lastTime;
  }
  return runs;
}
