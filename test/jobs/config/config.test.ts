import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../../../src/jobs/config/config_text.ts";
import { parseDuration } from "../../../src/jobs/config/duration.ts";
import { readRunConfig } from "../../../src/jobs/config/read_config.ts";
import { fileFolder } from "../../support/file_folder.ts";

const root = fileFolder();

async function mistakesOf(text: string): Promise<string> {
  const file = join(root, "jobs.yaml");
  writeFileSync(file, text);
  return await readRunConfig(file).then(
    () => "",
    (error) => {
      if (!(error instanceof ConfigError)) throw error;
      return error.message.replaceAll(root, "<folder>");
    },
  );
}

test("every mistake is reported at once, with its position", async () => {
  const golden = join(import.meta.dirname, "wrong_jobs.golden.txt");
  const reported = `${await mistakesOf(readFileSync(join(import.meta.dirname, "wrong_jobs.yaml"), "utf8"))}\n`;
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(golden, reported);
  expect(reported).toBe(readFileSync(golden, "utf8"));
});

const JOB = `formulas: a.factors, source: { folder: b }, schedule: { cron: "0 5 * * *" }`;

test.each([
  ["a: [1", "E530 <folder>/jobs.yaml:1:6: this is not YAML"],
  ["a: 1\na: 2", "E530 <folder>/jobs.yaml:2:1: this is not YAML"],
  ["a: 1\n---\nb: 2", "E530 <folder>/jobs.yaml:2:1: a second document begins"],
  ["", "expected keys with values, got nothing"],
  [
    'journal: ""\njobs: []',
    'journal: expected a text, got ""\n  | journal: ""\n  |          ^^ it must not be empty',
  ],
  ["jobs: []\njournal: j", "jobs: no job in this list"],
  [
    `journal: j\njobs:\n  - { name: a, sink: { arrow: o }, ${JOB} }\n  - { name: a, sink: { arrow: p }, ${JOB} }`,
    "a second job is called a",
  ],
  [
    `journal: j\njobs:\n  - { name: a, sink: { arrow: o }, ${JOB} }\n  - { name: b, sink: { arrow: o }, ${JOB} }`,
    "its sink is that of job a",
  ],
  [
    `journal: j\njobs:\n  - { name: a, sink: { arrow: o }, ${JOB}, windows: { cross_session: false } }`,
    "windows is no key any more",
  ],
  [
    `journal: j\nengine: { hang: true }\njobs:\n  - { name: a, sink: { arrow: o }, ${JOB} }`,
    "true says no limit",
  ],
])("%j", async (text, message) => {
  expect(await mistakesOf(text)).toContain(message);
});

test.each<[what: string, jobs: readonly string[], mistakes: readonly string[]]>([
  ["without a name", ["sink: { arrow: o }", "sink: { arrow: p }"], ["name is missing", "name is missing"]],
  ["without a sink", ["name: a", "name: b"], ["sink is missing", "sink is missing"]],
  [
    "with an empty sink",
    ["name: a, sink: {}", "name: b, sink: {}"],
    ["a sink is one of", "a sink is one of"],
  ],
  [
    "with half a sink",
    ["name: a, sink: { duckdb: { table: t } }", "name: b, sink: { duckdb: { table: t } }"],
    ["database is missing", "database is missing"],
  ],
  [
    "without a name, and its sink again",
    ["sink: { arrow: o }", "name: b, sink: { arrow: o }"],
    ["name is missing", "its sink is that of job jobs[0]"],
  ],
])("two jobs %s: the mistake itself is reported, and nothing that follows from it", async (_, jobs, mistakes) => {
  const reported = await mistakesOf(
    `journal: j\njobs:\n${jobs.map((job) => `  - { ${job}, ${JOB} }\n`).join("")}`,
  );
  const lines = reported.split("\n").filter((line) => line.startsWith("E530"));
  expect(lines).toEqual(mistakes.map((mistake) => expect.stringContaining(mistake)));
});

