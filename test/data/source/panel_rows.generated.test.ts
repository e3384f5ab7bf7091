import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  DateMillisecond,
  Dictionary,
  Float64,
  Int32,
  makeData,
  makeVector,
  Table,
  TimestampNanosecond,
  TimestampSecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { afterAll, describe, expect, test } from "vitest";
import {
  type PanelBlock,
  type PanelSource,
  panelSource,
  type RowRange,
} from "../../../src/data/panel/panel_source.ts";
import { openPanelSource } from "../../../src/data/source/open_panel_source.ts";
import { openPanelRows } from "../../../src/data/source/panel_rows.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import type { PanelSourceOptions } from "../../../src/data/source/source_options.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import type { GroupColumn, Panel } from "../../../src/panel.ts";
import { triesAll } from "../../support/trials.ts";
import { readRows } from "../read_rows.ts";
import { messageOf, runSql, scratchPath, writeArrow, writeParquet, writeScratch } from "../scratch.ts";

const DATA = resolve(import.meta.dirname, "../../../examples/data");
const BARS = `${DATA}/sp100_daily.csv.gz`;
const SECTORS = `${DATA}/sp100_sectors.csv`;
const BARS_SQL = `FROM read_csv('${BARS}')`;

const open: PanelSource[] = [];
afterAll(async () => {
  for (const rows of open) await rows.close();
});

async function openRows(
  path: string,
  options: PanelSourceOptions,
  { time, symbols }: Panel,
): Promise<PanelSource> {
  const rows = await openPanelRows(path, options, { time, symbols });
  open.push(rows);
  return rows;
}

/** What the panel has in these rows, with the label of each cell of a group instead of its code. */
function expectRows(block: PanelBlock, panel: Panel, { first, end }: RowRange): void {
  const [firstCell, endCell] = [first * panel.laneCount, end * panel.laneCount];
  const bytesOf = (array: Float64Array | Uint8Array) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const labelsOf = ({ labels, codes, changesOverTime }: GroupColumn, from: number, to: number) =>
    Array.from(changesOverTime ? codes.subarray(from, to) : codes, (code) => labels[code] ?? null);
  expect(block.rowCount).toBe(end - first);
  expect(block.times).toEqual(panel.time.values.subarray(first, end));
  expect(bytesOf(block.present).equals(bytesOf(panel.present.subarray(firstCell, endCell)))).toBe(true);
  expect([...block.fields.keys(), ...block.groups.keys()]).toEqual([
    ...panel.fields.keys(),
    ...panel.groups.keys(),
  ]);
  for (const [name, values] of panel.fields) {
    const expected = values.subarray(firstCell, endCell);
    expect(bytesOf(block.fields.get(name)!).equals(bytesOf(expected)), name).toBe(true);
  }
  for (const [name, group] of panel.groups) {
    const own = block.groups.get(name)!;
    expect([own.name, own.changesOverTime]).toEqual([name, group.changesOverTime]);
    expect(labelsOf(own, 0, own.codes.length)).toEqual(labelsOf(group, firstCell, endCell));
  }
}

async function expectSameRows(
  path: string,
  options: PanelSourceOptions,
  ranges?: readonly (readonly [number, number])[],
): Promise<void> {
  const panel = await readPanel(path, options);
  const count = panel.rowCount;
  const middle = Math.floor(count / 2);
  const rows = await openRows(path, options, panel);
  const [fields, groups] = [[...panel.fields.keys()], [...panel.groups.keys()]];
  for (const [first, end] of ranges ?? [
    [middle, middle + 7],
    [0, 1],
    [count - 1, count],
    [0, count],
  ]) {
    const range = { first: Math.min(first!, count - 1), end: Math.min(end!, count) };
    expectRows(await readRows(rows, range, fields, groups), panel, range);
    let start = range.first;
    const blockRows = Math.max(3, Math.floor((range.end - range.first) / 20));
    for await (const block of rows.blocks({ rows: range, fields, groups, blockRows })) {
      expectRows(block, panel, { first: start, end: start + block.rowCount });
      start += block.rowCount;
    }
    expect(start).toBe(range.end);
  }
}

