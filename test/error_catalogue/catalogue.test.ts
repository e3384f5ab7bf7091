import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ERROR_CATALOGUE, entryOf } from "../../src/error_catalogue/catalogue.ts";

const root = join(import.meta.dirname, "../..");

/** A code as it stands in the code of the project. */
interface Use {
  readonly code: string;
  readonly file: string;
}

/** Files that name codes which they do not throw by themselves, and why. */
const NAMED_ONLY: Readonly<Record<string, string>> = {
  "src/bench/budget/cell_process.ts": "carries E900 from one process to another",
  "src/cluster/client/cluster_run.ts": "names what a run recovers from",
  "src/cluster/results/dataset_part.ts": "gives what the writer of a part throws the name of the worker",
  "src/cluster/executor/fault.ts": "carries E900 from a worker to the client",
};

const files = ["src", "grammar", "operators", "bench"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|py)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith("src/error_catalogue/")),
);
const read = (file: string) => readFileSync(join(root, file), "utf8");
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

const uses: readonly Use[] = files.flatMap((file) =>
  [...withoutComments(read(file)).matchAll(/["'`]([ES]\d{3})["'` ]/g)].map((match) => ({
    code: match[1] as string,
    file,
  })),
);
const isPython = ({ file }: Use) => file.endsWith(".py");
/** Where codes are given to what is thrown or found; workers in Python name those of `src/cluster/protocol/errors.ts`. */
const places = uses.filter((use) => !isPython(use) && !isNamedOnly(use));

function isNamedOnly({ code, file }: Use): boolean {
  if (NAMED_ONLY[file] === undefined) return false;
  return uses.some(
    (other) => other.code === code && other.file !== file && NAMED_ONLY[other.file] === undefined,
  );
}

describe("the catalogue of errors", () => {
  test("has every code that the project names, and no other", () => {
    const named = [...new Set(uses.map(({ code }) => code))].sort();
    expect(
      ERROR_CATALOGUE.map(({ code }) => code),
      "a code belongs into src/error_catalogue",
    ).toEqual(named);
  });

  test("each code is thrown or found in one place, which is what one meaning is", () => {
    const counts = new Map<string, string[]>();
    for (const { code, file } of places) counts.set(code, [...(counts.get(code) ?? []), file]);
    const several = [...counts].filter(([, where]) => where.length > 1);
    expect(several, "give each meaning its own code, or one function to what means the same").toEqual([]);
  });

  test("no file is listed as naming codes that names none", () => {
    const naming = new Set(uses.map(({ file }) => file));
    expect(Object.keys(NAMED_ONLY).filter((file) => !naming.has(file))).toEqual([]);
  });

  test("the class is that of what is thrown", () => {
    const classes = { DataError: "data", UsageError: "usage", ResourceError: "resource" } as const;
    const found = files.flatMap((file) =>
      [...read(file).matchAll(/new (DataError|UsageError|ResourceError)\(\s*"(E\d{3})"/g)].map(
        ([, name, code]) => [code, classes[name as keyof typeof classes]] as const,
      ),
    );
    expect(found.length).toBeGreaterThan(120);
    for (const [code, kind] of found) expect(entryOf(code as string)?.class, code).toBe(kind);
  });

  test("titles are short and differ; every text is a sentence", () => {
    const titles = ERROR_CATALOGUE.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const { code, title, happened, toDo } of ERROR_CATALOGUE) {
      expect(title, code).toMatch(/^[A-Z].{5,70}[^.]$/);
      for (const text of [happened, toDo]) expect(text, code).toMatch(/^[A-Za-z-].*\.$/);
    }
  });

  test("codes are found in any case", () => {
    expect(entryOf("e362")).toBe(entryOf("E362"));
    expect(entryOf("E999")).toBeUndefined();
  });
});

test("ARCHITECTURE.md says which rooms throw what", () => {
  const rooms = new Map<string, Set<string>>();
  for (const { code, file } of places) {
    const room = file.startsWith("src/")
      ? file.split("/").slice(0, 2).join("/")
      : (file.split("/")[0] as string);
    const class_ = `${code.slice(0, 2)}xx`;
    rooms.set(class_, (rooms.get(class_) ?? new Set()).add(room));
  }
  const expected = [...rooms]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([class_, named]) =>
        `  - ${class_}: ${[...named]
          .sort()
          .map((room) => `\`${room}\``)
          .join(", ")}`,
    );
  const stated = read("ARCHITECTURE.md").match(/^ {2}- [ES]\dxx: .*$/gm);
  expect(stated, 'put these lines below "an error message"').toEqual(expected);
});
