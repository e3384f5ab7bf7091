import { readdirSync, readFileSync, statSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { reachedFrom } from "../../files/imports.ts";

/** A file of a bundle. */
export interface BundledFile {
  /** Its path in the bundle, with `/` between folders. */
  readonly path: string;
  readonly source: string;
}

/** Extensions of files that Node loads; the bundle has no others. */
const LOADED = new Set([".js", ".cjs", ".mjs", ".json", ".node", ".so", ".dylib", ".dll", ".wasm"]);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** `.js` in the build, `.ts` in the sources. */
const extension = import.meta.url.slice(-3);
const manifest = findPackageJSON(import.meta.url)!;
const root = dirname(manifest);
/** The folder above `src` and `operators`: the package itself, or its `dist`. */
const tree = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * The files that a module of this package needs on another host: the modules that it imports, all operators, which are
 * found by reading their folders, and all packages that these depend on. Native packages are those of this machine.
 *
 * @param entry Path of the module below the root of sources, without extension.
 * @returns The files, by path, and the path of the entry.
 */
export function bundledFiles(entry: string): { files: BundledFile[]; entry: string } {
  const main = join(tree, entry) + extension;
  const operators = filesBelow(join(tree, "operators")).filter((file) => file.endsWith(extension));
  const { modules, packages } = reachedFrom([main, ...operators]);
  const pathOf = (file: string) => relative(root, file).replaceAll("\\", "/");
  const files = [manifest, ...modules.keys()].map((source) => ({ path: pathOf(source), source }));
  for (const [path, folder] of placePackages(packages.keys())) {
    for (const source of filesBelow(folder)) {
      if (!isLoaded(source)) continue;
      files.push({ path: `${path}/${relative(folder, source).replaceAll("\\", "/")}`, source });
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, entry: pathOf(main) };
}

/** `@scope/name` or `name` of an import. */
function packageOf(target: string): string {
  return target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
}

/**
 * Folders of packages by their path in the bundle: side by side, a second version below the package that depends on it.
 */
function placePackages(imports: Iterable<string>): Map<string, string> {
  const placed = new Map<string, string>();
  const waiting = Array.from(new Set(Array.from(imports, packageOf)), (name) => {
    return { name, place: "", from: manifest, isOptional: false };
  });
  for (const { name, place, from, isOptional } of waiting) {
    const found = findPackage(name, from, isOptional);
    if (found === null) continue;
    const folder = dirname(found);
    const shared = `node_modules/${name}`;
    const path = (placed.get(shared) ?? folder) === folder ? shared : `${place}/node_modules/${name}`;
    if (placed.has(path)) continue;
    placed.set(path, folder);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(found, "utf8"),
    ) as Manifest;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const mayLack = next in optionalDependencies;
      if (!next.startsWith("@types/"))
        waiting.push({ name: next, place: path, from: found, isOptional: mayLack });
    }
  }
  return placed;
}

/** Null if the package is optional and not installed, such as those for other systems. */
function findPackage(name: string, from: string, isOptional: boolean): string | null {
  try {
    return findPackageJSON(name, from) ?? null;
  } catch (error) {
    if (isOptional) return null;
    throw error;
  }
}

function isLoaded(file: string): boolean {
  return LOADED.has(extname(file)) || /\.so(\.\d+)+$/.test(file);
}

/** All files except nested `node_modules`, whose packages are found by name. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === "node_modules") return [];
    // Some package managers install links.
    const isFolder = entry.isSymbolicLink() ? statSync(path).isDirectory() : entry.isDirectory();
    return isFolder ? filesBelow(path) : [path];
  });
}
