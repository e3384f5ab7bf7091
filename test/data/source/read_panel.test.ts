import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { Float64, Int32, Table, Utf8, vectorFromArray } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { formatTime } from "../../../src/data/time/time_text.ts";
import type { Panel } from "../../../src/panel.ts";
import { scratchPath, writeArrow, writeParquet, writeScratch } from "../scratch.ts";

const DATA = resolve(import.meta.dirname, "../../../examples/data");

function readCsv(name: string, text: string): Promise<Panel> {
  return readPanel(writeScratch(name, text));
}

function fieldOf(panel: Panel, name: string): number[] {
  return [...panel.fields.get(name)!];
}

describe("the real bars", async () => {
  const panel = await readPanel(`${DATA}/sp100_daily.csv.gz`, { groups: `${DATA}/sp100_sectors.csv` });
  const cellOf = (date: string, symbol: string) => {
    const row = [...panel.time.values].findIndex((time) => formatTime(time, panel.time.type) === date);
    return row * panel.laneCount + panel.symbols.indexOf(symbol);
  };
  const rowCountOf = (symbol: string) => {
    const lane = panel.symbols.indexOf(symbol);
    return panel.present
      .filter((_, cell) => cell % panel.laneCount === lane)
      .reduce((sum, bit) => sum + bit, 0);
  };

  test("make a panel of 1259 days x 100 symbols", () => {
    expect([panel.rowCount, panel.laneCount]).toEqual([1259, 100]);
    expect(panel.time).toMatchObject({ name: "date", type: { kind: "date" } });
    expect(formatTime(panel.time.values[0]!, panel.time.type)).toBe("2013-02-08");
    expect(formatTime(panel.time.values[1258]!, panel.time.type)).toBe("2018-02-07");
    expect(panel.symbols).toEqual([...panel.symbols].sort());
    expect([...panel.fields.keys()]).toEqual(["open", "high", "low", "close", "volume"]);
    expect(panel.present.reduce((sum, bit) => sum + bit, 0)).toBe(121_855);
  });

  test("hold the values of the file", () => {
    const cell = cellOf("2013-02-08", "AAPL");
    const bar = [...panel.fields.values()].map((values) => values[cell]);
    expect(bar).toEqual([67.7142, 68.4014, 66.8928, 67.8542, 158_168_416]);
  });

  test("have the known gaps", () => {
    const late = ["ALLE", "APTV", "BHF", "BHGE", "CFG"];
    for (const symbol of late) expect(rowCountOf(symbol)).toBeLessThan(1259);
    expect(rowCountOf("BMY")).toBeLessThan(1259);
    expect(rowCountOf("AAPL")).toBe(1259);
    const cell = cellOf("2017-07-26", "BHF");
    const bar = ["open", "high", "low", "volume"].map((name) => panel.fields.get(name)![cell]);
    expect(bar).toEqual([Number.NaN, Number.NaN, Number.NaN, 3]);
    expect(panel.present[cell]).toBe(1);
    const missing = panel.present.indexOf(0);
    expect(panel.fields.get("close")![missing]).toBeNaN();
  });

  test("have a sector for every lane", () => {
    const sector = panel.groups.get("sector")!;
    expect(sector.changesOverTime).toBe(false);
    expect(sector.labels).toEqual([...sector.labels].sort());
    expect(sector.codes).toHaveLength(100);
    expect(sector.labels[sector.codes[panel.symbols.indexOf("AAPL")]!]).toBe("Information Technology");
    expect(sector.codes.every((code) => code >= 0 && code < sector.labels.length)).toBe(true);
  });

  test("lie in shared memory", () => {
    for (const values of panel.fields.values()) expect(values.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(panel.groups.get("sector")!.codes.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});

describe("rows and lanes", () => {
  test("are sorted whatever the order of the lines", async () => {
    const panel = await readCsv(
      "unsorted.csv",
      "close,SYMBOL,Date\n3,B,2020-01-02\n1,A,2020-01-01\n2,A,2020-01-02\n",
    );
    expect(panel.symbols).toEqual(["A", "B"]);
    expect(panel.time.name).toBe("Date");
    expect([...panel.time.values]).toEqual([18262n, 18263n]);
    expect(fieldOf(panel, "close")).toEqual([1, Number.NaN, 2, 3]);
    expect([...panel.present]).toEqual([1, 0, 1, 1]);
  });

  test("may be one", async () => {
    const panel = await readCsv("one.csv", "time,symbol,x\n5,A,1.5\n");
    expect([panel.rowCount, panel.laneCount, ...fieldOf(panel, "x")]).toEqual([1, 1, 1.5]);
  });

  test("may be many rows of one lane", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${4999 - index},A,${index}\n`);
    const panel = await readCsv("lane.csv", `time,symbol,x\n${lines.join("")}`);
    expect([panel.rowCount, panel.laneCount]).toEqual([5000, 1]);
    expect(fieldOf(panel, "x")).toEqual(Array.from({ length: 5000 }, (_, index) => 4999 - index));
  });

  test("need no fields", async () => {
    const panel = await readCsv("keys.csv", "time,symbol\n1,A\n2,B\n");
    expect([panel.rowCount, panel.laneCount, panel.fields.size]).toEqual([2, 2, 0]);
  });

  test("are in code-unit order of the symbols, not in that of UTF-8", async () => {
    const symbols = ["\u{1F600}", "\uFF21", "é", "Z", "a", "\u{10000}b"];
    const lines = symbols.map((symbol, index) => `1,${symbol},${index}\n`);
    const panel = await readCsv("unicode.csv", `time,symbol,x\n${lines.join("")}`);
    expect(panel.symbols).toEqual([...symbols].sort());
    expect(panel.symbols.indexOf("\u{1F600}")).toBeLessThan(panel.symbols.indexOf("\uFF21"));
    expect(fieldOf(panel, "x")).toEqual(panel.symbols.map((symbol) => symbols.indexOf(symbol)));
  });
});

describe("symbols", () => {
  test("are text in CSV, with their zeros", async () => {
    const panel = await readCsv("codes.csv", "time,symbol,x\n1,000001,1\n1,600000,2\n1,NA,3\n1,TRUE,4\n");
    expect(panel.symbols).toEqual(["000001", "600000", "NA", "TRUE"]);
  });

  test.each([
    "INTEGER",
    "BIGINT",
    "DOUBLE",
    "DECIMAL(18, 2)",
    "VARCHAR",
  ])("of type %s become text", async (type) => {
    const path = await writeParquet(
      "permno.parquet",
      `SELECT 1 AS time, CAST(unnest([10107, 9]) AS ${type}) AS symbol`,
    );
    expect((await readPanel(path)).symbols).toEqual(["10107", "9"]);
  });

  test("may hold quotes, commas, spaces and line breaks", async () => {
    const panel = await readCsv(
      "odd.csv",
      `time,symbol,x\n1,"a ""b"", c",1\n1, d ,2\n1,"e\nf",3\n1,it's,4\n`,
    );
    expect([...panel.symbols].sort()).toEqual([" d ", 'a "b", c', "e\nf", "it's"]);
  });
});

describe("columns", () => {
  test("of numbers become fields: empty is NaN, infinities stay", async () => {
    const panel = await readCsv(
      "numbers.csv",
      "time,symbol,x,y\n1,A,1e-300,inf\n2,A,,-inf\n3,A,-0.0,nan\n4,A,0.1,7\n",
    );
    expect(fieldOf(panel, "x")).toEqual([1e-300, Number.NaN, -0, 0.1]);
    expect(fieldOf(panel, "y")).toEqual([Infinity, -Infinity, Number.NaN, 7]);
  });

  test("of text become groups that change over time", async () => {
    const panel = await readCsv(
      "groups.csv",
      "time,symbol,sector\n1,A,Tech\n1,B,\n2,A,Energy\n2,B,Tech\n3,A,\u{1F600}\n3,B,\uFF21\n",
    );
    const sector = panel.groups.get("sector")!;
    expect(sector).toMatchObject({ name: "sector", changesOverTime: true });
    expect(sector.labels).toEqual(["Energy", "Tech", "\u{1F600}", "\uFF21"]);
    expect([...sector.codes]).toEqual([1, -1, 0, 1, 2, 3]);
    expect(panel.fields.size).toBe(0);
  });

  test("of true and false become 0 and 1", async () => {
    const panel = await readCsv("flags.csv", "time,symbol,halted\n1,A,True\n2,A,false\n3,A,\n");
    expect(fieldOf(panel, "halted")).toEqual([1, 0, Number.NaN]);
  });

  test("of text that are empty throughout become fields and groups of nulls, in all formats", async () => {
    const query =
      "SELECT range AS time, 'A' AS symbol, 3 AS close, CAST(NULL AS VARCHAR) AS none FROM range(1, 3)";
    const parquet = await writeParquet("void.parquet", query);
    const texts = vectorFromArray([null, null], new Utf8());
    const close = vectorFromArray([3, 3], new Float64());
    const symbol = vectorFromArray(["A", "A"], new Utf8());
    const time = vectorFromArray([1, 2], new Int32());
    const arrow = writeArrow("void.arrow", new Table({ time, symbol, close, none: texts }));
    const csv = writeScratch("void.csv", "time,symbol,close,none\n1,A,3,\n2,A,3,\n");
    for (const path of [csv, parquet, arrow]) {
      const panel = await readPanel(path);
      expect([[...panel.fields.keys()], [...panel.groups.keys()]], path).toEqual([
        ["close", "none"],
        ["none"],
      ]);
      expect(fieldOf(panel, "none")).toEqual([Number.NaN, Number.NaN]);
      expect(panel.groups.get("none")).toMatchObject({ labels: [], codes: Int32Array.of(-1, -1) });
      const renamed = await readPanel(path, { rename: { sector: "none" } });
      expect([[...renamed.fields.keys()], [...renamed.groups.keys()]]).toEqual([
        ["close", "sector"],
        ["sector"],
      ]);
    }
  });

  test("that are empty, integer or numeric for long may turn into text, decimals or numbers below", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => {
      return index < 4000 ? `${index},A,,${index},7\n` : `${index},A,${index},0.5,x${index}\n`;
    });
    const late = lines.map((line) => line.replace(",7\n", ",\n"));
    const panel = await readCsv("late.csv", `time,symbol,a,b,c\n${late.join("")}`);
    expect(panel.fields.get("a")![4999]).toBe(4999);
    expect(panel.fields.get("b")!.subarray(3999, 4001)).toEqual(Float64Array.of(3999, 0.5));
    expect(panel.groups.get("c")!.labels).toHaveLength(1000);
  });

  test("that turn into text below the head are groups when most of the column is text", async () => {
    const lines = Array.from({ length: 9000 }, (_, index) => `${index},A,${index < 3000 ? "10" : "Tech"}\n`);
    const panel = await readCsv("turn.csv", `time,symbol,sector\n${lines.join("")}`);
    expect(panel.groups.get("sector")!.labels).toEqual(["10", "Tech"]);
  });

  test("without a name, as pandas writes its index, are passed over", async () => {
    const panel = await readCsv("index.csv", ",date,symbol,close\n0,2020-01-01,A,1\n1,2020-01-02,A,2\n");
    expect([...panel.fields.keys()]).toEqual(["close"]);
  });

  test("may have odd names", async () => {
    const header = `time,symbol,"it's ""x"", y",row number,select,$close`;
    const panel = await readCsv("names.csv", `${header}\n1,A,1,2,3,4\n`);
    expect([...panel.fields.keys()]).toEqual([`it's "x", y`, "row number", "select", "$close"]);
  });

  test("are found by the names given", async () => {
    const path = writeScratch("given.csv", "day,ticker,date,symbol\n2020-01-01,A,2021-01-01,x\n");
    const panel = await readPanel(path, { timeColumn: "Day", symbolColumn: "TICKER" });
    expect([panel.time.name, ...panel.symbols, ...panel.groups.keys()]).toEqual([
      "day",
      "A",
      "date",
      "symbol",
    ]);
  });
});

