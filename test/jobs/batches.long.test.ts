import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { JobStore, readHistory } from "../../src/jobs/journal/job_store.ts";
import { Superseded } from "../../src/jobs/service/job_loop.ts";
import { JobRunner } from "../../src/jobs/service/job_runner.ts";
import type { Log } from "../../src/jobs/service/log.ts";
import { SharedHost } from "../../src/jobs/service/shared_host.ts";
import { readStatus } from "../../src/jobs/service/status.ts";
import { JobFolder, keptLog, realBars, SILENT, type Sink } from "./job_folder.ts";

const historyOf = (folder: JobFolder) => readHistory(join(folder.path, "journal"), "bars");

/** How many files each batch had. */
function batchesOf(folder: JobFolder): number[] {
  const lines = readFileSync(join(folder.path, "journal/bars/journal.jsonl"), "utf8").trim().split("\n");
  const records = lines.map((line) => JSON.parse(line).record);
  return records.flatMap(({ kind, inputs }) => (kind === "prepared" ? [inputs.length] : []));
}

/** 12 symbols and 5 days a file. */
const FILE_ROWS = 60;

test.each([
  "parquet",
  "arrow",
  "duckdb",
] as const)("small files are committed together, and give the rows of eval: %s", async (sink: Sink) => {
  using folder = new JobFolder({ sink });
  const bars = realBars(7, 5);
  for (const text of bars) folder.addBars(text);
  const { log, messages } = keptLog();
  expect(await folder.run(log, {}, { limits: { rows: 3 * FILE_ROWS, ms: 1e9 } })).toBeNull();
  expect(batchesOf(folder)).toEqual([3, 3, 1]);
  expect(messages.filter((message) => message.startsWith("committed"))).toHaveLength(7);
  expect(messages.at(-1)).toMatch(/^run done .*"files":7,"rows":420/);
  expect(await folder.results()).toEqual(await folder.expected(bars));
  const names = readdirSync(join(folder.path, "journal/bars"));
  expect(names.filter((name) => name.startsWith("checkpoint"))).toHaveLength(1);
  const { jobs } = await readStatus(await readRunConfig(folder.config), 0, { verify: true });
  expect(jobs[0]).toMatchObject({ files: 7, rows: 420, sink: { differs: null } });
});

