/** What code is made of: the files that modules reach by imports of values, found in their text. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, findPackageJSON, isBuiltin } from "node:module";
import { dirname, resolve } from "node:path";

/** What a module imports by value, or runs on a thread (`siblingModule`); strings that only look like it do no harm. */
const IMPORTED = /\b(?:from|import|require|runLoop|siblingModule)\s*\(?\s*["'`]([^"'`\n]+)["'`]/g;
/** Imports of types alone, which the build and Node erase. */
const TYPE_IMPORTED =
  /^(?:import|export)\s+type\s+(?:\{[^}]*\}|\w+|\*(?:\s+as\s+\w+)?)\s+from\s*["'][^"'\n]+["']/gm;

export interface Reached {
  /** The modules by path with their bytes, in the order in which imports are found. */
  readonly modules: ReadonlyMap<string, Buffer>;
  /** What they import of packages that are installed, with the path of the package's manifest. */
  readonly packages: ReadonlyMap<string, string>;
}

/**
 * Some modules and all that they import by relative paths.
 *
 * @throws Error of the file system if one of the entries cannot be read.
 */
export function reachedFrom(entries: Iterable<string>): Reached {
  const files = new Set(entries);
  const modules = new Map<string, Buffer>();
  const packages = new Map<string, string>();
  // Iterating over a set includes what is added meanwhile.
  for (const file of files) {
    const bytes = readFileSync(file);
    modules.set(file, bytes);
    for (const [, target] of bytes.toString().replace(TYPE_IMPORTED, "").matchAll(IMPORTED)) {
      if (isBuiltin(target!)) continue;
      const isPackage = !/^[.#]/.test(target!);
      const found = isPackage ? packageOf(target!, file) : fileOf(target!.replace(/\?.*$/, ""), file, files);
      if (found === undefined) continue;
      if (isPackage) packages.set(target!, found);
      else files.add(found);
    }
  }
  return { modules, packages };
}

/** Undefined for a target without a file: it is not an import, or one that fails. */
function fileOf(target: string, importer: string, known: ReadonlySet<string>): string | undefined {
  const path = resolve(dirname(importer), target);
  if (known.has(path)) return path;
  // Quick for a whole path. The resolver of modules also knows `#names`, and paths without an extension.
  for (const file of [path, path + importer.slice(-3)])
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return realpathSync.native(file);
  try {
    return createRequire(importer).resolve(target);
  } catch {
    return undefined;
  }
}

/** The manifest of a package; undefined for what is no package. */
function packageOf(target: string, importer: string): string | undefined {
  try {
    return findPackageJSON(target, importer);
  } catch {
    return undefined;
  }
}
