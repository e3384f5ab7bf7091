import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../files/is_alive.ts";
import { folderNotShared } from "../protocol/errors.ts";

/** Says whose folder it is; touched while it is used. Readers of datasets pass over names that start with `_`. */
export const CLAIM_FILE = "_owner.json";
const TOUCH_MS = 5_000;
/** An owner that has not touched its file for so long is gone. */
const STALE_MS = 30_000;

interface Owner {
  /** Where the process has this id. */
  readonly host: string;
  readonly pid: number;
  readonly token: string;
}

/** A folder that one client at a time uses. Its token tells workers that they see the same folder, and that it is still ours. */
export class FolderClaim {
  readonly #file: string;
  readonly #token: string;
  readonly #touching: NodeJS.Timeout;

  /** Null if another client has the folder. @throws the system's error if it cannot be written. */
  static async take(folder: string, token: string): Promise<FolderClaim | null> {
    const file = join(folder, CLAIM_FILE);
    const text = JSON.stringify({ host: pidScope(), pid: process.pid, token } satisfies Owner);
    while (!(await create(file, text))) if (!(await removeAbandoned(file))) return null;
    return new FolderClaim(file, token);
  }

  private constructor(file: string, token: string) {
    this.#file = file;
    this.#token = token;
    this.#touching = setInterval(() => {
      const now = new Date();
      utimes(file, now, now).catch(() => {});
    }, TOUCH_MS).unref();
  }

  /** False if another client has taken the folder for abandoned. */
  async isOurs(): Promise<boolean> {
    return tokenIn(await readFile(this.#file, "utf8").catch(() => "")) === this.#token;
  }

  /** Leaves the folder to others; `work` is done before, if it is still ours. */
  async release(work: () => Promise<void> = async () => {}): Promise<void> {
    clearInterval(this.#touching);
    if (!(await this.isOurs())) return;
    await work();
    // Where nothing can be written any more it goes out of date.
    await rm(this.#file, { force: true }).catch(() => {});
  }
}

/** Whether a client that is alive has the folder, or is about to have it. */
export async function isClaimed(folder: string): Promise<boolean> {
  const file = join(folder, CLAIM_FILE);
  const isThere = (await stat(file).catch(() => null)) !== null;
  return isThere && (await readAbandoned(file)) === null;
}

/** @throws UsageError E614 if this host does not see the folder as the client that claimed it does. */
export function checkClaim(folder: string, token: string): void {
  let text: string;
  try {
    text = readFileSync(join(folder, CLAIM_FILE), "utf8");
  } catch (error) {
    throw folderNotShared(folder, (error as Error).message);
  }
  if (tokenIn(text) !== token) throw folderNotShared(folder, "what it sees there is another run's");
}

/** False if there is one. */
async function create(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // Where there is no room the file is there, and empty: it would keep the folder from everybody for a while.
    await rm(file, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Takes the file of an owner that is gone away; false if there is none such. Another client that saw the same may have
 * made its own meanwhile: that one is put back.
 */
async function removeAbandoned(file: string): Promise<boolean> {
  const seen = await readAbandoned(file);
  if (seen === null) return false;
  const aside = `${file}.${randomUUID()}.tmp`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
  if ((await readFile(aside, "utf8")) !== seen) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

async function readAbandoned(file: string): Promise<string | null> {
  try {
    const text = await readFile(file, "utf8");
    const { mtimeMs } = await stat(file);
    if (Date.now() - mtimeMs > STALE_MS) return text;
    const { host, pid } = JSON.parse(text) as Owner;
    return host === pidScope() && !isAlive(pid) ? text : null;
  } catch {
    // It is being taken away, or written.
    return null;
  }
}

/** Containers of one host may share its name and not its processes. */
function pidScope(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function tokenIn(text: string): unknown {
  try {
    return (JSON.parse(text) as Partial<Owner>).token;
  } catch {
    return undefined;
  }
}