test("a batch ends at its time limit", async () => {
  using folder = new JobFolder();
  const bars = realBars(3, 5);
  for (const text of bars) folder.addBars(text);
  expect(await folder.run(SILENT, {}, { limits: { rows: 1e9, ms: 0 } })).toBeNull();
  expect(batchesOf(folder)).toEqual([1, 1, 1]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("checkpoints of a catch-up go as newer ones are committed", async () => {
  using folder = new JobFolder();
  for (const text of realBars(6, 5)) folder.addBars(text);
  const counts: number[] = [];
  const count = () => {
    const names = readdirSync(join(folder.path, "journal/bars"));
    counts.push(names.filter((name) => name.startsWith("checkpoint")).length);
  };
  const log: Log = {
    ...SILENT,
    debug: (fields) => "step" in fields && fields.step === "checkpointed" && count(),
  };
  expect(await folder.run(log, {}, { limits: { rows: 1, ms: 1e9 } })).toBeNull();
  expect(counts).toEqual([1, 2, 2, 2, 2, 2]);
});

test("files of any format share a batch", async () => {
  using folder = new JobFolder();
  const bars = realBars(6, 5);
  for (const [index, text] of bars.entries()) {
    const path = join(folder.path, "bars", `bars-${index}`);
    if (index % 3 === 0) writeFileSync(`${path}.csv`, text);
    else if (index % 3 === 1) writeFileSync(`${path}.csv.gz`, gzipSync(text));
    else {
      writeFileSync(join(folder.path, "one.csv"), text);
      using database = await openDatabase();
      await database.connection.run(
        `COPY (FROM read_csv('${folder.path}/one.csv')) TO '${path}.parquet' (FORMAT parquet)`,
      );
    }
  }
  const failure = await folder.run();
  expect(failure).toBeNull();
  expect(batchesOf(folder)).toEqual([6]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

const twice = (text: string) => `${text}${text.split("\n")[1]}\n`;

test.each([
  ["is wrong", "E322", twice],
  ["lacks a column", "E366", (text: string) => text.replace("volume", "amount")],
  ["has other times", "E364", (text: string) => text.replaceAll(/^(\d{4}-\d\d-\d\d),/gm, "$1 09:30:00,")],
] as const)("a file amid others that %s fails the run behind those before it", async (_, code, spoil) => {
  // An arrow sink takes times of any type.
  using folder = new JobFolder({ sink: "arrow" });
  const bars = realBars(5, 5);
  const paths = bars.map((text, index) => folder.addBars(index === 3 ? spoil(text) : text));
  expect(String(await folder.run())).toContain(code);
  expect(batchesOf(folder)).toEqual([3]);
  expect(await folder.results()).toEqual(await folder.expected(bars.slice(0, 3)));
  writeFileSync(paths[3]!, bars[3]!);
  expect(await folder.run()).toBeNull();
  expect(batchesOf(folder)).toEqual([3, 2]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("a wrong file among others is skipped, and the others are as without it", async () => {
  using folder = new JobFolder({ job: "bad_input: skip" });
  const bars = realBars(6, 5);
  for (const [index, text] of bars.entries()) folder.addBars(index === 2 || index === 4 ? twice(text) : text);
  expect(await folder.run()).toBeNull();
  expect(batchesOf(folder)).toEqual([2, 1, 1]);
  const good = bars.filter((_, index) => index !== 2 && index !== 4);
  expect(await folder.results()).toEqual(await folder.expected(good));
});

test("a file among others that changes at its turn waits, and those before it are committed", async () => {
  using folder = new JobFolder();
  // Several blocks each: the third is not read before the first is evaluated.
  const bars = realBars(4, 300, 4);
  const paths = bars.map((text) => folder.addBars(text));
  const log: Log = {
    ...SILENT,
    debug(fields, message) {
      const isFirst = message === "evaluated" && "path" in fields && fields.path === paths[0];
      if (isFirst) utimesSync(paths[2]!, new Date(), new Date(0));
    },
  };
  expect(await folder.run(log)).toBeNull();
  expect(batchesOf(folder)).toEqual([2]);
  expect(await folder.results()).toEqual(await folder.expected(bars.slice(0, 2)));
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("a run that is cancelled loses the current batch, one that is stopped commits it", async () => {
  using folder = new JobFolder();
  const bars = realBars(8, 5);
  for (const text of bars) folder.addBars(text);
  const config = await readRunConfig(folder.config);
  const host = new SharedHost(config.engine);
  const store = await JobStore.open(config.journal, "bars");
  let onFile = (_: number) => {};
  let files = 0;
  const limits = { rows: 3 * FILE_ROWS, ms: 1e9 };
  const runner = new JobRunner(config.jobs[0]!, host, store, limits, ({ kind }) => {
    if (kind === "evaluated") onFile(++files);
  });
  try {
    const run = async (which: "abort" | "stop", at: number) => {
      const signals = { abort: new AbortController(), stop: new AbortController() };
      files = 0;
      onFile = (count) => {
        if (count === at) signals[which].abort(new Superseded());
      };
      const { abort, stop } = signals;
      await expect(runner.run({ abort: abort.signal, stop: stop.signal })).rejects.toBeInstanceOf(Superseded);
      return store.history.committed.files;
    };
    expect(await run("abort", 5)).toBe(3);
    // Files of one block have been read together.
    expect(await run("stop", 2)).toBe(6);
  } finally {
    await runner.close();
    await host.close();
  }
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("results that a database refuses are not counted until a later run has inserted them", async () => {
  using folder = new JobFolder({ sink: "duckdb" });
  const [first, second] = realBars(2, 5) as [string, string];
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  const sql = async (...statements: string[]) => {
    using database = await openDatabase();
    await database.connection.run(`ATTACH '${folder.path}/out.duckdb' AS file; USE file`);
    for (const statement of statements) await database.connection.run(statement);
  };
  const last = first.trim().split("\n").at(-1)!.split(",")[0];
  const columns =
    "date DATE, symbol VARCHAR, momentum DOUBLE, slow DOUBLE, spread DOUBLE, neutral DOUBLE, correlated DOUBLE";
  await sql(
    "ALTER TABLE factors RENAME TO kept",
    `CREATE TABLE factors (${columns}, CHECK (date <= DATE '${last}'))`,
    "INSERT INTO factors FROM kept",
  );
  folder.addBars(second);
  const { log, messages } = keptLog();
  const failure = await folder.run(log);
  expect(failure).toMatchObject({ code: "E442", name: "ResourceError" });
  expect(messages.at(-1)).toMatch(/^run failed .*"files":0,"rows":0/);
  expect(messages.filter((message) => message.startsWith("committed"))).toEqual([]);
  const { jobs } = await readStatus(await readRunConfig(folder.config), 0);
  expect(jobs[0]).toMatchObject({ outcome: "failed", files: 1, rows: 60, position: last });
  expect(jobs[0]?.error).toContain("E442");
  expect(String(await folder.run())).toContain("E442");
  await sql("DROP TABLE factors", "ALTER TABLE kept RENAME TO factors");
  expect(await folder.run(log)).toBeNull();
  expect(messages.at(-1)).toMatch(/^run done .*"files":1,"rows":60/);
  expect((await historyOf(folder)).committed).toMatchObject({ files: 2, rows: 120 });
  expect(await folder.results()).toEqual(await folder.expected([first, second]));
});

test("an error names what lies in the way of the journal", async () => {
  using folder = new JobFolder();
  folder.addBars(realBars(1, 5)[0]!);
  const journal = join(folder.path, "journal");
  const inTheWay = join(journal, "bars/journal.jsonl");
  mkdirSync(inTheWay, { recursive: true });
  await expect(folder.run()).rejects.toThrow(`E442 ${inTheWay}: a folder lies where a file belongs (EISDIR`);
  rmSync(journal, { recursive: true });
  writeFileSync(journal, "");
  await expect(folder.run()).rejects.toThrow(`E442 ${journal}: a file lies where a folder belongs (EEXIST`);
});