describe("rows of the real bars", () => {
  const ranges = [
    [400, 431],
    [0, 1],
    [1258, 1259],
    [0, 1259],
  ] as const;
  const options = { groups: SECTORS, rename: { last: "close" }, memoryLimitBytes: 1e9 };

  test("in Parquet", async () => {
    const path = await writeParquet(
      "bars.parquet",
      `${BARS_SQL} ORDER BY date, symbol`,
      ", ROW_GROUP_SIZE 4096",
    );
    await expectSameRows(path, options, ranges);
  });
  test("in Parquet, not in the order of time", async () => {
    const path = await writeParquet("by_symbol.parquet", `${BARS_SQL} ORDER BY symbol, date`);
    await expectSameRows(path, options, ranges);
  });
  test("in CSV", async () => {
    await expectSameRows(BARS, options, ranges);
  });
});

/** 40 times x 9 symbols with gaps, nulls, a symbol that appears late and a group that changes. */
function gapsSql(time: string, order = "r, l"): string {
  return `SELECT ${time} AS time, 'S' || (l * 5 % 9) AS symbol,
      CASE WHEN (r + l) % 11 = 0 THEN NULL ELSE r + l / 16 END AS close, (r * 9 + l)::INTEGER AS volume,
      CASE WHEN l = 3 THEN NULL ELSE ['open', 'halted', 'auction'][1 + (r * 9 + l) // 50 % 3] END AS state,
      CASE WHEN r % 2 = 0 THEN 'true' ELSE 'False' END AS flag,
      CAST(r / 4 AS VARCHAR) AS digits, CAST(NULL AS VARCHAR) AS nothing
    FROM (SELECT range AS r FROM range(40)), (SELECT range AS l FROM range(9))
    WHERE (r * 9 + l) % 7 <> 3 AND NOT (l = 8 AND r < 20) ORDER BY ${order}`;
}

describe("rows with gaps, nulls and columns of text, at times that are", () => {
  const microseconds = "TIMESTAMP '1969-12-31 23:59:59' + INTERVAL (r * 50000) MICROSECOND";
  test.each([
    ["dates", "DATE '1969-12-20' + CAST(r AS INTEGER)"],
    ["small integers", "CAST(r * r - 300 AS SMALLINT)"],
    ["integers", "r * 10000000000 - 100"],
    ["milliseconds", "CAST(TIMESTAMP '1969-12-31 23:59:59.980' + INTERVAL (r) MILLISECOND AS TIMESTAMP_MS)"],
    ["microseconds", microseconds],
    ["nanoseconds", "make_timestamp_ns(r * 3 - 50)"],
    ["the least nanoseconds", "make_timestamp_ns(r - 9223286400000000000)"],
    ["in a time zone", `CAST(${microseconds} AS TIMESTAMPTZ)`],
    ["texts", "'2020-' || (1 + r // 28) || '-' || (1 + r % 28)"],
  ])("%s", async (name, time) => {
    await expectSameRows(await writeParquet(`${name}.parquet`, gapsSql(time)), { memoryLimitBytes: 1e9 });
    for (const order of triesAll ? ["hash(r, l)"] : [])
      await expectSameRows(await writeParquet(`${name}-mixed.parquet`, gapsSql(time, order)), {});
  });

  test("texts in CSV", async () => {
    const path = scratchPath("gaps.csv");
    await runSql(`COPY (${gapsSql("'2020-' || (1 + r // 28) || '-' || (1 + r % 28)")}) TO '${path}'`);
    await expectSameRows(path, {});
  });

  test.each(["s", "ns"] as const)("timestamps in %s with their Arrow schema beside them", async (unit) => {
    const path = scratchPath(`${unit}.parquet`);
    await writeTable(new Table({ time: timesIn(unit), ...BARS_COLUMNS }), path);
    await expectSameRows(path, {});
  });
});

const CELLS = Array.from({ length: 200 }, (_, index) => ({ row: Math.floor(index / 5), lane: index % 5 }));
const symbolsOfCells = CELLS.map(({ lane }) => `S${(lane * 3) % 5}`);
const statesOfCells = CELLS.map(({ row, lane }) => (lane === 2 ? null : `state ${(row + lane) % 7}`));
const BARS_COLUMNS = {
  symbol: vectorFromArray(symbolsOfCells, new Utf8()),
  close: vectorFromArray(
    CELLS.map(({ row, lane }) => ((row + lane) % 4 === 0 ? null : row / (lane + 1))),
    new Float64(),
  ),
};

