/** Compares a sink with its journal. Prepared outputs may be in the sink or still staged. */
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { outputNames } from "../../data/factors/factor_batches.ts";
import { digestsOfRanges, type ResultTable, tableState } from "../../data/job_tables/result_table.ts";
import type { SinkConfig } from "../config/config.ts";
import { sinkDiffers } from "../errors.ts";
import { digestOfFile } from "../input/input_files.ts";
import type { JobHistory } from "../journal/history.ts";
import type { StagedOutput } from "../journal/records.ts";

export type CheckExtent = "newest" | "all";

/** Outputs whose digests each run checks. */
const NEWEST = 2;

type TableSink = Extract<SinkConfig, { kind: "duckdb" }>;

/** The table of a job's sink, as its journal describes it. */
export function resultTable({ database, table }: TableSink, { begin }: JobHistory): ResultTable {
  return { database, table, journal: begin!.id, columns: outputNames(begin!) };
}

/** @throws DataError E367 if a file is missing, altered, or unknown to the journal. */
export async function checkFiles(
  job: string,
  { kind, folder }: Exclude<SinkConfig, TableSink>,
  history: JobHistory,
  extent: CheckExtent,
): Promise<void> {
  const sizes = await fileSizes(folder);
  const { outputs } = history;
  const pendingCount = pendingOutputs(history).length;
  for (const [index, output] of outputs.entries()) {
    const { staged, target } = output;
    const left = outputs.length - index;
    const stagedBytes = left <= pendingCount ? await sizeOf(join(folder, staged)) : null;
    const path = join(folder, stagedBytes === null ? target : staged);
    const isThorough = extent === "all" || left <= Math.max(NEWEST, pendingCount);
    await checkFile(job, path, stagedBytes ?? sizes.get(target) ?? null, output, isThorough);
    sizes.delete(target);
  }
  for (const path of sizes.keys())
    if (path.toLowerCase().endsWith(`.${kind}`))
      throw sinkDiffers(job, `${join(folder, path)} is there, and the journal does not know it`);
}

async function checkFile(
  job: string,
  path: string,
  bytes: number | null,
  output: StagedOutput,
  isThorough: boolean,
): Promise<void> {
  if (bytes === null) throw sinkDiffers(job, `${path} is missing`);
  if (bytes !== output.bytes)
    throw sinkDiffers(job, `${path} has ${bytes} bytes, and ${output.bytes} were written`);
  if (isThorough && (await digestOfFile(path)) !== output.sha256)
    throw sinkDiffers(job, `${path} does not hold the bytes that were written`);
}

/** Outputs that may still be staged. */
function pendingOutputs({ prepared, isPending }: JobHistory): readonly StagedOutput[] {
  return isPending ? prepared!.outputs : [];
}

async function sizeOf(path: string): Promise<number | null> {
  const status = await stat(path).catch(() => null);
  return status?.isFile() ? status.size : null;
}

/** Sizes of all files below a folder, by relative path, without names that start with a dot. */
async function fileSizes(folder: string, below = ""): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const names = await readdir(join(folder, below)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of names) {
    if (name.startsWith(".")) continue;
    const path = join(below, name);
    const status = await stat(join(folder, path)).catch(() => null);
    if (status?.isDirectory()) for (const entry of await fileSizes(folder, path)) sizes.set(...entry);
    else if (status?.isFile()) sizes.set(path, status.size);
  }
  return sizes;
}

/** @throws DataError E367; ResourceError E450 while another process writes to the database. */
export async function checkTable(
  job: string,
  sink: TableSink,
  history: JobHistory,
  extent: CheckExtent,
): Promise<void> {
  const shown = `table ${sink.table} of ${sink.database}`;
  const target = resultTable(sink, history);
  const exists = (await sizeOf(sink.database)) !== null;
  const state = exists ? await tableState(target) : null;
  const position = state?.position ?? 0;
  const pending = pendingOutputs(history);
  const isAwaited = pending.length > 0 && position === history.sequence - 1;
  for (const output of isAwaited ? pending : []) {
    const path = join(dirname(sink.database), output.staged);
    await checkFile(job, path, await sizeOf(path), output, true);
  }
  const expected = history.outputs.slice(0, history.outputs.length - (isAwaited ? pending.length : 0));
  const rows = expected.map((output) => output.rows!);
  const count = rows.reduce((sum, one) => sum + one.count, 0);
  if (state === null) {
    if (count === 0) return;
    throw sinkDiffers(job, exists ? `${shown} is missing` : `${sink.database} is missing`);
  }
  if (count === 0) throw sinkDiffers(job, `${shown} is there, and the journal does not know it`);
  const wanted = history.sequence - (isAwaited ? 1 : 0);
  if (position !== wanted)
    throw sinkDiffers(job, `${shown} stands at batch ${position} of this journal, which stands at ${wanted}`);
  checkTypes(job, shown, target, state.types, rows[0]!.timeType);
  if (state.count !== count)
    throw sinkDiffers(job, `${shown} has ${state.count} rows, and ${count} were written`);
  const ranges = extent === "all" ? rows : rows.slice(-NEWEST);
  for (const [index, found] of (await digestsOfRanges(target, ranges)).entries()) {
    const range = ranges[index]!;
    if (found.count !== range.count || found.sum !== range.sum)
      throw sinkDiffers(job, `the rows of ${shown} from ${range.from} on are not those that were written`);
  }
}

/** Another type would round values or format them differently. */
function checkTypes(
  job: string,
  shown: string,
  { columns }: ResultTable,
  types: ReadonlyMap<string, string>,
  timeType: string,
): void {
  for (const [index, name] of columns.entries()) {
    const type = [timeType, "VARCHAR"][index] ?? "DOUBLE";
    const own = types.get(name);
    if (own === undefined) throw sinkDiffers(job, `${shown} has no column ${name}`);
    if (own !== type) throw sinkDiffers(job, `column ${name} of ${shown} is ${own}, and ${type} was written`);
  }
}
