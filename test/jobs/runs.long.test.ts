import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { JobFolder, keptLog, realBars, rowTexts } from "./job_folder.ts";

function damageCheckpoint(folder: JobFolder): void {
  const journal = join(folder.path, "journal/bars");
  const name = readdirSync(journal)
    .filter((file) => file.startsWith("checkpoint"))
    .sort()
    .at(-1)!;
  const bytes = readFileSync(join(journal, name));
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(join(journal, name), bytes);
}

async function changeBars(folder: JobFolder, sql: string): Promise<void> {
  using database = await openDatabase();
  await database.connection.run(`ATTACH '${folder.path}/in.duckdb' AS bars_file`);
  await database.connection.run(sql);
}

async function insertBars(folder: JobFolder, text: string): Promise<void> {
  const file = join(folder.path, "insert.csv");
  writeFileSync(file, text);
  using database = await openDatabase();
  await database.connection.run(`ATTACH '${folder.path}/in.duckdb' AS bars_file`);
  await database.connection.run(
    `CREATE TABLE IF NOT EXISTS bars_file.bars AS FROM read_csv('${file}') LIMIT 0`,
  );
  await database.connection.run(`INSERT INTO bars_file.bars FROM read_csv('${file}')`);
}

/** Bars with two symbols that the first file lacks. */
function barsWithNewSymbols(): string[] {
  const [first, ...others] = realBars(3, 8) as [string, string, string];
  const lines = first.split("\n").filter((line) => !/,(A|ABBV),/.test(line));
  return [lines.join("\n"), ...others];
}

