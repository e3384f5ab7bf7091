/** Finds the files of a source that are new to a job or have changed, and those that must not be used. */

import { DataError } from "../../errors.ts";
import { UNITS_PER_SECOND } from "../../panel.ts";
import type { JobConfig } from "../config/config.ts";
import { noRegularFile } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ConsumedInput } from "../ledger/records.ts";
import { type ComparedInputs, compareInputs, digestsOf, type ScannedInput } from "./changed_inputs.ts";
import { HeldInputs } from "./held_inputs.ts";
import {
  expectUnchanged,
  type FileIdentity,
  type FileStamp,
  identify,
  isSameStamp,
  isUnfinished,
  lookAt,
  NO_FILE,
} from "./input_files.ts";
import {
  type BadInput,
  type DigestedColumns,
  expectColumns,
  type NewInput,
  openInput,
  type Reading,
  timeMistake,
} from "./input_source.ts";

export interface FoundInputs extends Pick<ComparedInputs, "same" | "changed"> {
  /** Those that can be evaluated, in the order of their times. */
  readonly inputs: readonly NewInput[];
  /** Unless they are skipped, only the first one. */
  readonly bad: readonly BadInput[];
  /** A file that was still being written: it and the files after it wait for the next run. */
  readonly unfinished: string | null;
  /** Whether others are to be looked at again once these are evaluated. */
  readonly hasMore: boolean;
}

/** Paths that are looked at together. */
const LOOKS_MAX = 1_000;

/**
 * Inspects the files. New ones come in the order of their first times; a file that is known, or that has times that are not all
 * later, is compared with what the ledger knows. A file is bad if it cannot be read, or as `compareInputs`.
 *
 * A file that changes while it is read is incomplete; with it, and with the first bad file unless bad ones are skipped, the
 * run ends. What its times are is not known: if names follow times, files of earlier names come before it, else none.
 */
export async function findNewInputs(
  paths: readonly string[],
  ledger: Ledger,
  reading: Reading,
  job: JobConfig,
  columnsRead: () => Promise<DigestedColumns>,
): Promise<FoundInputs> {
  const { badInput } = job;
  const inputs: NewInput[] = [];
  const scanned: ScannedInput[] = [];
  const bad: BadInput[] = [];
  const touched: FileIdentity[] = [];
  const held = new HeldInputs();
  let unfinished: string | null = null;
  for await (const look of looksAt(paths, ledger)) {
    reading.signal.throwIfAborted();
    const found = await inspect(look, ledger, reading, held, columnsRead);
    if (found === null) continue;
    if (found === "unfinished") unfinished ??= look[0];
    else if ("digests" in found) scanned.push(found);
    else if ("rowCount" in found) inputs.push(found);
    else if ("error" in found) bad.push(found);
    else touched.push(found);
  }
  const isFailed = () => badInput === "fail" && bad.length > 0;
  let compared: ComparedInputs | null = null;
  // What of the times of a file is gone may be in the file that is bad or unfinished.
  if (scanned.length > 0 && unfinished === null && !isFailed()) {
    compared = await compareInputs(scanned, await columnsRead(), ledger, reading, job);
    bad.push(...compared.bad);
  }
  const same = { times: [], digested: ledger.digested, ...compared?.same };
  const rest = { bad: badInput === "fail" ? bad.slice(0, 1) : bad, unfinished };
  const found = { ...rest, same: { ...same, inputs: [...touched, ...(compared?.same.inputs ?? [])] } };
  const inTime = (all: readonly NewInput[]) => all.toSorted((a, b) => Number(instantOf(a) - instantOf(b)));
  if (unfinished === null && !isFailed()) {
    const all = inTime([...inputs, ...(compared?.appended ?? [])]);
    const first = firstAscending(all);
    const changed = compared?.changed ?? null;
    return { ...found, inputs: first, hasMore: first.length < all.length, changed };
  }
  const end = Math.min(...[unfinished, bad[0]?.path].flatMap((path) => (path ? [paths.indexOf(path)] : [])));
  const namesFollow = inTime(inputs).every((input, index) => input === inputs[index]);
  const before = namesFollow ? inputs.filter(({ file }) => paths.indexOf(file.path) < end) : [];
  return { ...found, inputs: firstAscending(before), hasMore: false, changed: null };
}

/** A path, what lies there, as `lookAt`, and what the ledger knows of it. */
type Look = readonly [path: string, there: FileStamp | string | null, known: ConsumedInput | null];

/** Looks at many paths at a time: one after the other takes three times as long. */
async function* looksAt(paths: readonly string[], ledger: Ledger): AsyncGenerator<Look, void, void> {
  for (let first = 0; first < paths.length; first += LOOKS_MAX) {
    const some = paths.slice(first, first + LOOKS_MAX);
    const known = ledger.consumed.getAll(some);
    const there = await Promise.all(some.map(lookAt));
    for (const [index, path] of some.entries()) yield [path, there[index]!, known[index]!];
  }
}

/** What a file is to a job: its identity if only its stamp has changed; null if there is nothing to do with it. */
async function inspect(
  [path, there, known]: Look,
  ledger: Ledger,
  reading: Reading,
  held: HeldInputs,
  columnsRead: () => Promise<DigestedColumns>,
): Promise<NewInput | ScannedInput | BadInput | FileIdentity | "unfinished" | null> {
  if (there === null) return null;
  if (known !== null && known.sha256 !== "" && typeof there !== "string" && isSameStamp(known, there))
    return null;
  const skipped = ledger.skipped.get(path)?.sha256;
  const badUnlessSkipped = (sha256: string, error: DataError) =>
    sha256 === skipped ? null : { path, sha256, error };
  if (typeof there === "string") return badUnlessSkipped(NO_FILE, noRegularFile(path, there));
  const file = await identify(path);
  if (file === null) return "unfinished";
  if (file.sha256 === skipped) return null;
  if (file.sha256 === known?.sha256) return file;
  try {
    return await describe(file, known, ledger, reading, held, columnsRead);
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

async function describe(
  file: FileIdentity,
  known: ConsumedInput | null,
  ledger: Ledger,
  { names, open, signal }: Reading,
  inputs: HeldInputs,
  columnsRead: () => Promise<DigestedColumns>,
): Promise<NewInput | ScannedInput> {
  const source = await openInput(file.path, names, open);
  try {
    const { symbols, fieldNames, groupNames, rowCount } = source;
    const { values: times, name, type } = source.time;
    const [firstTime, lastTime, time] = [times[0]!, times.at(-1)!, { name, type }];
    const rows = { first: 0, end: rowCount };
    const shape = { symbols, fieldNames, groupNames, rowCount, rows, time, times, firstTime, lastTime };
    const input = { file, ...shape, held: await inputs.hold(source) };
    if (ledger.lastTime === null) return input;
    const mistake = timeMistake(input, ledger.begin!);
    if (mistake !== null) throw mistake;
    if (known === null && firstTime > ledger.lastTime) return input;
    const columns = await columnsRead();
    expectColumns(file.path, source, columns);
    const digests = await digestsOf(input.held ?? source, columns, signal);
    await expectUnchanged(file);
    return { input, digests };
  } finally {
    await source.close();
  }
}

/** The first inputs, whose times are ascending. Those that overlap are compared once these are evaluated. */
function firstAscending(inputs: readonly NewInput[]): readonly NewInput[] {
  const end = inputs.findIndex((input, index) => index > 0 && input.firstTime <= inputs[index - 1]!.lastTime);
  return end === -1 ? inputs : inputs.slice(0, end);
}
