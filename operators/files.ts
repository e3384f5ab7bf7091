import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { InternalError } from "../src/errors.ts";
import type { Operator } from "../src/operator/definition.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const extension = import.meta.url.slice(-3);
const require = createRequire(import.meta.url);

/**
 * The file of every built-in operator, by its name: each file in a folder beside this one exports its definition as
 * `operator`. The folders are read, not listed by hand, so that a new file is a new operator with no other edit.
 */
const paths: ReadonlyMap<string, string> = new Map(
  readdirSync(here, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => name.endsWith(extension) && relative(here, parentPath) !== "")
    .map(({ name, parentPath }) => [basename(name, extension), join(parentPath, name)]),
);

/**
 * Loads built-in operators, all of them by default. Executors load those of their plans only: all take a thread 0.1 s
 * and 5 MiB more. Loaded synchronously: a module graph with a top-level await could not be required by executors, which
 * load modules of users' operators inside their loop.
 */
export function loadOperators(names: Iterable<string> = paths.keys()): Operator[] {
  return Array.from(names, (name) => {
    const path = paths.get(name);
    if (path === undefined) throw new InternalError(`no built-in operator ${name}`);
    return (require(path) as { operator: Operator }).operator;
  });
}
