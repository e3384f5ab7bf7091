/** Whether an output would replace or join what it is made from, by whatever way its path leads there. */
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { outputAmongInputs, outputHolds, outputOverwrites } from "./errors.ts";
import { outputTarget } from "./output_target.ts";

/**
 * Checks that a file, or a folder of files, can be written to the path without a loss of the inputs: it is none of them,
 * lies in no folder of them and, being a folder, holds none. Files and folders are compared by device and inode, so that
 * links of both kinds, `..` and mounts lead to the same answer.
 *
 * @param option how the user names the output, e.g. `--out`
 * @param inputs paths of files and of folders, which stand for all files below; what is missing is nothing
 * @throws UsageError E514.
 */
export async function checkOutputSpares(
  option: string,
  path: string,
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const [target, ...parents] = await placesOf(outputTarget(path));
  const folders = new Set(parents);
  if (target !== undefined) folders.add(target);
  for (const input of inputs) {
    if (input === undefined) continue;
    // Behind a link `..` leads elsewhere for the system than by the text of the path; inputs are opened in either way.
    const byText = resolve(input);
    for (const read of new Set([byText, await realpath(input).catch(() => byText)])) {
      const places = await placesOf(await realpath(read).catch(() => read));
      if (target !== undefined && places.slice(1).includes(target)) throw outputHolds(option, path, input);
      for await (const { place, isFolder } of entriesOf(read, new Set())) {
        if (isFolder && folders.has(place)) throw outputAmongInputs(option, path, input);
        if (place === target) throw outputOverwrites(option, path, input);
      }
    }
  }
}

/** Device and inode of the path, undefined if it is not there yet, and of the folders above that are. */
async function placesOf(path: string): Promise<(string | undefined)[]> {
  const places = [await placeOf(path)];
  const above = await realpath(await nearestFolder(path));
  for (let folder = above; ; folder = dirname(folder)) {
    places.push(await placeOf(folder));
    if (folder === dirname(folder)) return places;
  }
}

/** The first folder above the path that is there. */
async function nearestFolder(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path || (await placeOf(folder)) !== undefined) return folder;
  return await nearestFolder(folder);
}

async function placeOf(path: string): Promise<string | undefined> {
  const status = await stat(path, { bigint: true }).catch(() => null);
  return status === null ? undefined : `${status.dev}:${status.ino}`;
}

/** The file, or the folder with all that is below it; links are followed, each folder is visited once. */
async function* entriesOf(
  path: string,
  visited: Set<string>,
): AsyncGenerator<{ readonly place: string; readonly isFolder: boolean }> {
  const status = await stat(path, { bigint: true }).catch(() => null);
  if (status === null) return;
  const place = `${status.dev}:${status.ino}`;
  const isFolder = status.isDirectory();
  yield { place, isFolder };
  if (!isFolder || visited.has(place)) return;
  visited.add(place);
  for (const name of await readdir(path).catch(() => [])) yield* entriesOf(join(path, name), visited);
}
