import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { outputTarget } from "./output_target.ts";

/** The path without symbolic links, also if it does not exist yet. */
export function realPath(path: string): string {
  const target = outputTarget(path);
  try {
    return realpathSync(target);
  } catch {
    const parent = dirname(target);
    return parent === target ? target : join(realPath(parent), basename(target));
  }
}
