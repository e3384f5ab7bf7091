/**
 * The lock of a folder of journals: a file that names its process. A process is known by its id and by when it started,
 * so that another one that has come by the id of one that was killed is not taken for it.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "./durable.ts";
import { journalLocked } from "./errors.ts";

interface Holder {
  readonly pid: number;
  readonly startedAt: string;
  readonly token: string;
}

/** Names of jobs, whose folders lie beside it, do not start with a dot. */
const NAME = ".lock";
const ATTEMPTS_MAX = 10;

export class JournalLock {
  readonly #path: string;
  readonly #token: string;

  /** @throws ResourceError E450 if a living process holds the lock. */
  static async take(folder: string): Promise<JournalLock> {
    await makeFolder(folder);
    const path = join(folder, NAME);
    const own = { pid: process.pid, startedAt: await startOf(process.pid), token: randomUUID() };
    for (let attempt = 0; ; attempt += 1) {
      if (await create(path, own)) return new JournalLock(path, own.token);
      const holder = await readHolder(path);
      if (holder !== null && (await isAlive(holder))) throw journalLocked(folder, holder.pid);
      if (attempt >= ATTEMPTS_MAX) throw journalLocked(folder, holder?.pid ?? 0);
      await removeStale(path, holder);
    }
  }

  private constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
  }

  async release(): Promise<void> {
    if ((await readHolder(this.#path))?.token === this.#token) await rm(this.#path, { force: true });
  }
}

/** The process that runs the jobs of a folder; null if none does. */
export async function lockHolder(folder: string): Promise<number | null> {
  const holder = await readHolder(join(folder, NAME));
  return holder !== null && (await isAlive(holder)) ? holder.pid : null;
}

/** Creates the lock with all its content at once; false if there is one. */
async function create(path: string, holder: Holder): Promise<boolean> {
  const draft = `${path}.${holder.token}`;
  await writeFile(draft, JSON.stringify(holder));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Takes a stale lock away, and puts it back if it was another one's by then. */
async function removeStale(path: string, stale: Holder | null): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  const hasMoved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!hasMoved) return;
  const moved = await readHolder(aside);
  if (moved !== null && moved.token !== stale?.token) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Holder;
  } catch {
    return null;
  }
}

async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return (await startOf(pid)) === startedAt;
}

/** When a process started, in whatever words the system has for it; empty if it does not say, or there is none. */
async function startOf(pid: number): Promise<string> {
  if (process.platform === "linux") {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // The name of the program, in parentheses, may hold blanks: counted from behind it, the start is the 20th word.
    const words = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // A killed process that its parent has not yet taken note of holds nothing any more.
    return words[0] === "Z" ? "" : (words[19] ?? "");
  }
  const list = promisify(execFile);
  return await list("ps", ["-o", "lstart=", "-p", String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
}