function timesIn(unit: "s" | "ns"): Vector {
  const type = unit === "s" ? new TimestampSecond() : new TimestampNanosecond();
  const data = BigInt64Array.from(CELLS, ({ row }) => BigInt(row * 7 - 100));
  return makeVector(makeData({ type, length: data.length, data }));
}

describe("rows of Arrow", () => {
  const dictionary = (values: readonly (string | null)[], id: number) =>
    vectorFromArray(values, new Dictionary(new Utf8(), new Int32(), id));
  /** In batches of 30 rows. */
  const table = (columns: Record<string, Vector>) => {
    const whole = new Table(columns);
    const starts = Array.from({ length: Math.ceil(whole.numRows / 30) }, (_, index) => index * 30);
    return new Table(starts.flatMap((start) => whole.slice(start, start + 30).batches));
  };
  const dates = CELLS.map(({ row }) => new Date(86_400_000 * (row - 20)));
  const dated = table({
    date: vectorFromArray(dates, new DateMillisecond()),
    ...BARS_COLUMNS,
    symbol: dictionary(symbolsOfCells, 3),
    state: dictionary(statesOfCells, 4),
  });
  const plain = table({
    time: timesIn("s"),
    ...BARS_COLUMNS,
    state: vectorFromArray([...statesOfCells].reverse(), new Utf8()),
  });

  test.each([
    ["with dictionaries", dated, "file"],
    ["without dictionaries", plain, "file"],
    ["as a stream", dated, "stream"],
  ] as const)("%s", async (name, bars, format) => {
    await expectSameRows(writeArrow(`${name}.arrow`, bars, format), { memoryLimitBytes: 1e9 });
  });
});

describe("tables beside the panel", async () => {
  const bars = await writeParquet("beside.parquet", gapsSql("r * r"));
  const series = writeScratch("series.csv", "time,index\n0,1.5\n4,2.5\n400,3\n441,\n17,9\n");
  const groups = writeScratch("groups.csv", "symbol,sector,code\nS1,tech,7\nS0,energy,7\nS5,,8\n");
  test("are joined to the rows", async () => {
    await expectSameRows(bars, { series, groups, rename: { last: "close", word: "state" } });
  });
  test("must not have names of the panel", async () => {
    const panel = await readPanel(bars);
    const clash = writeScratch("clash.csv", "time,STATE\n0,1\n");
    expect(await messageOf(openRows(bars, { series: clash }, panel))).toBe(
      await messageOf(readPanel(bars, { series: clash })),
    );
    expect(await messageOf(openRows(bars, { rename: { x: "nope" } }, panel))).toContain("DataError: E335");
  });
});

