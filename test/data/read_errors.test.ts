import { gzipSync } from "node:zlib";
import {
  Field,
  Float64,
  Int64,
  List,
  makeData,
  makeVector,
  Table,
  Timestamp,
  TimeUnit,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { describe, expect, test } from "vitest";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { compile, Engine } from "../../src/index.ts";
import { messageOf, scratchPath, writeArrow, writeParquet, writeScratch } from "./scratch.ts";

/** Bytes that are neither text nor any format. */
const GARBAGE = Uint8Array.from({ length: 3000 }, (_, index) => (index * index * 7 + index * 31 + 129) & 255);

/** Characters as GBK has them. */
const GBK: Readonly<Record<string, Buffer>> = Object.fromEntries(
  ["收:cad5", "盘:c5cc", "中:d6d0", "国:b9fa", "银:d2f8", "行:d0d0"].map((pair) => {
    const [char, bytes] = pair.split(":") as [string, string];
    return [char, Buffer.from(bytes, "hex")];
  }),
);

function messageOfCsv(name: string, text: string): Promise<string> {
  return messageOf(readPanel(writeScratch(name, text)));
}

describe("the file", () => {
  test("is missing", async () => {
    expect(await messageOf(readPanel(scratchPath("none.csv")))).toMatchInlineSnapshot(`
      "DataError: E301 none.csv: there is no such file
        check the path and the working directory"
    `);
  });
  test("is a folder without tables", async () => {
    expect(await messageOf(readPanel(scratchPath("")))).toMatchInlineSnapshot(`
      "DataError: E306 SCRATCH: holds no .parquet, .arrow, .feather or .ipc file
        keep only .parquet files in it, or only Arrow files; names that start with . or _ are passed over"
    `);
  });
  test("has an unknown extension", async () => {
    expect(await messageOfCsv("bars.xlsx", "x")).toMatchInlineSnapshot(`
      "DataError: E302 bars.xlsx: this kind of file is not known
        use a .csv, .csv.gz, .tsv, .parquet, .arrow, .feather or .ipc file, or a folder of .parquet or of Arrow files"
    `);
  });
  test.each(["empty.csv", "empty.parquet", "empty.arrow"])("%s is empty", async (name) => {
    expect(await messageOfCsv(name, "")).toBe(
      `DataError: E304 ${name}: has no rows\n  give a table with at least one row below its header`,
    );
  });
  test("has lines that end in CR: they are counted", async () => {
    const text = "date,symbol,close\r2020-01-01,A,1\r2020-01-02,A,2\r";
    expect(await messageOfCsv("cr.csv", `${text}2020-01-02,A,3\r`)).toContain(
      'E322 cr.csv: row 2 (line 3) and row 3 (line 4) are both for "A" at 2020-01-02',
    );
    expect(await messageOfCsv("cr.csv", `${text}2020-01-03,A\r`)).toContain(
      "E305 cr.csv: line 4: has 2 cells",
    );
  });
  test.each([
    [["\n", "\n", "\r", "\n"], 3, "a carriage return", "a line feed"],
    [["\r\n", "\n", "\n", "\n"], 2, "a line feed", "a carriage return and a line feed"],
    [["\n", "\n", "\r\n", "\n"], 3, "a carriage return and a line feed", "a line feed"],
    [["\r", "\r", "\n", "\r"], 3, "a line feed", "a carriage return"],
    [["\r\n", "\r\n", "\r", "\r\n"], 3, "a carriage return", "a carriage return and a line feed"],
  ])("has lines that end in %j: the first other end is named", async (ends, line, end, usual) => {
    const lines = ["date,symbol,close", "2020-01-01,A,1", '2020-01-02,"A",2', "2020-01-03,A,3"];
    expect(await messageOfCsv("ends.csv", lines.map((text, i) => text + ends[i]).join(""))).toBe(
      `DataError: E305 ends.csv: line ${line}: ends in ${end}, the lines before it in ${usual}\n` +
        "  end all lines in one way, e.g. with dos2unix or mac2unix",
    );
  });
  test("has a header only", async () => {
    expect(await messageOfCsv("header.csv", "date,symbol,close\n")).toMatchInlineSnapshot(`
      "DataError: E304 header.csv: has no rows
        give a table with at least one row below its header"
    `);
  });
  test("has no rows (Parquet, Arrow)", async () => {
    const parquet = await writeParquet(
      "none.parquet",
      "SELECT DATE '2020-01-01' AS date, 'A' AS symbol LIMIT 0",
    );
    expect(await messageOf(readPanel(parquet))).toContain("E304 none.parquet: has no rows");
    const arrow = writeArrow(
      "none.arrow",
      new Table({ time: vectorFromArray([], new Int64()), symbol: vectorFromArray([], new Utf8()) }),
    );
    expect(await messageOf(readPanel(arrow))).toContain("E304 none.arrow: has no rows");
  });
  test("is garbage named .csv", async () => {
    expect(await messageOf(readPanel(writeScratch("garbage.csv", GARBAGE)))).toMatchInlineSnapshot(`
      "DataError: E303 garbage.csv: cannot be read as CSV (The encoded data was not valid for encoding utf-8)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is garbage named .csv.gz", async () => {
    expect(await messageOf(readPanel(writeScratch("garbage.csv.gz", GARBAGE)))).toMatchInlineSnapshot(`
      "DataError: E303 garbage.csv.gz: cannot be read as gzipped CSV (incorrect header check)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is garbage named .parquet", async () => {
    expect(await messageOf(readPanel(writeScratch("garbage.parquet", GARBAGE)))).toMatchInlineSnapshot(`
      "DataError: E303 garbage.parquet: cannot be read as Parquet (No magic bytes found at end of file)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is garbage named .arrow", async () => {
    expect(await messageOf(readPanel(writeScratch("garbage.arrow", GARBAGE)))).toMatchInlineSnapshot(`
      "DataError: E303 garbage.arrow: cannot be read as Arrow IPC (Expected to read 500934529 metadata bytes, but only read 2996.)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is CSV named .parquet and .arrow", async () => {
    const text = "date,symbol,close\n2020-01-01,A,1\n";
    expect(await messageOfCsv("text.parquet", text)).toMatchInlineSnapshot(`
      "DataError: E303 text.parquet: cannot be read as Parquet (No magic bytes found at end of file)
        check that the file is complete and that its extension fits its content"
    `);
    expect(await messageOfCsv("text.arrow", text)).toMatchInlineSnapshot(`
      "DataError: E303 text.arrow: cannot be read as Arrow IPC (Expected to read 1702125924 metadata bytes, but only read 29.)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is Parquet or Arrow named .csv", async () => {
    const parquet = await writeParquet(
      "parquet.csv",
      "SELECT DATE '2020-01-01' AS date, 'A' AS symbol, 1.5 AS close",
    );
    expect(await messageOf(readPanel(parquet))).toMatchInlineSnapshot(`
      "DataError: E303 parquet.csv: cannot be read as CSV (the first line is not text)
        check that the file is complete and that its extension fits its content"
    `);
    const arrow = writeArrow("arrow.csv", tableFromArrays({ time: [1n], symbol: ["A"] }));
    expect(await messageOf(readPanel(arrow))).toMatchInlineSnapshot(`
      "DataError: E303 arrow.csv: cannot be read as CSV (The encoded data was not valid for encoding utf-8)
        check that the file is complete and that its extension fits its content"
    `);
  });
  test("is gzipped CSV with a damaged byte", async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index},A,${Math.sqrt(index)}\n`);
    const bytes = gzipSync(`time,symbol,close\n${lines.join("")}`);
    for (const share of [0.1, 0.4, 0.6, 0.75]) {
      const damaged = Uint8Array.from(bytes);
      damaged[Math.floor(damaged.length * share)]! ^= 255;
      const path = writeScratch("damaged.csv.gz", damaged);
      expect(await messageOf(readPanel(path))).toContain(
        "E303 damaged.csv.gz: cannot be read as gzipped CSV",
      );
    }
  });
  test("is gzipped CSV that is cut off", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index},A,${Math.sqrt(index)}\n`);
    const bytes = gzipSync(`time,symbol,close\n${lines.join("")}`);
    const path = writeScratch("cut.csv.gz", bytes.subarray(0, bytes.length / 2));
    expect(await messageOf(readPanel(path))).toMatchInlineSnapshot(`
      "DataError: E303 cut.csv.gz: cannot be read as gzipped CSV (unexpected end of file)
        check that the file is complete and that its extension fits its content"
    `);
  });
});

test("an option of readPanel that is not known", async () => {
  const path = writeScratch("fine.csv", "date,symbol,close\n2020-01-01,A,1\n");
  const options = { group: "sectors.csv" } as object;
  expect(await messageOf(readPanel(path, options))).toMatchInlineSnapshot(`
    "UsageError: E527 unknown option group of a panel's reading
      did you mean groups?"
  `);
});

describe("a line of CSV", () => {
  test("has too many cells", async () => {
    expect(
      await messageOfCsv("many.csv", "date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,2,3\n"),
    ).toMatchInlineSnapshot(`
      "DataError: E305 many.csv: line 3: has 4 cells, the header has 3
        give every line as many cells as the header has; cells that hold the delimiter need "quotes""
    `);
  });
  test("has too few cells", async () => {
    expect(
      await messageOfCsv("few.csv", "date,symbol,close\n2020-01-01,A,1\n2020-01-02,A\n"),
    ).toMatchInlineSnapshot(`
      "DataError: E305 few.csv: line 3: has 2 cells, the header has 3
        give every line as many cells as the header has; cells that hold the delimiter need "quotes""
    `);
  });
  test("has a broken quote", async () => {
    expect(await messageOfCsv("quote.csv", 'date,symbol,close\n2020-01-01,"A"x,1\n')).toMatchInlineSnapshot(`
      "DataError: E305 quote.csv: line 2: has a quoted cell that goes on behind its closing quote or never ends
        give every line as many cells as the header has; cells that hold the delimiter need "quotes""
    `);
  });
  test("is not UTF-8", async () => {
    const text = Buffer.from("date,symbol,close\n2020-01-01,Z\xfcrich,1\n", "latin1");
    expect(await messageOf(readPanel(writeScratch("latin.csv", text)))).toMatchInlineSnapshot(`
      "DataError: E305 latin.csv: line 2: is not UTF-8, but perhaps WINDOWS-1252
        convert the file: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv"
    `);
  });
  test.each(["date,symbol,收盘", "date,symbol,close\n2020-01-01,中国银行,1"])("is GBK: %s", async (text) => {
    const bytes = Buffer.concat([...text].map((char) => GBK[char] ?? Buffer.from(char)));
    const line = text.split("\n").length;
    for (const [name, content] of [
      ["gbk.csv", bytes],
      ["gbk.csv.gz", gzipSync(bytes)],
    ] as const)
      expect(await messageOf(readPanel(writeScratch(name, content)))).toBe(
        `DataError: E305 ${name}: line ${line}: is not UTF-8, but perhaps GB18030\n  convert the file: iconv -f GB18030 -t UTF-8 old.csv > new.csv`,
      );
  });
  test("is UTF-16, with and without a mark of its byte order", async () => {
    const text = "date,symbol,close\r\n2020-01-01,A,1\r\n";
    const little = Buffer.from(text, "utf16le");
    const big = Buffer.from(little).swap16();
    const marked = Buffer.from(`\ufeff${text}`, "utf16le");
    for (const [bytes, encoding] of [
      [marked, "UTF-16"],
      [Buffer.from(marked).swap16(), "UTF-16"],
      [little, "UTF-16LE"],
      [big, "UTF-16BE"],
    ] as const)
      expect(await messageOf(readPanel(writeScratch("wide.csv", bytes)))).toContain(
        `E305 wide.csv: line 1: is not UTF-8, but perhaps ${encoding}\n`,
      );
  });
  test("holds the words of a fault", async () => {
    const words = "Invalid unicode, Expected Number of Columns: 7 Found: 9";
    const text = `date,symbol,close\n2020-01-01,"${words}"x,1\n`;
    expect(await messageOfCsv("words.csv", text)).toContain("has a quoted cell that goes on");
  });
  test("has half a million cells, which is reported at once", async () => {
    const text = `date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,${"1,".repeat(500_000)}\n`;
    expect(await messageOfCsv("wide.csv", text)).toContain("line 3: has 4 cells, the header has 3");
  });
  test("is longer than any line of data", async () => {
    const text = `date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,${"1".repeat(3_000_000)}\n`;
    expect(await messageOfCsv("long.csv", text)).toContain("line 3: is longer than 2000000 bytes");
  });
  test("has too many cells, after one with a text where numbers were", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index},A,1,2\n`);
    lines[4000] = "4000,A,x,y\n";
    lines[4500] = "4500,A,1,2,3\n";
    expect(await messageOfCsv("both.csv", `time,symbol,close,open\n${lines.join("")}`)).toContain(
      "both.csv: line 4502: has 5 cells, the header has 4",
    );
  });
  test("has texts in columns that begin with numbers", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index},A,1,2,${index % 7}\n`);
    lines[4000] = "4000,A,x,2,3\n";
    lines[4001] = "4001,A,1,y,3\n";
    const message = await messageOfCsv("late.csv", `time,symbol,close,open,volume\n${lines.join("")}`);
    expect(message).toMatchInlineSnapshot(`
      "DataError: E317 late.csv: the column "close" holds numbers, but "x" in row 4001 (line 4002)
        leave the cell empty where a value is missing, or drop the column"
    `);
  });
  test("has too many cells far down", async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index},A,1\n`);
    lines[150_000] = "150000,A,1,2\n";
    expect(await messageOfCsv("far.csv", `time,symbol,close\n${lines.join("")}`)).toContain(
      "far.csv: line 150002: has 4 cells, the header has 3",
    );
  });
});

