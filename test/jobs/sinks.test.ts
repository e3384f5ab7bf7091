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
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { JobFolder, keptLog, realBars, rowTexts, sql } from "./job_folder.ts";

const FORMULAS = "slow = ema(close, 4)\nmomentum = delta(close, 3)\n";

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

test("an older ledger is refused", async () => {
  using folder = new JobFolder({ formulas: FORMULAS });
  const [first, second, third] = realBars(3, 2) as [string, string, string];
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  const ledger = join(folder.path, "journal/bars/ledger.sqlite");
  copyFileSync(ledger, `${ledger}.backup`);
  folder.addBars(second);
  expect(await folder.run()).toBeNull();
  copyFileSync(`${ledger}.backup`, ledger);
  folder.addBars(third);
  expect(String(await folder.run())).toMatch(
    /E367 .*part-00000002.parquet is there, and the ledger does not know it/,
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

test("what is prepared is not published for a job that changed", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  folder.addBars(realBars(1, 5)[0]!);
  const { log } = keptLog();
  const stop = (fields: object) => {
    if ((fields as { step?: string }).step === "prepared") throw new Error("killed");
  };
  expect(String(await folder.run({ ...log, debug: stop }))).toContain("killed");
  folder.rewriteConfig((text) => text.replace("table: factors", "table: renamed"));
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

test("each new folder and the file of a database are brought to the disk", async () => {
  using folder = new JobFolder({ sink: "duckdb", formulas: FORMULAS });
  folder.rewriteConfig((text) => text.replace("database: out.duckdb", "database: a/b/out.duckdb"));
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
