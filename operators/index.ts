import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Operator } from "../src/operator/definition.ts";
import { Registry } from "../src/operator/registry.ts";

const ROOMS = ["elementwise", "rolling", "recursive", "cross_section", "group", "technical"] as const;
const extension = import.meta.url.slice(-3);

/**
 * Every built-in operator. The folders are read, not listed by hand, so that a new file is a new operator with
 * no other edit; each file exports its definition as `operator`.
 */
async function discoverOperators(): Promise<Operator[]> {
  const urls = ROOMS.flatMap((room) => {
    const folder = new URL(`./${room}/`, import.meta.url);
    const files = readdirSync(fileURLToPath(folder)).filter((file) => file.endsWith(extension));
    return files.sort().map((file) => new URL(file, folder).href);
  });
  const modules = await Promise.all(urls.map((url) => import(url) as Promise<{ operator: Operator }>));
  return modules.map((module) => module.operator);
}

/** The registry of all built-in operators. */
export const builtInRegistry = new Registry(await discoverOperators());
