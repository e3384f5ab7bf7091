/** Identifies the code of operators: state that one version has made is useless to another. */
import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ReadFile, reachedFrom } from "../files/imports.ts";
import type { Operator } from "./definition.ts";

/** The folder above `src` and `operators`: the package itself, or its `dist`. */
const TREE = fileURLToPath(new URL("../..", import.meta.url));
/** Of the build, or of the sources: whichever is running. */
const EXTENSION = import.meta.url.slice(-3);
/**
 * Where the code that computes results begins: operators, what compiles and runs kernels, what executors run. All that
 * these import belongs to it. All other code only decides what is computed when, and plans record that.
 */
const ROOTS = { folders: ["operators", "src/kernel"], module: "src/execution/part_runner" };

let ofEngine: string | null = null;
const ofModules = new Map<string, string>();
const ofOperators = new WeakMap<Operator, string>();

/**
 * The SHA-256 of the modules of this engine that compute its results, in hexadecimal digits. Read once a process, in about
 * 10 ms. Call it when an engine starts, before an update can replace the files.
 *
 * @example engineDigest() // "5f0c…", until that code changes
 */
export function engineDigest(): string {
  ofEngine ??= treeDigest(TREE, EXTENSION);
  return ofEngine;
}

/** `engineDigest` of the package, or the build, in a folder. */
export function treeDigest(tree: string, extension: string, read?: ReadFile): string {
  const inFolders = ROOTS.folders.flatMap((folder) =>
    readdirSync(join(tree, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(extension) && !name.endsWith(`.d${extension}`))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
  );
  const names = [...inFolders.sort(), ROOTS.module + extension];
  const hash = createHash("sha256").update(names.join("\n"));
  return addModules(
    hash,
    names.map((name) => join(tree, name)),
    read,
  );
}

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
function addModules(hash: Hash, entries: Iterable<string>, read?: ReadFile): string {
  const { modules, packages } = reachedFrom(entries, read);
  for (const bytes of modules.values()) hash.update(`\n${bytes.length}\n`).update(bytes);
  for (const [name, manifest] of packages) hash.update(`${name} ${versionOf(manifest)}\n`);
  return hash.digest("hex");
}

function versionOf(manifest: string): unknown {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: unknown }).version;
}
