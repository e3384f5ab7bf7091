import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { treeDigest } from "../../src/operator/operator_digest.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const ROOT = join(import.meta.dirname, "../..");

const filesBelow = (tree: string, folder: string, extension: string): string[] =>
  readdirSync(join(tree, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension) && !name.endsWith(`.d${extension}`))
    .map((name) => join(folder, name));

/** What Node itself loads with these modules, as paths in the tree. */
function loadedWith(tree: string, modules: readonly string[]): string[] {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    for (const module of ${JSON.stringify(modules.map((module) => join(tree, module)))}) await import(module);
    console.log(JSON.stringify(loaded.filter((url) => url.startsWith("file:")).map((url) => new URL(url).pathname)));`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return [...new Set((JSON.parse(out) as string[]).map((path) => relative(tree, path)))];
}

describe.each([
  ["the sources", ROOT, ".ts"],
  ["the build", join(ROOT, "dist"), ".js"],
])("the digest of %s", (_name, tree, extension) => {
  const kernel = filesBelow(tree, "src/kernel", extension);
  const roots = [
    ...filesBelow(tree, "operators", extension),
    ...kernel,
    `src/execution/part_runner${extension}`,
  ];
  const reached = loadedWith(tree, roots);
  const digest = (changed?: string, at = 0) =>
    treeDigest(tree, extension, (path) => {
      const bytes = readFileSync(path);
      if (changed === relative(tree, path)) bytes[at % bytes.length]! ^= 1;
      return bytes;
    });

  test("changes with any byte of any file that computes results", () => {
    const read: string[] = [];
    treeDigest(tree, extension, (path) => {
      read.push(relative(tree, path));
      return readFileSync(path);
    });
    expect(read.sort()).toEqual(reached.toSorted());
    expect(reached).toContain(`src/rolling/sums${extension}`);
    const { seed, below } = new Seeded();
    const usual = digest();
    for (let trial = 0; trial < trials(20, 400); trial += 1) {
      const [file, at] = [reached[below(reached.length)]!, below(2 ** 31)];
      expect(digest(file, at), `${file} at ${at}, SEED=${seed}`).not.toBe(usual);
    }
  });

  test("does not change with other code", () => {
    const others = ["src/cli", "src/jobs", "src/data", "src/schedule"].flatMap((folder) =>
      filesBelow(tree, folder, extension),
    );
    const { seed, below } = new Seeded();
    const usual = digest();
    for (let trial = 0; trial < trials(5, 100); trial += 1) {
      const file = others[below(others.length)]!;
      expect(digest(file, below(2 ** 31)), `${file}, SEED=${seed}`).toBe(usual);
    }
  });
});
