import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

/** The habits of the project, held by a test: each failure says what to do. */

const root = join(import.meta.dirname, "..");

/**
 * Rooms in the order of the data. A room imports itself and rooms above it only, so that a change is felt downstream
 * alone. `src/*.ts` are single-file rooms.
 */
const ROOMS = [
  "src/errors.ts",
  "src/limits.ts",
  "src/panel.ts",
  "src/steps.ts",
  "src/exact",
  "src/elementary",
  "src/text",
  "src/files",
  "src/operator",
  "src/rolling",
  "operators",
  "grammar",
  "src/ast",
  "src/dag",
  "src/plan",
  "src/kernel",
  "src/schedule",
  "src/checkpoint",
  "src/execution",
  "src/data",
  "src/compile.ts",
  "src/call_params.ts",
  "src/state",
  "src/evaluation",
  "src/options",
  "src/reasons",
  "src/live",
  "src/cluster",
  "src/difference",
  "src/metrics",
  "src/engine.ts",
  "src/jobs",
  "src/index.ts",
  "src/kernel_builders.ts",
  "src/verify",
  "src/bench",
  "src/pages",
  "src/cli",
];

/** Packages that only one room may import, except for their types: everything else stays free of them. */
const OWNERS: Readonly<Record<string, string>> = {
  chevrotain: "grammar",
  "apache-arrow": "src/data",
  "@duckdb/node-api": "src/data",
  piscina: "src/execution",
  "heap-js": "src/schedule",
  "env-paths": "src/evaluation",
  fflate: "src/cluster",
  commander: "src/cli",
  ora: "src/cli",
  croner: "src/jobs",
  pino: "src/jobs",
  "prom-client": "src/metrics",
  yaml: "src/jobs",
  "@dagrejs/dagre": "src/pages",
};

const sources = ["src", "grammar", "operators"].flatMap((folder) => filesBelow(folder, ".ts"));
const python = filesBelow("src", ".py");
const all = [
  ...sources,
  ...["test", "bench", "docs", "examples"].flatMap((folder) => filesBelow(folder, ".ts")),
];

function filesBelow(folder: string, extension: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const read = (file: string) => readFileSync(join(root, file), "utf8");

function importsOf(file: string, of: "value" | "all" = "all"): string[] {
  const text = of === "all" ? read(file) : read(file).replaceAll(/^import type [^;]*;/gm, "");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] as string);
}

/** The files that a file imports. */
function targetsOf(file: string): string[] {
  return importsOf(file)
    .filter((target) => target.startsWith("."))
    .map((target) => relative(root, join(root, dirname(file), target)));
}

/** The files beside it that a file of Python imports, by whatever way. */
function pythonTargetsOf(file: string): string[] {
  const names = [...read(file).matchAll(/^\s*(?:from\s+\.?(\w+)\s+import\b|import\s+(.+))/gm)];
  return names
    .flatMap(([, from, list = ""]) => from ?? list.split(",").map((name) => name.trim().split(" ")[0]!))
    .map((name) => join(dirname(file), `${name}.py`));
}

/** What leads back to itself, in the order in which it was found; each circle once. */
function circles(all: readonly string[], next: (one: string) => readonly string[]): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (one: string, path: readonly string[]) => {
    if (path.includes(one)) found.push([...path.slice(path.indexOf(one)), one].join(" -> "));
    if (done.has(one) || path.includes(one)) return;
    for (const target of next(one)) if (all.includes(target)) visit(target, [...path, one]);
    done.add(one);
  };
  for (const one of all) visit(one, []);
  return found;
}

