import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRunConfig } from "../../../src/jobs/config/read_config.ts";
import { readStatus } from "../../../src/jobs/service/status.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { JobFolder, keptLog, realBars, SILENT, sql } from "../job_folder.ts";

const bars = realBars(4, 5);

/** What may befall the sink or the ledger of a job. Each is found by `status --verify`, or by the next run. */
const MISHAPS: Record<string, (folder: JobFolder) => void | Promise<void>> = {
  "an altered part": async (folder) => {
    if (folder.sink === "duckdb")
      await sql(join(folder.path, "out.duckdb"), "UPDATE factors SET slow = 1 WHERE date = '2013-02-12'");
    else writeFileSync(partOf(folder), "other bytes");
  },
  "a part that is gone": async (folder) => {
    if (folder.sink === "duckdb")
      await sql(join(folder.path, "out.duckdb"), "DELETE FROM factors WHERE slow > 40");
    else rmSync(partOf(folder));
  },
  "results that are gone": (folder) => rmSync(join(folder.path, place(folder)), { recursive: true }),
  "a table of another shape": async (folder) => {
    if (folder.sink === "duckdb")
      await sql(
        join(folder.path, "out.duckdb"),
        "ALTER TABLE factors DROP COLUMN slow",
        "ALTER TABLE factors ALTER spread TYPE REAL",
        "INSERT INTO factors FROM factors",
      );
    else writeFileSync(join(folder.path, "out/part-x.arrow"), "");
  },
  "a ledger that is gone": (folder) => rmSync(join(folder.path, "journal"), { recursive: true }),
  "a journal of an earlier version": (folder) => {
    rmSync(join(folder.path, "journal/bars/ledger.sqlite"));
    writeFileSync(join(folder.path, "journal/bars/journal.jsonl"), "{}\n");
  },
  "an older ledger": async (folder) => {
    const journal = join(folder.path, "journal");
    cpSync(journal, `${journal}.old`, { recursive: true });
    folder.addBars(bars[2]!);
    expect(await folder.run()).toBeNull();
    rmSync(journal, { recursive: true });
    cpSync(`${journal}.old`, journal, { recursive: true });
  },
  "an older sink": async (folder) => {
    const sink = join(folder.path, place(folder));
    cpSync(sink, `${sink}.old`, { recursive: true, dereference: true });
    folder.addBars(bars[2]!);
    expect(await folder.run()).toBeNull();
    rmSync(sink, { recursive: true });
    cpSync(`${sink}.old`, sink, { recursive: true });
  },
};

const place = ({ sink }: JobFolder) => (sink === "duckdb" ? "out.duckdb" : "out");

function partOf(folder: JobFolder): string {
  const names = readdirSync(join(folder.path, "out"), { recursive: true }) as string[];
  return join(folder.path, "out", names.filter((name) => /part-\d+\.(arrow|parquet)$/.test(name)).sort()[0]!);
}

const all = (["parquet", "arrow", "duckdb"] as const).flatMap((sink) =>
  Object.keys(MISHAPS).map((mishap) => [sink, mishap] as const),
);
const { seed, below } = new Seeded();
const first = below(all.length);
// Twice the same would be tried where all are.
const tried = Array.from(
  { length: trials(6, all.length) },
  (_, index) => all[(first + 7 * index) % all.length]!,
);

test.each(tried)(`%s: %s is repaired, SEED=${seed}`, async (sink, mishap) => {
  using folder = new JobFolder({ sink });
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  folder.addBars(bars[1]!);
  expect(await folder.run()).toBeNull();
  // The sink of files is a link in half of the cases.
  if (below(2) === 0) {
    folder.configure({ formulas: "slow = ema(close, 10)\nspread = high - low", job: "drop: true" });
    expect(await folder.run()).toBeNull();
  }
  if (sink === "duckdb")
    await sql(join(folder.path, "out.duckdb"), "ALTER TABLE factors ADD COLUMN mine INT DEFAULT 7");
  await MISHAPS[mishap]!(folder);
  const config = await readRunConfig(folder.config);
  const failure = (await readStatus(config, 0, { verify: true }).then(
    ({ jobs }) => jobs[0]!.sink!.differs,
    (error: Error) => error.message,
  )) as string;
  expect(failure).toMatch(/E367|E532|E531/);
  expect(failure).toContain("factorloom repair CONFIG bars");
  expect(await folder.run(SILENT, {}, { repairs: true })).toBeNull();
  expect((await readStatus(config, 0, { verify: true })).jobs[0]).toMatchObject({
    outcome: "done",
    sink: { differs: null },
  });
  folder.addBars(bars[3]!);
  expect(await folder.run()).toBeNull();
  const files = /older (ledger|sink)/.test(mishap) ? bars : [bars[0]!, bars[1]!, bars[3]!];
  const own = await folder.expected(files);
  const isKept = sink === "duckdb" && mishap !== "results that are gone";
  const results = (await folder.results()).map((line) => line.replace(/,(7|null)$/, ""));
  expect(isKept ? results : await folder.results()).toEqual(own);
  const verified = await readStatus(config, 0, { verify: true });
  expect(verified.jobs[0]!.sink!.differs).toBeNull();
});

test("a repair whose input is gone is refused before anything is computed", async () => {
  using folder = new JobFolder();
  const path = folder.addBars(bars[0]!);
  folder.addBars(bars[1]!);
  expect(await folder.run()).toBeNull();
  const before = await folder.results();
  rmSync(path);
  const { log, messages } = keptLog();
  expect(String(await folder.run(log, {}, { repairs: true }))).toMatch(/E361 .*bars-000.csv: is needed/);
  expect(messages.join("\n")).not.toContain("changed");
  expect(await folder.results()).toEqual(before);
  expect(await folder.run()).toBeNull();
});

test("a repair takes rows as they are now, of other symbols as well, and overlapping files where the ledger is gone", async () => {
  using folder = new JobFolder();
  const path = folder.addBars(bars[0]!);
  folder.addBars(bars[1]!);
  expect(await folder.run()).toBeNull();
  const altered = bars[0]!.replace(/^(\d{4}-\d\d-\d\d,)AAP,/gm, "$1ZZZ,");
  expect(altered).not.toBe(bars[0]);
  writeFileSync(path, altered);
  writeFileSync(partOf(folder), "other bytes");
  expect(await folder.run(SILENT, {}, { repairs: true })).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([altered, bars[1]!]));
  // The second file once more, with the rows of the third.
  folder.addBars(`${bars[1]!.trimEnd()}\n${bars[2]!.slice(bars[2]!.indexOf("\n") + 1)}`);
  rmSync(join(folder.path, "journal"), { recursive: true });
  expect(await folder.run(SILENT, {}, { repairs: true })).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([altered, bars[1]!, bars[2]!]));
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected([altered, bars[1]!, bars[2]!]));
});
