import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Operator } from "../src/operator/definition.ts";
import { Registry } from "../src/operator/registry.ts";

const ROOMS = ["elementwise", "rolling", "recursive", "cross_section", "group", "technical"] as const;
const extension = import.meta.url.slice(-3);

/**
 * Every built-in operator. The folders are read, not listed by hand, so that a new file is a new operator with
 * no other edit; each file exports its definition as `operator`. Loaded synchronously: a module graph with a
 * top-level await could not be required by executors, which load modules of users' operators inside their loop.
 */
function discoverOperators(): Operator[] {
  const require = createRequire(import.meta.url);
  return ROOMS.flatMap((room) => {
    const folder = fileURLToPath(new URL(`./${room}/`, import.meta.url));
    const files = readdirSync(folder).filter((file) => file.endsWith(extension));
    return files.sort().map((file) => (require(`${folder}${file}`) as { operator: Operator }).operator);
  });
}

/** The registry of all built-in operators. */
export const builtInRegistry = new Registry(discoverOperators());
