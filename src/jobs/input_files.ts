/** The files of a source: which there are, and which bytes they have. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { glob, readdir, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { DataError } from "../errors.ts";
import type { FileSource } from "./config.ts";
import { changesWhileRead } from "./errors.ts";
import type { ConsumedInput } from "./records.ts";

export type FileIdentity = Pick<ConsumedInput, "path" | "bytes" | "modifiedMs" | "sha256">;
export type FileStamp = Pick<ConsumedInput, "path" | "bytes" | "modifiedMs">;

const READABLE = /\.(csv|tsv|csv\.gz|tsv\.gz|parquet|arrow|feather|ipc)$/i;
/** Files under way: they count once they are renamed. */
const UNFINISHED = /^\.|\.(tmp|part)$/i;

/** The files that count, in the order of their names (by code units). */
export async function listInputFiles(source: FileSource): Promise<string[]> {
  const found =
    source.pattern === undefined
      ? await readdir(source.folder!).then((names) => names.map((name) => join(source.folder!, name)))
      : await filesOfPattern(source.pattern);
  const named = found.filter((path) => isInput(basename(path))).sort((a, b) => (a < b ? -1 : 1));
  const areOthers = await Promise.all(named.map(isNoFile));
  return named.filter((_, index) => !areOthers[index]);
}

/** True for a folder or a pipe, which can never be read; what cannot be looked at is told of when it is opened. */
async function isNoFile(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  return status !== null && !status.isFile();
}

/** Those of the pattern, without those in a folder with a dot that the pattern does not name. */
async function filesOfPattern(pattern: string): Promise<string[]> {
  const parts = pattern.split(sep);
  const named = parts.findIndex((part) => /[*?[\]{}()!+@]/.test(part));
  const paths = await Array.fromAsync(glob(pattern));
  return paths.filter(
    (path) =>
      named < 0 ||
      !path
        .split(sep)
        .slice(named)
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

/** Size, time and digest of one and the same content; null if it changes meanwhile. */
export async function identify(path: string): Promise<FileIdentity | null> {
  const before = await stampOf(path);
  const sha256 = await digestOfFile(path);
  return isSameStamp(before, await stampOf(path)) ? { ...before, sha256 } : null;
}

/** True if reading a file failed because it is still being written, whatever its reader made of it. */
export async function isUnfinished(before: FileStamp, error: unknown): Promise<boolean> {
  if (!(error instanceof DataError)) return false;
  return await expectUnchanged(before).then(
    () => false,
    () => true,
  );
}

/** @throws DataError E365 if the file is not what it was. */
export async function expectUnchanged(before: FileStamp): Promise<void> {
  if (!isSameStamp(before, await stampOf(before.path))) throw changesWhileRead(before.path);
}

export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
