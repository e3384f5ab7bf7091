import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import pl from "nodejs-polars";
import { describe, expect, test } from "vitest";
import { type GivenBars, type Panel, panelFrom, readPanel } from "../../../src/index.ts";
import { fileFolder } from "../../support/file_folder.ts";

const folder = fileFolder();

const columns = {
  date: ["2024-01-03", "2024-01-02", "2024-01-02", "2024-01-04"],
  symbol: ["B", "B", "A", "A"],
  close: [21.5, null, -0, 12],
  sector: ["energy", "energy", null, "tech"],
  isOpen: [true, false, null, true],
};
const names = Object.keys(columns) as (keyof typeof columns)[];
const rows = columns.date.map((_, row) =>
  Object.fromEntries(names.map((name) => [name, columns[name][row]])),
);

/** All of a panel as plain values. */
function plain({ time, symbols, fields, groups, present }: Panel) {
  const labelled = [...groups].map(([name, { codes, labels }]) => [
    name,
    [...codes].map((code) => labels[code] ?? null),
  ]);
  return {
    time: { ...time, values: [...time.values] },
    symbols,
    present: [...present],
    groups: labelled,
    fields: [...fields].map(([name, values]) => [name, [...values]]),
  };
}

const path = join(folder, "bars.csv");
const csv = [
  names.join(","),
  ...rows.map((row) => names.map((name) => (Object.is(row[name], -0) ? "-0" : (row[name] ?? ""))).join(",")),
];
writeFileSync(path, csv.join("\n"));
const expected = plain(await readPanel(path));

/** A table of another copy of the library: the one that `require` loads. */
function otherTable(): GivenBars {
  const other = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");
  return other.tableFromArrays({ ...columns });
}

async function duckdbResult(): Promise<GivenBars> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  return (await connection.runAndReadAll(
    `FROM read_csv('${path}', types = {'date': 'VARCHAR'})`,
  )) as unknown as GivenBars;
}

test.each<[string, () => GivenBars | Promise<GivenBars>]>([
  ["rows", () => rows],
  ["columns", () => columns],
  ["a table of Arrow", () => tableFromArrays({ ...columns })],
  ["a table of another copy of Arrow", otherTable],
  ["Arrow IPC, a file", () => tableToIPC(tableFromArrays({ ...columns }), "file")],
  [
    "Arrow IPC, a stream in a buffer that is not aligned",
    () => Buffer.concat([Buffer.from("12345"), tableToIPC(tableFromArrays({ ...columns }))]).subarray(5),
  ],
  ["a data frame of polars", () => pl.DataFrame(columns)],
  ["Arrow IPC of polars", () => pl.DataFrame(columns).writeIPC({ compression: "zstd" })],
  ["a result of DuckDB", duckdbResult],
])("%s give the panel of a file with the same cells", async (_, given) => {
  expect(plain(await panelFrom(await given()))).toEqual(expected);
});

describe("times", () => {
  const days = ["2024-01-02", "2024-01-03"];
  const instant = { kind: "timestamp", unit: "ms", timezone: "UTC" };
  const dates = days.map((day) => new Date(day));
  test.each([
    ["Dates", dates, instant, dates.map((date) => BigInt(date.getTime()))],
    ["whole numbers", [20240102, 20240103], { kind: "integer", bits: 64 }, [20240102n, 20240103n]],
    ["whole numbers in a typed array", Float64Array.of(1, 2), { kind: "integer", bits: 64 }, [1n, 2n]],
    ["bigints", [1n, 2n ** 62n], { kind: "integer", bits: 64 }, [1n, 2n ** 62n]],
    ["bigints in a typed array", BigInt64Array.of(1n, 2n), { kind: "integer", bits: 64 }, [1n, 2n]],
    ["texts", days, { kind: "date" }, [19724n, 19725n]],
  ])("may be %s", async (_, time, type, values) => {
    const panel = await panelFrom({ time, symbol: ["A", "A"], close: Float64Array.of(1, Number.NaN) });
    expect([panel.time.type, [...panel.time.values]]).toEqual([type, values]);
    expect([...panel.fields.get("close")!]).toEqual([1, Number.NaN]);
  });
});

