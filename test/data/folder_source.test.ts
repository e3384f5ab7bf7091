import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Dictionary, Float64, Int32, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { openPanelRows } from "../../src/data/source/panel_rows.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { compile, Engine } from "../../src/index.ts";
import type { JobConfig } from "../../src/jobs/config/config.ts";
import type { Ledger } from "../../src/jobs/ledger/ledger.ts";
import { JobSink } from "../../src/jobs/output/sink.ts";
import type { Panel } from "../../src/panel.ts";
import { collectBlocks } from "./collect_blocks.ts";
import { readRows } from "./read_rows.ts";
import { messageOf, runSql, scratchPath, writeParquet, writeScratch } from "./scratch.ts";

const CSV = resolve(import.meta.dirname, "../../examples/data/sp100_daily.csv.gz");
const BARS = await writeParquet("bars.parquet", `FROM read_csv('${CSV}')`);
const BARS_SQL = `FROM '${BARS}'`;

/** Writes files into a folder; a query becomes Parquet. Gives the path of the folder. */
async function writeFolder(folder: string, files: Record<string, string | Uint8Array>): Promise<string> {
  mkdirSync(scratchPath(folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(scratchPath(path)), { recursive: true });
    if (typeof content === "string") await writeParquet(path, content);
    else writeScratch(path, content);
  }
  return scratchPath(folder);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer, byteOffset, byteLength);

function expectSame(actual: Panel, expected: Panel): void {
  expect([actual.time, actual.symbols]).toEqual([expected.time, expected.symbols]);
  expect(bytesOf(actual.present).equals(bytesOf(expected.present))).toBe(true);
  expect([...actual.fields.keys()]).toEqual([...expected.fields.keys()]);
  for (const [name, values] of expected.fields)
    expect(bytesOf(actual.fields.get(name)!).equals(bytesOf(values)), name).toBe(true);
  expect([...actual.groups]).toEqual([...expected.groups]);
}

async function collected(path: string, blockRows: number): Promise<Panel> {
  const source = await openPanelSource(path, { memoryLimitBytes: 1e9 });
  try {
    return await collectBlocks(source, blockRows);
  } finally {
    await source.close();
  }
}

describe("a folder of Parquet files is one panel", async () => {
  const expected = await readPanel(BARS);
  const quarters = (
    await runSql(`SELECT DISTINCT date_trunc('quarter', date)::VARCHAR AS q ${BARS_SQL} ORDER BY q`)
  ).flat();
  const quarterSql = (quarter: unknown) =>
    `${BARS_SQL} WHERE date_trunc('quarter', date) = DATE '${quarter}'`;
  const numbered = (index: number) => `part-${String(index).padStart(6, "0")}-0000.parquet`;

  test("of numbered files", async () => {
    const parts = quarters.map((quarter, index) => [numbered(index), `${quarterSql(quarter)} ORDER BY date`]);
    const folder = await writeFolder("numbered", Object.fromEntries(parts));
    expectSame(await readPanel(folder), expected);
    for (const blockRows of [7, 64]) expectSame(await collected(folder, blockRows), expected);
    const rows = await openPanelRows(folder, {}, expected);
    const { laneCount } = expected;
    for (const [first, end] of [
      [0, 1],
      [600, 664],
      [0, 1259],
    ] as const) {
      const block = await readRows(rows, { first, end }, ["close"], []);
      const values = expected.fields.get("close")!.subarray(first * laneCount, end * laneCount);
      expect(bytesOf(block.fields.get("close")!).equals(bytesOf(values))).toBe(true);
    }
    await rows.close();
  });

  test("of folders by date, whose names are not read, in any order of rows", async () => {
    const parts = quarters.map((quarter) => [
      `sector=a/date=${quarter}/data.parquet`,
      `${quarterSql(quarter)} ORDER BY symbol`,
    ]);
    const folder = await writeFolder("by [date]?*", Object.fromEntries(parts.reverse()));
    expectSame(await collected(folder, 64), expected);
    expect((await readPanel(folder)).groups.size).toBe(0);
  });

  test("with rows of a time in several files", async () => {
    const half = (index: number) => `${BARS_SQL} WHERE hash(symbol) % 2 = ${index}`;
    const folder = await writeFolder("halves", { "a.parquet": half(0), "b/c.parquet": half(1) });
    for (const blockRows of [64, 2000]) expectSame(await collected(folder, blockRows), expected);
  });

  test("but for names that start with . or _", async () => {
    const folder = await writeFolder("hidden", {
      "a.parquet": BARS_SQL,
      ".staging/b.parquet": "SELECT 1 AS x",
      "_delta_log/c.parquet": "SELECT 1 AS x",
      _SUCCESS: new Uint8Array(0),
      ".b.parquet.crc": Uint8Array.of(1),
    });
    expectSame(await readPanel(folder), expected);
  });

  test("as a job writes them", async () => {
    const { time, symbols } = expected;
    const factors = ["close", "volume"];
    const folder = scratchPath("dataset");
    const sink = new JobSink(
      {
        name: "bars",
        sink: { kind: "parquet", folder },
        schedule: { timezone: "UTC" },
        call: {},
      } as unknown as JobConfig,
      { begin: null } as Ledger,
    );
    const staged = sink.stage(1, { time, symbols, factors }, () => true);
    const { laneCount, present, fields } = expected;
    const rowCount = 30; // the last: all symbols have bars then
    const firstCell = (expected.rowCount - rowCount) * laneCount;
    const times = time.values.subarray(-rowCount);
    const last = {
      present: present.subarray(firstCell),
      fields: new Map(factors.map((name) => [name, fields.get(name)!.subarray(firstCell)])),
    };
    await staged.append({ rowCount, times, present: last.present, columns: last.fields });
    await staged.finish();
    await sink.publish(1, staged.outputs);
    const panel = await collected(folder, 64);
    expectSame(panel, { ...expected, ...last, time: { ...time, values: times } });
  });
});

