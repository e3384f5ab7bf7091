/**
 * The lock of a folder of journals: a file that names its process. A process is known by its id and by when it started,
 * so that another one that has come by the id of one that was killed is not taken for it.
 *
 * A stale lock is not taken away, for two could do so one after the other, and the second take the first one's new lock.
 * It gets a successor, a file named by what the stale one says, which only one can create. The newest of these files
 * is the lock. Who has created one looks again: one that is the successor of what is no longer the lock is not at the
 * end, and has lost. The winner moves its own over the first.
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isAlive } from "../data/is_alive.ts";
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
      const { holder, files, next } = await follow(path);
      if ((holder !== null && (await lives(holder))) || attempt >= ATTEMPTS_MAX)
        throw journalLocked(folder, holder?.pid ?? 0);
      if (!(await create(next, own))) continue;
      if ((await follow(path)).holder?.token === own.token) {
        if (next !== path) await rename(next, path);
        for (const file of files.slice(1)) await rm(file, { force: true });
        return new JournalLock(path, own.token);
      }
      await rm(next, { force: true });
    }
  }

  private constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
  }

  async release(): Promise<void> {
    if ((await follow(this.#path)).holder?.token === this.#token) await rm(this.#path, { force: true });
  }
}

/** The process that runs the jobs of a folder; null if none does. */
export async function lockHolder(folder: string): Promise<number | null> {
  const { holder } = await follow(join(folder, NAME));
  return holder !== null && (await lives(holder)) ? holder.pid : null;
}

interface Line {
  /** Who is named by the last file; null if there is none, or it is damaged. */
  readonly holder: Holder | null;
  /** The lock, and its successors in order. */
  readonly files: readonly string[];
  /** The file that the next process creates. */
  readonly next: string;
}

async function follow(path: string): Promise<Line> {
  const files: string[] = [];
  let holder: Holder | null = null;
  for (let next = path; ; ) {
    const text = await readFile(next, "utf8").catch(() => null);
    if (text === null) return { holder, files, next };
    files.push(next);
    holder = parseHolder(text);
    // With its place in the line: what a loss of power leaves empty is not told apart by its text.
    next = `${path}.${createHash("sha256").update(`${files.length} ${text}`).digest("hex")}`;
  }
}

/** Creates a file with all its content at once; false if there is one. */
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

function parseHolder(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

/** Ids are given again: it is the holder only if it started when the holder did. */
async function lives({ pid, startedAt }: Holder): Promise<boolean> {
  return isAlive(pid) && (await startOf(pid)) === startedAt;
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