describe("a reading", async () => {
  const path = await writeParquet("readings.parquet", gapsSql("r"));
  const panel = await readPanel(path);

  test("takes the columns that are asked for, in that order", async () => {
    const rows = await openRows(path, {}, panel);
    const block = await readRows(rows, { first: 3, end: 5 }, ["volume", "close"], []);
    expect([...block.fields.keys()]).toEqual(["volume", "close"]);
    expect(block.groups.size).toBe(0);
  });
  test("uses the memory of the one before", async () => {
    const rows = await openRows(path, {}, panel);
    const first = await readRows(rows, { first: 3, end: 9 }, ["close"], ["state"]);
    const second = await readRows(rows, { first: 30, end: 33 }, ["close"], ["state"]);
    expect(second.fields.get("close")!.buffer).toBe(first.fields.get("close")!.buffer);
    expect(second.groups.get("state")!.codes.buffer).toBe(first.groups.get("state")!.codes.buffer);
    const third = await readRows(rows, { first: 0, end: 40 }, ["close"], []);
    expect(third.fields.get("close")!.buffer).not.toBe(first.fields.get("close")!.buffer);
    expectRows(
      await readRows(rows, { first: 0, end: 40 }, [...panel.fields.keys()], [...panel.groups.keys()]),
      panel,
      {
        first: 0,
        end: 40,
      },
    );
  });
  test("has the labels of its own rows", async () => {
    const rows = await openRows(path, {}, panel);
    const { groups } = await readRows(rows, { first: 0, end: 2 }, [], ["state"]);
    expect(groups.get("state")!.labels).toEqual(["open"]);
  });
  test("ends with the reason of the signal, and another may follow", async () => {
    const rows = await openRows(path, {}, panel);
    const reason = new Error("enough");
    await expect(readRows(rows, { first: 0, end: 2 }, ["close"], [], AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
    for await (const _ of rows.blocks({ fields: ["close"], groups: [], blockRows: 1 })) break;
    expect((await readRows(rows, { first: 0, end: 2 }, ["close"], [])).rowCount).toBe(2);
  });
  test("is of rows that the panel has", async () => {
    const rows = await openRows(path, {}, panel);
    for (const [first, end] of [
      [5, 5],
      [-1, 2],
      [0, 41],
      [0.5, 2],
    ] as const)
      expect(await messageOf(readRows(rows, { first, end }, ["close"], []))).toContain("E528 the option ");
  });
});

test("sources give parts as well", async () => {
  const path = await writeParquet("parts.parquet", gapsSql("r"));
  const panel = await readPanel(path);
  const source = await openPanelSource(path);
  const range = { first: 11, end: 13 };
  const request = { rows: range, fields: source.fieldNames, groups: source.groupNames, blockRows: 64 };
  for (const each of [source, panelSource(panel)]) {
    for await (const block of each.blocks(request)) expectRows(block, panel, range);
    for await (const _ of each.blocks({ ...request, rows: { first: 5, end: 5 } })) expect.unreachable();
  }
  await source.close();
});

describe("only what is needed is read", () => {
  /** Row groups of 8 times; the pages of the first are garbage once the panel is known. */
  test("of Parquet in the order of time", async () => {
    const bars =
      "SELECT range // 256 AS time, 'S' || range % 256 AS symbol, hash(range) / 3 AS x FROM range(10240)";
    const path = await writeParquet(
      "torn.parquet",
      `${bars} ORDER BY range`,
      ", ROW_GROUP_SIZE 2048, COMPRESSION zstd",
    );
    const panel = await readPanel(path);
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4, 2000);
    writeFileSync(path, bytes);
    expect(await messageOf(readPanel(path))).toContain("E303 torn.parquet: cannot be read as Parquet");
    const rows = await openRows(path, {}, panel);
    expectRows(await readRows(rows, { first: 8, end: 40 }, ["x"], []), panel, { first: 8, end: 40 });
    expect(await messageOf(readRows(rows, { first: 7, end: 40 }, ["x"], []))).toContain("E303 torn.parquet");
  });
});

test("once all batches of a large Arrow file were seen, only those are read that hold the rows", async () => {
  const [rowCount, laneCount, batchRows] = [1800, 2000, 200_000];
  const index = Float64Array.from({ length: rowCount * laneCount }, (_, cell) => cell);
  const symbols = Array.from({ length: laneCount }, (_, lane) => `S${String(lane).padStart(4, "0")}`);
  const times = BigInt64Array.from(index, (cell) => BigInt(Math.floor(cell / laneCount) - 900));
  const type = new Dictionary(new Utf8(), new Int32(), 1);
  const lanes = Int32Array.from(index, (cell) => cell % laneCount);
  const whole = new Table({
    time: makeVector(times),
    symbol: makeVector(makeData({ type, data: lanes, dictionary: vectorFromArray(symbols, new Utf8()) })),
    x: makeVector(index),
  });
  const starts = Array.from({ length: index.length / batchRows }, (_, batch) => batch * batchRows);
  const path = writeArrow(
    "large.arrow",
    new Table(starts.flatMap((start) => whole.slice(start, start + batchRows).batches)),
  );
  const time = { name: "time", type: { kind: "integer", bits: 64 } } as const;
  const values = BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row - 900));
  const rows = await openPanelRows(path, { memoryLimitBytes: 1 }, { time: { ...time, values }, symbols });
  open.push(rows);
  const read = async (first: number, end: number) => {
    const { fields } = await readRows(rows, { first, end }, ["x"], []);
    return Buffer.compare(
      new Uint8Array(fields.get("x")!.slice().buffer),
      new Uint8Array(index.slice(first * laneCount, end * laneCount).buffer),
    );
  };
  expect(await read(0, 3)).toBe(0);
  const bytes = readFileSync(path);
  expect(bytes.length).toBeGreaterThan(64 * 2 ** 20); // smaller ones are loaded whole
  writeFileSync(path, bytes.fill(0xff, 15_000_000, 55_000_000));
  expect(await read(1500, 1800)).toBe(0);
  expect(await read(90, 110)).toBe(0);
  expect(await messageOf(read(700, 701))).toContain(
    "DataError: E303 large.arrow: cannot be read as Arrow IPC",
  );
});

