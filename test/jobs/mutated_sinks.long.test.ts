import { execFile } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { readPanel } from "../../src/index.ts";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { readStatus } from "../../src/jobs/service/status.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { JobFolder, ROOT, realBars, rowTexts, type Sink } from "./job_folder.ts";

const TRIALS = trials(10, 150);
const RUNS = 4;
/** Files of each run, which are one batch. */
const FILES = 2;
const FORMULAS = "slow = ema(close, 4)\nmomentum = delta(close, 3)\nother = open\n";
const seeded = new Seeded();

/** A healthy folder, and how it was after each run: journals name absolute paths, so that trials share one path. */
interface Healthy {
  readonly folder: JobFolder;
  readonly kept: readonly string[];
  readonly expected: readonly string[];
  readonly last: string;
}

/** The change, and whether only `status --verify` must find it: it concerns results before the newest inputs. */
interface Mutation {
  readonly what: string;
  readonly isOld: boolean;
}

const SECOND_JOB = `
  - name: chained
    formulas: chained.factors
    source: { files: "out/**/*.parquet" }
    sink: { parquet: second }
    schedule: { cron: "* * * * * *" }
`;

async function makeHealthy(sink: Sink, isChained: boolean): Promise<Healthy> {
  const folder = new JobFolder({ sink, formulas: FORMULAS });
  const bars = realBars(RUNS * FILES + 1, 2, 5);
  if (isChained) {
    writeFileSync(join(folder.path, "chained.factors"), "mean = ts_mean(slow, 3)\n");
    writeFileSync(folder.config, readFileSync(folder.config, "utf8") + SECOND_JOB);
  }
  const kept: string[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    for (const text of bars.slice(run * FILES, (run + 1) * FILES)) folder.addBars(text);
    expect(await folder.run()).toBeNull();
    const copy = mkdtempSync(join(tmpdir(), "factorloom-kept-"));
    cpSync(folder.path, copy, { recursive: true, preserveTimestamps: true });
    kept.push(copy);
  }
  const first = await folder.expected(bars);
  const second: string[] = [];
  if (isChained) {
    const out = join(folder.path, "second.parquet");
    const args = [
      "eval",
      join(folder.path, "chained.factors"),
      "--data",
      join(folder.path, "all.parquet"),
      "--out",
      out,
    ];
    await promisify(execFile)(process.execPath, [join(ROOT, "dist/src/cli/main.js"), ...args]);
    second.push(...(await rowTexts(`read_parquet('${out}')`, null)));
  }
  copyFileSync(join(folder.path, "all.parquet"), join(kept.at(-1)!, "all.parquet"));
  const expected =
    sink === "arrow" ? await panelTexts(join(folder.path, "all.parquet")) : [...first, ...second];
  return { folder, kept, expected, last: bars.at(-1)! };
}

async function panelTexts(path: string): Promise<string[]> {
  const { symbols, time, present, fields } = await readPanel(path);
  return [...time.values].flatMap((value, row) =>
    symbols.flatMap((symbol, lane) => {
      const cell = row * symbols.length + lane;
      if (present[cell] !== 1) return [];
      return [[value, symbol, ...[...fields].map(([name, values]) => `${name}=${values[cell]}`)].join(",")];
    }),
  );
}

