import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { readStatus } from "../../src/jobs/service/status.ts";
import { JobFolder, keptLog, realBars, rowTexts } from "./job_folder.ts";

const FORMULAS = "slow = ema(close, 4)\nmomentum = delta(close, 3)\n";
const rewriteConfig = (folder: JobFolder, change: (text: string) => string) =>
  writeFileSync(folder.config, change(readFileSync(folder.config, "utf8")));

async function sql(path: string, ...statements: string[]): Promise<void> {
  using database = await openDatabase();
  await database.connection.run(`ATTACH '${path}' AS file`);
  await database.connection.run("USE file");
  for (const statement of statements) await database.connection.run(statement);
}

test("two configurations with journals of their own and one name of a job fill two tables", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  const bars = realBars(1, 5);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  rewriteConfig(folder, (text) =>
    text.replace("journal: journal", "journal: second").replace("table: factors", "table: second"),
  );
  expect(await folder.run()).toBeNull();
  expect(await rowTexts("out.second", join(folder.path, "out.duckdb"))).toEqual(await folder.expected(bars));
});

test("rows go into a table by the names of its columns", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  const bars = realBars(2, 5);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  const database = join(folder.path, "out.duckdb");
  await sql(
    database,
    "CREATE OR REPLACE TABLE factors AS SELECT date, symbol, momentum, slow FROM factors",
    "ALTER TABLE factors ADD COLUMN note VARCHAR",
  );
  folder.addBars(bars[1]!);
  expect(await folder.run()).toBeNull();
  const byName = "(SELECT date, symbol, slow, momentum FROM out.factors)";
  expect(await rowTexts(byName, database)).toEqual(await folder.expected(bars));
});

test.each([
  ["DROP TABLE factors", "table factors of .*out.duckdb is missing"],
  ["DELETE FROM factors WHERE symbol = 'A'", "has 55 rows, and 60 were written"],
  ["ALTER TABLE factors ALTER slow TYPE FLOAT", "column slow of table .* is FLOAT, and DOUBLE was written"],
  ["ALTER TABLE factors DROP COLUMN slow", "has no column slow"],
  ["UPDATE factors SET slow = momentum WHERE symbol = 'A'", "the rows of table .* are not those"],
  ["DROP TABLE factorloom_results", "stands at batch 0 of this journal, which stands at 1"],
])("a table that is not what was written is refused: %s", async (statement, message) => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  const bars = realBars(2, 5);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  await sql(join(folder.path, "out.duckdb"), statement);
  folder.addBars(bars[1]!);
  const { log, messages } = keptLog();
  expect(String(await folder.run(log))).toMatch(new RegExp(`E367 .*${message}`));
  expect(messages.filter((one) => /^(symbols|committed)/.test(one))).toEqual([]);
});

test("an older part that was altered in place is found by the status with verify", async () => {
  using folder = new JobFolder({ formulas: FORMULAS });
  for (const text of realBars(3, 2)) {
    folder.addBars(text);
    expect(await folder.run()).toBeNull();
  }
  const verified = async () =>
    (await readStatus(await readRunConfig(folder.config), 0, { verify: true })).jobs[0]?.sink?.differs;
  expect(await verified()).toBeNull();
  const [day] = readdirSync(join(folder.path, "out"))
    .filter((name) => name.startsWith("date="))
    .sort();
  const part = join(folder.path, "out", day!, "part-00000001.parquet");
  const bytes = readFileSync(part);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(part, bytes);
  expect(await verified()).toMatch(/E367 .*part-00000001.parquet does not hold the bytes that were written/);
});

test("an older journal is refused", async () => {
  using folder = new JobFolder({ formulas: FORMULAS });
  const [first, second, third] = realBars(3, 2) as [string, string, string];
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  const journal = join(folder.path, "journal/bars/journal.jsonl");
  copyFileSync(journal, `${journal}.backup`);
  folder.addBars(second);
  expect(await folder.run()).toBeNull();
  copyFileSync(`${journal}.backup`, journal);
  folder.addBars(third);
  expect(String(await folder.run())).toMatch(
    /E367 .*part-00000002.parquet is there, and the journal does not know it/,
  );
});

