import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../files/is_alive.ts";
import { folderNotShared } from "../protocol/errors.ts";

/** Names the owner of the folder, who touches it regularly. Readers of datasets skip names that start with `_`. */
export const CLAIM_FILE = "_owner.json";
const TOUCH_MS = 5_000;
/** An owner that has not touched its file for longer is gone. */
const STALE_MS = 30_000;

interface Owner {
  /** The host, and the namespace in which the process has this id. */
  readonly host: string;
  readonly pid: number;
  readonly token: string;
}

/** The claim of one client to a folder. By its token workers check that they see the same folder, still claimed. */
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

  /** False if another client considered the folder abandoned and took it. */
  async isOurs(): Promise<boolean> {
    return tokenIn(await readFile(this.#file, "utf8").catch(() => "")) === this.#token;
  }

  /** Gives up the folder, if it is still claimed by this client. */
  async release(): Promise<void> {
    clearInterval(this.#touching);
    if (!(await this.isOurs())) return;
    // If the file cannot be removed, the claim expires.
    await rm(this.#file, { force: true }).catch(() => {});
  }
}

/** @throws UsageError E614 if this host does not see the folder as the client that claimed it does. */
export function checkClaim(folder: string, token: string): void {
  let text: string;
  try {
    text = readFileSync(join(folder, CLAIM_FILE), "utf8");
  } catch (error) {
    throw folderNotShared(folder, (error as Error).message);
  }
  if (tokenIn(text) !== token) throw folderNotShared(folder, "it sees the claim of another run");
}

/** False if the file exists. */
async function create(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // On a full disk the file exists and is empty: it would block the folder until it expires.
    await rm(file, { force: true }).catch(() => {});
    throw error;
  }
}

/**
 * Removes the file of an owner that is gone; false if there is none. If another client has removed that file first and
 * created its own, puts that one back.
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
    // The file is being removed or written.
    return null;
  }
}

/** Containers of one host may share its name but not its processes. */
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