test("symbols may be whole numbers; columns may be renamed, and groups and series come from files", async () => {
  writeFileSync(join(folder, "sectors.csv"), "symbol,sector\n7,tech\n8,energy\n");
  writeFileSync(join(folder, "index.csv"), "at,index\n1,100\n2,101\n");
  const panel = await panelFrom(
    { at: [2, 1, 1], ticker: [7, 8, 7], px_last: Int32Array.of(3, 2, 1) },
    {
      timeColumn: "at",
      symbolColumn: "ticker",
      rename: { close: "px_last" },
      groups: join(folder, "sectors.csv"),
      series: join(folder, "index.csv"),
    },
  );
  expect(plain(panel)).toMatchObject({
    symbols: ["7", "8"],
    present: [1, 1, 1, 0],
    fields: [
      ["close", [1, 2, 3, Number.NaN]],
      ["index", [100, 100, 101, 101]],
    ],
    groups: [["sector", ["tech", "energy"]]],
  });
});

const one = { date: "2024-01-02", symbol: "A", close: 1 };

test.each<[string, unknown, string]>([
  ["no rows", [], "E304 the bars: has no rows"],
  ["empty columns", { date: [], symbol: [], close: [] }, "E304 the bars: has no rows"],
  [
    "a table without rows",
    tableFromArrays({ date: [] as string[], symbol: [] as string[] }),
    "E304 the bars: has no rows",
  ],
  ["no time", [{ symbol: "A", close: 1 }], "E311 the bars: no time column among the columns symbol, close"],
  [
    "no symbol",
    [{ date: "2024-01-02", close: 1 }],
    "E311 the bars: no symbol column among the columns date, close",
  ],
  [
    "a row twice",
    [one, { ...one, symbol: "B" }, one],
    'E322 the bars: row 1 and row 3 are both for "A" at 2024-01-02',
  ],
  [
    "a row without a symbol",
    [one, { ...one, symbol: null }],
    'E321 the bars: the symbol column "symbol" is empty in row 2',
  ],
  [
    "a row with an invalid Date",
    [
      { ...one, date: new Date() },
      { ...one, date: new Date("?") },
    ],
    'E321 the bars: the time column "date" is empty in row 2',
  ],
  [
    "times of several kinds",
    [one, { ...one, date: "2024-01-03" }, { ...one, date: 7 }],
    'E316 the bars: the time column "date" has "7" in row 3',
  ],
  [
    "times that are not whole",
    [{ ...one, date: 1.5 }],
    'E315 the bars: the time column "date" has type Float64',
  ],
  [
    "text among numbers",
    [one, { ...one, symbol: "B", close: 2 }, { ...one, symbol: "C", close: "n/a" }],
    'E317 the bars: the column "close" holds numbers, but "n/a" in row 3',
  ],
  [
    "an object in a column",
    [{ ...one, close: { last: 1 } }],
    'E315 the bars: the column "close" has type object (row 1)',
  ],
  [
    "a bigint that is too long",
    [{ ...one, close: 2n ** 64n }],
    'E315 the bars: the column "close" has type bigint of more than 64 bits (row 1)',
  ],
  ["names that differ by case", [{ ...one, Close: 1 }], "E314 the bars"],
  ["bytes that are not Arrow", Buffer.from("date,symbol\n"), "E303 the bars: cannot be read as Arrow IPC"],
  ["a row that is no object", [one, null], "E528 panelFrom takes rows that are objects, got null in row 2"],
  [
    "columns of several lengths",
    { date: ["2024-01-02"], symbol: ["A", "B"] },
    "E528 panelFrom takes columns of one length, got 2 values of symbol beside 1 of date",
  ],
  [
    "a column that is no array",
    { date: "2024-01-02", symbol: ["A"] },
    "E528 panelFrom takes columns that are arrays, got a string for date",
  ],
  [
    "a path",
    "bars.csv",
    "E528 panelFrom takes a table of Arrow, Arrow IPC as bytes, rows or columns, got a string",
  ],
  [
    "a promise",
    Promise.resolve([]),
    "E528 panelFrom takes a table of Arrow, Arrow IPC as bytes, rows or columns, got a promise",
  ],
  ["a table of an old Arrow", { schema: {}, batches: [] }, "E528 panelFrom takes a table of Arrow"],
])("%s: refused", async (_, given, message) => {
  await expect(panelFrom(given as GivenBars)).rejects.toThrow(message);
});