test("no reader sees staged results, and dot folders are no input of a pattern", async () => {
  using folder = new JobFolder({ formulas: FORMULAS, source: '{ files: "bars/**/*.csv" }' });
  const bars = realBars(2, 3);
  folder.addBars(bars[0]!);
  mkdirSync(join(folder.path, "bars/.staging"));
  writeFileSync(join(folder.path, "bars/.staging/later.csv"), bars[1]!);
  const staged: string[] = [];
  const { log } = keptLog();
  const look = (fields: object) => {
    if ((fields as { step?: string }).step === "prepared")
      for (const name of readdirSync(join(folder.path, "out")).filter((one) => one.startsWith(".staging-")))
        staged.push(...readdirSync(join(folder.path, "out", name)));
  };
  expect(await folder.run({ ...log, debug: look })).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars.slice(0, 1)));
  expect(staged).toHaveLength(3);
  for (const name of staged) expect(name).toMatch(/\.staged$/);
});

test("rows of a query without a time are left out where bad input is skipped, and no others", async () => {
  const source = '{ duckdb: { database: in.duckdb, query: "FROM bars" } }';
  using folder = new JobFolder({ formulas: FORMULAS, source, job: "bad_input: skip" });
  const bars = realBars(2, 5);
  const database = join(folder.path, "in.duckdb");
  for (const [index, text] of bars.entries()) {
    const file = join(folder.path, "insert.csv");
    writeFileSync(file, text);
    if (index === 0) await sql(database, `CREATE TABLE bars AS FROM read_csv('${file}') LIMIT 0`);
    await sql(database, `INSERT INTO bars FROM read_csv('${file}')`);
    if (index === 0) await sql(database, "INSERT INTO bars (symbol, close) VALUES ('A', 1)");
    const { log, messages } = keptLog();
    expect(await folder.run(log)).toBeNull();
    expect(messages).toContain('incomplete_rows {"job":"bars","count":1}');
  }
  expect(await folder.results()).toEqual(await folder.expected(bars));
  folder.configure({
    source: source.replace("FROM bars", "FROM bars WHERE close > 1"),
    job: "bad_input: skip",
  });
  expect(String(await folder.run())).toContain("E531 job bars: source changed");
});

test("what is prepared is not published for a job that changed", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  folder.addBars(realBars(1, 5)[0]!);
  const { log } = keptLog();
  const stop = (fields: object) => {
    if ((fields as { step?: string }).step === "prepared") throw new Error("killed");
  };
  expect(String(await folder.run({ ...log, debug: stop }))).toContain("killed");
  rewriteConfig(folder, (text) => text.replace("table: factors", "table: renamed"));
  expect(String(await folder.run())).toContain("E531 job bars: sink changed");
  await expect(rowTexts("out.renamed", join(folder.path, "out.duckdb"))).rejects.toThrow();
});

test("one sink by names of other case or by a link is reported", async () => {
  using folder = new JobFolder({ sink: "duckdb" });
  const text = readFileSync(folder.config, "utf8");
  const [head, job] = text.split(/(?= {2}- name)/) as [string, string];
  symlinkSync(folder.path, join(folder.path, "link"));
  for (const [from, to] of [
    ["table: factors", "table: Factors"],
    ["database: out.duckdb", "database: link/out.duckdb"],
  ] as const) {
    writeFileSync(folder.config, head + job + job.replace("name: bars", "name: more").replace(from, to));
    await expect(readRunConfig(folder.config)).rejects.toThrow("its sink is that of job bars");
  }
});

