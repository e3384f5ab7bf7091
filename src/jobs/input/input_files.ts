/** Lists the files of a source and identifies their content. */
import { createHash } from "node:crypto";
import { createReadStream, stat as statByCallback } from "node:fs";
import { glob, lstat, readdir } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { notOpened } from "../../data/errors.ts";
import { counted } from "../../text/counted.ts";
import type { FileSource, QuerySource } from "../config/config.ts";
import { splitPattern } from "../config/source_pattern.ts";
import { changesWhileRead, noInputEver } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ConsumedInput } from "../ledger/records.ts";

export type FileIdentity = Pick<ConsumedInput, "path" | "bytes" | "modifiedMs" | "sha256">;
export type FileStamp = Pick<ConsumedInput, "path" | "bytes" | "modifiedMs">;

const READABLE = /\.(csv|tsv|csv\.gz|tsv\.gz|parquet|arrow|feather|ipc)$/i;
/** Takes half the time of that of `node:fs/promises`: of 3,000 files 17 ms in place of 30. */
const stat = promisify(statByCallback);

/** Files that are being written: they count once they are renamed. */
const UNFINISHED = /^\.|\.(tmp|part)$/i;

const numbersByValue = new Intl.Collator("en", { numeric: true });

/** Lists the input files in the order of their names, numbers in them by value. @throws DataError E309 for a folder that cannot be opened. */
export async function listSourceFiles({ folder, pattern }: FileSource): Promise<string[]> {
  const found = pattern === undefined ? await filesOfFolder(folder!) : await filesOfPattern(pattern);
  // Names that differ in leading zeros only compare as equal.
  return found
    .filter((path) => isInput(basename(path)))
    .sort()
    .sort(numbersByValue.compare);
}

async function filesOfFolder(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).map((name) => join(folder, name));
  } catch (error) {
    throw notOpened(folder, String((error as NodeJS.ErrnoException).code), "check source.folder", error);
  }
}

/** @throws DataError E370 for a source that gives nothing and never gave anything, as one that is mistyped. */
export async function expectInput(
  source: FileSource | QuerySource,
  paths: readonly string[],
  { batch, skipped }: Pick<Ledger, "batch" | "skipped">,
): Promise<void> {
  if (paths.length > 0 || batch !== null || skipped.size > 0) return;
  if (source.kind === "duckdb") throw noInputEver(source.database, "the query gives no row");
  throw noInputEver(source.pattern ?? source.folder!, await whatLiesThere(source));
}

/** What there is in the place of input files. */
export async function whatLiesThere(source: FileSource): Promise<string> {
  const folder = source.folder ?? splitPattern(source.pattern!).folder;
  const names = await readdir(folder).catch(() => null);
  const [first] = names?.sort() ?? [];
  const others =
    first === undefined ? "is empty" : `has ${counted(names!.length, "other name")}, such as ${first}`;
  return `${folder} ${names === null ? "is not there" : others}`;
}

/** Stands for the digest of a path that is skipped because it is no regular file. */
export const NO_FILE = "no regular file";

/** The stamp of a file or of a link to one, or why the path cannot be read as a file; null for a path that has vanished. */
export async function lookAt(path: string): Promise<FileStamp | string | null> {
  const status = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (status instanceof Error) {
    if (status.code !== "ENOENT") return `cannot be looked at (${status.code})`;
    const isLink = (await lstat(path).catch(() => null))?.isSymbolicLink() === true;
    return isLink ? "is a link to a file that is not there" : null;
  }
  if (status.isFile()) return { path, bytes: status.size, modifiedMs: status.mtimeMs };
  if (status.isDirectory()) return "is a folder";
  if (status.isFIFO()) return "is a pipe";
  return status.isSocket() ? "is a socket" : "is a device";
}

/** Paths of the pattern, except below dot folders that only its wildcards match. */
async function filesOfPattern(pattern: string): Promise<string[]> {
  const { folder, rest } = splitPattern(pattern);
  const paths = await Array.fromAsync(glob(pattern));
  if (rest === "") return paths;
  return paths.filter(
    (path) =>
      !relative(folder, path)
        .split(sep)
        .some((part) => part.startsWith(".")),
  );
}

function isInput(name: string): boolean {
  return READABLE.test(name) && !UNFINISHED.test(name);
}

export async function stampOf(path: string): Promise<FileStamp> {
  const { size, mtimeMs } = await stat(path);
  return { path, bytes: size, modifiedMs: mtimeMs };
}

export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs;
}

/** Size, time and digest of a file; null if it changes while it is read. */
export async function identify(path: string): Promise<FileIdentity | null> {
  const before = await stampOf(path);
  const sha256 = await digestOfFile(path);
  return isSameStamp(before, await stampOf(path)) ? { ...before, sha256 } : null;
}

/** Whether a file, whose reading has failed, is still being written. */
export async function isUnfinished(before: FileStamp): Promise<boolean> {
  return await expectUnchanged(before).then(
    () => false,
    () => true,
  );
}

/** @throws DataError E365 if the file has changed. */
export async function expectUnchanged(before: FileStamp): Promise<void> {
  if (!isSameStamp(before, await stampOf(before.path))) throw changesWhileRead(before.path);
}

export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