/** The content of the sinks as readers see it. */
async function contentOf({ folder, expected }: Healthy, isChained: boolean): Promise<string[] | null> {
  const { path, sink } = folder;
  const parquet = (name: string) =>
    rowTexts(`read_parquet('${path}/${name}/**/*.parquet', hive_partitioning = false)`, null);
  try {
    if (sink === "arrow") return await panelTexts(join(path, "out"));
    if (sink === "duckdb") return await rowTexts("out.factors", join(path, "out.duckdb"));
    return [...(await parquet("out")), ...(isChained ? await parquet("second") : [])];
  } catch {
    expect(expected.length).toBeGreaterThan(0);
    return null;
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const oneOf = <T>(choices: readonly T[]): T => choices[seeded.below(choices.length)]!;

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[seeded.below(bytes.length)]! ^= 1 << seeded.below(8);
  writeFileSync(path, bytes);
}

async function sql(folder: JobFolder, text: string): Promise<void> {
  using database = await openDatabase();
  await database.connection.run(`ATTACH '${join(folder.path, "out.duckdb")}' AS file`);
  await database.connection.run("USE file");
  await database.connection.run(text);
}

async function rewrite(part: string, columns: string): Promise<void> {
  using database = await openDatabase();
  const copy = `${part}.rewritten`;
  await database.connection.run(
    `COPY (SELECT ${columns} FROM read_parquet('${part}', hive_partitioning = false)) TO '${copy}' (FORMAT parquet)`,
  );
  renameSync(copy, part);
}

function restore(healthy: Healthy, name: string): string {
  const { folder, kept } = healthy;
  const run = seeded.below(RUNS - 1);
  rmSync(join(folder.path, name), { recursive: true, force: true });
  cpSync(join(kept[run]!, name), join(folder.path, name), { recursive: true, preserveTimestamps: true });
  return `${name} as it was after run ${run + 1}`;
}

/** Harm to a file of any kind. */
function harmFile(path: string, others: readonly string[], isOld: boolean): Mutation {
  const how = oneOf(["delete", "truncate", "flip", "swap"] as const);
  if (how === "delete") rmSync(path);
  else if (how === "truncate") truncateSync(path, seeded.below(readFileSync(path).length));
  else if (how === "flip") flip(path);
  else {
    const other = oneOf(others);
    const [own, theirs] = [readFileSync(path), readFileSync(other)];
    writeFileSync(path, theirs);
    writeFileSync(other, own);
    return { what: `swap ${path} and ${other}`, isOld };
  }
  return { what: `${how} ${path}`, isOld };
}

async function harmDatabase(healthy: Healthy): Promise<Mutation> {
  const { folder } = healthy;
  const database = join(folder.path, "out.duckdb");
  const old = "SELECT min(date) FROM factors";
  const statements = [
    "DROP TABLE factors",
    "DELETE FROM factors WHERE date = (SELECT max(date) FROM factors)",
    `DELETE FROM factors WHERE date = (${old})`,
    "INSERT INTO factors FROM factors LIMIT 1",
    "UPDATE factors SET slow = momentum, momentum = slow",
    "ALTER TABLE factors ALTER slow TYPE FLOAT",
    "ALTER TABLE factors ALTER slow TYPE BIGINT",
    "ALTER TABLE factors DROP COLUMN other",
    "TRUNCATE factors",
    "CREATE OR REPLACE TABLE factors AS SELECT date, symbol, slow AS other, momentum, other AS slow FROM factors",
    "DROP TABLE factorloom_results",
  ];
  const kind = seeded.below(statements.length + 4);
  if (kind < statements.length) {
    await sql(folder, statements[kind]!);
    return { what: statements[kind]!, isOld: false };
  }
  if (kind === statements.length) {
    await sql(folder, `UPDATE factors SET slow = slow + 1 WHERE date = (${old})`);
    return { what: "other values in the oldest rows", isOld: true };
  }
  if (kind === statements.length + 1) return { what: restore(healthy, "out.duckdb"), isOld: false };
  if (kind === statements.length + 2) {
    rmSync(database);
    await sql(folder, `CREATE TABLE factors AS FROM read_parquet('${folder.path}/all.parquet')`);
    return { what: "another database with the table", isOld: false };
  }
  return harmFile(database, [join(folder.path, "bars/bars-000.csv"), folder.config].slice(0, 1), true);
}

async function harmParts({ folder }: Healthy, name: string): Promise<Mutation> {
  const parts = filesBelow(join(folder.path, name));
  const index = seeded.below(parts.length);
  const part = parts[index]!;
  const isOld = index < parts.length - 2;
  const kind = seeded.below(folder.sink === "parquet" ? 7 : 5);
  if (kind < 3)
    return harmFile(
      part,
      parts.filter((other) => other !== part),
      isOld,
    );
  if (kind === 3) {
    const copy = part.replace(/(\.\w+)$/, "-copy$1");
    copyFileSync(part, copy);
    return { what: `${copy} as well`, isOld: false };
  }
  if (kind === 4) {
    copyFileSync(oneOf(parts.filter((other) => other !== part)), part);
    return { what: `${part} is a copy of another`, isOld };
  }
  const [factor, columns] = name === "out" ? ["slow", "* EXCLUDE slow"] : ["mean", "* EXCLUDE mean"];
  await rewrite(
    part,
    kind === 5 ? `${columns}, ${factor}::FLOAT AS ${factor}` : `${columns}, ${factor} + 1 AS ${factor}`,
  );
  return { what: `${part} has another ${kind === 5 ? "type" : "value"}`, isOld };
}

function harmJournal(healthy: Healthy, job: string): Mutation {
  const folder = join(healthy.folder.path, "journal", job);
  const checkpoints = filesBelow(folder).filter((path) => /^(checkpoint|rows)-/.test(basename(path)));
  const journal = join(folder, "journal.jsonl");
  const kind = seeded.below(6);
  if (kind === 0) return { what: restore(healthy, join("journal", job)), isOld: false };
  if (kind === 1) return { what: restore(healthy, join("journal", job, "journal.jsonl")), isOld: false };
  if (kind === 2) {
    const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
    const [from, to] = [seeded.below(lines.length), seeded.below(lines.length)];
    const [line] = seeded.uniform() < 0.5 ? [lines[from]!] : lines.splice(from, 1);
    lines.splice(to, 0, line!);
    writeFileSync(journal, `${lines.join("\n")}\n`);
    return { what: `line ${from} of ${journal} at ${to}`, isOld: false };
  }
  if (kind === 3) return harmFile(journal, checkpoints, false);
  return harmFile(oneOf(checkpoints), checkpoints, false);
}

async function mutate(healthy: Healthy, isChained: boolean): Promise<Mutation> {
  const { folder } = healthy;
  const chained = isChained && seeded.uniform() < 0.5;
  if (seeded.uniform() < 0.35) return harmJournal(healthy, chained ? "chained" : "bars");
  if (folder.sink === "duckdb") return await harmDatabase(healthy);
  if (seeded.uniform() < 0.15) return { what: restore(healthy, chained ? "second" : "out"), isOld: false };
  return await harmParts(healthy, chained ? "second" : "out");
}

async function differences({ config }: JobFolder): Promise<string[]> {
  const { jobs } = await readStatus(await readRunConfig(config), 0, { verify: true });
  return jobs.flatMap(({ sink }) => sink?.differs ?? []);
}

const CASES: readonly (readonly [Sink, boolean])[] = [
  ["parquet", false],
  ["parquet", true],
  ["arrow", false],
  ["duckdb", false],
];

test(
  `no mutation of a sink, a journal or a checkpoint ends well with other content: ${TRIALS} trials`,
  async () => {
    const counts = { controls: 0, refused: 0, right: 0, verified: 0 };
    for (const [number, [sink, isChained]] of CASES.entries()) {
      const healthy = await makeHealthy(sink, isChained);
      const { folder, kept, expected, last } = healthy;
      try {
        for (let trial = number; trial < TRIALS; trial += CASES.length) {
          rmSync(folder.path, { recursive: true });
          cpSync(kept.at(-1)!, folder.path, { recursive: true, preserveTimestamps: true });
          const isControl = Math.floor(trial / CASES.length) % 4 === 0;
          const { what, isOld } = isControl
            ? { what: "nothing", isOld: false }
            : await mutate(healthy, isChained);
          const label = `SEED=${seeded.seed} trial ${trial} (${sink}): ${what}`;
          folder.addBars(last, "last.csv");
          const failure = await folder.run().catch((error: Error) => error);
          const content = await contentOf(healthy, isChained);
          const isRight = JSON.stringify(content) === JSON.stringify(expected);
          if (isControl) {
            expect(failure, label).toBeNull();
            expect(content, label).toEqual(expected);
            expect(await differences(folder), label).toEqual([]);
            counts.controls += 1;
          } else if (failure !== null) {
            expect(String(failure), label).toMatch(/^[A-Za-z]*Error: E\d{3}|^E\d{3}/);
            counts.refused += 1;
          } else if (isRight) counts.right += 1;
          else {
            expect(isOld, `${label}: exit 0 with other content`).toBe(true);
            expect(await differences(folder), `${label}: verify finds nothing`).not.toEqual([]);
            counts.verified += 1;
          }
        }
      } finally {
        for (const copy of kept) rmSync(copy, { recursive: true, force: true });
        folder[Symbol.dispose]();
      }
    }
    console.info(`SEED=${seeded.seed}`, counts);
    expect(counts.controls).toBeGreaterThanOrEqual(TRIALS / 5);
    expect(counts.refused).toBeGreaterThan(0);
  },
  60_000 + TRIALS * 20_000,
);
