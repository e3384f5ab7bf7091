import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { generatedPages } from "../../docs/generate.ts";

const pages = await generatedPages();
const root = join(import.meta.dirname, "../..");

test("generated pages are current (npm run docs)", () => {
  for (const [path, text] of pages) expect(readFileSync(join(root, "docs", path), "utf8"), path).toBe(text);
});

test("no picture is left over from a rule that is gone", () => {
  const pictures = readdirSync(join(root, "docs/railroad")).map((file) => `railroad/${file}`);
  expect(pictures.filter((path) => !pages.has(path))).toEqual([]);
});

test("every link of the documents leads to a file", () => {
  for (const document of [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "docs/user_operators.md",
    "docs/many_calls.md",
    "docs/run.md",
    "docs/live.md",
    "docs/errors.md",
  ]) {
    const links = [...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:)([^)#]+)\)/g)];
    for (const [, target] of links)
      expect(existsSync(join(root, dirname(document), target as string)), `${document}: ${target}`).toBe(
        true,
      );
  }
});

test.each([
  ["README.md", "27208 rows, date, symbol, spread\n"],
  ["docs/user_operators.md", "121855 rows of y\n"],
  [
    "docs/many_calls.md",
    `${"27208 rows, date, symbol, shock, smooth\n".repeat(3)}18 instead of 30 operator applications\n`,
  ],
  [
    "docs/live.md",
    "symbol: AAPL IBM MSFT\nclosing: 4 0 1\nclosing: 2 0 1\n" +
      "mean on_time, ranked on_time, closing on_time\n",
  ],
])("the library example of %s runs and prints what it says", (document, printed) => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, document), "utf8")) ?? [];
  // Inside the project, because it imports the package by its name.
  const folder = mkdtempSync(join(root, "test/docs/example-"));
  try {
    writeFileSync(join(folder, "example.ts"), code as string);
    const { stdout, stderr } = spawnSync("node", [join(folder, "example.ts")], {
      cwd: root,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout).toBe(printed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
