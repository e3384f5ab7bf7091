import {
  Binary,
  Bool,
  type DataType,
  Decimal,
  DurationMillisecond,
  Field,
  FixedSizeBinary,
  Float32,
  Float64,
  Int32,
  Int64,
  makeData,
  Schema,
  Table,
  TimestampNanosecond,
  tableToIPC,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { expect, test } from "vitest";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../../src/data/arrow/arrow_schema_text.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
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
import { writeScratch } from "./scratch.ts";

/** A column of the same values in both formats. */
interface Both {
  readonly type: DataType;
  readonly parquet: Omit<ParquetColumn, "name">;
  readonly vector: Vector;
  /** Whether the Arrow schema is stored beside the Parquet data: it tells what Parquet cannot. */
  readonly needsSchema?: boolean;
}

const random = new Seeded();
const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
const bigBelow = (bits: number) =>
  BigInt.asIntN(
    bits,
    BigInt(Math.floor(random.uniform() * 2 ** 53)) * BigInt(Math.floor(random.uniform() * 2 ** 53)) +
      BigInt(random.below(99)),
  );

function float64Bytes(value: number): Uint8Array {
  return new Uint8Array(Float64Array.of(value).buffer);
}
function float32Bytes(value: number): Uint8Array {
  return new Uint8Array(Float32Array.of(value).buffer);
}

/** By type, a function that makes a column of a number of values, nulls among them. */
const KINDS: Readonly<Record<string, (count: number) => Both>> = {
  int32: (count) => {
    const values = nullable(count, () => random.below(2 ** 31) - 2 ** 30);
    return both(new Int32(), { physical: PHYSICAL.int32 }, values, (v) => littleEndian(BigInt(v), 4));
  },
  int64: (count) => {
    const values = nullable(count, () => bigBelow(pick([8, 32, 53, 60, 64])));
    return both(new Int64(), { physical: PHYSICAL.int64 }, values, (v) => littleEndian(v, 8));
  },
  uint64: (count) => {
    const values = nullable(count, () => BigInt.asUintN(64, bigBelow(64)));
    const parquet = { physical: PHYSICAL.int64, converted: CONVERTED.uint64 };
    return both(new Uint64(), parquet, values, (v) => littleEndian(v, 8));
  },
  double: (count) => {
    const whole = random.below(2) === 0;
    const value = () =>
      pick([whole ? random.below(1e6) : random.uniform(), random.below(99), whole ? 3 : Number.NaN, 2 ** 60]);
    return both(new Float64(), { physical: PHYSICAL.double }, nullable(count, value), float64Bytes);
  },
  float: (count) => {
    const value = () => Math.fround(pick([random.below(1000), 7.5]));
    return both(new Float32(), { physical: PHYSICAL.float }, nullable(count, value), float32Bytes);
  },
  boolean: (count) => {
    const values = nullable(count, () => random.below(2) === 0);
    return both(new Bool(), { physical: PHYSICAL.boolean }, values, (v) => Uint8Array.of(Number(v)));
  },
  decimal: (count) => {
    const [precision, scale] = [pick([5, 18, 19, 30, 38, 39, 50, 76]), pick([0, 2])];
    const digits = Math.min(precision, 16);
    const values = nullable(
      count,
      () =>
        BigInt(random.below(10 ** digits)) * pick([1n, 10n ** BigInt(precision - digits)]) * pick([1n, -1n]),
    );
    const byteCount = precision <= 38 ? 16 : 32;
    const length = Math.max(Math.ceil((precision * Math.log2(10) + 1) / 8), pick([1, byteCount]));
    const parquet = {
      physical: PHYSICAL.fixed,
      length,
      converted: CONVERTED.decimal,
      scale,
      precision,
      logical: decimalType(precision, scale),
    };
    const type = new Decimal(scale, precision, byteCount * 8);
    const words = values.flatMap((v) => [
      ...new Uint32Array(littleEndian(v ?? 0n, byteCount).slice().buffer),
    ]);
    const data = makeData({ type, length: count, ...validity(values), data: Uint32Array.from(words) });
    return {
      type,
      vector: new Vector([data]),
      parquet: { ...parquet, values: values.map((v) => (v === null ? null : bigEndian(v, length))) },
    };
  },
  text: (count) => {
    const values = nullable(count, () => pick(["a", "b", "5", "7_1", "\u{1F600}"]));
    return both(new Utf8(), { physical: PHYSICAL.bytes, converted: CONVERTED.utf8 }, values, (v) =>
      Buffer.from(v),
    );
  },
  bytes: (count) => {
    const bad = random.below(3) === 0;
    const values = nullable(count, () =>
      pick([Buffer.from("a"), Buffer.from("\u00e9"), bad ? Buffer.of(255, 65) : Buffer.from("c")]),
    );
    return both(new Binary(), { physical: PHYSICAL.bytes }, values, (v) => v);
  },
  fixedBytes: (count) => {
    const values = Array.from({ length: count }, () => Buffer.from(pick(["abcd", "efgh"])));
    return both(new FixedSizeBinary(4), { physical: PHYSICAL.fixed, length: 4 }, values, (v) => v);
  },
  duration: (count) => {
    const values = nullable(count, () => BigInt(random.below(1e6)));
    return {
      ...both(new DurationMillisecond(), { physical: PHYSICAL.int64 }, values, (v) => littleEndian(v, 8)),
      needsSchema: true,
    };
  },
  timestamp: (count) => {
    const values = nullable(count, () => BigInt(random.below(1e9)));
    const parquet = { physical: PHYSICAL.int64, logical: timestampType(3, false) };
    const type = new TimestampNanosecond();
    const data = makeData({
      type,
      length: count,
      ...validity(values),
      data: BigInt64Array.from(values, (v) => v ?? 0n),
    });
    const bytes = values.map((v) => (v === null ? null : littleEndian(v, 8)));
    return { type, vector: new Vector([data]), parquet: { ...parquet, values: bytes } };
  },
};

function nullable<T>(count: number, make: () => T): (T | null)[] {
  const share = pick([0, 0, 0.3]);
  return Array.from({ length: count }, () => (random.uniform() < share ? null : make()));
}

function validity(values: readonly unknown[]) {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  for (const [row, value] of values.entries()) if (value !== null) nullBitmap[row >> 3]! |= 1 << (row & 7);
  return { nullBitmap, nullCount: values.filter((value) => value === null).length };
}

function both<T>(
  type: DataType,
  parquet: Omit<ParquetColumn, "name" | "values">,
  values: readonly (T | null)[],
  bytesOf: (value: T) => Uint8Array,
): Both {
  const vector = vectorFromArray(values, type);
  return {
    type,
    vector,
    parquet: { ...parquet, values: values.map((value) => (value === null ? null : bytesOf(value))) },
  };
}

/** What came of a reading: the panel's content, or the code of the error. */
async function outcomeOf(path: string): Promise<unknown> {
  try {
    const { time, symbols, fields, groups } = await readPanel(path);
    const codesOf = [...groups.values()].map(({ name, labels, codes }) => [name, labels, [...codes]]);
    return {
      time,
      symbols,
      fields: [...fields].map(([name, values]) => [name, [...values]]),
      groups: codesOf,
    };
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

test("the same columns in Parquet and in Arrow are one panel, or the same error", async () => {
  const count = trials(36, 1000);
  const kinds = Object.keys(KINDS);
  const seen: Record<string, number> = {};
  for (let trial = 0; trial < count; trial += 1) {
    const rowCount = 1 + random.below(6);
    const kind = kinds[trial % kinds.length]!;
    const role = ["x", "symbol", "time"][Math.floor(trial / kinds.length) % 3]!;
    const column = KINDS[kind]!(rowCount);
    const times = both(
      new Int64(),
      { physical: PHYSICAL.int64 },
      Array.from({ length: rowCount }, (_, row) => BigInt(row)),
      (v) => littleEndian(v, 8),
    );
    const symbols = both(
      new Utf8(),
      { physical: PHYSICAL.bytes, converted: CONVERTED.utf8 },
      Array.from({ length: rowCount }, (_, row) => `S${row}`),
      (v) => Buffer.from(v),
    );
    const columns: Record<string, Both> = { time: times, symbol: symbols };
    columns[role] = column;
    const names = Object.keys(columns);
    const table = new Table(Object.fromEntries(names.map((name) => [name, columns[name]!.vector])));
    const schema = new Schema(names.map((name) => new Field(name, columns[name]!.type, true)));
    const keyValues =
      column.needsSchema || random.below(2) === 0 ? { [ARROW_SCHEMA_KEY]: encodeSchema(schema) } : {};
    const parquet = parquetBytes(
      names.map((name) => ({ name, ...columns[name]!.parquet })),
      keyValues,
    );
    const inParquet = await outcomeOf(writeScratch("both.parquet", parquet));
    const inArrow = await outcomeOf(writeScratch("both.arrow", tableToIPC(table, "file")));
    expect(inParquet, `seed ${random.seed}, trial ${trial}: ${kind} as ${role}`).toEqual(inArrow);
    const key = typeof inArrow === "string" ? inArrow : "read";
    seen[key] = (seen[key] ?? 0) + 1;
  }
  expect(seen["read"], `seed ${random.seed}`).toBeGreaterThan(count / 4);
  expect(seen["E315"], `seed ${random.seed}`).toBeGreaterThan(0);
});
