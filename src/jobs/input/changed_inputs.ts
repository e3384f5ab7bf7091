/** Compares files with the times that the ledger knows: what has moved, what is new, what differs, what is missing. */

import type { PanelSource, RowRange } from "../../data/panel/panel_source.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import { BLOCK_ROWS_BEST } from "../../evaluation/fit_plan.ts";
import { countBefore } from "../../evaluation/row_range.ts";
import type { JobConfig } from "../config/config.ts";
import { inputChanged, inputTruncated, timeInTwo } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ConsumedInput, TakenInput } from "../ledger/records.ts";
import type { KnownTime } from "../ledger/time_table.ts";
import { expectUnchanged } from "./input_files.ts";
import {
  type BadInput,
  type DigestedColumns,
  expectColumns,
  type NewInput,
  openInput,
  type Reading,
  sourceOf,
  timeMistake,
} from "./input_source.ts";
import { hasSameSymbols, isSameTime, type TimeDigest, TimeDigests } from "./time_digests.ts";

/** A file that may hold times that are known. */
export interface ScannedInput {
  readonly input: NewInput;
  /** Of all its times. */
  readonly digests: readonly TimeDigest[];
}

/** Times up to the last evaluated one that are new, or whose rows are others. */
export interface ChangedInput extends TakenInput {
  /** Ascending. */
  readonly times: readonly KnownTime[];
  /** Of the files. */
  readonly symbols: readonly string[];
}

export interface ComparedInputs {
  /** Rows behind the last evaluated time. */
  readonly appended: readonly NewInput[];
  /** Files without new rows, and times that belong to other files now. */
  readonly same: TakenInput;
  readonly changed: ChangedInput | null;
  readonly bad: readonly BadInput[];
}

interface Claim extends KnownTime {
  /** From the rows that were evaluated. */
  readonly differs: boolean;
  /** Another file that had the time, with other symbols. */
  readonly rival: string | null;
}
type Claims = ReadonlyMap<bigint, Claim>;

/** Digests all times of a source. */
export async function digestsOf(
  source: PanelSource,
  { fields, groups, digested }: DigestedColumns,
  signal: AbortSignal,
): Promise<TimeDigest[]> {
  const digester = new TimeDigests(source.symbols, fields, groups, digested);
  const digests: TimeDigest[] = [];
  for await (const block of source.blocks({ fields, groups, blockRows: BLOCK_ROWS_BEST, signal }))
    digests.push(...digester.of(block));
  return digests;
}

/**
 * The new times of an input.
 *
 * @throws DataError for a wrong row, E364 for times of another type, E365 if the file changes while it is read, E366 if it
 *   lacks a column
 */
export async function timesOf(
  input: NewInput,
  columns: DigestedColumns,
  { begin }: Pick<Ledger, "begin">,
  reading: Reading,
): Promise<KnownTime[]> {
  const { file, firstTime } = input;
  const mistake = timeMistake(input, begin!);
  if (mistake !== null) throw mistake;
  const source = await sourceOf(input, reading);
  try {
    expectColumns(file.path, source, columns);
    const digests = await digestsOf(source, columns, reading.signal);
    await expectUnchanged(file);
    return digests.filter(({ time }) => time >= firstTime).map((digest) => ({ ...digest, path: file.path }));
  } finally {
    await source.close();
  }
}

/** With `changes: fail` a file is bad whose rows are not those that were evaluated. */
export async function compareInputs(
  scanned: readonly ScannedInput[],
  { digested }: DigestedColumns,
  ledger: Ledger,
  reading: Reading,
  job: Pick<JobConfig, "name" | "changes">,
): Promise<ComparedInputs> {
  const bad: BadInput[] = [];
  let good = scanned;
  let claims = claimsOf(good, ledger);
  // Times of a file that is bad belong to others.
  for (let index = 0; index < good.length; ) {
    const { file } = good[index]!.input;
    const error = await mistakeOf(good[index]!, claims, ledger, reading, job);
    index += 1;
    if (error === null) continue;
    bad.push({ ...file, error });
    good = good.filter(({ input }) => input.file !== file);
    claims = claimsOf(good, ledger);
    index = 0;
  }
  const times = [...claims.values()].sort((a, b) => (a.time < b.time ? -1 : 1));
  const changedTimes = times.filter(({ differs }) => differs);
  const changing = new Set(changedTimes.map(({ path }) => path));
  const ofChanging = good.filter(({ input }) => changing.has(input.file.path)).map(({ input }) => input);
  const appended = good.flatMap(({ input }) => newRowsOf(input, ledger.lastTime!, changing));
  const hasMore = new Set(appended.map(({ file }) => file.path));
  const files = good.map(({ input }) => input.file);
  return {
    appended,
    same: {
      inputs: files.filter(({ path }) => !changing.has(path) && !hasMore.has(path)),
      times: times.filter(({ differs }) => !differs),
      digested,
    },
    changed:
      changedTimes.length === 0
        ? null
        : {
            inputs: ofChanging.map(({ file }) => (hasMore.has(file.path) ? lookedAtAgain(file) : file)),
            times: changedTimes,
            symbols: [...new Set(ofChanging.flatMap(({ symbols }) => symbols))],
            digested,
          },
    bad,
  };
}

