import { readFileSync, writeFileSync } from "node:fs";
import { zstdCompressSync } from "node:zlib";
import {
  Bool,
  CompressionType,
  compressionRegistry,
  type DataType,
  DateMillisecond,
  Decimal,
  Dictionary,
  Field,
  Float16,
  Float32,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  Null,
  Table,
  TimestampMillisecond,
  tableToIPC,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { describe, expect, test } from "vitest";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { scratchPath, writeArrow, writeParquet, writeScratch } from "./scratch.ts";

const TIMES = vectorFromArray([1n, 2n, 3n], new Int64());
const SYMBOLS = vectorFromArray(["A", "A", "A"], new Utf8());

async function readArrowField(vector: Vector): Promise<number[]> {
  const panel = await readPanel(
    writeArrow("type.arrow", new Table({ time: TIMES, symbol: SYMBOLS, x: vector })),
  );
  return [...panel.fields.get("x")!];
}

describe("Arrow numbers", () => {
  const decimals = Uint32Array.of(12345, 0, 0, 0, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0, 0, 0, 0);
  const big = 2n ** 63n;
  test.each<[string, Vector, number[]]>([
    ["Int8", vectorFromArray([-128, null, 127], new Int8()), [-128, Number.NaN, 127]],
    ["Int16", vectorFromArray([1, null, -3], new Int16()), [1, Number.NaN, -3]],
    ["Int32", vectorFromArray([2 ** 31 - 1, null, -3], new Int32()), [2 ** 31 - 1, Number.NaN, -3]],
    ["Int64", vectorFromArray([2n ** 53n + 1n, null, -3n], new Int64()), [2 ** 53, Number.NaN, -3]],
    ["Uint8", vectorFromArray([255, null, 3], new Uint8()), [255, Number.NaN, 3]],
    ["Uint16", vectorFromArray([65535, null, 3], new Uint16()), [65535, Number.NaN, 3]],
    ["Uint32", vectorFromArray([2 ** 32 - 1, null, 3], new Uint32()), [2 ** 32 - 1, Number.NaN, 3]],
    ["Uint64", vectorFromArray([big, null, 3n], new Uint64()), [2 ** 63, Number.NaN, 3]],
    ["Float16", vectorFromArray([1.5, null, -2], new Float16()), [1.5, Number.NaN, -2]],
    [
      "Float32",
      vectorFromArray([Math.fround(0.1), null, Infinity], new Float32()),
      [Math.fround(0.1), Number.NaN, Infinity],
    ],
    ["Bool", vectorFromArray([true, null, false], new Bool()), [1, Number.NaN, 0]],
    ["Null", vectorFromArray([null, null, null], new Null()), [Number.NaN, Number.NaN, Number.NaN]],
    [
      "Decimal",
      new Vector([makeData({ type: new Decimal(2, 18), length: 3, data: decimals })]),
      [123.45, -0.01, 0],
    ],
    [
      "numeric dictionary",
      vectorFromArray([7, null, 9], new Dictionary(new Int32(), new Int8())),
      [7, Number.NaN, 9],
    ],
  ])("%s", async (_, vector, expected) => {
    expect(await readArrowField(vector)).toEqual(expected);
  });
});

describe("Arrow text", () => {
  test.each<[string, DataType]>([
    ["Utf8", new Utf8()],
    ["LargeUtf8", new LargeUtf8()],
    ["Dictionary of Int8", new Dictionary(new Utf8(), new Int8())],
    ["Dictionary of Uint16", new Dictionary(new Utf8(), new Uint16())],
  ])("%s is a group", async (_, type) => {
    const table = new Table({
      time: TIMES,
      symbol: SYMBOLS,
      sector: vectorFromArray(["b", null, "a"], type),
    });
    const sector = (await readPanel(writeArrow("text.arrow", table))).groups.get("sector")!;
    expect([sector.labels, [...sector.codes]]).toEqual([
      ["a", "b"],
      [1, -1, 0],
    ]);
  });

  test("that is all numbers is a field, as in CSV", async () => {
    expect(await readArrowField(vectorFromArray(["1.5", null, "2"], new Utf8()))).toEqual([
      1.5,
      Number.NaN,
      2,
    ]);
  });

  test("of symbols may be a dictionary that differs between batches", async () => {
    const part = (times: bigint[], symbols: string[]) =>
      new Table({
        time: vectorFromArray(times, new Int64()),
        symbol: vectorFromArray(symbols, new Dictionary(new Utf8(), new Int32())),
      });
    const table = part([1n, 1n], ["B", "A"]).concat(part([2n, 2n], ["A", "C"]));
    const panel = await readPanel(writeArrow("parts.arrow", table, "stream"));
    expect(panel.symbols).toEqual(["A", "B", "C"]);
    expect([...panel.present]).toEqual([1, 1, 0, 1, 0, 1]);
  });

  test.each([
    "file",
    "stream",
  ] as const)("may be a dictionary in a %s that repeats labels, has gaps and more than are used", async (format) => {
    const dictionary = vectorFromArray(["b", null, "\u{1F600}", "b", "", "unused", "\uFF21"], new Utf8());
    const codes = Int32Array.of(0, 1, 2, 3, 4, 6, 0);
    const type = new Dictionary(new Utf8(), new Int32(), 3);
    const nullBitmap = Uint8Array.of(0b0111111);
    const state = makeData({ type, length: 7, nullCount: 1, nullBitmap, data: codes, dictionary });
    const table = new Table({
      time: vectorFromArray([1n, 2n, 3n, 4n, 5n, 6n, 7n], new Int64()),
      symbol: vectorFromArray(Array(7).fill("A"), new Dictionary(new Utf8(), new Int32(), 4)),
      state: new Vector([state]),
    });
    const group = (await readPanel(writeArrow("labels.arrow", table, format))).groups.get("state")!;
    expect(group.labels).toEqual(["b", "\u{1F600}", "\uFF21"]);
    expect([...group.codes]).toEqual([0, -1, 1, 0, -1, 2, -1]);
  });

  test("of symbols in a dictionary may be missing nowhere", async () => {
    for (const missing of [null, ""]) {
      const table = new Table({
        time: vectorFromArray([1n, 2n], new Int64()),
        symbol: vectorFromArray(["A", missing], new Dictionary(new Utf8(), new Int32(), 5)),
      });
      await expect(readPanel(writeArrow("missing.arrow", table))).rejects.toThrow(
        'missing.arrow: the symbol column "symbol" is empty in row 2',
      );
    }
  });

  test("of times is read as in CSV", async () => {
    const time = vectorFromArray(["2020-01-01", "2020-01-02", "2020-01-03"], new Utf8());
    const panel = await readPanel(writeArrow("when.arrow", new Table({ time, symbol: SYMBOLS })));
    expect(panel.time).toEqual({
      name: "time",
      type: { kind: "date" },
      values: BigInt64Array.of(18262n, 18263n, 18264n),
    });
  });
});

describe("Arrow files", () => {
  const table = new Table({
    date: vectorFromArray(
      [new Date("2020-01-01"), new Date("2020-01-02"), new Date("2020-01-03")],
      new DateMillisecond(),
    ),
    symbol: SYMBOLS,
    x: vectorFromArray([1.5, null, 3.5], new Float32()),
  });

  test.each(["file", "stream"] as const)("may be an IPC %s", async (format) => {
    for (const extension of ["arrow", "feather", "ipc"]) {
      const panel = await readPanel(writeArrow(`bars.${extension}`, table, format));
      expect(panel.time.values).toEqual(BigInt64Array.of(18262n, 18263n, 18264n));
      expect([...panel.fields.get("x")!]).toEqual([1.5, Number.NaN, 3.5]);
    }
  });

  test("may be compressed with ZSTD or LZ4", async () => {
    await readPanel(writeArrow("plain.arrow", table)); // registers the decoders
    const encoders = [
      [CompressionType.ZSTD, (data: Uint8Array) => new Uint8Array(zstdCompressSync(data))],
      [CompressionType.LZ4_FRAME, encodeLiteralLz4],
    ] as const;
    for (const [type, encode] of encoders) {
      compressionRegistry.set(type, { ...compressionRegistry.get(type), encode });
      const panel = await readPanel(writeScratch("packed.arrow", tableToIPC(table, "file", type)));
      expect([...panel.fields.get("x")!]).toEqual([1.5, Number.NaN, 3.5]);
    }
  });

  test("that are cut off are refused", async () => {
    const path = writeArrow("cut.arrow", table);
    writeFileSync(path, readFileSync(path).subarray(0, -40));
    await expect(readPanel(path)).rejects.toThrow(/E303 .*cut.arrow: cannot be read as Arrow IPC/);
  });

  test("may have columns that no panel can use", async () => {
    const moments = vectorFromArray([new Date(0), null, null], new TimestampMillisecond());
    const lists = vectorFromArray([["A"], null, ["B"]], new List(new Field("item", new Utf8())));
    const odd = new Table({
      time: TIMES,
      symbol: SYMBOLS,
      lists,
      moments,
      x: vectorFromArray([1, 2, 3], new Int8()),
    });
    const panel = await readPanel(writeArrow("odd.arrow", odd));
    expect([[...panel.fields.keys()], panel.groups.size]).toEqual([["x"], 0]);
  });
});

/** An LZ4 frame of one block that is not compressed: valid, if pointless. */
function encodeLiteralLz4(data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(data.length + 15);
  frame.set([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73]);
  new DataView(frame.buffer).setUint32(7, (data.length | 0x80000000) >>> 0, true);
  frame.set(data, 11);
  return frame;
}

describe("Parquet", () => {
  test.each([
    ["TINYINT", "-7", -7],
    ["USMALLINT", "65535", 65535],
    ["BIGINT", "9007199254740993", 2 ** 53],
    ["UBIGINT", "18446744073709551615", 2 ** 64],
    ["HUGEINT", "100000000000000000000", 1e20],
    ["FLOAT", "0.1", Math.fround(0.1)],
    ["DOUBLE", "'-inf'", -Infinity],
    ["DECIMAL(18, 4)", "1234.5678", 1234.5678],
    ["BOOLEAN", "true", 1],
  ])("%s becomes a field", async (type, literal, value) => {
    const path = await writeParquet(
      "type.parquet",
      `SELECT unnest([1, 2]) AS time, 'A' AS symbol, CAST(unnest([${literal}, NULL]) AS ${type}) AS x`,
    );
    expect([...(await readPanel(path)).fields.get("x")!]).toEqual([value, Number.NaN]);
  });

  test.each([
    ["DATE '2020-01-01'", { kind: "date" }, 18262n],
    [
      "TIMESTAMP_MS '2020-01-01 00:00:00.5'",
      { kind: "timestamp", unit: "ms", timezone: null },
      1577836800500n,
    ],
    [
      "TIMESTAMP '2020-01-01 00:00:00.5'",
      { kind: "timestamp", unit: "us", timezone: null },
      1577836800500000n,
    ],
    [
      "TIMESTAMP_NS '2020-01-01 00:00:00.5'",
      { kind: "timestamp", unit: "ns", timezone: null },
      1577836800500000000n,
    ],
    [
      "TIMESTAMPTZ '2020-01-01 00:00:00.5+01'",
      { kind: "timestamp", unit: "us", timezone: "UTC" },
      1577833200500000n,
    ],
    ["7::SMALLINT", { kind: "integer", bits: 32 }, 7n],
    ["7::INTEGER", { kind: "integer", bits: 32 }, 7n],
    ["7::UINTEGER", { kind: "integer", bits: 64 }, 7n],
    ["7::BIGINT", { kind: "integer", bits: 64 }, 7n],
    ["'2020-01-01'", { kind: "date" }, 18262n],
  ])("keeps the type of the time %s", async (sql, type, value) => {
    const path = await writeParquet("when.parquet", `SELECT ${sql} AS "Time", 'A' AS symbol`);
    expect((await readPanel(path)).time).toEqual({ name: "Time", type, values: BigInt64Array.of(value) });
  });

  test("may have nested columns, and columns named like ours", async () => {
    const path = await writeParquet(
      "nested.parquet",
      `SELECT 1 AS time, 'A' AS symbol, {a: 1, b: [1]} AS nested, [1.5] AS list, 5 AS key, 6 AS "rowNumber", 7 AS c0,
       DATE '2020-01-01' AS report`,
    );
    const panel = await readPanel(path);
    expect(Object.fromEntries([...panel.fields].map(([name, values]) => [name, values[0]]))).toEqual({
      key: 5,
      rowNumber: 6,
      c0: 7,
    });
  });

  test("numbers its rows in the order of the file over many row groups", async () => {
    const query =
      "SELECT range AS time, CASE range WHEN 290000 THEN NULL ELSE 'A' END AS symbol FROM range(300000)";
    const path = await writeParquet("groups.parquet", query, ", ROW_GROUP_SIZE 2048");
    await expect(readPanel(path)).rejects.toThrow('the symbol column "symbol" is empty in row 290001');
  });

  test("that is cut off or damaged is refused", async () => {
    const path = await writeParquet(
      "broken.parquet",
      "SELECT range AS time, 'A' AS symbol, random() AS x FROM range(50000)",
    );
    const bytes = readFileSync(path);
    writeScratch("cut.parquet", bytes.subarray(0, bytes.length / 2));
    await expect(readPanel(scratchPath("cut.parquet"))).rejects.toThrow(
      /E303 .*cut.parquet: cannot be read as Parquet/,
    );
    bytes.fill(0xff, 1000, bytes.length - 2000);
    writeScratch("damaged.parquet", bytes);
    await expect(readPanel(scratchPath("damaged.parquet"))).rejects.toThrow(
      /E303 .*damaged.parquet: cannot be read as Parquet/,
    );
  });

  test("reads the file of a path with glob characters, not what matches it", async () => {
    await writeParquet("x1.parquet", "SELECT 1 AS time, 'other' AS symbol");
    const path = await writeParquet("x[1].parquet", "SELECT 1 AS time, 'this' AS symbol");
    expect((await readPanel(path)).symbols).toEqual(["this"]);
  });
});
