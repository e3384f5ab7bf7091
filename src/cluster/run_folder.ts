import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "../data/is_alive.ts";
import { storeFailed } from "./errors.ts";

/** Says who uses a folder; touched while it does. */
const OWNER_FILE = "owner.json";
const TOUCH_MS = 5_000;
/** An owner that has not touched its file for so long is gone. */
const STALE_MS = 30_000;

interface Owner {
  readonly host: string;
  readonly pid: number;
}

/**
 * The folder of a run in a tile store. Its name is made of what the run computes, so that a run that was broken off is
 * taken up where it stopped: what lies there is used again. Two runs of the same at a time have a folder each.
 */
export class RunFolder {
  readonly path: string;
  readonly #touching: NodeJS.Timeout;

  /** @throws ResourceError E609 if the store cannot be written. */
  static async open(store: string, id: string): Promise<RunFolder> {
    for (let copy = 1; ; copy++) {
      const path = join(store, copy === 1 ? `factorloom-${id}` : `factorloom-${id}-${copy}`);
      try {
        await mkdir(path, { recursive: true });
        if (await claim(join(path, OWNER_FILE))) return new RunFolder(path);
      } catch (error) {
        throw storeFailed(path, (error as Error).message);
      }
    }
  }

  private constructor(path: string) {
    this.path = path;
    const owner = join(path, OWNER_FILE);
    this.#touching = setInterval(() => {
      const now = new Date();
      utimes(owner, now, now).catch(() => {});
    }, TOUCH_MS).unref();
  }

  /** Takes away all tiles, so that everything is computed anew. */
  async clear(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 });
    await mkdir(this.path, { recursive: true });
    await writeFile(join(this.path, OWNER_FILE), ownerText());
  }

  /** Leaves the folder to others; `remove` takes it away. */
  async release(remove: boolean): Promise<void> {
    clearInterval(this.#touching);
    // Executors that are being stopped may still write: what they leave is not worth a failure.
    if (remove) await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    else {
      await removeParts(this.path);
      await rm(join(this.path, OWNER_FILE), { force: true });
    }
  }
}

/** Takes away what executors that were killed had begun to write: of no use to others, and maybe large. */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const parts = names.filter((name) => name.endsWith(".tmp"));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

const ownerText = () => JSON.stringify({ host: hostname(), pid: process.pid } satisfies Owner);

/** True if the folder is ours from now on. */
async function claim(file: string): Promise<boolean> {
  try {
    await writeFile(file, ownerText(), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      // Where there is no room the file is there, and empty: it would keep the folder from everybody for a while.
      await rm(file, { force: true }).catch(() => {});
      throw error;
    }
  }
  if (!(await isAbandoned(file))) return false;
  await rm(file, { force: true });
  return await claim(file);
}

async function isAbandoned(file: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(file);
    if (Date.now() - mtimeMs > STALE_MS) return true;
    const { host, pid } = JSON.parse(await readFile(file, "utf8")) as Owner;
    return host === hostname() && !isAlive(pid);
  } catch {
    // It is being taken away, or written.
    return false;
  }
}
