/** What DuckDB would read, but not as it is written: each is read right, refused, or said to be rounded. */
import { mkdirSync, readFileSync } from "node:fs";
import {
  DateMillisecond,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  Schema,
  Table,
  TimestampNanosecond,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import pl from "nodejs-polars";
import { expect, test } from "vitest";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../../src/data/arrow/arrow_schema_text.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import {
  bigEndian,
  CONVERTED,
  decimalType,
  littleEndian,
  type ParquetColumn,
  PHYSICAL,
  parquetBytes,
  timestampType,
} from "./parquet_file.ts";
import { messageOf, scratchPath, writeArrow, writeParquet, writeScratch } from "./scratch.ts";

const SYMBOL = {
  name: "symbol",
  physical: PHYSICAL.bytes,
  converted: CONVERTED.utf8,
  values: [Buffer.from("A")],
};
const TIME = { name: "time", physical: PHYSICAL.int64, values: [littleEndian(1n, 8)] };

test("a Parquet decimal of 39 digits, which DuckDB takes for a double", async () => {
  const decimal = {
    name: "x",
    physical: PHYSICAL.fixed,
    length: 17,
    converted: CONVERTED.decimal,
    scale: 2,
    precision: 39,
    logical: decimalType(39, 2),
    values: [bigEndian(125n, 17)],
  };
  const wide = writeScratch("wide.parquet", parquetBytes([TIME, SYMBOL, decimal]));
  expect(await messageOf(readPanel(wide))).toMatchInlineSnapshot(`
    "DataError: E315 wide.parquet: the column "x" has type DecimalType(scale=2, precision=39) DECIMAL, whose digits cannot all be read
      write it as doubles, as integers of 64 bits or as decimals of at most 38 digits, or drop the column"
  `);
  const usual = { ...decimal, precision: 38, logical: decimalType(38, 2) };
  const panel = await readPanel(writeScratch("usual.parquet", parquetBytes([TIME, SYMBOL, usual])));
  expect(panel.fields.get("x")).toEqual(Float64Array.of(1.25));
});

test("a wide decimal in a later file of a folder, whose other files hold doubles, is refused with its file", async () => {
  const x = { name: "x", physical: PHYSICAL.double, values: [new Uint8Array(Float64Array.of(1.25).buffer)] };
  const wide = {
    name: "x",
    physical: PHYSICAL.bytes,
    converted: CONVERTED.decimal,
    scale: 2,
    precision: 39,
    values: [bigEndian(125n, 17)],
  };
  mkdirSync(scratchPath("mixed"));
  writeScratch("mixed/a.parquet", parquetBytes([TIME, SYMBOL, x]));
  writeScratch("mixed/b.parquet", parquetBytes([TIME, SYMBOL, wide]));
  expect(await messageOf(readPanel(scratchPath("mixed")))).toContain(
    'E315 mixed/b.parquet: the column "x" has type DECIMAL,',
  );
});

test("numbers from 2^53 on, which may have been rounded, are no symbols and no labels", async () => {
  const symbols = [2n ** 53n - 1n, 2n ** 53n + 1n];
  const refused = (name: string) =>
    expect.stringContaining(`E318 ${name}: the symbol column "symbol" has 90071992547409`);
  const [below, above] = symbols.map((value) => {
    const symbol = vectorFromArray([value], new Dictionary(new Int64(), new Int32()));
    return new Table({ time: vectorFromArray([1n], new Int64()), symbol });
  });
  expect((await readPanel(writeArrow("below.arrow", below!))).symbols).toEqual(["9007199254740991"]);
  expect(await messageOf(readPanel(writeArrow("above.arrow", above!)))).toEqual(refused("above.arrow"));
  const decimals = `unnest([${symbols.map((value) => `${value}::DECIMAL(38,0)`).join()}])`;
  const parquet = await writeParquet("above.parquet", `SELECT 1 AS time, ${decimals} AS symbol`);
  expect(await messageOf(readPanel(parquet))).toEqual(refused("above.parquet"));
  const bars = writeScratch("two.csv", "time,symbol\n1,A\n1,B\n");
  const groups = (type: string) =>
    writeParquet(
      `${type}.parquet`,
      `SELECT unnest(['A', 'B']) AS symbol, unnest([${symbols}])::${type} AS code, unnest([1, 2]) AS other`,
    );
  const labelsOf = async (type: string) =>
    [...(await readPanel(bars, { groups: await groups(type) })).groups].map(([name, { labels }]) => [
      name,
      labels,
    ]);
  expect(await labelsOf("DECIMAL(38, 0)")).toEqual([["other", ["1", "2"]]]);
  expect(await labelsOf("BIGINT")).toEqual([
    ["code", symbols.map(String)],
    ["other", ["1", "2"]],
  ]);
});

test("Parquet nanoseconds that DuckDB reads to the microsecond are microseconds of the panel", async () => {
  const ns = 1_577_836_800_123_456_789n;
  const utc = {
    name: "time",
    physical: PHYSICAL.int64,
    logical: timestampType(3, true),
    values: [littleEndian(ns, 8)],
  };
  const int96 = {
    name: "time",
    physical: PHYSICAL.int96,
    values: [Buffer.concat([littleEndian(123_456_789n, 8), littleEndian(2_458_850n, 4)])],
  };
  const schema = new Schema([new Field("time", new TimestampNanosecond("UTC"))]);
  for (const [time, timezone] of [
    [utc, "UTC"],
    [int96, null],
  ] as const) {
    const keyValues = timezone === null ? {} : { [ARROW_SCHEMA_KEY]: encodeSchema(schema) };
    const panel = await readPanel(writeScratch("ns.parquet", parquetBytes([time, SYMBOL], keyValues)));
    expect(panel.time.type).toEqual({ kind: "timestamp", unit: "us", timezone });
    expect(panel.time.values).toEqual(BigInt64Array.of(ns / 1000n));
  }
});

test("ticks that fall together where times are cut are refused, and the cut is named", async () => {
  const ticks = [1_704_190_000_000_000_001n, 1_704_190_000_000_001_004n, 1_704_190_000_000_001_005n];
  const symbol = { ...SYMBOL, values: ticks.map(() => Buffer.from("A")) };
  const bytes = ticks.map((ns) => littleEndian(ns, 8));
  const nanoseconds = (isUtc: boolean) => ({
    name: "time",
    physical: PHYSICAL.int64,
    logical: timestampType(3, isUtc),
    values: bytes,
  });
  const dayNs = 86_400_000_000_000n;
  const int96 = {
    name: "time",
    physical: PHYSICAL.int96,
    values: ticks.map((ns) =>
      Buffer.concat([littleEndian(ns % dayNs, 8), littleEndian(2_440_588n + ns / dayNs, 4)]),
    ),
  };
  const read = (time: ParquetColumn) =>
    readPanel(writeScratch("ticks.parquet", parquetBytes([time, symbol])));
  expect(await messageOf(read(nanoseconds(true)))).toMatchInlineSnapshot(`
    "DataError: E322 ticks.parquet: row 2 and row 3 are both for "A" at 2024-01-02 10:06:40.000001Z (times are read to the microsecond here, and what is finer is cut off)
      keep one row per time and symbol; nanoseconds are exact in Arrow files, and in Parquet as timestamps without a time zone"
  `);
  expect(await messageOf(read(int96))).toContain("10:06:40.000001 (times are read to the microsecond here");
  expect((await read(nanoseconds(false))).time.values).toEqual(BigInt64Array.from(ticks));
  const day = makeData({ type: new DateMillisecond(), length: 2, data: BigInt64Array.of(1n, 2n) });
  const days = new Table({ date: new Vector([day]), symbol: vectorFromArray(["A", "A"], new Utf8()) });
  expect(await messageOf(readPanel(writeArrow("days.arrow", days)))).toMatchInlineSnapshot(`
    "DataError: E322 days.arrow: row 1 and row 2 are both for "A" at 1970-01-01 (times of type Date64 are read to the day)
      keep one row per time and symbol; write times of day as timestamps"
  `);
});

test("an Arrow file whose schema message has no length before it", async () => {
  const path = scratchPath("headless.arrow");
  pl.DataFrame({ time: [1, 2], symbol: ["A", "A"], x: [1.5, 2.5] })
    .withColumn(pl.col("time").cast(pl.Int64))
    .writeIPC(path);
  const bytes = readFileSync(path);
  const messageStart = 16; // behind the magic with its padding, a marker and the length
  bytes.copy(bytes, 8, messageStart, messageStart + bytes.readInt32LE(12));
  const panel = await readPanel(writeScratch("headless.arrow", bytes));
  expect(panel.fields.get("x")).toEqual(Float64Array.of(1.5, 2.5));
});

test("dates and timestamps in one column are refused, each alone is read", async () => {
  const read = (times: readonly string[]) =>
    readPanel(writeScratch("mixed.csv", `time,symbol\n${times.map((time) => `${time},A\n`).join("")}`));
  expect(await messageOf(read(["2020-01-01 10:00", "2020-01-02", "2020-01-03 10:00"]))).toContain(
    'E316 mixed.csv: the time column "time" has "2020-01-02" in row 2 (line 3)',
  );
  expect((await read(["2020-01-01", "2020-01-02"])).time.type).toEqual({ kind: "date" });
  expect((await read(["2020-01-01 00:00:00", "2020-01-02 10:00:00"])).time.type.kind).toBe("timestamp");
});

test("groups of none of the symbols, and of few", async () => {
  const lines = ["A", "B", "C", "D", "E"].map((symbol) => `2020-01-01,${symbol},1\n`);
  const bars = writeScratch("bars.csv", `date,symbol,close\n${lines.join("")}`);
  const groupsOf = (symbols: readonly string[]) =>
    writeScratch("groups.csv", `symbol,sector\n${symbols.map((symbol) => `${symbol},s\n`).join("")}`);
  expect(await messageOf(readPanel(bars, { groups: groupsOf(["A.US", "B.US"]) }))).toMatchInlineSnapshot(`
    "DataError: E337 groups.csv: none of its symbols is one of bars.csv: it has "A.US", the other "A"
      write symbols alike in both files"
  `);
  const warnings: string[] = [];
  const listen = ({ message }: Error) => warnings.push(message);
  process.on("warning", listen);
  await readPanel(bars, { groups: groupsOf(["A", "B", "C"]) });
  await readPanel(bars, { groups: groupsOf(["A", "B", "X"]) });
  await new Promise(setImmediate);
  process.off("warning", listen);
  expect(warnings).toEqual([expect.stringContaining("groups.csv: only 2 of the 5 symbols of")]);
});

test("a Date64 with a time of day before 1970 is its day", async () => {
  const day = 86_400_000n;
  const data = makeData({
    type: new DateMillisecond(),
    length: 4,
    data: BigInt64Array.of(-day - 1n, -day, -1n, 1n),
  });
  const table = new Table({
    date: new Vector([data]),
    symbol: vectorFromArray(["A", "B", "C", "D"], new Utf8()),
  });
  expect((await readPanel(writeArrow("early.arrow", table))).time.values).toEqual(
    BigInt64Array.of(-2n, -1n, 0n),
  );
});

test.each([
  ["an offset with seconds", "2020-01-01 10:00:00+05:30:15"],
  ["an offset of days", "2020-01-01 10:00:00+99:00"],
  ["more than nine decimals", "2020-01-01 10:00:00.1234567891"],
])("%s in a time of CSV is refused", async (_, time) => {
  const path = writeScratch("time.csv", `time,symbol\n${time},A\n`);
  expect(await messageOf(readPanel(path))).toContain('E316 time.csv: the time column "time" has');
});

test.each([1, 5000])("digits joined by an underscore are no number, in row %i", async (row) => {
  const lines = Array.from({ length: 6000 }, (_, at) => `${at},A,${at + 1 === row ? "20_5" : at},45_10\n`);
  const path = writeScratch("joined.csv", `time,symbol,x,code\n${lines.join("")}`);
  expect(await messageOf(readPanel(path))).toContain(
    `E317 joined.csv: the column "x" holds numbers, but "20_5" in row ${row}`,
  );
  const labels = writeScratch("labels.csv", "time,symbol,code\n1,A,45_10\n2,A,50_10\n");
  expect((await readPanel(labels)).groups.get("code")!.labels).toEqual(["45_10", "50_10"]);
  const parquet = await writeParquet("labels.parquet", "SELECT 1 AS time, 'A' AS symbol, '45_10' AS code");
  expect((await readPanel(parquet)).groups.get("code")!.labels).toEqual(["45_10"]);
});

test("a missing symbol among numbers is no instrument", async () => {
  const table = new Table({
    time: vectorFromArray([1n, 1n], new Int64()),
    symbol: vectorFromArray([7, null], new Float64()),
  });
  const message = (name: string) =>
    `DataError: E321 ${name}: the symbol column "symbol" is empty in row 2\n  every row needs a symbol; fill it in or drop the row`;
  expect(await messageOf(readPanel(writeArrow("nan.arrow", table)))).toBe(message("nan.arrow"));
  const parquet = await writeParquet(
    "nan.parquet",
    "SELECT 1 AS time, unnest([7.0::DOUBLE, 'nan'::DOUBLE]) AS symbol",
  );
  expect(await messageOf(readPanel(parquet))).toBe(message("nan.parquet"));
  const half = await writeParquet("half.parquet", "SELECT 1 AS time, unnest([7.0::DOUBLE, 7.5]) AS symbol");
  expect(await messageOf(readPanel(half))).toMatchInlineSnapshot(`
    "DataError: E318 half.parquet: the symbol column "symbol" has 7.5 in row 2, which is no whole number that a double holds
      write symbols as text or as integers"
  `);
});