describe("the columns", () => {
  test("have no time", async () => {
    expect(await messageOfCsv("notime.csv", "day,symbol,close\n1,A,1\n")).toMatchInlineSnapshot(`
      "DataError: E311 notime.csv: no time column among the columns day, symbol, close
        name it time, date, datetime or timestamp, or say which column it is (--time-column; timeColumn in the library)"
    `);
  });
  test("have no symbol", async () => {
    expect(await messageOfCsv("nosymbol.csv", "date,ticker,close\n2020-01-01,A,1\n")).toMatchInlineSnapshot(`
      "DataError: E311 nosymbol.csv: no symbol column among the columns date, ticker, close
        name it symbol, or say which column it is (--symbol-column; symbolColumn in the library)"
    `);
  });
  test("do not have the ones asked for", async () => {
    const path = writeScratch("asked.csv", "date,symbol,close\n2020-01-01,A,1\n");
    expect(await messageOf(readPanel(path, { timeColumn: "day" }))).toMatchInlineSnapshot(`
      "DataError: E311 asked.csv: no time column "day" among the columns date, symbol, close
        name it time, date, datetime or timestamp, or say which column it is (--time-column; timeColumn in the library)"
    `);
    expect(await messageOf(readPanel(path, { symbolColumn: "ticker" }))).toMatchInlineSnapshot(`
      "DataError: E311 asked.csv: no symbol column "ticker" among the columns date, symbol, close
        name it symbol, or say which column it is (--symbol-column; symbolColumn in the library)"
    `);
  });
  test("have two times", async () => {
    expect(await messageOfCsv("times.csv", "date,Time,symbol\n2020-01-01,09:30,A\n")).toMatchInlineSnapshot(`
      "DataError: E311 times.csv: the columns date, Time could each be the time column
        say which one it is (--time-column; timeColumn in the library), or drop the others; join a date and a time of day into one column"
    `);
  });
  test("have names that differ only by case", async () => {
    const message = await messageOfCsv("case.csv", "date,symbol,close,Close\n2020-01-01,A,1,2\n");
    expect(message).toMatchInlineSnapshot(`
      "DataError: E314 case.csv: the columns "close" and "Close" have names that differ at most by case
        rename or drop one of them"
    `);
    const arrow = writeArrow("case.arrow", tableFromArrays({ time: [1n], symbol: ["A"], x: [1], X: [2] }));
    expect(await messageOf(readPanel(arrow))).toContain('E314 case.arrow: the columns "x" and "X"');
  });
  test("have the same name twice", async () => {
    expect(
      await messageOfCsv("twice.csv", "date,symbol,close,close\n2020-01-01,A,1,2\n"),
    ).toMatchInlineSnapshot(`
      "DataError: E314 twice.csv: the columns "close" and "close" have names that differ at most by case
        rename or drop one of them"
    `);
  });
  test("have a time of an unusable type", async () => {
    const float = await writeParquet("float.parquet", "SELECT 1.5::DOUBLE AS time, 'A' AS symbol");
    expect(await messageOf(readPanel(float))).toMatchInlineSnapshot(`
      "DataError: E315 float.parquet: the time column "time" has type DOUBLE
        make it a date, a timestamp or a 32/64-bit integer"
    `);
    const arrow = writeArrow(
      "float.arrow",
      new Table({ time: vectorFromArray([1.5], new Float64()), symbol: vectorFromArray(["A"], new Utf8()) }),
    );
    expect(await messageOf(readPanel(arrow))).toMatchInlineSnapshot(`
      "DataError: E315 float.arrow: the time column "time" has type Float64
        make it a date, a timestamp or a 32/64-bit integer"
    `);
  });
  test("have a symbol of an unusable type", async () => {
    const list = await writeParquet("list.parquet", "SELECT 1 AS time, ['A'] AS symbol");
    expect(await messageOf(readPanel(list))).toMatchInlineSnapshot(`
      "DataError: E315 list.parquet: the symbol column "symbol" has type VARCHAR[]
        make it text or an integer"
    `);
    const type = new List(new Field("item", new Utf8()));
    const arrow = writeArrow(
      "list.arrow",
      new Table({ time: vectorFromArray([1n], new Int64()), symbol: vectorFromArray([["A"]], type) }),
    );
    expect(await messageOf(readPanel(arrow))).toMatchInlineSnapshot(`
      "DataError: E315 list.arrow: the symbol column "symbol" has type List<Utf8>
        make it text or an integer"
    `);
  });
});