describe("CSV", () => {
  const text = "date,symbol,close\r\n2020-01-01,A,1\r\n2020-01-02,A,2\r\n";

  test("may have a byte order mark and lines that end in CR LF", async () => {
    const panel = await readCsv("bom.csv", `\uFEFF${text}`);
    expect([panel.time.name, ...fieldOf(panel, "close")]).toEqual(["date", 1, 2]);
  });

  test("may have lines that end in CR, as old Macs write them", async () => {
    const text = 'date,symbol,close,note\n2020-01-01,"A",1,"x\ry"\n2020-01-02,B,2,\n';
    const expected = await readCsv("lf.csv", text);
    const old = text.replaceAll("\n", "\r");
    expect(await readCsv("cr.csv", old)).toEqual(expected);
    expect(await readPanel(writeScratch("cr.csv.gz", gzipSync(old)))).toEqual(expected);
    // The bytes are read in chunks, one of which ends behind the first return.
    const header = "date,symbol,close,".padEnd(2 ** 16 - 1, "n");
    const rows = ["2020-01-01,A,1,x", "2020-01-02,B,2,y"];
    expect(await readCsv("chunks.csv", [header, ...rows, ""].join("\r"))).toEqual(
      await readCsv("chunks_lf.csv", [header, ...rows, ""].join("\n")),
    );
  });
  test("may lack the last line break", async () => {
    expect(fieldOf(await readCsv("end.csv", text.trimEnd()), "close")).toEqual([1, 2]);
  });

  test("may be gzipped, or separated by tabs", async () => {
    const gzipped = await readPanel(writeScratch("bars.csv.gz", gzipSync(text)));
    expect(fieldOf(gzipped, "close")).toEqual([1, 2]);
    const tabs = await readCsv("bars.tsv", text.replaceAll(",", "\t"));
    expect(fieldOf(tabs, "close")).toEqual([1, 2]);
  });

  test.each([
    "it's.csv",
    'a "b".csv',
    "a b.csv",
    "a[1]*?.csv",
    "é\u{1F600}.csv",
    "-x;.csv",
    "year=2020/bars.csv",
  ])("may have the path %s", async (name) => {
    mkdirSync(scratchPath("year=2020"), { recursive: true });
    const panel = await readCsv(name, text);
    expect(fieldOf(panel, "close")).toEqual([1, 2]);
    expect([...panel.fields.keys(), ...panel.groups.keys()]).toEqual(["close"]);
  });
});

