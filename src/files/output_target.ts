import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** More symbolic links than this form a cycle. */
const LINKS_MAX = 32;

/** The file of a path after symbolic links, also if that file does not exist yet. */
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
