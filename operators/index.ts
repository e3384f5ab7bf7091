import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Operator } from "../src/operator/definition.ts";
import { Registry } from "../src/operator/registry.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const extension = import.meta.url.slice(-3);

/**
 * Every built-in operator: each file in a folder beside this one exports its definition as `operator`. The folders are
 * read, not listed by hand, so that a new file is a new operator with no other edit. Loaded synchronously: a module
 * graph with a top-level await could not be required by executors, which load modules of users' operators inside their
 * loop.
 */
function discoverOperators(): Operator[] {
  const require = createRequire(import.meta.url);
  const entries = readdirSync(here, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name, parentPath }) => name.endsWith(extension) && relative(here, parentPath) !== "")
    .map(({ name, parentPath }) => (require(join(parentPath, name)) as { operator: Operator }).operator);
}

/** The registry of all built-in operators. */
export const builtInRegistry = new Registry(discoverOperators());