test.each<[source: string, sink: string, mistake: string | null]>([
  ["folder: bars", "parquet: bars", "its source lies in the folder of its sink"],
  ["folder: bars", "arrow: linked", "its source lies in the folder of its sink"],
  ["folder: bars", "parquet: bars/out", "its sink lies in the folder of its source"],
  ["folder: linked", "arrow: bars/out", "its sink lies in the folder of its source"],
  ["folder: bars/raw", "parquet: bars", "its source lies in the folder of its sink"],
  ['files: "bars/*.parquet"', "parquet: bars", "its source lies in the folder of its sink"],
  ['files: "bars/**/*.parquet"', "parquet: linked/out", "its sink lies in the folder of its source"],
  ['files: "linked/**/*.arrow"', "arrow: bars/out", "its sink lies in the folder of its source"],
  ['files: "bars/*.csv"', "parquet: bars/out", null],
  ['files: "*.csv"', "parquet: out", null],
  ["folder: bars", "parquet: bars_out", null],
  ["folder: bars", "duckdb: { database: bars/out.duckdb, table: t }", null],
])("a source { %s } and a sink { %s }", async (source, sink, mistake) => {
  mkdirSync(join(root, "bars"), { recursive: true });
  rmSync(join(root, "linked"), { force: true });
  symlinkSync(join(root, "bars"), join(root, "linked"));
  const rest = 'formulas: a.factors, schedule: { cron: "0 5 * * *" }';
  const reported = await mistakesOf(
    `journal: j\njobs:\n  - { name: a, source: { ${source} }, sink: { ${sink} }, ${rest} }\n`,
  );
  if (mistake === null) expect(reported).toBe("");
  else expect(reported).toContain(`jobs[0]: ${mistake}`);
});

test("defaults, and paths relative to the file", async () => {
  writeFileSync(join(root, "holidays.txt"), "# closed\n2024-12-25\n\n2025-01-01 # new year\n");
  writeFileSync(
    join(root, "good.yaml"),
    `journal: j
jobs:
  - name: a
    formulas: a.factors
    source: { files: "bars/*.csv", time_column: t, fields: { close: px } }
    sink: { duckdb: { database: /db, table: t } }
    schedule: { cron: "0 5 * * *", timezone: Asia/Tokyo, calendar: { sessions: [["09:00", "11:30"]], holidays: holidays.txt } }
    retries: { count: 3, backoff: 5m }
    params: { lambda: 0.9, session: close, live: true }
`,
  );
  expect(await readRunConfig(join(root, "good.yaml"))).toEqual({
    file: join(root, "good.yaml"),
    journal: join(root, "j"),
    logLevel: "info",
    metricsPort: null,
    engine: {},
    jobs: [
      {
        name: "a",
        formulas: { files: [join(root, "a.factors")] },
        program: {},
        source: {
          kind: "files",
          pattern: join(root, "bars/*.csv"),
          timeColumn: "t",
          rename: { close: "px" },
        },
        sink: { kind: "duckdb", database: "/db", table: "t" },
        schedule: {
          cron: "0 5 * * *",
          timezone: "Asia/Tokyo",
          calendar: {
            sessions: [{ startMinute: 540, endMinute: 690 }],
            holidays: new Set(["2024-12-25", "2025-01-01"]),
          },
        },
        call: { params: { lambda: 0.9, session: "close", live: true } },
        overlap: "skip",
        missed: "run_once",
        badInput: "fail",
        retries: { count: 3, backoffMs: 300_000 },
        changes: "rebuild",
        limit: 10_000_000,
        drop: false,
      },
    ],
  });
});

test("a folder, and a path where nothing is", async () => {
  await expect(readRunConfig(import.meta.dirname)).rejects.toThrow("cannot be read (EISDIR)");
  await expect(readRunConfig("none.yaml")).rejects.toThrow("E508 none.yaml: no such file");
});

test("durations", () => {
  expect(["500ms", "10s", " 5 m ", "1h", "1d", "-1s", ""].map(parseDuration)).toEqual([
    500,
    10_000,
    300_000,
    3_600_000,
    undefined,
    undefined,
    undefined,
  ]);
});