test("new symbols get lanes, and neither they nor a restart need the files of before", async () => {
  const ofGroups = "slow = ema(group_count(close, sector), 5) + cum_sum(group_mean(close, sector))\n";
  using folder = new JobFolder({ formulas: `${ofGroups}other = ts_mean(ema(rank(close), 4), 6)\n` });
  const bars = barsWithNewSymbols();
  const { log, messages } = keptLog();
  for (const [index, text] of bars.entries()) {
    const path = folder.addBars(text);
    expect(await folder.run(log, { threads: 1 + (index % 2) })).toBeNull();
    rmSync(path);
  }
  expect(messages.filter((message) => message.startsWith("rebuilding"))).toEqual([]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("a finite history is recomputed from the last files only", async () => {
  using folder = new JobFolder({ formulas: "mean = ts_mean(close, 6)\nmomentum = rank(delta(close, 5))\n" });
  const bars = realBars(5, 4);
  for (const text of bars.slice(0, 4)) folder.addBars(text);
  expect(await folder.run()).toBeNull();
  damageCheckpoint(folder);
  folder.addBars(bars[4]!);
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  expect(messages.find((message) => message.startsWith("rebuilding"))).toBe(
    `rebuilding {"job":"bars","reason":"${folder.path}/journal/bars/checkpoint-00000001: the checkpoint is damaged: its digest does not match","files":2}`,
  );
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("an engine that lays out its arenas otherwise goes on from the same state", async () => {
  using folder = new JobFolder();
  const bars = realBars(4, 6);
  const [first, second] = [{}, { arenaBytesMax: 200_000 }];
  const { log, messages } = keptLog();
  for (const [index, engine] of [first, first, second, second].entries()) {
    folder.addBars(bars[index]!);
    expect(await folder.run(log, engine)).toBeNull();
  }
  expect(messages.filter((message) => message.startsWith("rebuilding"))).toEqual([]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("a damaged checkpoint needs the input, and says so where that is gone", async () => {
  using folder = new JobFolder();
  const bars = realBars(3, 5);
  const path = folder.addBars(bars[0]!);
  folder.addBars(bars[1]!);
  expect(await folder.run()).toBeNull();
  damageCheckpoint(folder);
  folder.addBars(bars[2]!);
  renameSync(path, `${path}.part`);
  expect(String(await folder.run())).toContain(
    "bars-000.csv: is needed to compute the state of the job again (it is missing)",
  );
  renameSync(`${path}.part`, path);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("symbols of skipped files do not stay", async () => {
  using folder = new JobFolder({ job: "bad_input: skip" });
  const [first, second, third] = realBars(3, 5) as [string, string, string];
  const junk = (text: string) => `${text}${text.split("\n")[1]!.replace(/,[A-Z]+,/, ",JUNK,")}\n`;
  const twice = (text: string) => `${text}${text.split("\n")[1]}\n`;
  const bad = folder.addBars(junk(twice(first)), "bars-000-junk.csv");
  const used = folder.addBars(first, "bars-000.csv.later.csv");
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  folder.addBars(junk(twice(second)), "bars-001-junk.csv");
  expect(await folder.run(log)).toBeNull();
  for (const path of [bad, used]) rmSync(path);
  folder.addBars(third, "bars-003.csv");
  expect(await folder.run(log)).toBeNull();
  expect(messages.filter((message) => message.startsWith("skipped"))).toHaveLength(2);
  expect(messages.filter((message) => message.startsWith("rebuilding"))).toEqual([]);
  using ledger = await folder.ledger();
  expect(ledger.universe?.symbols.filter((symbol) => symbol.includes("JUNK"))).toEqual([]);
  expect(await folder.results()).toEqual(await folder.expected([first, third]));
});

test("jobs that fail do not keep the others from their run, and one line names them", async () => {
  using folder = new JobFolder();
  const config = readFileSync(folder.config, "utf8");
  const [head, job] = config.split(/(?= {2}- name)/) as [string, string];
  const failing = (name: string) =>
    job
      .replace("name: bars", `name: ${name}`)
      .replace("folder: bars", "folder: nowhere")
      .replace("out", name);
  const bars = realBars(1, 5);
  folder.addBars(bars[0]!);
  const { log, messages } = keptLog();

  writeFileSync(folder.config, head + failing("first") + job);
  expect(String(await folder.run(log))).toContain("E309");
  expect(await folder.results()).toEqual(await folder.expected(bars));
  expect(messages.at(-1)).toContain('"job":"bars"');

  writeFileSync(folder.config, head + failing("first") + job + failing("last"));
  expect(String(await folder.run(log))).toContain("E309");
  expect(messages.at(-1)).toBe('jobs failed {"jobs":["first","last"]}');
});

test("symbols of a file that a new one before it makes late do not stay", async () => {
  using folder = new JobFolder({ job: "bad_input: skip" });
  const bars = realBars(2, 5);
  folder.addBars(bars[0]!.replaceAll(/^(\d{4}-\d\d-\d\d),/gm, "$1,LATE"), "bars-1.csv");
  for (const [index, text] of bars.entries()) folder.addBars(text, `bars-${2 * index}.csv`);
  expect(await folder.run()).toBeNull();
  using ledger = await folder.ledger();
  expect(ledger.universe?.symbols.filter((symbol) => symbol.startsWith("LATE"))).toEqual([]);
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("a path that is no regular file is refused with the reason, or skipped and counted", async () => {
  using folder = new JobFolder();
  const bars = realBars(2, 5);
  const path = folder.addBars(bars[0]!);
  const at = (name: string) => join(dirname(path), name);
  const socket = createServer();
  try {
    for (const [name, make, reason] of [
      ["z.csv", (made: string) => mkdirSync(made), "is a folder"],
      ["pipe.csv", (made: string) => execFileSync("mkfifo", [made]), "is a pipe"],
      [
        "dangling.csv",
        (made: string) => symlinkSync(at("nowhere.csv"), made),
        "is a link to a file that is not there",
      ],
      ["device.csv", (made: string) => symlinkSync("/dev/zero", made), "is a device"],
    ] as const) {
      make(at(name));
      expect(String(await folder.run())).toContain(
        `E369 ${at(name)}: ${reason}, and has the name of an input file`,
      );
      renameSync(at(name), at(`${name}.kept`));
    }
    await once(socket.listen(at("socket.csv")), "listening");
    expect(String(await folder.run())).toContain(`E369 ${at("socket.csv")}: is a socket`);
    for (const name of ["z.csv", "pipe.csv", "dangling.csv", "device.csv"])
      renameSync(at(`${name}.kept`), at(name));
    writeFileSync(join(folder.path, "elsewhere.txt"), bars[1]!);
    symlinkSync(join(folder.path, "elsewhere.txt"), at("linked.csv"));
    folder.configure({ job: "bad_input: skip" });
    const { log, messages } = keptLog();
    for (let run = 0; run < 2; run += 1) expect(await folder.run(log)).toBeNull();
    expect(messages.filter((message) => message.startsWith("skipped"))).toHaveLength(5);
    using ledger = await folder.ledger();
    expect([ledger.skipped.size, ledger.consumed.size]).toEqual([5, 2]);
    expect(await folder.results()).toEqual(await folder.expected(bars));
  } finally {
    socket.close();
  }
});

test("rows of a query", async () => {
  using folder = new JobFolder({
    source: "{ duckdb: { database: in.duckdb, query: 'SELECT * FROM bars' } }",
  });
  const bars = realBars(3, 6);
  for (const text of bars) {
    await insertBars(folder, text);
    expect(await folder.run()).toBeNull();
  }
  expect(await folder.results()).toEqual(await folder.expected(bars));
  const [late] = realBars(1, 1, 14) as [string];
  await insertBars(folder, late.split("\n").slice(0, 15).join("\n"));
  expect(String(await folder.run())).toContain("E361");
});

test("rows of a query that come late and rows that are gone are counted apart, with their times", async () => {
  using folder = new JobFolder({
    source: "{ duckdb: { database: in.duckdb, query: 'SELECT * FROM bars' } }",
  });
  const [bars] = realBars(1, 6) as [string];
  await insertBars(folder, bars);
  expect(await folder.run()).toBeNull();
  // The same number of both, so that their sum shows nothing.
  await changeBars(folder, "CREATE TABLE bars_file.kept AS FROM bars_file.bars");
  await changeBars(
    folder,
    `UPDATE bars_file.bars SET symbol = 'LATE' WHERE symbol = (SELECT min(symbol) FROM bars_file.bars)
       AND date IN (SELECT DISTINCT date FROM bars_file.bars ORDER BY date LIMIT 2)`,
  );
  const bothMessage = String(await folder.run());
  const [first, second, , , , last] = [
    ...new Set(
      bars
        .split("\n")
        .slice(1)
        .map((line) => line.split(",")[0]),
    ),
  ];
  const range = `2 rows of ${first} to ${second}`;
  expect(bothMessage).toContain(
    `E361 job bars: rows up to ${last} have been taken, and now the query has ${range} that it had not and no longer has ${range}`,
  );
  await changeBars(
    folder,
    `CREATE OR REPLACE TABLE bars_file.bars AS FROM bars_file.kept
       WHERE NOT (date = '${first}' AND symbol = (SELECT min(symbol) FROM bars_file.kept))`,
  );
  expect(String(await folder.run())).toContain(`and now the query no longer has 1 row of ${first}\n`);
  await changeBars(folder, "CREATE OR REPLACE TABLE bars_file.bars AS FROM bars_file.kept");
  expect(await folder.run()).toBeNull();
});

test("wrong rows of a query are taken again when they are corrected", async () => {
  using folder = new JobFolder();
  const bars = realBars(2, 5);
  const [first, second] = bars as [string, string];
  await insertBars(folder, first);
  folder.configure({ source: '{ duckdb: { database: in.duckdb, query: "FROM bars" } }' });
  expect(await folder.run()).toBeNull();
  await insertBars(folder, second);
  await insertBars(folder, second.split("\n").slice(0, 2).join("\n"));
  expect(String(await folder.run())).toContain("E322");
  await changeBars(folder, "CREATE OR REPLACE TABLE bars_file.bars AS SELECT DISTINCT * FROM bars_file.bars");
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});

test("windows end where a session starts if they may not cross it", async () => {
  const minutes = (day: string) =>
    ["09:31", "09:32", "09:33", "13:01", "13:02"].map((time, minute) => {
      return ["A", "B"].map((symbol, lane) => `${day} ${time}:00,${symbol},${10 + minute * (lane + 1)}`);
    });
  const lines = ["2024-01-02", "2024-01-03"].flatMap(minutes);
  const header = "time,symbol,close";
  const formulas = "mean = ts_mean(close, 2)\nslow = ema(close, 3)\n";
  const sessions = "restarts: { sessions: [['09:30', '11:30'], ['13:00', '15:00']] }";
  using folder = new JobFolder({ formulas, job: sessions });
  // The files end within sessions.
  for (const [from, end] of [
    [0, 2],
    [2, 4],
    [4, 10],
  ] as const) {
    folder.addBars(`${[header, ...lines.slice(from, end).flat()].join("\n")}\n`);
    expect(await folder.run()).toBeNull();
  }
  const expected: string[] = [];
  for (const [from, end] of [
    [0, 3],
    [3, 5],
    [5, 8],
    [8, 10],
  ] as const) {
    expected.push(...(await folder.expected([`${[header, ...lines.slice(from, end).flat()].join("\n")}\n`])));
  }
  expect(await folder.results()).toEqual(expected);
});

test("jobs share a database of results", async () => {
  using folder = new JobFolder({ sink: "duckdb" });
  const config = readFileSync(folder.config, "utf8");
  const [head, job] = config.split(/(?= {2}- name)/) as [string, string];
  const second = job.replace("name: bars", "name: more").replace("table: factors", "table: more");
  writeFileSync(folder.config, head + job + second);
  const bars = realBars(2, 5);
  for (const text of bars) {
    folder.addBars(text);
    expect(await folder.run()).toBeNull();
  }
  const results = await folder.results();
  expect(results).toEqual(await folder.expected(bars));
  expect(await rowTexts("out.more", join(folder.path, "out.duckdb"))).toEqual(results);
});

test("a file with wrong rows is skipped, and the state is as before", async () => {
  using folder = new JobFolder({ job: "bad_input: skip" });
  const [first, second, third] = realBars(3, 5) as [string, string, string];
  folder.addBars(first);
  folder.addBars(`${second}${second.split("\n")[1]}\n`, "bars-001-twice.csv");
  folder.addBars(second.replaceAll("volume", "amount"), "bars-002-renamed.csv");
  folder.addBars(third, "bars-003.csv");
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  const codes = messages.flatMap((message) => /^skipped .*"code":"(E\d+)"/.exec(message)?.[1] ?? []);
  expect(codes).toEqual(["E322", "E366"]);
  expect(await folder.results()).toEqual(await folder.expected([first, third]));
});

test("a file that is still being written waits for the next run, and so do those behind it", async () => {
  using folder = new JobFolder();
  const bars = realBars(3, 5);
  const [, growing] = bars.map((text) => folder.addBars(text));
  const { log, messages } = keptLog();
  const writer = setInterval(() => utimesSync(growing!, new Date(), new Date(Date.now() * Math.random())), 1);
  expect(await folder.run(log)).toBeNull();
  clearInterval(writer);
  expect(messages.filter((message) => message.startsWith("unfinished"))).toHaveLength(1);
  expect(await folder.results()).toEqual(await folder.expected(bars.slice(0, 1)));
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(bars));
});
