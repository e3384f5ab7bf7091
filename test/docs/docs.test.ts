import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { generatedPages } from "../../docs/generate.ts";

const pages = await generatedPages();
const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test("generated pages are current (npm run docs)", () => {
  for (const [path, text] of pages) expect(readFileSync(join(root, "docs", path), "utf8"), path).toBe(text);
});

test("no picture is left over from a rule that is gone", () => {
  const pictures = readdirSync(join(root, "docs/railroad")).map((file) => `railroad/${file}`);
  expect(pictures.filter((path) => !pages.has(path))).toEqual([]);
});

/** Every document that people read, below the project's root. */
const documents = [
  "",
  "docs",
  "docs/decisions",
  "bench",
  "examples",
  "examples/data",
  "examples/service",
].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file)),
);

test.each(documents)("every link of %s leads to a file, and to a heading of it", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  for (const [, path, anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
    const target = path === "" ? join(root, document) : join(root, dirname(document), path!);
    expect(existsSync(target), `${document}: ${path}`).toBe(true);
    if (anchor) expect(anchorsOf(readFileSync(target, "utf8")), `${document}: ${path}`).toContain(anchor);
  }
});

test.each(documents)("the files and commands that %s names are there", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const codes = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  const blocks = [...text.matchAll(/^```.*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split("\n"));
  const words = codes.flatMap((code) => code.split(" "));
  const isPath = /^(?:src|operators|grammar|test|docs|bench|examples|\.ci)\/[\w./-]*$/;
  const paths = words.filter((word) => isPath.test(word) && !/NAME|ROOM/.test(word));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const commands = /^(?:eval|check|explain|ops|bench|verify|why|nulls|diff|run|status|repair|cluster|help)$/;
  const named = [...codes, ...blocks].flatMap((code) => {
    const command = /^(?:\$ )?(?:npx )?factorloom ([a-z]+) /.exec(`${code} `)?.[1];
    return command === undefined ? [] : [command];
  });
  expect(named.filter((command) => !commands.test(command))).toEqual([]);
  const scripts = [...text.matchAll(/`npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!);
  expect(scripts.filter((script) => manifest.scripts[script] === undefined)).toEqual([]);
});

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Runs code beside this package, which it imports by its name; returns what each run prints. */
function printed(code: string, cwd: string | null, runCount: number): string[] {
  // Where no test lists files.
  mkdirSync(join(root, "results"), { recursive: true });
  const folder = mkdtempSync(join(root, "results/example-"));
  try {
    const path = join(folder, "example.ts");
    writeFileSync(path, code);
    return Array.from({ length: runCount }, () => {
      const { stdout, stderr } = spawnSync("node", [path], { cwd: cwd ?? folder, encoding: "utf8" });
      expect(stderr).toBe("");
      return stdout;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the service of docs/api.md refuses what comes twice, and goes on from its checkpoint", () => {
  const [service] = [
    ...readFileSync(join(root, "docs/api.md"), "utf8").matchAll(/```ts\n(import [\s\S]*?)```/g),
  ];
  const [first, again] = printed(service![1]!, null, 2);
  const best = (symbol: string) => `best ${symbol}, all factors in time\n`;
  expect(first).toBe(`${best("B")}${best("A")}refused: E371\n${best("A")}`);
  expect(again).toBe("refused: E371\n".repeat(4));
});

test.each([
  ["README.md", "A 0.82 0.8947368421052632\nAAL 0.05 0.1\nAAP 0.41 0.5555555555555556\n"],
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
])("the library example of %s runs and prints what it says", (document, text) => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, document), "utf8")) ?? [];
  expect(printed(code!, root, 1)).toEqual([text]);
});
