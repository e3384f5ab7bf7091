/** Files that are there after a loss of power: written, synced, renamed, their folder synced. */
import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { FactorloomError } from "../../errors.ts";
import { storageFails } from "../errors.ts";

/** Brings what was written to a file to the disk. */
export async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.sync();
}

/** Brings the names in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/** Creates a folder with those above it; the name of each new one is on the disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === resolve(first)) return;
  }
}

/** Writes a file so that it is there whole or not at all. */
export async function writeDurably(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const temporary = `${path}.tmp`;
  {
    await using handle = await open(temporary, "w");
    for (const part of parts) await writeAll(handle, part);
    await handle.sync();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, Math.min(bytes.length - done, 2 ** 30))).bytesWritten;
  }
}

/** Runs work on files of ours; what the system refuses becomes E452. */
export async function storing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FactorloomError || !(error instanceof Error && "syscall" in error)) throw error;
    throw storageFails(path, error);
  }
}
