import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test, vi } from "vitest";
import { openPanelSource, readPanel } from "../../src/index.ts";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { planRuns, readStatus } from "../../src/jobs/service/status.ts";
import { JobFolder, keptLog, realBars, SECTORS, SILENT, type Sink, sql } from "./job_folder.ts";

test.each([
  "parquet",
  "duckdb",
] as const)("runs one after the other give the rows of eval: %s", async (sink: Sink) => {
  using folder = new JobFolder({ sink });
  const bars = realBars(3, 9);
  for (const text of bars) {
    folder.addBars(text);
    expect(await folder.run()).toBeNull();
  }
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("the memory limit of the engine holds for reading, as in eval: new files and those read again", async () => {
  using folder = new JobFolder({
    source: "{ folder: bars, fields: { price: close } }",
    formulas: "a = ema(price, 3)",
  });
  folder.rewriteConfig((text) => text.replace("threads: 1", "threads: 1, memoryLimit: 1GiB"));
  const [first, second] = realBars(2, 5) as [string, string];
  const create = vi.spyOn(DuckDBInstance, "create");
  const settings = () =>
    create.mock.calls.map(([, options]) => [options?.["memory_limit"], options?.["threads"]]);
  try {
    folder.addBars(first);
    expect(await folder.run()).toBeNull();
    folder.addBars(second.replaceAll(",A,", ",NEW,"));
    expect(await folder.run()).toBeNull();
    const ofRuns = settings();
    create.mockClear();
    const path = join(folder.path, "bars", "bars-000.csv");
    await (await openPanelSource(path, { memoryLimitBytes: 2 ** 30 })).close();
    const [limit] = settings();
    expect(limit).toEqual(["262144KiB", "2"]);
    expect(ofRuns.filter(([, threads]) => threads === "2")).toEqual([limit, limit]);
  } finally {
    create.mockRestore();
  }
});

test("an arrow sink holds a file for each batch", async () => {
  using folder = new JobFolder({ sink: "arrow" });
  const [first, second, third] = realBars(3, 5) as [string, string, string];
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  for (const text of [second, third]) folder.addBars(text);
  expect(await folder.run()).toBeNull();
  expect(readdirSync(join(folder.path, "out"))).toEqual(["part-00000001.arrow", "part-00000002.arrow"]);
  const panel = await readPanel(join(folder.path, "out/part-00000002.arrow"));
  expect([panel.rowCount, panel.laneCount]).toEqual([10, 12]);
});

test("files that are not complete do not count", async () => {
  using folder = new JobFolder();
  const [first, second] = realBars(2, 5) as [string, string];
  folder.addBars(first);
  for (const name of [".hidden.csv", "b.csv.tmp", "c.csv.part", "notes.txt"])
    writeFileSync(join(folder.path, "bars", name), second);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([first]));
});

test("a source that has never given anything fails the run and shows in the status; one that did may be empty", async () => {
  using folder = new JobFolder();
  const bars = join(folder.path, "bars");
  const file = folder.addBars(realBars(1, 5)[0]!, "bars-1.csv.part");
  const database = join(folder.path, "in.duckdb");
  await sql(
    database,
    "CREATE TABLE bars (date DATE, symbol TEXT, high DOUBLE, low DOUBLE, close DOUBLE, volume DOUBLE)",
  );
  for (const [source, message] of [
    [
      "{ folder: bars }",
      `${bars}: no input has ever been found (${bars} has 1 other name, such as bars-1.csv.part)`,
    ],
    [
      "{ files: 'bars/*.parqet' }",
      `${bars}/*.parqet: no input has ever been found (${bars} has 1 other name, such as `,
    ],
    [
      "{ files: 'nowhere/*.csv' }",
      `nowhere/*.csv: no input has ever been found (${join(folder.path, "nowhere")} is not there)`,
    ],
    [
      "{ duckdb: { database: in.duckdb, query: 'FROM bars' } }",
      `${database}: no input has ever been found (the query gives no row)`,
    ],
  ] as const) {
    folder.configure({ source });
    const config = await readRunConfig(folder.config);
    await expect(planRuns(config, 0)).rejects.toThrow(message);
    const failure = await folder.run();
    expect(failure).toMatchObject({
      code: "E370",
      name: "DataError",
      message: expect.stringContaining(message),
    });
    const { jobs } = await readStatus(config, 0);
    expect(jobs[0]).toMatchObject({ outcome: "failed", error: expect.stringContaining(message) });
  }
  folder.configure({});
  renameSync(file, file.replace(".part", ""));
  expect(await folder.run()).toBeNull();
  rmSync(file.replace(".part", ""));
  expect(await folder.run()).toBeNull();
});

test("a source that is no folder is refused, also by a dry run", async () => {
  using folder = new JobFolder({ source: "{ folder: a.factors }" });
  const message = /E309 .*a\.factors: cannot be opened \(ENOTDIR\)\n {2}check source.folder/;
  expect(String(await folder.run())).toMatch(message);
  await expect(planRuns(await readRunConfig(folder.config), Date.now())).rejects.toThrow(message);
});

test("a file in the place of the sink or the journal is named, also by a dry run and the status", async () => {
  using folder = new JobFolder({ sink: "arrow" });
  folder.addBars(realBars(1, 5)[0]!);
  const sink = /^E442 .*out: a file lies where a folder belongs \(ENOTDIR/;
  writeFileSync(join(folder.path, "out"), "");
  expect((await folder.run())?.message).toMatch(
    /^E442 .*a file lies where a folder belongs \(ENOTDIR.*out'\)/,
  );
  const config = await readRunConfig(folder.config);
  rmSync(join(folder.path, "journal"), { recursive: true });
  await expect(planRuns(config, 0)).rejects.toThrow(sink);
  await expect(readStatus(config, 0, { verify: true })).rejects.toThrow(sink);
  writeFileSync(join(folder.path, "journal"), "");
  const journal = /^E442 .*ledger\.sqlite: a file lies where a folder belongs \(ENOTDIR/;
  await expect(planRuns(config, 0)).rejects.toThrow(journal);
  await expect(readStatus(config, 0)).rejects.toThrow(journal);
});

test("late and changed rows are refused with changes: fail, or skipped and reported, until they may be followed", async () => {
  using folder = new JobFolder({ job: "changes: fail" });
  const [first, second, third] = realBars(3, 5) as [string, string, string];
  const path = folder.addBars(first);
  folder.addBars(third);
  expect(await folder.run()).toBeNull();
  const late = folder.addBars(second, "late.csv");
  expect(String(await folder.run())).toContain(
    "late.csv: the rows of 5 times, 2013-02-15 to 2013-02-22, are not those that were evaluated",
  );
  folder.configure({ job: "changes: fail\n    bad_input: skip" });
  const { log, messages } = keptLog();
  for (let run = 0; run < 2; run++) expect(await folder.run(log)).toBeNull();
  expect(messages.filter((message) => message.startsWith("skipped"))).toHaveLength(1);
  expect(await folder.results()).toEqual(await folder.expected([first, third]));
  rmSync(late);
  const corrected = first.replace("45.08", "45.18");
  writeFileSync(path, corrected);
  folder.addBars(second, "later.csv");
  folder.configure({});
  expect(await folder.run(log)).toBeNull();
  expect(messages.join("\n")).toContain(
    'changed {"job":"bars","changed":"input (6 times, 2013-02-08 to 2013-02-22, of bars-000.csv, later.csv)"',
  );
  expect(await folder.results()).toEqual(await folder.expected([corrected, second, third]));
});

test("a corrected bar of a window changes the rows of its time and those that look back on it", async () => {
  using folder = new JobFolder({ formulas: "a = ts_mean(close, 3)\n", job: "limit: 20" });
  const [bars] = realBars(1, 10) as [string];
  const path = folder.addBars(bars);
  expect(await folder.run()).toBeNull();
  const corrected = bars.replace("45.08", "45.18");
  writeFileSync(path, corrected);
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  const plan = '"changed":"input (1 time, 2013-02-08, of bars-000.csv)","factors":["a"],"cells":36';
  expect(messages.at(-2)).toContain(`waiting {"job":"bars",${plan}}`);
  expect(await folder.results()).toEqual(await folder.expected([bars]));
  expect(await folder.run(log, {}, { apply: "bars" })).toBeNull();
  expect(messages.join("\n")).toContain(`rebuilt {"job":"bars",${plan}}`);
  expect(await folder.results()).toEqual(await folder.expected([corrected]));
});

test("times of two files with different symbols are refused with both names, and a file that lacks rows with their times", async () => {
  using folder = new JobFolder();
  const [first, second] = realBars(2, 5) as [string, string];
  const path = folder.addBars(first);
  expect(await folder.run()).toBeNull();
  const other = folder.addBars(first.split("\n").slice(0, 3).join("\n"), "other.csv");
  folder.addBars(second);
  expect(String(await folder.run())).toContain(
    `E361 ${other}: lacks AAP at 2013-02-08, which ${path} has, and has other symbols`,
  );
  rmSync(other);
  writeFileSync(path, first.split("\n").slice(0, -20).join("\n"));
  expect(String(await folder.run())).toContain(
    `E361 ${path}: no longer has the rows of 1 time, 2013-02-14, and no other`,
  );
  writeFileSync(path, first);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([first, second]));
});

test("a file that grows is read on, and one that a job with changes: fail skips is shown", async () => {
  using folder = new JobFolder({ job: "changes: fail" });
  const [bars] = realBars(1, 5) as [string];
  const part = bars.split("\n").slice(0, 25).join("\n");
  const path = folder.addBars(part);
  expect(await folder.run()).toBeNull();
  const [header, line] = realBars(1, 6)[0]!
    .trim()
    .split("\n")
    .slice(-1)
    .flatMap((last) => [bars.split("\n")[0]!, last]);
  writeFileSync(path, `${part}\n${line}\n`);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([part, `${header}\n${line}\n`]));
  writeFileSync(path, `${bars}${line}\n`);
  folder.configure({ job: "changes: fail\n    bad_input: skip" });
  const { log, messages } = keptLog();
  const config = await readRunConfig(folder.config);
  const skipped = async () => {
    expect(await folder.run(log)).toBeNull();
    const count = messages.filter((message) => message.startsWith("skipped")).length;
    return [count, (await readStatus(config, 0)).jobs[0]?.skipped];
  };
  expect(await skipped()).toEqual([1, 1]);
  expect(await skipped()).toEqual([1, 1]);
  writeFileSync(path, `${bars}${realBars(2, 5)[1]!.split("\n")[1]}\n`);
  expect(await skipped()).toEqual([2, 1]);
  expect(await folder.results()).toEqual(await folder.expected([part, `${header}\n${line}\n`]));
});

test("a changed job is refused where its changes are to fail", async () => {
  using folder = new JobFolder();
  folder.addBars(realBars(1, 5)[0]!);
  expect(await folder.run()).toBeNull();
  folder.configure({ formulas: "x = close", job: "changes: fail" });
  expect(String(await folder.run())).toContain("E531 job bars: formulas changed since its ledger began");
  folder.configure({ job: "select: [slow]\n    changes: fail" });
  expect(String(await folder.run())).toContain("select changed");
  folder.configure({});
  expect(await folder.run()).toBeNull();
});

test("formulas that compute the same may be written otherwise", async () => {
  using folder = new JobFolder({ formulas: "param k = 2\na = ema(close, 5) * k\nb = rank(close)" });
  const [first, second, third] = realBars(3, 5) as [string, string, string];
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  folder.addBars(second);
  const { log, messages } = keptLog();
  folder.configure({
    formulas: "param k = 2 # twice\nlet mean = ema(close, 5)\na = mean * k\n\nb = rank(close) # of the day",
  });
  expect(await folder.run(log)).toBeNull();
  expect(messages.filter((message) => message.startsWith("committed"))).toHaveLength(1);
  expect(await folder.results()).toEqual(await folder.expected([first, second]));
  folder.addBars(third);
  folder.configure({ formulas: "param k = 3\na = ema(close, 5) * k\nb = rank(close)", job: "changes: fail" });
  expect(String(await folder.run())).toContain("E531 job bars: params changed");
});

/** A module of an operator, whose place says nothing. */
const OPERATOR = `export const bent = {
  name: "bent", axis: "elementwise", result: "series", unit: "other",
  parameters: [{ name: "x", kind: "series" }],
  summary: "Made for a test.", nulls: "Null where the argument is null.", source: "made for a test",
  costNs: () => 1, nullWhere: {},
  reference: (x) => 2 * x,
  examples: [{ formula: "bent(x)", inputs: { x: [0] }, output: [0] }],
  module: import.meta.url,
};\n`;

test("other code of an operator makes results again, and waits where that is much; another place is no change", async () => {
  const formulas = "a = bent(close)";
  using folder = new JobFolder({ formulas });
  const use = (name: string, text: string, job = "") => {
    writeFileSync(join(folder.path, name), text);
    folder.configure({ formulas, job });
    folder.rewriteConfig((yaml) =>
      yaml.replace("formulas: a.factors", `formulas: { files: a.factors, operators: [${name}] }`),
    );
  };
  use("first.mjs", OPERATOR);
  folder.addBars(realBars(1, 5)[0]!);
  expect(await folder.run()).toBeNull();
  use("second.mjs", OPERATOR);
  expect(await folder.run()).toBeNull();
  const other = OPERATOR.replace("2 * x", "3 * x");
  use("third.mjs", other, "changes: fail");
  const refused = /^E531 job bars: operators, formulas changed since its ledger began\n/;
  expect((await folder.run())?.message).toMatch(refused);
  await expect(planRuns(await readRunConfig(folder.config), 0)).rejects.toThrow(refused);
  // The code of before is still there: new rows go on with it.
  use("third.mjs", other, "limit: 1");
  const before = await folder.results();
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(before);
  expect(await folder.run(SILENT, {}, { apply: "bars" })).toBeNull();
  const tripled = await folder.results();
  folder.configure({ formulas: "a = 3 * close" });
  expect(await folder.run()).toBeNull();
  expect(tripled).toEqual(await folder.results());
});

test("a symbol that the groups no longer have keeps its group, and another label counts from the next row on", async () => {
  const formulas =
    "a = ts_mean(group_neutralize(rank(volume), sector), 7)\nb = ema(group_count(close, sector), 5)";
  using folder = new JobFolder({ formulas });
  const groups = join(folder.path, "groups.csv");
  const lines = readFileSync(SECTORS, "utf8").trim().split("\n");
  const writeGroups = (own: readonly string[]) => writeFileSync(groups, `${own.join("\n")}\n`);
  const withNew = lines.map((line, index) => `${line},${index === 0 ? "region" : "us"}`);
  folder.rewriteConfig((text) => text.replace(SECTORS, "groups.csv"));
  writeGroups(lines);
  // One symbol comes to an end, and one begins.
  const [first, second, third] = realBars(3, 5).map((text, file) => {
    const isThere = (line: string) => !(file === 0 ? /,ABT,/ : /,AAPL,/).test(line);
    return text.split("\n").filter(isThere).join("\n");
  });
  folder.addBars(first!);
  expect(await folder.run()).toBeNull();
  // Only the new symbol still has a line: nothing is missing.
  folder.addBars(second!);
  writeGroups(withNew.filter((line) => /^(symbol|ABT),/.test(line)));
  const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
  expect(await folder.run()).toBeNull();
  expect(warnings).not.toHaveBeenCalled();
  warnings.mockRestore();
  expect(await folder.results()).toEqual(await folder.expected([first!, second!]));
  // Kept rows of before keep the labels of before, also where the results are made again.
  const relabelled = withNew.map((line) => line.replace(/^(AAL|AAPL|ABT),[^,]*/, "$1,Other"));
  writeGroups(relabelled);
  folder.addBars(third!);
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  const [before] = [...lines].filter((line) => line.startsWith("AAL,")).map((line) => line.split(",")[1]);
  const event = { group: "sector", count: 3, symbol: "AAL", before, label: "Other" };
  expect(messages.filter((line) => line.startsWith("relabelled"))).toEqual([
    `relabelled ${JSON.stringify({ job: "bars", ...event })}`,
  ]);
  const sectorsOf = (own: readonly string[]) =>
    new Map(own.map((line) => line.split(",") as [string, string]));
  const datedBars = [first!, second!, third!].map((text, file) => {
    const sectors = sectorsOf(file === 2 ? relabelled : lines);
    const dated = (line: string, at: number) =>
      `${line},${at === 0 ? "sector" : sectors.get(line.split(",")[1]!)}`;
    return text.trim().split("\n").map(dated).join("\n");
  });
  const expected = await folder.expected(datedBars, false);
  expect(await folder.results()).toEqual(expected);
  folder.configure({ formulas: `${formulas.replace("7", "3 + 4")}\nc = group_mean(close, sector)` });
  folder.rewriteConfig((text) => text.replace(SECTORS, "groups.csv"));
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(datedBars, false));
});

test("a sink with results of another journal is refused", async () => {
  using folder = new JobFolder({ sink: "duckdb" });
  folder.addBars(realBars(1, 5)[0]!);
  expect(await folder.run()).toBeNull();
  const config = readFileSync(folder.config, "utf8");
  writeFileSync(folder.config, config.replace("journal: journal", "journal: another"));
  expect(String(await folder.run())).toContain("E532");
});

test("several formula files, each in its own dialect", async () => {
  using folder = new JobFolder();
  writeFileSync(join(folder.path, "b.factors"), "dialect qlib\nlagged = Ref($close, 1)\n");
  const config = readFileSync(folder.config, "utf8");
  writeFileSync(folder.config, config.replace("formulas: a.factors", "formulas: [a.factors, b.factors]"));
  const bars = realBars(2, 5);
  for (const text of bars) folder.addBars(text);
  expect(await folder.run()).toBeNull();
  const usual = await folder.expected(bars);
  const rows = await folder.results();
  expect(rows.map((row) => row.slice(0, row.lastIndexOf(",")))).toEqual(usual);
  writeFileSync(join(folder.path, "b.factors"), "slow = close\n");
  writeFileSync(
    folder.config,
    readFileSync(folder.config, "utf8").replaceAll("out", "other").replace("name: bars", "name: other"),
  );
  expect(String(await folder.run())).toContain("E530");
});

test("a value of a query that is corrected after it was evaluated is an error, unless no formula reads it", async () => {
  const query = "SELECT * REPLACE (volume::HUGEINT AS volume) FROM bars";
  const source = `{ duckdb: { database: in.duckdb, query: '${query}' }, fields: { last: close } }`;
  using folder = new JobFolder({ formulas: "x = delay(last, 1) + rank(volume)\n", source });
  const database = join(folder.path, "in.duckdb");
  const [first, second] = realBars(2, 3).map((text, at) => {
    const path = join(folder.path, `${at}.csv`);
    writeFileSync(path, text);
    return path;
  });
  await sql(
    database,
    `CREATE TABLE bars AS FROM read_csv('${first}')`,
    "ALTER TABLE bars ADD COLUMN loaded INTEGER",
  );
  expect(await folder.run()).toBeNull();
  // More columns may come, and those that no formula reads may change.
  await sql(database, "UPDATE bars SET loaded = 1, high = NULL", "ALTER TABLE bars ADD COLUMN venue INTEGER");
  expect(await folder.run()).toBeNull();
  await sql(database, `INSERT INTO bars BY NAME FROM read_csv('${second}')`);
  expect(await folder.run()).toBeNull();

  const where = "WHERE symbol = 'A' AND date = DATE '2013-02-11'";
  const before = /^2013-02-11,A,(?:[^,]+,){3}([^,]+)/m.exec(readFileSync(first!, "utf8"))![1];
  for (const value of [`${before} + 0.01`, "NULL"]) {
    await sql(database, `UPDATE bars SET close = ${value} ${where}`);
    const message =
      "E361 job bars: rows up to 2013-02-15 have been taken, and now the query has other values in 1 row of 2013-02-11";
    expect(String(await folder.run())).toContain(message);
    await expect(planRuns(await readRunConfig(folder.config), 0)).rejects.toThrow(message);
  }
  folder.configure({ source, job: "bad_input: skip" });
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  expect(messages[0]).toBe(
    'changed_rows {"job":"bars","count":1,"firstTime":"2013-02-11","lastTime":"2013-02-11"}',
  );
  folder.configure({ source });
  await sql(database, `UPDATE bars SET close = ${before} ${where}`);
  expect(await folder.run()).toBeNull();
});
