/** The errors of jobs: input, ledger and sink, the machine, the configuration. */
import type { MisplacedRows, QueryRows } from "../data/job_tables/database_file.ts";
import { DataError, errorsOf, ResourceError, UsageError } from "../errors.ts";
import { counted } from "../text/counted.ts";

const noLongerSame = errorsOf(DataError, "E361");
const inUse = errorsOf(ResourceError, "E450");
const mistake = errorsOf(UsageError, "E530");
const jobDiffers = errorsOf(UsageError, "E531");

const BACKUP =
  "restore ledger and sink together from one backup, or start the job under another name with a sink of its own";

/** What makes all results again from the input. */
const repair = (job: string) => `factorloom repair CONFIG ${job}`;

const noLedger = errorsOf(DataError, "E360");

export const ledgerDamaged = (file: string, reason: string) =>
  noLedger(`${file}: the ledger is damaged: ${reason}`, BACKUP);

export const ledgerNewer = (file: string) =>
  noLedger(`${file}: a later version of factorloom wrote this ledger`, "install that version");

export const ledgerOfOther = (file: string, owner: string, job: string) =>
  noLedger(
    `${file}: is the ledger of job ${owner}, and lies in the place of that of job ${job}`,
    "move it back, or give the job its former name",
  );

/** Codes of SQLite: SQLITE_PERM, NOMEM, READONLY, IOERR, FULL, CANTOPEN; SQLITE_BUSY, LOCKED. */
const REFUSED = new Set([3, 7, 8, 10, 13, 14]);
const KEPT = new Set([5, 6]);

/** What an error of a ledger's database means; other errors are as they were. All statements are right: others mean damage. */
export function ledgerFails(file: string, error: unknown): unknown {
  const { errcode, message } = error as { readonly errcode?: number; readonly message: string };
  if (errcode === undefined) return error;
  const code = errcode & 0xff;
  if (KEPT.has(code))
    return inUse(`${file}: another process uses it (${message})`, "end that process or wait for it");
  return REFUSED.has(code) ? storageFails(file, error as Error) : ledgerDamaged(file, message);
}

export const sinkDiffers = (job: string, what: string) =>
  new DataError(
    "E367",
    `job ${job}: its sink is not what its ledger says: ${what}`,
    `restore ledger and sink together from one backup, or make the results again from the input: ${repair(job)}`,
  );

/** The first and the last of some times. */
export const rangeText = (first: string, last: string) => (first === last ? first : `${first} to ${last}`);

export const inputChanged = (job: string, file: string, count: number, first: string, last: string) =>
  noLongerSame(
    `${file}: the rows of ${counted(count, "time")}, ${rangeText(first, last)}, are not those that were evaluated`,
    `put the file back as it was, or have what depends on it made again: run --once --apply ${job}; bad_input: skip keeps ` +
      "the results as they are",
  );

export const inputTruncated = (file: string, count: number, first: string, last: string) =>
  noLongerSame(
    `${file}: no longer has the rows of ${counted(count, "time")}, ${rangeText(first, last)}, and no other file has them`,
    "put them back, there or in another file; bad_input: skip keeps the results as they are",
  );

export const timeInTwo = (file: string, other: string, time: string, symbol: string) =>
  noLongerSame(
    `${file}: lacks ${symbol} at ${time}, which ${other} has, and has other symbols`,
    "all rows of a time belong into one file: write them there, or remove those of the other one",
  );

/** What has become of the rows of a query that were taken. */
export type TakenRows = Pick<QueryRows, "late" | "vanished" | "changed" | "lastTime">;

export function rowsMisplaced(job: string, { late, vanished, changed, lastTime }: TakenRows): DataError {
  const rowsText = ({ count, firstTime, lastTime: last }: MisplacedRows) =>
    `${counted(count, "row")} of ${rangeText(firstTime, last)}`;
  const changes = [
    ...(late.count > 0 ? [`has ${rowsText(late)} that it had not`] : []),
    ...(vanished.count > 0 ? [`no longer has ${rowsText(vanished)}`] : []),
    ...(changed.count > 0 ? [`has other values in ${rowsText(changed)}`] : []),
  ];
  return noLongerSame(
    `job ${job}: rows up to ${lastTime} have been taken, and now the query ${changes.join(" and ")}`,
    "rows come in the order of time, and stay: put them back, or give the job another name and another sink, so that " +
      "it evaluates all input again; bad_input: skip keeps the results as they are",
  );
}