function subRoomsOf(room: string): string[] {
  return readdirSync(join(root, room), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function roomOf(file: string): string | undefined {
  return ROOMS.find((room) => file === room || file.startsWith(`${room}/`));
}

describe("rooms", () => {
  test("every source file belongs to a room", () => {
    expect(
      sources.filter((file) => !roomOf(file)),
      "add the room to ROOMS and to ARCHITECTURE.md",
    ).toEqual([]);
  });

  test("a room imports earlier rooms only", () => {
    const wrong = sources.flatMap((file) =>
      targetsOf(file)
        .filter((target) => ROOMS.indexOf(roomOf(target) ?? "") > ROOMS.indexOf(roomOf(file) ?? ""))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong, "move what is shared to an earlier room").toEqual([]);
  });

  test("no two files import each other, by whatever way, types included", () => {
    expect(
      circles(sources, (file) => targetsOf(file)),
      "move what both need to a file of its own",
    ).toEqual([]);
    expect(circles(python, pythonTargetsOf), "move what both need to an earlier file").toEqual([]);
  });

  test("no two sub-rooms of a room import each other", () => {
    // Files that lie in the room itself count one by one: they may stand above some of its sub-rooms and below others.
    const subRoom = (file: string) => (file.split("/").length > 3 ? dirname(file) : file);
    const imports = Map.groupBy(sources, subRoom);
    const subRooms = [...imports.keys()];
    const below = (room: string) =>
      imports
        .get(room)!
        .flatMap(targetsOf)
        .map(subRoom)
        .filter((target) => target !== room);
    expect(circles(subRooms, below), "move what both need to a sub-room of its own").toEqual([]);
  });

  test("a package is imported by the room that owns it alone", () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file, "value")
        .filter((target) => OWNERS[target] !== undefined && OWNERS[target] !== roomOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong, "go through the room that owns the package").toEqual([]);
  });

  test("the scheduler is pure", () => {
    const outside = filesBelow("src/schedule", ".ts").flatMap((file) =>
      importsOf(file)
        .filter((target) => !["heap-js", "../plan/weights.ts"].includes(target) && !target.startsWith("./"))
        .map((target) => `${file} imports ${target}`),
    );
    expect(
      outside,
      "src/schedule takes events and gives instructions; it knows no thread and no clock",
    ).toEqual([]);
    const clocks = filesBelow("src/schedule", ".ts").filter((file) =>
      /Date\.|performance\.|Math\.random/.test(read(file)),
    );
    expect(clocks, "the scheduler must not look at a clock or at chance").toEqual([]);
  });

  test("one place writes to the terminal", () => {
    // `main.ts` stands before anything is loaded; executors of a cluster write frames.
    const writers = [
      "src/cli/terminal/terminal.ts",
      "src/cli/main.ts",
      "src/cluster/executor/executor_process.ts",
    ];
    const others = sources.filter((file) => !writers.includes(file));
    const wrong = others.filter((file) => /process\.std(out|err)\.write|^\s*console\./m.test(read(file)));
    expect(wrong, "print through src/cli/terminal/terminal.ts").toEqual([]);
  });

  test("the table of ARCHITECTURE.md has every room in their order, with its sub-rooms", () => {
    const rows = read("ARCHITECTURE.md").matchAll(/^\| (`[^|]+) \| (.+) \|$/gm);
    const described = [...rows].flatMap(([, names = "", text = ""]) =>
      [...names.matchAll(/`((?:src\/|operators|grammar)[^`]*)`/g)].map(([, name = ""]) => ({ name, text })),
    );
    const isFolder = (room: string) => !room.endsWith(".ts");
    expect(described.map(({ name }) => name).toSorted()).toEqual(ROOMS.toSorted());
    expect(described.map(({ name }) => name).filter(isFolder)).toEqual(ROOMS.filter(isFolder));
    const missing = described
      .filter(({ name }) => isFolder(name) && name !== "operators")
      .flatMap(({ name, text }) =>
        subRoomsOf(name)
          .filter((sub) => !text.includes(`\`${sub}/\``))
          .map((sub) => `${name}/${sub}`),
      );
    expect(missing, "describe the sub-room in the row of its room").toEqual([]);
  });
});

describe("files", () => {
  test("names are snake_case and say what is inside", () => {
    const wrong = all.filter(
      (file) =>
        !/^[a-z0-9_.]+$/.test(file.split("/").at(-1) as string) || /util|helper|misc|common/.test(file),
    );
    expect(wrong, "name the file after what it does").toEqual([]);
  });

  test("a folder has at most 18 files", () => {
    const folders = Map.groupBy(
      all.filter((file) => !/^test\/kernel\//.test(file)),
      (file) => dirname(file),
    );
    const full = [...folders].filter(([, files]) => files.length > 18).map(([folder]) => folder);
    expect(full, "divide the folder by meaning").toEqual([]);
  });

  test("source files stay under 400 lines", () => {
    const long = [...sources, ...python].filter((file) => read(file).split("\n").length > 400);
    expect(long, "split the file, or its room").toEqual([]);
  });

  test("no test is skipped or singled out, nothing is promised in a comment", () => {
    const banned = /\.(?:skip|only|todo)\(|\b(?:TODO|FIXME|XXX)\b/;
    const wrong = all.filter((file) => file !== "test/tidy.test.ts" && banned.test(read(file)));
    expect(wrong, "finish it or leave it out").toEqual([]);
  });

  test("formula text never reaches the JavaScript compiler", () => {
    // The exceptions compile functions of the caller's own operators for executor threads, and two questions to V8.
    const exceptions = [
      "src/operator/transfer.ts",
      "src/kernel/compile/compile_optimised.ts",
      "src/execution/watch/garbage.ts",
    ];
    const others = sources.filter((file) => !exceptions.includes(file));
    const wrong = others.filter((file) => /\beval\(|new Function\(|node:vm/.test(read(file)));
    expect(wrong, "generate kernels from typed nodes, never code from text").toEqual([]);
  });
});
