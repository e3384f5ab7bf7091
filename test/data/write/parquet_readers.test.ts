/** What DuckDB, polars and pyarrow read of a Parquet file: the same values, by the statistics of row groups too. */
import { execFileSync } from "node:child_process";
import {
  Float64,
  Int32,
  makeData,
  Table,
  Timestamp,
  TimeUnit,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import pl from "nodejs-polars";
import { beforeAll, describe, expect, test } from "vitest";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { runSql, scratchPath } from "../scratch.ts";

/** Three batches of as many rows, the first two of which are a row group. */
const ROWS = 4_000;
const ROW_COUNT = 3 * ROWS;

const rows = Array.from({ length: ROW_COUNT }, (_, row) => row);
const seconds = BigInt64Array.from(rows, (row) => BigInt(row - 5));
const COLUMNS: Readonly<Record<string, (row: number) => number | null>> = {
  ascending: (row) => row / 8,
  negative_zero: () => -0,
  positive_zero: () => 0,
  zeros: (row) => (row % 2 === 0 ? 0 : -0),
  infinite: (row) => [Infinity, 1, -Infinity, null][row % 4]!,
  nulls: () => null,
  one: (row) => (row === 7 ? 0.1 : null),
  late: (row) => (row < 2 * ROWS ? null : -row),
};
const values = new Map(Object.entries(COLUMNS).map(([name, value]) => [name, rows.map(value)]));
const TEXTS = ["B", "\u{1F600}", "\uFF21", null, "", 'a,"b\n'];

function batchesOf(): Table {
  const time = new Timestamp(TimeUnit.SECOND, "UTC");
  const tables = [0, 1, 2].map((index) => {
    const own = rows.slice(index * ROWS, (index + 1) * ROWS);
    const data = seconds.subarray(index * ROWS, (index + 1) * ROWS);
    return new Table({
      time: new Vector([makeData({ type: time, length: ROWS, data })]),
      text: vectorFromArray(
        own.map((row) => TEXTS[row % TEXTS.length]!),
        new Utf8(),
      ),
      whole: vectorFromArray(
        own.map((row) => (row % 3 === 0 ? null : row)),
        new Int32(),
      ),
      ...Object.fromEntries(
        [...values].map(([name, all]) => [
          name,
          vectorFromArray(
            own.map((row) => all[row]!),
            new Float64(),
          ),
        ]),
      ),
    });
  });
  return new Table(
    tables[0]!.schema,
    tables.flatMap(({ batches }) => batches),
  );
}

const bits = (value: unknown) =>
  value === null ? null : new BigInt64Array(Float64Array.of(value as number).buffer)[0]!;
let path: string;
beforeAll(async () => {
  path = scratchPath("read.parquet");
  await writeTable(batchesOf(), path);
});

describe("every bit is read", () => {
  test("by DuckDB", async () => {
    const names = [...values.keys()];
    const read = await runSql(
      `SELECT epoch_ms(time) // 1000, text, whole, ${names.join(", ")} FROM '${path}'`,
    );
    for (const [row, [time, text, whole, ...cells]] of read.entries()) {
      expect([time, text, whole]).toEqual([
        seconds[row],
        TEXTS[row % TEXTS.length],
        row % 3 === 0 ? null : row,
      ]);
      for (const [index, cell] of cells.entries())
        if (!Object.is(cell, values.get(names[index]!)![row]))
          expect.fail(`${names[index]} in row ${row}: ${cell}`);
    }
  });

  test("by polars", () => {
    const frame = pl.readParquet(path);
    expect(frame.getColumn("text").toArray()).toEqual(rows.map((row) => TEXTS[row % TEXTS.length]));
    for (const [name, expected] of values)
      expect(frame.getColumn(name).toArray().map(bits), name).toEqual(expected.map(bits));
  });
});

describe("rows are found by statistics", () => {
  const CASES: readonly (readonly [condition: string, count: number])[] = [
    ["ascending = 0", 1],
    ["ascending > 1499", 7],
    ["negative_zero = 0", ROW_COUNT],
    ["positive_zero = -0.0", ROW_COUNT],
    ["zeros < 0.0", 0],
    ["infinite > 1e308", ROW_COUNT / 4],
    ["infinite < -1e308", ROW_COUNT / 4],
    ["one = 0.1", 1],
    ["late < -11998", 1],
    ["nulls IS NULL", ROW_COUNT],
    ["late IS NULL", 2 * ROWS],
    ["whole = 100", 1],
    ["text = 'B'", ROW_COUNT / 6],
    ["text > 'z'", ROW_COUNT / 3],
  ];
  const RANGES = [
    [-0, 999.875, 0, 8000],
    [1000, 1499.875, 0, 4000],
  ];

  test.each(CASES)("of DuckDB: %s", async (condition, count) => {
    expect(await runSql(`SELECT count(*) FROM '${path}' WHERE ${condition}`)).toEqual([[BigInt(count)]]);
  });

  test("which DuckDB reads", async () => {
    const read = await runSql(
      `SELECT CAST(stats_min_value AS DOUBLE), CAST(stats_max_value AS DOUBLE), stats_null_count, row_group_num_rows
       FROM parquet_metadata('${path}') WHERE path_in_schema = 'ascending'`,
    );
    expect(read.map((row) => row.map(Number))).toEqual(RANGES);
    const zeros = await runSql(
      `SELECT DISTINCT stats_min_value, stats_max_value FROM parquet_metadata('${path}') WHERE path_in_schema LIKE '%zero%'`,
    );
    expect(zeros).toEqual([["-0.0", "0.0"]]);
  });

  test("of polars", () => {
    const count = (condition: pl.Expr) => pl.scanParquet(path).filter(condition).collectSync().height;
    expect(count(pl.col("ascending").eq(0))).toBe(1);
    expect(count(pl.col("negative_zero").eq(0))).toBe(ROW_COUNT);
    expect(count(pl.col("positive_zero").eq(-0))).toBe(ROW_COUNT);
    expect(count(pl.col("infinite").gt(1e308))).toBe(ROW_COUNT / 4);
    expect(count(pl.col("late").isNull())).toBe(2 * ROWS);
    expect(count(pl.col("late").lt(-11_998))).toBe(1);
    expect(count(pl.col("text").eq(pl.lit("B")))).toBe(ROW_COUNT / 6);
  });
});

const PYTHON = "python3";
const SCRIPT = `
import json, struct, sys
import pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
bits = lambda value: None if value is None else struct.pack("<d", value).hex()
meta = pq.ParquetFile(sys.argv[1]).metadata
groups = [meta.row_group(i).column(3).statistics for i in range(meta.num_row_groups)]
print(json.dumps({
  "text": table["text"].to_pylist(),
  "types": [str(field.type) for field in table.schema],
  "ranges": [[s.min, s.max, s.null_count] for s in groups],
  **{name: [bits(v) for v in table[name].to_pylist()] for name in sys.argv[2:]},
}))
`;

function hasPyarrow(): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import pyarrow.parquet"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("pyarrow is not installed: its reader is not tried");
    return false;
  }
}

test.skipIf(!hasPyarrow())("pyarrow reads the same bits, types and statistics", () => {
  const names = [...values.keys()];
  const text = execFileSync(PYTHON, ["-c", SCRIPT, path, ...names], { maxBuffer: 2 ** 30 }).toString();
  const read = JSON.parse(text);
  expect(read.types.slice(0, 4)).toEqual(["timestamp[ms, tz=UTC]", "string", "int32", "double"]);
  expect(read.text).toEqual(rows.map((row) => TEXTS[row % TEXTS.length]));
  expect(read.ranges).toEqual([
    [-0, 999.875, 0],
    [1000, 1499.875, 0],
  ]);
  const hex = (value: number | null) =>
    value === null ? null : Buffer.from(Float64Array.of(value).buffer).toString("hex");
  for (const [name, expected] of values) expect(read[name], name).toEqual(expected.map(hex));
});