describe("a folder of Arrow files is one panel", () => {
  const tableOf = (first: number, symbols: readonly string[]) =>
    new Table({
      time: vectorFromArray(
        symbols.map((_, index) => first + index),
        new Int32(),
      ),
      symbol: vectorFromArray(symbols, new Dictionary(new Utf8(), new Int32(), 1)),
      state: vectorFromArray(
        symbols.map((symbol) => `of ${symbol}`),
        new Utf8(),
      ),
      x: vectorFromArray(
        symbols.map((_, index) => first / (index + 1)),
        new Float64(),
      ),
    });
  const tables = [tableOf(1, ["C", "B"]), tableOf(10, ["A", "B", "D"]), tableOf(20, ["B", "C"])];

  test("also where their dictionaries differ", async () => {
    const folder = await writeFolder("arrows", {
      "part-1.arrow": tableToIPC(tables[0], "file"),
      "part-2.feather": tableToIPC(tables[1], "stream"),
      "part-3.ipc": tableToIPC(tables[2], "file"),
    });
    const csv = tables.flatMap((table) =>
      table.toArray().map((row) => [row?.time, row?.symbol, row?.state, row?.x].join(",")),
    );
    const expected = await readPanel(writeScratch("arrows.csv", `time,symbol,state,x\n${csv.join("\n")}\n`));
    const panel = await collected(folder, 2);
    expect(panel.symbols).toEqual(["A", "B", "C", "D"]);
    expectSame(panel, { ...expected, time: { ...expected.time, type: { kind: "integer", bits: 32 } } });
    const rows = await openPanelRows(folder, {}, panel);
    const block = await readRows(rows, { first: 2, end: 4 }, ["x"], ["state"]);
    expect([...block.fields.get("x")!]).toEqual([...panel.fields.get("x")!.subarray(8, 16)]);
    expect(block.groups.get("state")!.labels).toEqual(["of A", "of B"]);
    await rows.close();
  });

  test("of columns that are the same", async () => {
    const folder = await writeFolder("other arrows", {
      "a.arrow": tableToIPC(tables[0], "file"),
      "b.arrow": tableToIPC(tables[1]!.select(["time", "symbol", "x"]), "file"),
    });
    expect(await messageOf(readPanel(folder))).toMatchInlineSnapshot(`
      "DataError: E306 other arrows/b.arrow: its columns are not those of other arrows/a.arrow: "x" stands where the other has "state"
        give all files of a folder the same columns, in the same order and of the same types"
    `);
  });

  test("of files that can be read", async () => {
    const folder = await writeFolder("torn arrows", {
      "a.arrow": tableToIPC(tables[0], "file"),
      "b.arrow": new TextEncoder().encode("ARROW1 and nothing more"),
    });
    expect(await messageOf(readPanel(folder))).toMatchInlineSnapshot(`
      "DataError: E303 torn arrows/b.arrow: cannot be read as Arrow IPC (it does not end like an Arrow file)
        check that the file is complete and that its extension fits its content"
    `);
  });

  test("with a row that is named by its file", async () => {
    const folder = await writeFolder("twice", {
      "a.arrow": tableToIPC(tables[1], "file"),
      "b/c.arrow": tableToIPC(tableOf(12, ["D"]), "file"),
    });
    expect(await messageOf(readPanel(folder))).toMatchInlineSnapshot(`
      "DataError: E322 twice: row 3 of a.arrow and row 1 of b/c.arrow are both for "D" at 12
        keep one row per time and symbol"
    `);
  });
});

