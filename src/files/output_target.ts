import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Symbolic links are followed so far; what has more goes round in circles. */
const LINKS_MAX = 32;

/** The file that a path stands for: symbolic links are followed, also to a file that is not there yet. */
export function outputTarget(path: string): string {
  let target = resolve(path);
  for (let links = 0; links < LINKS_MAX; links++) {
    try {
      target = resolve(realpathSync(dirname(target)), readlinkSync(target));
    } catch {
      break;
    }
  }
  return target;
}
