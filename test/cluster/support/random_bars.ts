import { DateDay, Float64, Table, Utf8, vectorFromArray } from "apache-arrow";
import fc from "fast-check";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { CONDITION_FIELDS, FIELDS, NUMBER_FIELD } from "../../conformance/awkward_panels.ts";
import { AWKWARD_NUMBERS, awkwardSeries, hashed } from "../../conformance/awkward_series.ts";

/** Bars as drawn: all their cells follow from these few numbers. */
export const randomBars = fc.record({
  laneCount: fc.integer({ min: 1, max: 24 }),
  rowCount: fc.oneof(fc.integer({ min: 1, max: 130 }), fc.constantFrom(1, 2, 64, 65, 130)),
  seed: fc.nat(2 ** 20),
  /** Lines that the file lacks, as a share of all. */
  missing: fc.constantFrom(0, 0.1, 0.6),
  order: fc.constantFrom("by time" as const, "by symbol" as const),
});
export type Bars = typeof randomBars extends fc.Arbitrary<infer T> ? T : never;

const SERIES_NAMES = Object.keys(awkwardSeries(0));
const GROUP_LABELS = ["a", "b", "c", null];
/** Rows for which a symbol stays in its group, before it may change. */
const GROUP_ROWS = 5;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2020, 0, 1);

type Place = { readonly row: number; readonly lane: number };

/** The day of a row, as `from` and `to` take it. */
export function dayOf(row: number): string {
  return new Date(FIRST_DAY + row * DAY_MS).toISOString().slice(0, 10);
}

/** Writes bars as a long table with the fields and groups of the awkward panels; every row has a line at least. */
export async function writeBars(bars: Bars, path: string): Promise<void> {
  const places = placesOf(bars);
  const days = places.map(({ row }) => new Date(FIRST_DAY + row * DAY_MS));
  const symbols = places.map(({ lane }) => `S${String(lane).padStart(2, "0")}`);
  const fields = FIELDS.map((field, i) => {
    const cells = places.map((place) => cellOf(bars, field, i, place));
    return [field, vectorFromArray(cells, new Float64())] as const;
  });
  const groups = (["g", "h"] as const).map((group) => {
    return [
      group,
      vectorFromArray(
        places.map((place) => labelOf(bars, group, place)),
        new Utf8(),
      ),
    ] as const;
  });
  const table = new Table({
    date: vectorFromArray(days, new DateDay()),
    symbol: vectorFromArray(symbols, new Utf8()),
    ...Object.fromEntries([...fields, ...groups]),
  });
  await writeTable(table, path);
}

function placesOf({ laneCount, rowCount, seed, missing, order }: Bars): Place[] {
  const places = Array.from({ length: rowCount * laneCount }, (_, i) => {
    return order === "by time"
      ? { row: Math.floor(i / laneCount), lane: i % laneCount }
      : { row: i % rowCount, lane: Math.floor(i / rowCount) };
  });
  return places.filter(({ row, lane }) => {
    return row % laneCount === lane || hashed(seed, row * laneCount + lane) >= missing;
  });
}

/** Null and NaN are both in the file: they mean the same. */
function cellOf({ seed }: Bars, field: string, index: number, { row, lane }: Place): number | null {
  if (field === NUMBER_FIELD) return 2;
  const drawn = hashed(seed + 31 * index, row * 64 + lane);
  if (drawn < 0.04) return null;
  if (CONDITION_FIELDS.includes(field)) return Number(drawn < 0.55);
  if (drawn < 0.1) return AWKWARD_NUMBERS[Math.floor(drawn * 1e6) % AWKWARD_NUMBERS.length]!;
  if (drawn < 0.3) return Math.floor(drawn * 1e6) % 4;
  const series = SERIES_NAMES[(lane * 5 + index + seed) % SERIES_NAMES.length]!;
  return drawn < 0.6 ? awkwardSeries(index + seed)[series]!(row) : drawn * 100 - 70;
}

/** `g` changes over time, `h` does not. */
function labelOf({ seed }: Bars, group: "g" | "h", { row, lane }: Place): string | null {
  const time = group === "g" ? Math.floor(row / GROUP_ROWS) + 1 : 0;
  return GROUP_LABELS[Math.floor(hashed(seed + 7, lane + 64 * time) * GROUP_LABELS.length)]!;
}