describe("a folder is refused", () => {
  const bars = (time: number, columns = "1.5 AS x") => `SELECT ${time} AS time, 'A' AS symbol, ${columns}`;
  const text = new TextEncoder().encode("time,symbol,x\n1,A,2\n");
  test.each<[string, Record<string, string | Uint8Array>, string]>([
    ["without files", {}, "E306 IT: holds no .parquet, .arrow, .feather or .ipc file"],
    ["with CSV only", { "a.csv": text }, "E306 IT: holds no .parquet, .arrow, .feather or .ipc file"],
    [
      "of several kinds",
      { "a.parquet": bars(1), "notes.txt": text },
      "E306 IT: holds files of several kinds, a.parquet and notes.txt",
    ],
    [
      "with an empty file",
      { "a.parquet": bars(1), "b/c.parquet": new Uint8Array(0) },
      "E304 IT/b/c.parquet: has no rows",
    ],
    [
      "with a file that is no Parquet",
      { "a.parquet": bars(1), "b.parquet": text },
      "E303 IT/b.parquet: cannot be read as Parquet (No magic bytes found at end of file)",
    ],
    [
      "with a column less",
      { "a.parquet": bars(1, "1.5 AS x, 2 AS y"), "b.parquet": bars(2) },
      'E306 IT/b.parquet: its columns are not those of IT/a.parquet: "y" is missing',
    ],
    [
      "with a column more",
      { "a.parquet": bars(1), "b.parquet": bars(2, "1.5 AS x, 2 AS y") },
      'E306 IT/b.parquet: its columns are not those of IT/a.parquet: "y" is one more',
    ],
    [
      "with columns in another order",
      { "a.parquet": bars(1, "1 AS x, 2 AS y"), "b.parquet": bars(2, "2 AS y, 1 AS x") },
      'E306 IT/b.parquet: its columns are not those of IT/a.parquet: "y" stands where the other has "x"',
    ],
    [
      "with a column of another type",
      { "a.parquet": bars(1, "1::DOUBLE AS x"), "b.parquet": bars(2, "2 AS x") },
      'E306 IT/b.parquet: its columns are not those of IT/a.parquet: "x" is INTEGER, in the other DOUBLE',
    ],
    [
      "with times of another unit",
      {
        "a.parquet": "SELECT TIMESTAMP '2020-01-01' AS time, 'A' AS symbol, 1 AS x",
        "b.parquet": "SELECT TIMESTAMP_MS '2020-01-02' AS time, 'A' AS symbol, 1 AS x",
      },
      '"time" is TIMESTAMP(ms), in the other TIMESTAMP(us)',
    ],
    [
      "with a row twice",
      { "a.parquet": `(${bars(1)}) UNION ALL (${bars(2)})`, "b.parquet": bars(2) },
      'E322 IT: row 2 of a.parquet and row 1 of b.parquet are both for "A" at 2',
    ],
    [
      "with an empty symbol",
      { "a.parquet": bars(1), "b.parquet": "SELECT 2 AS time, NULL::VARCHAR AS symbol, 1.5 AS x" },
      'E321 IT: the symbol column "symbol" is empty in row 1 of b.parquet',
    ],
  ])("%s", async (name, files, expected) => {
    const folder = await writeFolder(`refused ${name}`, files);
    expect((await messageOf(readPanel(folder))).replaceAll(`refused ${name}`, "IT")).toContain(expected);
  });
});

describe("evaluation", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await Engine.start({ threads: 2 });
  });
  afterAll(() => engine.close());

  test("of a folder is that of the single file", async () => {
    const file = await writeParquet("evaluated.parquet", `${BARS_SQL} ORDER BY date, symbol`);
    const year = (index: number) => `${BARS_SQL} WHERE year(date) % 2 = ${index} ORDER BY date, symbol`;
    const folder = await writeFolder("evaluated", { "a.parquet": year(0), "b.parquet": year(1) });
    const program = compile("a = ts_corr(close, volume, 20)\nb = rank(delta(close, 5))", {
      fields: ["close", "volume"],
      groups: [],
    });
    const evaluate = async (path: string) =>
      tableToIPC((await engine.evaluate(program, await readPanel(path))).table);
    expect(Buffer.from(await evaluate(folder)).equals(await evaluate(file))).toBe(true);
  });
});
