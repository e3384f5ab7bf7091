/** Files that survive a loss of power: written, synced, renamed, their folder synced. */
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { makeFolders } from "./folders.ts";

/** Flushes the content of a file to the disk. */
export async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.sync();
}

/** Flushes the names in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/** Creates a folder and its parents durably. */
export async function makeDurableFolder(path: string): Promise<void> {
  const first = await makeFolders(path);
  if (first === undefined) return;
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === resolve(first)) return;
  }
}
