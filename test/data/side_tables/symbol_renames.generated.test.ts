import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { panelFrom } from "../../../src/data/source/panel_from.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { messageOf, writeScratch } from "../scratch.ts";

interface Row {
  readonly date: string;
  readonly symbol: string;
  readonly close: number;
}

const HEAD = "old,new,from\n";
const day = (number: number) => `2024-01-${String(number).padStart(2, "0")}`;
const csvOf = (rows: readonly Row[]) =>
  ["date,symbol,close", ...rows.map(({ date, symbol, close }) => `${date},${symbol},${close}`), ""].join(
    "\n",
  );

const renames = (lines: string) => writeScratch("renames.csv", HEAD + lines);

/** A life of an instrument: its names, and the days on which the later ones begin. */
const LIVES = fc.array(
  fc.record({
    days: fc.uniqueArray(fc.integer({ min: 2, max: 27 }), { maxLength: 3 }),
    isAbsentOn: fc.integer({ min: 1, max: 28 }),
  }),
  { minLength: 1, maxLength: 4 },
);

test("rows of all names of an instrument are in the lane of its last one", async () => {
  await fc.assert(
    fc.asyncProperty(LIVES, fc.boolean(), fc.boolean(), async (lives, isReversed, isReused) => {
      const lines: string[] = [];
      const inFile: Row[] = [];
      const expected: Row[] = [];
      for (const [index, { days, isAbsentOn }] of lives.entries()) {
        const changes = days.toSorted((a, b) => a - b);
        const nameAt = (at: number) => `I${index}N${changes.filter((change) => change <= at).length}`;
        for (const at of changes) lines.push(`${nameAt(at - 1)},${nameAt(at)},${day(at)}`);
        for (let at = 1; at <= 28; at++) {
          if (at === isAbsentOn) continue;
          const bar = { date: day(at), close: 100 * index + at };
          inFile.push({ ...bar, symbol: nameAt(at) });
          expected.push({ ...bar, symbol: nameAt(28) });
          // Another instrument takes the first name as soon as it is free.
          if (!isReused || changes.length === 0 || at < changes[0]!) continue;
          inFile.push({ ...bar, symbol: nameAt(1), close: -at });
          expected.push({ ...bar, symbol: nameAt(1), close: -at });
        }
      }
      if (lines.length === 0) return;
      const table = renames(`${(isReversed ? lines.reverse() : lines).join("\n")}\n`);
      const rows = isReversed ? inFile.toReversed() : inFile;
      const plain = await panelFrom(expected);
      expect(await panelFrom(rows, { renames: table })).toEqual(plain);
      const fromFile = await readPanel(writeScratch("bars.csv", csvOf(rows)), { renames: table });
      expect(fromFile.symbols).toEqual(plain.symbols);
      expect(fromFile.fields.get("close")).toEqual(plain.fields.get("close"));
    }),
    { numRuns: 25 },
  );
});

describe("times of bars and of changes", () => {
  test.each([
    ["a date counts from midnight in the zone of the bars", "2024-01-02T00:00:00Z", "2024-01-01T23:59:59Z"],
    ["a time of day counts from then", "2024-01-02T10:30:00Z", "2024-01-02T10:29:59Z"],
  ])("%s", async (_, from, before) => {
    const bars = [
      { time: new Date(before), symbol: "A", close: 1 },
      { time: new Date(from), symbol: "A", close: 2 },
    ];
    const written = from.endsWith("T00:00:00Z") ? "2024-01-02" : "2024-01-02 10:30:00";
    const panel = await panelFrom(bars, { renames: renames(`A,B,${written}\n`) });
    expect(panel.symbols).toEqual(["A", "B"]);
    expect([...panel.fields.get("close")!]).toEqual([Number.NaN, 1, 2, Number.NaN]);
  });
});

describe("wrong tables", () => {
  const bars = [{ date: "2024-01-01", symbol: "A", close: 1 }];
  const refused = (text: string) =>
    messageOf(panelFrom(bars, { renames: writeScratch("renames.csv", text) }));

  test.each([
    ["old,new\nA,B\n", 'E331 renames.csv: no column "from"'],
    [`${HEAD}A,,2024-01-02\n`, 'E331 renames.csv: nothing in the column "new" of row 1 (line 2)'],
    [`${HEAD}A,A,2024-01-02\n`, 'E331 renames.csv: row 1 (line 2) renames "A" to itself'],
    [
      `${HEAD}A,B,2024-01-02\nA,C,2024-01-02\n`,
      'E331 renames.csv: row 1 (line 2) and row 2 (line 3) both rename "A" at one time',
    ],
    [`${HEAD}A,B,soon\n`, 'E316 renames.csv: the time column "from" has "soon" in row 1 (line 2)'],
  ])("%j", async (text, message) => {
    expect(await refused(text)).toContain(message);
  });

  test("two names of one instrument at one time are two rows of it", async () => {
    const both = [...bars, { date: "2024-01-01", symbol: "B", close: 2 }];
    expect(await messageOf(panelFrom(both, { renames: renames("A,B,2024-01-02\n") }))).toContain("E322");
  });
});
