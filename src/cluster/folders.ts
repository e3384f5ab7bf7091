/**
 * Folders, made one by one: Node's own recursive `mkdir` never returns where none can be made below one that is there, as
 * in /proc.
 */
import { mkdirSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { storeFailed, storeMissing } from "./errors.ts";

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** Makes the folder, and those above it that are missing. @throws the system's error. */
export async function makeFolders(path: string): Promise<void> {
  const missing: string[] = [];
  let parent = path;
  for (; !(await isFolder(parent)); parent = dirname(parent)) missing.push(parent);
  for (const folder of missing.reverse()) await makeFolder(folder);
}

/** Makes one folder, unless it is there. @throws the system's error. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch(async (error) => {
    if (error.code !== "EEXIST" || !(await isFolder(path))) throw error;
  });
}

/** As `makeFolder`, for executors. */
export function makeFolderSync(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Checks that the store is there, or makes it. @throws UsageError E630; ResourceError E609 if it cannot be made. */
export async function openStore(path: string, isMade: boolean): Promise<void> {
  if (await isFolder(path)) return;
  if (!isMade) throw storeMissing(path, await nearestFolder(path));
  await makeFolders(path).catch((error) => {
    throw storeFailed(path, error.message);
  });
}

async function nearestFolder(path: string): Promise<string> {
  let folder = dirname(path);
  while (!(await isFolder(folder))) folder = dirname(folder);
  return folder;
}
