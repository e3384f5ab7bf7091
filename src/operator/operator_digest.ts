/** Identifies the code of operators: state that one version has made is useless to another. */
import { createHash, type Hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { reachedFrom } from "../files/imports.ts";
import type { Operator } from "./definition.ts";

const ofModules = new Map<string, string>();
const ofOperators = new WeakMap<Operator, string>();

/**
 * The SHA-256 of an operator of the user, in hexadecimal digits: its facts, the source text of its functions and, where
 * it names its module, that file with all that it imports by relative paths, and the versions of the packages that these
 * import. The location of the files does not matter. Cached after the first call.
 *
 * @throws Error of the file system if the module cannot be read.
 */
export function operatorDigest(operator: Operator): string {
  const known = ofOperators.get(operator);
  if (known !== undefined) return known;
  const { module, ...definition } = { ...operator, nullWhere: undefined }; // it explains results, it makes none
  const hash = createHash("sha256").update(JSON.stringify(definition, asText));
  if (module !== undefined) hash.update(moduleDigest(module));
  const digest = hash.digest("hex");
  ofOperators.set(operator, digest);
  return digest;
}

/**
 * The SHA-256 of a module and of all that it imports by relative paths. Cached after the first call, as
 * a thread keeps what it has imported even if the files change.
 *
 * @throws as `operatorDigest`.
 */
export function moduleDigest(module: string): string {
  const known = ofModules.get(module);
  if (known !== undefined) return known;
  const digest = addModules(createHash("sha256"), [fileURLToPath(module)]);
  ofModules.set(module, digest);
  return digest;
}

/** JSON knows no functions and no infinities, and -0 would become 0. */
function asText(_key: string, value: unknown): unknown {
  if (typeof value === "function") return `function ${value}`;
  return typeof value === "number" ? `number ${Object.is(value, -0) ? "-0" : value}` : value;
}

/** Adds the modules, with what they import and the versions of their packages. */
function addModules(hash: Hash, entries: Iterable<string>): string {
  const { modules, packages } = reachedFrom(entries);
  for (const bytes of modules.values()) hash.update(`\n${bytes.length}\n`).update(bytes);
  for (const [name, manifest] of packages) hash.update(`${name} ${versionOf(manifest)}\n`);
  return hash.digest("hex");
}

function versionOf(manifest: string): unknown {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: unknown }).version;
}
