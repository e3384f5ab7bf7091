import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { readStatus } from "../../src/jobs/service/status.ts";
import { JobFolder, keptLog, realBars, rowTexts, sql } from "./job_folder.ts";

const FORMULAS = "slow = ema(close, 4)\nmomentum = delta(close, 3)\n";

test("two configurations with journals of their own and one name of a job fill two tables", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  const bars = realBars(1, 5);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  folder.rewriteConfig((text) =>
    text.replace("journal: journal", "journal: second").replace("table: factors", "table: second"),
  );
  expect(await folder.run()).toBeNull();
  expect(await rowTexts("out.second", join(folder.path, "out.duckdb"))).toEqual(await folder.expected(bars));
});

test.each([
  ["DROP TABLE factors", "table factors of .*out.duckdb is missing"],
  ["DELETE FROM factors WHERE symbol = 'A'", "has 55 rows, and 60 were written"],
  ["ALTER TABLE factors ALTER slow TYPE FLOAT", "column slow of table .* is FLOAT, and DOUBLE was written"],
  ["ALTER TABLE factors DROP COLUMN slow", "has no column slow"],
  ["UPDATE factors SET slow = momentum WHERE symbol = 'A'", "the rows of table .* are not those"],
  ["DROP TABLE factorloom_results", "stands at batch 0 of this ledger, which stands at 1"],
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
  folder.rewriteConfig((text) => text.replace('"* * * * * *"', '"* * * * * *", timezone: America/St_Johns'));
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
    folder.rewriteConfig(() => text.replace("journal: journal", `journal: ${name}`));
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
