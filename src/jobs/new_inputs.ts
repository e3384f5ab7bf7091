/** Which files of a source are new to a job, and which must not be used. */
import { openPanelSource } from "../data/open_panel_source.ts";
import type { PanelSource } from "../data/panel_source.ts";
import { describeTimeType, formatTime } from "../data/time_text.ts";
import { DataError } from "../errors.ts";
import type { TimeType } from "../panel.ts";
import type { ColumnNames } from "./config.ts";
import { inputChanged, inputLate, timesDiffer } from "./errors.ts";
import type { JobHistory } from "./history.ts";
import { digestOfFile, type FileIdentity, identify, isSameStamp, stampOf } from "./input_files.ts";

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
}

/** A file that must not be used, and why. */
export interface BadInput {
  readonly path: string;
  readonly sha256: string | null;
  readonly error: DataError;
}

export interface FoundInputs {
  readonly inputs: readonly NewInput[];
  readonly bad: readonly BadInput[];
}

/** How a job opens its files; groups of a table of their own are joined later, for all symbols of the job. */
export async function openInput(path: string, names: ColumnNames): Promise<PanelSource> {
  const { timeColumn, symbolColumn, rename } = names;
  return await openPanelSource(path, {
    ...(timeColumn === undefined ? {} : { timeColumn }),
    ...(symbolColumn === undefined ? {} : { symbolColumn }),
    ...(rename === undefined ? {} : { rename }),
  });
}

/**
 * Looks at the files in their order. A file is bad if it was evaluated and has changed since, if it cannot be read, or
 * if its rows are not all later than those evaluated. Whether the new ones follow each other shows one by one: of two
 * that overlap, the second may be the good one.
 */
export async function findNewInputs(
  paths: readonly string[],
  history: JobHistory,
  names: ColumnNames,
  signal: AbortSignal,
): Promise<FoundInputs> {
  const inputs: NewInput[] = [];
  const bad: BadInput[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    const consumed = history.inputAt(path);
    if (consumed) {
      if (isSameStamp(consumed, await stampOf(path)) || (await digestOfFile(path)) === consumed.sha256)
        continue;
      bad.push({ path, sha256: null, error: inputChanged(path) });
      continue;
    }
    const file = await identify(path);
    if (history.skipped.get(path)?.sha256 === file.sha256) continue;
    try {
      const input = await describe(file, names);
      checkOrder(input, history);
      inputs.push(input);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      bad.push({ path, sha256: file.sha256, error });
    }
  }
  return { inputs, bad };
}

async function describe(file: FileIdentity, names: ColumnNames): Promise<NewInput> {
  const source = await openInput(file.path, names);
  try {
    const { symbols, fieldNames, groupNames, rowCount, time } = source;
    const { values, name, type } = time;
    const [firstTime, lastTime] = [values[0]!, values.at(-1)!];
    return { file, symbols, fieldNames, groupNames, rowCount, time: { name, type }, firstTime, lastTime };
  } finally {
    await source.close();
  }
}

/** @throws DataError E362, E364 unless the rows follow those that were evaluated. */
export function checkOrder(input: NewInput, { begin, lastTime }: JobHistory): void {
  const { path } = input.file;
  const type = begin?.time.type;
  const own = input.time.type;
  if (type !== undefined && JSON.stringify(own) !== JSON.stringify(type))
    throw timesDiffer(path, describeTimeType(own), describeTimeType(type));
  if (lastTime !== null && input.firstTime <= lastTime)
    throw inputLate(path, formatTime(input.firstTime, own), formatTime(lastTime, own));
}
