/** Output files that are not visible before they are complete. */
import { hash, randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive } from "./is_alive.ts";
import { outputTarget } from "./output_target.ts";
import { writeFully } from "./write_fully.ts";

export interface PendingFile {
  /** Where to write the file: in the folder of its target. */
  readonly temporaryPath: string;
  /** Renames the file to its name. @throws the system's error. */
  commit(): Promise<void>;
  /** Removes the file; an earlier one of its name stays unchanged. */
  abort(): Promise<void>;
}

/** A digest of the host's name: folders may be shared, and processes of other hosts are not visible here. */
const HOST = hash("sha256", hostname()).slice(0, 8);

/** Follows the name of the output in the temporary name: host, process, and a random part. */
const TAIL = /^(?<host>[0-9a-f]{8})-(?<pid>\d+)\.[0-9a-f]{12}\.tmp$/;

/**
 * Begins a file for the path, after removing unfinished files of killed processes. If a running process in another container
 * of the same host name is taken for killed, it fails with E442; no path leads to half a file.
 */
export async function pendingFile(path: string): Promise<PendingFile> {
  const target = outputTarget(path);
  const folder = dirname(target);
  const head = `.${basename(target)}.`;
  await removeStale(folder, head);
  const temporaryPath = join(folder, `${head}${HOST}-${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
  return {
    temporaryPath,
    commit: () => rename(temporaryPath, target),
    // The reason for the abort is reported, not this failure.
    abort: () => rm(temporaryPath, { force: true }).catch(() => {}),
  };
}

/** Writes a whole file, which is synced before it gets its name. @throws the system's error; no unfinished file is left. */
export async function replaceFile(path: string, ...parts: readonly (Uint8Array | string)[]): Promise<void> {
  const bytes = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  await replaceFileBy(path, async (handle) => await writeFully(handle, bytes));
}

/** The same for a file whose bytes come one after the other. @throws also what `write` throws. */
export async function replaceFileBy(
  path: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await pendingFile(path);
  try {
    {
      await using handle = await open(file.temporaryPath, "w");
      await write(handle);
      await handle.sync();
    }
    await file.commit();
  } catch (error) {
    await file.abort();
    throw error;
  }
}

/** Removes unfinished files of processes that have ended, if that is possible. */
async function removeStale(folder: string, head: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const stale = names.filter((name) => name.startsWith(head) && isStale(name.slice(head.length)));
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

function isStale(tail: string): boolean {
  const { host, pid } = TAIL.exec(tail)?.groups ?? {};
  return host === HOST && !isAlive(Number(pid));
}