export const inputGone = (file: string, reason: string) =>
  noLongerSame(
    `${file}: is needed to compute the state of the job again (${reason})`,
    "put it back as it was, or give its rows in another file",
  );

export const timesDiffer = (file: string, own: string, usual: string) =>
  new DataError("E364", `${file}: its times are ${own}, those before are ${usual}`, "write them alike");

export const changesWhileRead = (file: string) =>
  new DataError(
    "E365",
    `${file}: changes while it is read`,
    "write it under a name that ends in .tmp and rename it when it is complete",
  );

export const inputColumnMissing = (file: string, name: string) =>
  new DataError(
    "E366",
    `${file}: has no column ${name}, which the formulas read`,
    "write all files with the same columns",
  );

export const noRegularFile = (path: string, reason: string) =>
  new DataError(
    "E369",
    `${path}: ${reason}, and has the name of an input file`,
    "remove it or rename it; bad_input: skip passes it over",
  );

export const noInputEver = (source: string, looked: string) =>
  new DataError(
    "E370",
    `${source}: no input has ever been found (${looked})`,
    "check source; of files, names count that end in .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather or .ipc, and " +
      "do not start with a dot",
  );

export const journalLocked = (folder: string, pid: number) =>
  inUse(
    `${folder}: process ${pid} runs the jobs of this journal`,
    "end it first, or give this configuration a journal of its own",
  );

export const portTaken = (port: number, reason: string) =>
  inUse(`no metrics on port ${port}: ${reason}`, "choose another port");

/** Problems with files of a job by the system's code; other codes show the system's message. */
const IN_THE_WAY: ReadonlyMap<string | undefined, readonly [problem: string, remedy: string]> = new Map([
  ["EISDIR", ["a folder lies where a file belongs", "move it away"]],
  ["ENOTDIR", ["a file lies where a folder belongs", "move it away"]],
  ["EEXIST", ["a file lies where a folder belongs", "move it away"]],
  ["ENOENT", ["a file or folder is missing", "put it back; a link must lead to something"]],
]);

export function storageFails(path: string, cause: Error): ResourceError {
  const { code } = cause as NodeJS.ErrnoException;
  const [problem, remedy] = IN_THE_WAY.get(code) ?? ["cannot be used", "check free space and permissions"];
  return new ResourceError("E442", `${path}: ${problem} (${cause.message})`, remedy, { cause });
}

export const lockFails = (path: string, cause: unknown) =>
  new ResourceError(
    "E460",
    `${path}: the journal cannot be locked (${(cause as Error).message})`,
    "check free space and permissions; its folder needs a file system that locks files; a file of that name that is no " +
      "lock may be removed while no process runs these jobs",
    { cause },
  );

export const jobChanged = (job: string, what: string, remedy = "undo the change") =>
  jobDiffers(
    `job ${job}: ${what} changed since its ledger began`,
    `give the changed job a new name and a new sink: it evaluates all input again; or ${remedy}`,
  );

/** A change that a rebuild can follow, if it may. */
export const rebuildRefused = (job: string, what: string) =>
  jobChanged(job, what, `undo the change, or have its results made again: run --once --apply ${job}`);

export const nothingToRepair = (job: string) =>
  mistake(`job ${job}: there is no input from which its results could be made again`, "check source");

export const sinkInUse = (job: string, sink: string) =>
  new UsageError(
    "E532",
    `job ${job}: ${sink} holds results already, and its ledger knows of none`,
    `give the job a new sink, or the ledger that these results belong to; or make them again from the input: ${repair(job)}`,
  );

export const noLinks = (sink: string, cause: unknown) =>
  new UsageError(
    "E536",
    `${sink}: its file system makes no symbolic links (${(cause as Error).message}), by which results are replaced at once`,
    "use a sink on another file system, or a table of DuckDB; undo the change",
    { cause },
  );

export const noDates = (job: string, type: string) =>
  mistake(
    `job ${job}: needs the date of each row, and its times are ${type}`,
    "use times with a date, or an arrow or duckdb sink",
  );

export const factorTwice = (job: string, factor: string, first: string, second: string) =>
  mistake(`job ${job}: ${first} and ${second} both define the factor ${factor}`, "rename one of them");

export const journalOlder = (file: string, job: string) =>
  jobDiffers(
    `${file}: is a journal of an earlier version of factorloom, which had no ledger`,
    `make the results again from the input: ${repair(job)}; or install the version that wrote it`,
  );

export const nothingSelected = (job: string, name: string) =>
  new UsageError("E506", `job ${job}: no formula file has ${name}`, "check select and params");