describe("a cell", () => {
  test("of the time is empty", async () => {
    expect(
      await messageOfCsv("emptytime.csv", "date,symbol,close\n2020-01-01,A,1\n,A,2\n"),
    ).toMatchInlineSnapshot(`
      "DataError: E321 emptytime.csv: the time column "date" is empty in row 2 (line 3)
        every row needs a time; fill it in or drop the row"
    `);
    const parquet = await writeParquet(
      "emptytime.parquet",
      "SELECT unnest([1, NULL]) AS time, 'A' AS symbol",
    );
    expect(await messageOf(readPanel(parquet))).toMatchInlineSnapshot(`
      "DataError: E321 emptytime.parquet: the time column "time" is empty in row 2
        every row needs a time; fill it in or drop the row"
    `);
  });
  test.each([
    ["TIMESTAMP", "infinity"],
    ["TIMESTAMP", "-infinity"],
    ["TIMESTAMPTZ", "infinity"],
    ["TIMESTAMP_MS", "-infinity"],
    ["TIMESTAMP_NS", "infinity"],
    ["DATE", "infinity"],
    ["DATE", "-infinity"],
  ])("of the time is infinite: %s %s", async (type, time) => {
    const query = (moment: string) => `SELECT ${moment}::${type} AS day, 'A' AS symbol, 1.0 AS close`;
    const parquet = await writeParquet(
      "inf.parquet",
      `${query("'2020-01-01'")} UNION ALL ${query(`'${time}'`)}`,
    );
    expect(await messageOf(readPanel(parquet, { timeColumn: "day" }))).toBe(
      'DataError: E323 inf.parquet: the time column "day" is infinite in row 2\n' +
        "  every row needs a time; correct it or drop the row",
    );
  });
  test.each([
    TimeUnit.SECOND,
    TimeUnit.MICROSECOND,
    TimeUnit.NANOSECOND,
  ])("of the time is infinite: Arrow, unit %i", async (unit) => {
    const data = BigInt64Array.of(0n, 2n ** 63n - 1n);
    const time = makeVector(makeData({ type: new Timestamp(unit), length: 2, data }));
    const arrow = writeArrow(
      "inf.arrow",
      new Table({ time, symbol: vectorFromArray(["A", "A"], new Utf8()) }),
    );
    expect(await messageOf(readPanel(arrow))).toContain(
      'E323 inf.arrow: the time column "time" is infinite in row 2',
    );
  });
  test("of the symbol is empty", async () => {
    expect(
      await messageOfCsv("emptysymbol.csv", 'date,symbol,close\n2020-01-01,"",1\n'),
    ).toMatchInlineSnapshot(`
      "DataError: E321 emptysymbol.csv: the symbol column "symbol" is empty in row 1 (line 2)
        every row needs a symbol; fill it in or drop the row"
    `);
    const arrow = writeArrow(
      "emptysymbol.arrow",
      new Table({
        time: vectorFromArray([1n, 2n], new Int64()),
        symbol: vectorFromArray(["A", null], new Utf8()),
      }),
    );
    expect(await messageOf(readPanel(arrow))).toMatchInlineSnapshot(`
      "DataError: E321 emptysymbol.arrow: the symbol column "symbol" is empty in row 2
        every row needs a symbol; fill it in or drop the row"
    `);
  });
  test("of the time is no date at all", async () => {
    expect(await messageOfCsv("nodate.csv", "date,symbol,close\nmonday,A,1\n")).toMatchInlineSnapshot(`
      "DataError: E316 nodate.csv: the time column "date" has "monday" in row 1 (line 2), which is not a date like the others
        write all times alike: 2013-02-08, 2013-02-08 09:30:00, 2013-02-08 09:30:00+00, or an integer"
    `);
  });
  test.each([
    ["a date that does not exist", "2020-02-30"],
    ["a date in the order of one country", "02/03/2020"],
    ["text behind a date", "2020-01-03x"],
    ["a timestamp with zone among dates", "2020-01-03 09:30:00+02"],
    ["infinity", "infinity"],
  ])("of the time is %s", async (_, text) => {
    const message = await messageOfCsv(
      "date.csv",
      `date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,2\n${text},A,3\n`,
    );
    expect(message).toContain(
      `E316 date.csv: the time column "date" has "${text}" in row 3 (line 4), which is not a date like the others`,
    );
  });
  test("of integer times has decimals", async () => {
    const message = await messageOfCsv("int.csv", "time,symbol,close\n1,A,1\n2,A,1\n2.5,A,1\n");
    expect(message).toContain('has "2.5" in row 3 (line 4)');
  });
  test("of text among Arrow and Parquet times", async () => {
    const parquet = await writeParquet(
      "when.parquet",
      "SELECT unnest(['2020-01-01', '2020-01-02', 'x']) AS time, 'A' AS symbol",
    );
    expect(await messageOf(readPanel(parquet))).toMatchInlineSnapshot(`
      "DataError: E316 when.parquet: the time column "time" has "x" in row 3, which is not a date like the others
        write all times alike: 2013-02-08, 2013-02-08 09:30:00, 2013-02-08 09:30:00+00, or an integer"
    `);
  });
  test("is text in the head of a column of numbers", async () => {
    expect(
      await messageOfCsv("head.csv", "date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,n/a\n2020-01-03,A,1\n"),
    ).toMatchInlineSnapshot(`
      "DataError: E317 head.csv: the column "close" holds numbers, but "n/a" in row 2 (line 3)
        leave the cell empty where a value is missing, or drop the column"
    `);
  });
  test("is text among fewer numbers, in a column that a formula takes for numbers", async () => {
    const rows = ["1,A,1,x,1", "2,A,,x,2", "3,A,n/a,x,3", "4,A,-,x,4", "5,A,2,x,5"].join("\n");
    const bars = writeScratch("mixed.csv", `time,symbol,eps,note,close\n${rows}\n`);
    const beta = writeScratch("beta.csv", "symbol,beta\nA,1.5\n");
    await using engine = await Engine.start({ threads: 1 });
    const evaluated = async (formula: string, rename = {}) => {
      const program = compile(`a = ${formula}`, { fields: ["close", "eps", "profit", "beta", "note"] });
      const panel = await readPanel(bars, { groups: beta, rename });
      const inMemory = await messageOf(engine.evaluate(program, panel));
      const source = await openPanelSource(bars, { groups: beta, rename });
      expect(await messageOf(Array.fromAsync(engine.stream(program, source)))).toBe(inMemory);
      await source.close();
      return inMemory;
    };
    expect(await evaluated("eps")).toMatchInlineSnapshot(`
      "DataError: E350 the panel has no field eps, but a group column of that name
        eps is a group because "n/a" in row 3 (line 4) is no number: leave such cells empty"
    `);
    expect(await evaluated("2 * profit", { profit: "eps" })).toContain(
      'profit is a group because "n/a" in row 3 (line 4) is no number',
    );
    expect(await evaluated("beta")).toMatchInlineSnapshot(`
      "DataError: E350 the panel has no field beta, but a group column of that name
        beta is a group because columns of beta.csv are all groups: give numbers of each symbol as columns of the bars"
    `);
    expect(await evaluated("note")).toMatchInlineSnapshot(`
      "DataError: E350 the panel has no field note, but a group column of that name
        note is a group because it holds text"
    `);
    expect(await evaluated("group_rank(close, sector)")).toContain(
      "E350 the panel has no group column sector\n",
    );
  });
  test("is text in row 100,000 of a column of numbers", async () => {
    const lines = Array.from({ length: 120_000 }, (_, index) => `${index},A,${index / 4}\n`);
    lines[99_999] = "99999,A,abc\n";
    expect(await messageOfCsv("late.csv", `time,symbol,close\n${lines.join("")}`)).toMatchInlineSnapshot(`
      "DataError: E317 late.csv: the column "close" holds numbers, but "abc" in row 100000 (line 100001)
        leave the cell empty where a value is missing, or drop the column"
    `);
  });
  test("is text among numbers that are stored as text", async () => {
    const parquet = await writeParquet(
      "stored.parquet",
      "SELECT range AS time, 'A' AS symbol, CASE range WHEN 7 THEN '-' ELSE range::VARCHAR END AS close FROM range(10)",
    );
    expect(await messageOf(readPanel(parquet))).toMatchInlineSnapshot(`
      "DataError: E317 stored.parquet: the column "close" holds numbers, but "-" in row 8
        leave the cell empty where a value is missing, or drop the column"
    `);
  });
  test("is long text with line breaks: the message stays short and on one line", async () => {
    const message = await messageOfCsv(
      "long.csv",
      `time,symbol,close\n1,A,1\n2,A,2\n3,A,"${"line\n".repeat(50)}"\n`,
    );
    expect(message).toMatchInlineSnapshot(`
      "DataError: E317 long.csv: the column "close" holds numbers, but "line\\nline\\nline\\nline\\nline\\nline\\nline\\nline\\nline\\nline\\nline\\nline\\n..." in row 3 (line 4)
        leave the cell empty where a value is missing, or drop the column"
    `);
  });
});

