import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { openPanelSource } from "../../../src/data/source/open_panel_source.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { writeParquet, writeScratch } from "../scratch.ts";

let warn: MockInstance<typeof process.emitWarning>;
beforeEach(() => {
  warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

/** The warnings of opening a file. */
async function warningsOf(path: string): Promise<string[]> {
  const source = await openPanelSource(path);
  await source.close();
  return warn.mock.calls.splice(0).map(([text]) => String(text).replaceAll(/[^ ]*\//g, ""));
}

const REMEDY = "give bars that belong together the same time, e.g. their date";
const ALONE =
  "no time has rows of two symbols, so that rank and other operators across the row see one alone";

test("bars of two exchanges at their own midnights are warned of, with the nearest times of two symbols", async () => {
  const bars = writeScratch(
    "midnights.csv",
    `time,symbol,close
2024-01-02 00:00:00+09:00,7203,1
2024-01-04 00:00:00+09:00,7203,1
2024-01-04 00:00:00+08:00,600519,1
2024-01-05 00:00:00-05:00,AAPL,1
`,
  );
  const nearest = '"7203" at 2024-01-03 15:00:00Z, "600519" at 2024-01-03 16:00:00Z';
  expect(await warningsOf(bars)).toEqual([`midnights.csv: ${ALONE}: ${nearest}; ${REMEDY}`]);
  const zoned = await writeParquet(
    "midnights.parquet",
    "SELECT TIMESTAMPTZ '2024-01-01 15:00:00Z' AS time, 'a' AS symbol UNION ALL SELECT TIMESTAMPTZ '2024-01-01 16:00:00Z', 'b'",
  );
  expect(await warningsOf(zoned)).toHaveLength(1);
});

test("the same instant in two zones is one time; one symbol has nothing to share", async () => {
  const rows = "2024-01-02 00:00:00+09:00,7203,1\n2024-01-01 23:00:00+08:00,600519,1\n";
  expect(await warningsOf(writeScratch("instants.csv", `time,symbol,close\n${rows}`))).toEqual([]);
  expect(await warningsOf(writeScratch("single.csv", "time,symbol,close\n1,a,1\n2,a,1\n"))).toEqual([]);
});

test("there is a warning if and only if there are two symbols and no time has two", async () => {
  const seeded = new Seeded();
  const seen = new Set<boolean>();
  for (let trial = 0; trial < trials(12, 200); trial++) {
    const [times, symbols] = [2 + seeded.below(12), 2 + seeded.below(3)];
    const all = Array.from({ length: times * symbols }, (_, cell) => cell);
    const cells =
      trial % 2 === 0
        ? Array.from({ length: times }, (_, time) => time * symbols + seeded.below(symbols))
        : all.filter((cell) => cell === 0 || seeded.uniform() < 0.5);
    const rows = cells.map((cell) => `${Math.floor(cell / symbols)},S${cell % symbols},1`);
    const distinct = (column: number) => new Set(rows.map((row) => row.split(",")[column])).size;
    const isAlone = distinct(1) > 1 && distinct(0) === rows.length;
    const bars = writeScratch("drawn.csv", `time,symbol,close\n${rows.join("\n")}\n`);
    expect((await warningsOf(bars)).length > 0, `SEED=${seeded.seed} ${rows.join(" ")}`).toBe(isAlone);
    seen.add(isAlone);
  }
  expect(seen.size, `SEED=${seeded.seed}`).toBe(2);
});
