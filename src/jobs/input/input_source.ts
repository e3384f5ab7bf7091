/** An input file of a job: its shape, its rows, the columns that are read of it. */
import { isDeepStrictEqual } from "node:util";
import { type OpenDatabase, openDatabase } from "../../data/duckdb/database.ts";
import { layOutPanel } from "../../data/panel/panel_layout.ts";
import { type PanelSource, panelSource, type RowRange } from "../../data/panel/panel_source.ts";
import { openSourceAs } from "../../data/source/open_panel_source.ts";
import { readPlainCsv } from "../../data/source/plain_csv.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import type { DataError } from "../../errors.ts";
import { BLOCK_ROWS_BEST } from "../../evaluation/fit_plan.ts";
import type { RowReading } from "../config/config.ts";
import { inputColumnMissing, timesDiffer } from "../errors.ts";
import type { InputColumns } from "../ledger/records.ts";
import { expectUnchanged, type FileIdentity } from "./input_files.ts";

/** A new file and the shape of its panel. */
export interface NewInput extends InputColumns {
  readonly file: FileIdentity;
  readonly symbols: readonly string[];
  /** Those that are new. */
  readonly rows: RowRange;
  /** Their number. */
  readonly rowCount: number;
  /** Of all rows of the file. */
  readonly times: BigInt64Array;
  readonly firstTime: bigint;
  readonly lastTime: bigint;
  /** All its rows; null if they are not held in memory. */
  readonly held: PanelSource | null;
}

/** A file that must not be used, and why. */
export interface BadInput {
  readonly path: string;
  /** Later runs skip the file silently while it has this digest. */
  readonly sha256: string;
  readonly error: DataError;
}

/** How files are opened. */
export interface Reading {
  readonly names: RowReading;
  readonly open: OpenDatabase;
  readonly signal: AbortSignal;
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

/** Columns that formulas read from files. */
export interface FileColumns {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** Columns that formulas read, without series, and those that digests have a place for. */
export interface DigestedColumns extends FileColumns {
  readonly digested: readonly string[];
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

/** DataError E364 if the times are of another type than those of the job; else null. */
export function timeMistake({ file, time }: NewInput, begin: InputColumns): DataError | null {
  const [own, usual] = [time.type, begin.time.type];
  if (isDeepStrictEqual(own, usual)) return null;
  return timesDiffer(file.path, describeTimeType(own), describeTimeType(usual));
}