test("the columns of a file that is passed over bind no other file", async () => {
  using folder = new JobFolder({ formulas: FORMULAS, job: "bad_input: skip" });
  const [first, second] = realBars(2, 5) as [string, string];
  const stamped = first.replaceAll(/^(\d{4}-\d\d-\d\d)/gm, "$1 10:00:00");
  folder.addBars(`${stamped}${stamped.split("\n")[1]}\n`);
  folder.addBars(second);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([second]));
});

test("clocks that go back just after midnight bring no part twice", async () => {
  using folder = new JobFolder({ formulas: "c = close\n" });
  // At 00:01 of 29 October 2006 clocks in St. John's went back to 23:01 of the day before.
  rewriteConfig(folder, (text) => text.replace('"* * * * * *"', '"* * * * * *", timezone: America/St_Johns'));
  const start = Date.parse("2006-10-29T02:20:00Z");
  const rows = Array.from({ length: 16 }, (_, index) => {
    const time = new Date(start + index * 600_000 + (index % 2) * 30_000).toISOString();
    return `${time},A,${index + 1},1,1,1,1`;
  });
  const minute = `${new Date(Date.parse("2006-10-29T02:30:40Z")).toISOString()},A,99,1,1,1,1`;
  const sorted = [...rows, minute].sort();
  const text = `time,symbol,close,open,high,low,volume\n${sorted.join("\n")}\n`;
  folder.addBars(text);
  expect(await folder.run()).toBeNull();
  expect(readdirSync(join(folder.path, "out")).filter((name) => name.startsWith("date="))).toEqual([
    "date=2006-10-28",
    "date=2006-10-29",
  ]);
  expect(await folder.results()).toEqual(await folder.expected([text]));
});

test("each new folder and the file of a database are brought to the disk", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  rewriteConfig(folder, (text) => text.replace("database: out.duckdb", "database: a/b/out.duckdb"));
  folder.addBars(realBars(1, 5)[0]!);
  const handle = await open(folder.config);
  const prototype = Object.getPrototypeOf(handle) as { sync(this: { fd: number }): Promise<void> };
  await handle.close();
  const synced = new Set<string>();
  const { sync } = prototype;
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: { fd: number }) {
    synced.add(readlinkSync(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  });
  try {
    expect(await folder.run()).toBeNull();
  } finally {
    spy.mockRestore();
  }
  for (const path of ["", "a", "a/b", "a/b/out.duckdb"])
    expect([...synced]).toContain(join(folder.path, path).replace(/\/$/, ""));
});

test("a part that is gone with its folder is refused", async () => {
  using folder = new JobFolder({ sink: "arrow", formulas: FORMULAS });
  const bars = realBars(2, 5);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  rmSync(join(folder.path, "out"), { recursive: true });
  folder.addBars(bars[1]!);
  expect(String(await folder.run())).toMatch(/E367 .*part-00000001.arrow is missing/);
});

test.each([
  "parquet",
  "arrow",
] as const)("two journals that begin in one sink at a time write over no part of each other: %s", async (sink) => {
  using folder = new JobFolder({ sink, formulas: FORMULAS });
  const bars = realBars(1, 5);
  folder.addBars(bars[0]!);
  const text = readFileSync(folder.config, "utf8");
  const { log } = keptLog();
  const stopAtPrepared = (fields: object) => {
    if ((fields as { step?: string }).step === "prepared") throw new Error("stopped");
  };
  const withJournal = (name: string) =>
    rewriteConfig(folder, () => text.replace("journal: journal", `journal: ${name}`));
  for (const name of ["first", "second"]) {
    withJournal(name);
    expect(String(await folder.run({ ...log, debug: stopAtPrepared }))).toContain("stopped");
  }
  withJournal("first");
  expect(await folder.run()).toBeNull();
  const kept = await folder.results();
  withJournal("second");
  expect(String(await folder.run())).toMatch(/E367 .*part-00000001.* is there/);
  expect(await folder.results()).toEqual(kept);
});
