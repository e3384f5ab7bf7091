import fc from "fast-check";
import { expect, test } from "vitest";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import { panelFrom } from "../../../src/data/source/panel_from.ts";
import { DIGEST_BYTES, TimeDigests } from "../../../src/jobs/input/time_digests.ts";

interface Row {
  readonly date: string;
  readonly symbol: string;
  readonly close: number | null;
  readonly volume: number | null;
  readonly sector: string | null;
}

const VALUE = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1, null));
const ROW = fc.record({
  date: fc.integer({ min: 1, max: 6 }).map((day) => `2024-01-0${day}`),
  symbol: fc.constantFrom("A", "B", "C", "D"),
  close: VALUE,
  volume: VALUE,
  sector: fc.constantFrom<string | null>("x", "y", null),
});
const ROWS = fc.uniqueArray(ROW, {
  selector: ({ date, symbol }) => date + symbol,
  minLength: 1,
  maxLength: 20,
});

/** By time; columns are read in the order of their names. */
async function digestsOf(rows: readonly Row[], blockRows = 100): Promise<Map<bigint, string[]>> {
  // Columns that are empty would be fields and groups.
  const filled = [...rows, { date: "2023-01-01", symbol: "Z", close: 1, volume: 1, sector: "z" }];
  const source = panelSource(await panelFrom(filled));
  const digests = new TimeDigests(source.symbols, ["close", "volume"], ["sector"]);
  const found = new Map<bigint, string[]>();
  for await (const block of source.blocks({ fields: ["close", "volume"], groups: ["sector"], blockRows }))
    for (const { time, bytes } of digests.of(block)) {
      expect(bytes.length).toBe(4 * DIGEST_BYTES);
      const hex = Buffer.from(bytes).toString("hex");
      found.set(
        time,
        Array.from({ length: 4 }, (_, column) => hex.slice(32 * column, 32 * (column + 1))),
      );
    }
  return found;
}

test("digests do not depend on the order of rows, on blocks, or on what else a file has", async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, fc.integer({ min: 1, max: 4 }), async (rows, blockRows) => {
      const expected = await digestsOf(rows);
      expect(await digestsOf(rows.toReversed(), blockRows)).toEqual(expected);
      const others = [...rows, { date: "2024-02-01", symbol: "E", close: 1, volume: 2, sector: "w" }];
      const among = await digestsOf(others);
      for (const [time, digests] of expected) expect(among.get(time)).toEqual(digests);
    }),
    { numRuns: 30 },
  );
});

test("a changed cell changes the digest of its time and column, a row more or less that of the symbols", async () => {
  await fc.assert(
    fc.asyncProperty(
      ROWS,
      fc.nat(),
      fc.constantFrom("close", "volume", "sector", "row"),
      async (rows, at, what) => {
        const index = at % rows.length;
        const row = rows[index]!;
        const changed =
          what === "sector" ? { ...row, sector: "other" } : { ...row, [what]: (row.close ?? 0) + 1.5 };
        fc.pre(what === "row" || !Object.is(changed[what], row[what]));
        const after = what === "row" ? rows.toSpliced(index, 1) : rows.with(index, changed);
        const [before, found] = [await digestsOf(rows), await digestsOf(after)];
        const time = BigInt(Date.parse(row.date) / 86_400_000);
        const column = { row: 0, close: 1, volume: 2, sector: 3 }[what];
        for (const [each, digests] of before) {
          if (each !== time) expect(found.get(each)).toEqual(digests);
          else if (found.has(each)) expect(found.get(each)![column]).not.toBe(digests[column]);
          if (each === time && what !== "row")
            expect(found.get(each)!.toSpliced(column, 1)).toEqual(digests.toSpliced(column, 1));
        }
      },
    ),
    { numRuns: 60 },
  );
});
