/**
 * Names in folders, and new folders, created one by one: Node's recursive `mkdir` never returns where folders cannot be created, as in /proc.
 */
import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** Creates the folder and its missing parents, and gives the topmost of them, if any. @throws the system's error. */
export async function makeFolders(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  let parent = path;
  for (; !(await isFolder(parent)); parent = dirname(parent)) missing.push(parent);
  for (const folder of missing.reverse()) await makeFolder(folder);
  return missing[0];
}

/** Creates one folder unless it exists. @throws the system's error. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch(async (error) => {
    if (error.code !== "EEXIST" || !(await isFolder(path))) throw error;
  });
}

/** Names in a folder, with `recursive` also below it; none if it does not exist. @throws the system's error. */
export async function namesIn(
  folder: string,
  options: { readonly recursive?: boolean } = {},
): Promise<string[]> {
  return await readdir(folder, options).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}
