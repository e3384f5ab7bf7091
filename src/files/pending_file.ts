/** Output that is never visible before it is complete. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive } from "./is_alive.ts";
import { outputTarget } from "./output_target.ts";
import { writing } from "./writing.ts";

/** A file that gets its name when it is complete. */
export interface PendingFile {
  /** Where to write it: in the folder of the file that the path stands for. */
  readonly temporaryPath: string;
  /** Gives the file its name. @throws ResourceError E442. */
  commit(): Promise<void>;
  /** Removes it; a file that had its name before is as it was. */
  abort(): Promise<void>;
}

/** Of the machine: folders may be shared, and processes of another one are not seen here. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

/**
 * Behind the name of the output: the machine and the process that write it, and what tells its files apart. Who writes
 * a file may put pieces of it beside it, with something more behind that.
 */
const TAIL = /^(?<host>[0-9a-f]{8})-(?<pid>\d+)\.[0-9a-f]{12}\.tmp(\.\w+)?$/;

/**
 * Begins a file for the path. What processes that were killed had begun for the same path is removed first. Should one
 * that lives be taken for dead (in another container of the same host name), it fails with E442; no path leads to half
 * a file.
 */
export async function pendingFile(path: string): Promise<PendingFile> {
  const target = outputTarget(path);
  const folder = dirname(target);
  const head = `.${basename(target)}.`;
  await removeStale(folder, head);
  const temporaryPath = join(folder, `${head}${HOST}-${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
  return {
    temporaryPath,
    commit: () => writing(path, () => rename(temporaryPath, target)),
    // What is told is why the file was given up.
    abort: () => rm(temporaryPath, { force: true }).catch(() => {}),
  };
}

/** Removes what nobody will complete, as far as that can be done. */
async function removeStale(folder: string, head: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const stale = names.filter((name) => name.startsWith(head) && isStale(name.slice(head.length)));
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

function isStale(tail: string): boolean {
  const { host, pid } = TAIL.exec(tail)?.groups ?? {};
  return host === HOST && !isAlive(Number(pid));
}