describe("a file that is not what it was", () => {
  const CHANGED = "it changes while it is read";
  const barsSql = (time: string, symbol: string) =>
    `SELECT ${time} AS time, ${symbol} AS symbol, range / 2 AS x, 'g' || range AS g FROM range(20)`;
  test.each([
    ["has a time more", "range // 2 * 10 + (range = 9)::INT", "'S' || range % 2"],
    ["has other times", "range // 2 * 10 + 500", "'S' || range % 2"],
    ["lacks a time", "range // 2 * 10 - (range // 2 = 4)::INT * 1000", "'S' || range % 2"],
    ["has a symbol more", "range // 2 * 10", "'S' || (range % 2 + (range = 9)::INT)"],
    ["has an empty symbol", "range // 2 * 10", "CASE WHEN range <> 9 THEN 'S' || range % 2 END"],
    ["has times of another type", "CAST(range // 2 * 10 AS INTEGER)", "'S' || range % 2"],
    ["has symbols that are dates", "range // 2 * 10", "DATE '2020-01-01' + CAST(range % 2 AS INTEGER)"],
  ])("%s", async (name, time, symbol) => {
    const panel = await readPanel(
      await writeParquet("before.parquet", barsSql("range // 2 * 10", "'S' || range % 2")),
    );
    const path = await writeParquet(`${name}.parquet`, barsSql(time, symbol));
    const read = async () => readRows(await openRows(path, {}, panel), { first: 3, end: 6 }, ["x"], ["g"]);
    expect(await messageOf(read)).toContain(
      `DataError: E303 ${name}.parquet: cannot be read as Parquet (${CHANGED})`,
    );
  });
  test("has another time that is text", async () => {
    const panel = await readPanel(
      writeScratch("texts.csv", "date,symbol,x\n2020-01-01,A,1\n2020-01-02,A,2\n"),
    );
    const path = writeScratch("other.csv", "date,symbol,x\n2020-01-01,A,1\n2020-01-03,A,2\n");
    expect(await messageOf(openRows(path, {}, panel))).toContain(CHANGED);
  });
  test("has a symbol in a dictionary that is new", async () => {
    const table = (symbol: string) =>
      new Table({
        time: vectorFromArray([1, 2], new Int32()),
        symbol: vectorFromArray(["A", symbol], new Dictionary(new Utf8(), new Int32(), 1)),
        x: vectorFromArray([1, 2], new Float64()),
      });
    const panel = await readPanel(writeArrow("same.arrow", table("A")));
    const rows = await openRows(writeArrow("other.arrow", table("B")), {}, panel);
    expect((await readRows(rows, { first: 0, end: 1 }, ["x"], [])).rowCount).toBe(1);
    expect(await messageOf(readRows(rows, { first: 0, end: 2 }, ["x"], []))).toContain(CHANGED);
  });
});

test.each([
  "r * 10",
  "'2020-01-' || (10 + r)",
])("a row twice is the error that the whole panel has: %s", async (time) => {
  const bars = `SELECT ${time} AS time, symbol, x FROM (SELECT range // 3 AS r, 'S' || range % 3 AS symbol, range / 2 AS x FROM range(30))`;
  const panel = await readPanel(await writeParquet("once.parquet", bars));
  const path = await writeParquet(
    "twice.parquet",
    `(${bars}) UNION ALL (SELECT * FROM (${bars}) OFFSET 16 LIMIT 1)`,
  );
  const rows = await openRows(path, {}, panel);
  expect((await readRows(rows, { first: 0, end: 5 }, ["x"], [])).rowCount).toBe(5);
  const message = await messageOf(readRows(rows, { first: 4, end: 7 }, ["x"], []));
  expect(message).toBe(await messageOf(readPanel(path)));
  expect(message).toContain('DataError: E322 twice.parquet: row 17 and row 31 are both for "S1" at ');
});
