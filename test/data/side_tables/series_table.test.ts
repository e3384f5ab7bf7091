import { describe, expect, test } from "vitest";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { messageOf, writeParquet, writeScratch } from "../scratch.ts";

const BARS = writeScratch(
  "bars.csv",
  "date,symbol,px_last\n2013-02-08,A,1\n2013-02-08,B,2\n2013-02-11,A,3\n",
);

function readWith(text: string) {
  return readPanel(BARS, { series: writeScratch("index.csv", text) });
}

describe("a table of series", () => {
  test("gives every symbol the value of its time, null where there is none", async () => {
    const panel = await readWith("date,index_close,note\n2013-02-12,9,\n2013-02-08,5,\n");
    expect([...panel.fields.keys()]).toEqual(["px_last", "index_close", "note"]);
    expect([...panel.fields.get("index_close")!]).toEqual([5, 5, Number.NaN, Number.NaN]);
  });

  test("of other times altogether is refused", async () => {
    expect(await messageOf(readWith("date,index_close\n2014-02-10,9\n"))).toMatchInlineSnapshot(`
      "DataError: E337 index.csv: none of its times is one of bars.csv: it begins at 2014-02-10, the other at 2013-02-08
        give series for the times of the bars"
    `);
  });

  test("without a column of numbers is refused", async () => {
    expect(await messageOf(readWith('date,spx\n2013-02-08,"1,512"\n'))).toMatchInlineSnapshot(`
      "DataError: E331 index.csv: no column of numbers beside the time among the columns date, spx
        add a column in which every cell is a number or empty"
    `);
  });

  test("joins times of another unit or width", async () => {
    const moments = await writeParquet(
      "moments.parquet",
      "SELECT TIMESTAMP_NS '2013-02-08 10:00:00' AS time, 'A' AS symbol, 1.0 AS close",
    );
    const series = writeScratch(
      "moments.csv",
      "time,index\n2013-02-08 10:00:00,5\n2013-02-08 10:00:00.5,6\n",
    );
    expect([...(await readPanel(moments, { series })).fields.get("index")!]).toEqual([5]);
    const numbered = await writeParquet(
      "numbered.parquet",
      "SELECT 7::INTEGER AS time, 'A' AS symbol, 1.0 AS close",
    );
    const other = writeScratch("numbered.csv", "time,index\n7,8\n");
    expect([...(await readPanel(numbered, { series: other })).fields.get("index")!]).toEqual([8]);
  });

  test("must have one row per time, times like the panel's, and names of its own", async () => {
    expect(await messageOf(readWith("date,x\n2013-02-08,1\n2013-02-08,2\n"))).toMatchInlineSnapshot(`
      "DataError: E322 index.csv: row 1 (line 2) and row 2 (line 3) are both for 2013-02-08
        keep one row per time"
    `);
    expect(await messageOf(readWith("date,x\n1,1\n2,2\n"))).toMatchInlineSnapshot(`
      "DataError: E337 index.csv: its times are of another kind (an integer of 64 bits) than those of bars.csv (a date (YYYY-MM-DD))
        write the times of both files alike"
    `);
    expect(await messageOf(readWith("date,PX_LAST\n2013-02-08,1\n"))).toMatchInlineSnapshot(`
      "DataError: E314 index.csv: the column "PX_LAST" is also a column of bars.csv ("px_last")
        rename or drop one of them"
    `);
    expect(await messageOf(readWith("day,x\n1,1\n"))).toMatchInlineSnapshot(`
      "DataError: E311 index.csv: no time column among the columns day, x
        name it time, date, datetime or timestamp, or say which column it is (--time-column; timeColumn in the library)"
    `);
  });

  test("must have no symbol column: its numbers would be taken for all symbols", async () => {
    expect(
      await messageOf(readWith("date,symbol,eps\n2013-02-08,A,1\n2013-02-11,B,2\n")),
    ).toMatchInlineSnapshot(`
      "DataError: E314 index.csv: has a symbol column "symbol", but a number of a series is for all symbols
        give numbers of each symbol as columns of the bars (--data), labels of each symbol as groups (--groups); drop the column where the numbers are for all symbols"
    `);
    // The rows of two symbols at one time are no mistake of their own.
    const rows = "2013-02-08,A,1\n2013-02-08,B,2\n";
    expect(await messageOf(readWith(`Symbol,date,eps\n${rows}`))).toContain('symbol column "Symbol"');
    const bars = writeScratch("ticker.csv", "date,ticker,close\n2013-02-08,A,1\n");
    for (const name of ["ticker", "symbol"]) {
      const series = writeScratch("eps.csv", `date,${name},eps\n${rows}`);
      const read = readPanel(bars, { series, symbolColumn: "ticker" });
      expect(await messageOf(read)).toContain(`E314 eps.csv: has a symbol column "${name}"`);
    }
  });
});

describe("renamed columns", () => {
  test("are known by their new names alone", async () => {
    const panel = await readPanel(BARS, { rename: { close: "px_last" } });
    expect([...panel.fields]).toEqual([["close", Float64Array.of(1, 2, 3, Number.NaN)]]);
  });

  test("must exist, and their new names be free", async () => {
    const two = writeScratch("two.csv", "date,symbol,close,px_last\n1,A,1,2\n");
    expect(await messageOf(readPanel(two, { rename: { close: "px_lst" } }))).toMatchInlineSnapshot(`
      "DataError: E335 two.csv: no column "px_lst" to be called "close"
        its columns are close, px_last"
    `);
    expect(await messageOf(readPanel(two, { rename: { close: "px_last" } }))).toMatchInlineSnapshot(`
      "DataError: E314 two.csv: "px_last" cannot be called "close": there is a column of that name
        rename that one too, or use "close" as it is"
    `);
    const swapped = await readPanel(two, { rename: { close: "px_last", px_last: "close" } });
    expect([...swapped.fields].map(([name, [value]]) => [name, value])).toEqual([
      ["px_last", 1],
      ["close", 2],
    ]);
  });
});
