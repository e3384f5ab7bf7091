/** Identifies the code of operators: state that one version has made is useless to another. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, findPackageJSON, isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
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

/** What a module imports by value; strings that only look like it do no harm. */
const IMPORTED = /\b(?:from|import|require)\s*\(?\s*["'`]([^"'`\n]+)["'`]/g;
/** Imports of types alone, which the build and Node erase. */
const TYPE_IMPORTED =
  /^(?:import|export)\s+type\s+(?:\{[^}]*\}|\w+|\*(?:\s+as\s+\w+)?)\s+from\s*["'][^"'\n]+["']/gm;

type ReadFile = (path: string) => Buffer;

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
export function treeDigest(tree: string, extension: string, read: ReadFile = readFileSync): string {
  const inFolders = ROOTS.folders.flatMap((folder) =>
    readdirSync(join(tree, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(extension) && !name.endsWith(`.d${extension}`))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
  );
  const names = [...inFolders.sort(), ROOTS.module + extension];
  const hash = createHash("sha256").update(names.join("\n"));
  const entries = names.map((name) => join(tree, name));
  for (const part of moduleParts(entries, read)) hash.update(part);
  return hash.digest("hex");
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
  const hash = createHash("sha256");
  for (const part of moduleParts([fileURLToPath(module)])) hash.update(part);
  const digest = hash.digest("hex");
  ofModules.set(module, digest);
  return digest;
}

/** JSON knows no functions and no infinities, and -0 would become 0. */
function asText(_key: string, value: unknown): unknown {
  if (typeof value === "function") return `function ${value}`;
  return typeof value === "number" ? `number ${Object.is(value, -0) ? "-0" : value}` : value;
}

/** The modules, then what they import, in the order in which imports are found. */
function* moduleParts(entries: Iterable<string>, read: ReadFile = readFileSync): Generator<string | Buffer> {
  const files = new Set(entries);
  const packages = new Set<string>();
  // Iterating over a set includes what is added meanwhile.
  for (const file of files) {
    const bytes = read(file);
    yield `\n${bytes.length}\n`;
    yield bytes;
    for (const [, target] of bytes.toString().replace(TYPE_IMPORTED, "").matchAll(IMPORTED)) {
      if (isBuiltin(target!)) continue;
      if (!/^[.#]/.test(target!)) packages.add(`${target} ${versionOf(packageOf(target!, file))}`);
      else {
        const found = fileOf(target!.replace(/\?.*$/, ""), file, files);
        if (found !== null) files.add(found);
      }
    }
  }
  yield [...packages].join("\n");
}

/** Null for a target without a file: it is not an import, or one that fails. */
function fileOf(target: string, importer: string, known: ReadonlySet<string>): string | null {
  const path = resolve(dirname(importer), target);
  if (known.has(path)) return path;
  // Quick for a whole path. The resolver of modules also knows `#names`, and paths without an extension.
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return realpathSync.native(path);
  try {
    return createRequire(importer).resolve(target);
  } catch {
    return null;
  }
}

/** Undefined for what is no package. */
function packageOf(target: string, importer: string): string | undefined {
  try {
    return findPackageJSON(target, importer);
  } catch {
    return undefined;
  }
}

function versionOf(manifest: string | undefined): string {
  if (manifest === undefined) return "";
  return String((JSON.parse(readFileSync(manifest, "utf8")) as { version?: unknown }).version);
}