describe("times as text", () => {
  test.each([
    ["2020-01-01", { kind: "date" }, 18262n],
    ["2020-1-1", { kind: "date" }, 18262n],
    ["20200101", { kind: "integer", bits: 64 }, 20200101n],
    ["-5", { kind: "integer", bits: 64 }, -5n],
    ["2020-01-01 09:30:00", { kind: "timestamp", unit: "us", timezone: null }, 1577871000000000n],
    ["2020-01-01T09:30:00.25", { kind: "timestamp", unit: "us", timezone: null }, 1577871000250000n],
    [
      "2020-01-01 09:30:00.123456789",
      { kind: "timestamp", unit: "ns", timezone: null },
      1577871000123456789n,
    ],
    ["2020-01-01 09:30:00Z", { kind: "timestamp", unit: "us", timezone: "UTC" }, 1577871000000000n],
    ["2020-01-01 09:30:00 UTC", { kind: "timestamp", unit: "us", timezone: "UTC" }, 1577871000000000n],
    ["2020-01-01 09:30:00+02:00", { kind: "timestamp", unit: "us", timezone: "UTC" }, 1577863800000000n],
    [
      "2020-01-01T09:30:00.123456789+02",
      { kind: "timestamp", unit: "ns", timezone: "UTC" },
      1577863800123456789n,
    ],
  ])("%s", async (text, type, value) => {
    const panel = await readCsv("when.csv", `time,symbol,x\n${text},A,1\n`);
    expect(panel.time).toEqual({ name: "time", type, values: BigInt64Array.of(value) });
  });

  test("several texts may mean one time", async () => {
    const panel = await readCsv("alike.csv", "date,symbol,x\n2020-01-01,A,1\n2020-1-1,B,2\n");
    expect([panel.rowCount, ...fieldOf(panel, "x")]).toEqual([1, 1, 2]);
  });
});
