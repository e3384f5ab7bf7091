/** Identifies the code of operators: state that one version has made is useless to another. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Operator } from "./definition.ts";

/** The folder above `src` and `operators`: the package itself, or its `dist`. */
const TREE = fileURLToPath(new URL("../..", import.meta.url));
/** Of the build, or of the sources: whichever is running. */
const EXTENSION = import.meta.url.slice(-3);
/** The code that computes results. All other code only decides what is computed when, and plans record that. */
const FOLDERS = ["operators", "src/elementary", "src/exact", "src/kernel", "src/operator"];

/** What a module imports, by value or by type; strings that only look like it do no harm. */
const IMPORTED = /\b(?:from|import|require)\s*\(?\s*["'`]([^"'`\n]+)["'`]/g;

let ofEngine: string | null = null;
const ofModules = new Map<string, string>();
const ofOperators = new WeakMap<Operator, string>();

/**
 * The SHA-256 of this engine's version and of the modules that compute its results, in hexadecimal digits. Read once a
 * process, in about 10 ms. Call it when an engine starts, before an update can replace the files.
 *
 * @example engineDigest() // "5f0c…", until the package changes
 */
export function engineDigest(): string {
  ofEngine ??= digestOfEngine();
  return ofEngine;
}

function digestOfEngine(): string {
  const hash = createHash("sha256").update(versionOf(findPackageJSON(import.meta.url)));
  for (const folder of FOLDERS) {
    const names = readdirSync(join(TREE, folder), { recursive: true, encoding: "utf8" });
    for (const name of names.filter(isModule).sort()) {
      hash.update(`\n${folder}/${name.replaceAll("\\", "/")}\n`);
      hash.update(readFileSync(join(TREE, folder, name)));
    }
  }
  return hash.digest("hex");
}

function isModule(name: string): boolean {
  return name.endsWith(EXTENSION) && !name.endsWith(`.d${EXTENSION}`);
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
  for (const part of moduleParts(fileURLToPath(module))) hash.update(part);
  const digest = hash.digest("hex");
  ofModules.set(module, digest);
  return digest;
}

/** JSON knows no functions and no infinities, and -0 would become 0. */
function asText(_key: string, value: unknown): unknown {
  if (typeof value === "function") return `function ${value}`;
  return typeof value === "number" ? `number ${Object.is(value, -0) ? "-0" : value}` : value;
}

/** The module, then what it imports, in the order in which imports are found. */
function* moduleParts(entry: string): Generator<string | Buffer> {
  const files = new Set([entry]);
  const packages = new Set<string>();
  // Iterating over a set includes what is added meanwhile.
  for (const file of files) {
    const bytes = readFileSync(file);
    yield `\n${bytes.length}\n`;
    yield bytes;
    for (const [, target] of bytes.toString().matchAll(IMPORTED)) {
      if (!/^[.#]/.test(target!)) packages.add(`${target} ${versionOf(packageOf(target!, file))}`);
      else {
        const found = fileOf(target!, file);
        if (found !== null) files.add(found);
      }
    }
  }
  yield [...packages].join("\n");
}

/** Null for a target without a file: it is not an import, or one that fails. */
function fileOf(target: string, importer: string): string | null {
  try {
    return createRequire(importer).resolve(target.replace(/\?.*$/, ""));
  } catch {
    return null;
  }
}

/** Undefined for Node's own modules. */
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