describe("two rows for one time and symbol", () => {
  test("in CSV, with the lines", async () => {
    const text =
      'date,symbol,close\n2020-01-01,A,1\n\n2020-01-01,"B\nB",2\n2020-01-02,A,2\n2020-01-01,A,3\n2020-01-01,A,4\n';
    expect(await messageOfCsv("dup.csv", text)).toMatchInlineSnapshot(`
      "DataError: E322 dup.csv: row 1 (line 2) and row 4 (line 7) are both for "A" at 2020-01-01
        keep one row per time and symbol"
    `);
  });
  test("several of them: ten are named, all are counted", async () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, i) => `2020-01-${String(10 + i)},A,${i}\n`).join("");
    const messageFor = (count: number) =>
      messageOfCsv("many.csv", `date,symbol,close\n${rows(count)}${rows(count)}`);
    expect(await messageFor(2)).toContain(
      'both for "A" at 2020-01-10, and so it is for 1 more: "A" at 2020-01-11\n',
    );
    const message = await messageFor(14);
    expect(message).toContain('row 1 (line 2) and row 15 (line 16) are both for "A" at 2020-01-10');
    expect(message).toContain(', and so it is for 13 more: "A" at 2020-01-11, ');
    expect(message).toContain('"A" at 2020-01-19, ...\n');
    expect(message).not.toContain("2020-01-20");
  });
  test("in gzipped CSV", async () => {
    const text = "date,symbol,close\n2020-01-01,A,1\n2020-01-01,A,2\n";
    expect(await messageOf(readPanel(writeScratch("dup.csv.gz", gzipSync(text))))).toContain(
      "row 1 (line 2) and row 2 (line 3)",
    );
  });
  test("in Parquet, far apart", async () => {
    const path = await writeParquet(
      "dup.parquet",
      "SELECT TIMESTAMP '2020-01-01 09:30:00' + INTERVAL (range % 299999) MINUTE AS time, 'A' AS symbol, range AS x FROM range(300000)",
    );
    expect(await messageOf(readPanel(path))).toMatchInlineSnapshot(`
      "DataError: E322 dup.parquet: row 1 and row 300000 are both for "A" at 2020-01-01 09:30:00
        keep one row per time and symbol"
    `);
  });
  test("when two texts mean the same date", async () => {
    const text = "date,symbol,close\n2020-01-01,A,1\n2020-1-1,A,2\n";
    expect(await messageOfCsv("same.csv", text)).toContain(
      'row 1 (line 2) and row 2 (line 3) are both for "A" at 2020-01-01',
    );
  });
});

describe("the panel", () => {
  test("would not fit in memory", async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index},S${index},1\n`);
    const message = await messageOfCsv("sparse.csv", `time,symbol,close\n${lines.join("")}`);
    expect(message.replace(/this machine has .*/, "this machine has ...")).toMatchInlineSnapshot(`
      "ResourceError: E441 sparse.csv: 200000 times x 200000 symbols need 335.3 GiB, this machine has ...
        give fewer columns or symbols, or round the times if nearly every row has a time of its own"
    `);
  });
});