/** Which file has each time that was evaluated, or is not behind the last one: the last of those that differ, else the last one. */
function claimsOf(scanned: readonly ScannedInput[], { times, lastTime }: Ledger): Claims {
  const claims = new Map<bigint, Claim>();
  for (const { input, digests } of scanned) {
    const { path } = input.file;
    for (const { time, bytes } of digests) {
      if (time > lastTime!) break;
      const known = times.get(time);
      const prior = claims.get(time);
      const differs = known === null || !isSameTime(known.bytes, bytes);
      if (!differs && prior?.differs) continue;
      const other = prior ?? known;
      const isRival = differs && other !== null && other.path !== path && !hasSameSymbols(other.bytes, bytes);
      claims.set(time, { time, path, bytes, differs, rival: isRival ? other.path : null });
    }
  }
  return claims;
}

async function mistakeOf(
  { input: { file, time }, digests }: ScannedInput,
  claims: Claims,
  ledger: Ledger,
  reading: Reading,
  { name, changes }: Pick<JobConfig, "name" | "changes">,
): Promise<DataError | null> {
  const { path } = file;
  const textOf = (one: bigint) => formatTime(one, time.type);
  const own = new Set(digests.map((digest) => digest.time));
  const lost = ledger.times.ofPath(path).filter((one) => !own.has(one) && !claims.has(one));
  if (lost.length > 0) return inputTruncated(path, lost.length, textOf(lost[0]!), textOf(lost.at(-1)!));
  const changed = digests.flatMap((digest) => {
    const claim = claims.get(digest.time);
    return claim?.path === path && claim.differs ? [claim] : [];
  });
  for (const [rival, some] of Map.groupBy(changed, (claim) => claim.rival)) {
    if (rival === null) continue;
    const lacked = await lackedSymbol(path, rival, some, reading);
    if (lacked !== null) return timeInTwo(path, rival, textOf(lacked.time), lacked.symbol);
  }
  if (changes !== "fail" || changed.length === 0) return null;
  return inputChanged(name, path, changed.length, textOf(changed[0]!.time), textOf(changed.at(-1)!.time));
}

/** A symbol that the other file has at one of the times, and this one has not. */
async function lackedSymbol(
  path: string,
  rival: string,
  times: readonly KnownTime[],
  reading: Reading,
): Promise<{ readonly time: bigint; readonly symbol: string } | null> {
  const open = (one: string) => openInput(one, reading.names, reading.open);
  const other = await open(rival).catch((error: unknown) => {
    if (error instanceof DataError) return null;
    throw error;
  });
  if (other === null) return null;
  const source = await open(path);
  try {
    for (const { time } of times) {
      const own = await symbolsAt(source, time);
      for (const symbol of await symbolsAt(other, time)) if (!own.has(symbol)) return { time, symbol };
    }
    return null;
  } finally {
    await source.close();
    await other.close();
  }
}

async function symbolsAt(source: PanelSource, time: bigint): Promise<Set<string>> {
  const first = countBefore(source.time.values, time);
  if (source.time.values[first] !== time) return new Set();
  const rows: RowRange = { first, end: first + 1 };
  for await (const { present } of source.blocks({ fields: [], groups: [], blockRows: 1, rows }))
    return new Set(source.symbols.filter((_, lane) => present[lane] === 1));
  return new Set();
}

/** The rows of a file behind the last evaluated time. */
function newRowsOf(input: NewInput, lastTime: bigint, changing: ReadonlySet<string>): NewInput[] {
  const first = countBefore(input.times, lastTime + 1n);
  const end = input.times.length;
  if (first === end) return [];
  const file = changing.has(input.file.path) ? lookedAtAgain(input.file) : input.file;
  return [{ ...input, file, rows: { first, end }, firstTime: input.times[first]!, rowCount: end - first }];
}

function lookedAtAgain<File extends ConsumedInput>(file: File): File {
  return { ...file, sha256: "" };
}
