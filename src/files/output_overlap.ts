/** Checks that an output does not replace inputs, whatever path leads to them. */
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { outputAmongInputs, outputHolds, outputOverwrites } from "./errors.ts";
import { realPath } from "./real_path.ts";

/**
 * Checks that a file, or a folder of files, can be written to the path without loss of inputs: it is not an input, not in a
 * folder of inputs, and not a folder with an input. Compares files and folders by device and inode, so that links of both
 * kinds, `..` and mounts make no difference.
 *
 * @param option how the user names the output, e.g. `--out`
 * @param inputs paths of files and of folders with all their files; missing ones are ignored
 * @throws UsageError E514.
 */
export async function checkOutputSpares(
  option: string,
  path: string,
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const [target, ...parents] = await placesOf(path);
  const folders = new Set(parents);
  if (target !== undefined) folders.add(target);
  for (const input of inputs) {
    if (input === undefined) continue;
    // `..` after a link has another target for the system than in the text of the path; inputs are opened in both ways.
    const byText = resolve(input);
    for (const read of new Set([byText, await realpath(input).catch(() => byText)])) {
      const [, ...above] = await placesOf(read);
      if (target !== undefined && above.includes(target)) throw outputHolds(option, path, input);
      for await (const { place, isFolder } of entriesOf(read, new Set())) {
        if (isFolder && folders.has(place)) throw outputAmongInputs(option, path, input);
        if (place === target) throw outputOverwrites(option, path, input);
      }
    }
  }
}

/** Device and inode of the path, then of its parent folders; undefined for what is missing. */
async function placesOf(path: string): Promise<(string | undefined)[]> {
  const places: (string | undefined)[] = [];
  for (let at = realPath(path); ; at = dirname(at)) {
    places.push(await placeOf(at));
    if (at === dirname(at)) return places;
  }
}

async function placeOf(path: string): Promise<string | undefined> {
  const status = await stat(path, { bigint: true }).catch(() => null);
  return status === null ? undefined : `${status.dev}:${status.ino}`;
}

/** The file, or the folder and everything in it; follows links, and visits each folder once. */
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
