import { describe, expect, test, vi } from "vitest";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import type { Panel } from "../../../src/panel.ts";
import { messageOf, writeParquet, writeScratch } from "../scratch.ts";

const BARS = writeScratch("bars.csv", "time,symbol,close\n1,A,1\n1,B,2\n1,C,3\n");

function readWith(name: string, text: string): Promise<Panel> {
  return readPanel(BARS, { groups: writeScratch(name, text) });
}

describe("a group table", () => {
  test("gives each lane a code: -1 where it has no line or no label, other symbols are passed over", async () => {
    const panel = await readWith(
      "sectors.csv",
      "Symbol,sector,industry\nC,Tech,\nA,Energy,Oil\nX,Other,Other\n",
    );
    expect([...panel.groups.keys()]).toEqual(["sector", "industry"]);
    const { sector, industry } = Object.fromEntries(panel.groups);
    expect(sector).toMatchObject({ labels: ["Energy", "Tech"], changesOverTime: false });
    expect([...sector!.codes]).toEqual([0, -1, 1]);
    expect([...industry!.codes]).toEqual([0, -1, -1]);
  });

  test("keeps codes as they are written", async () => {
    const panel = await readWith("codes.csv", "symbol,gics\nA,0010\nB,45\nC,0010\n");
    expect(panel.groups.get("gics")!.labels).toEqual(["0010", "45"]);
  });

  test("may have integers, also as floats with gaps, as in pandas; other numbers are no groups", async () => {
    const path = await writeParquet(
      "codes.parquet",
      `SELECT unnest(['A', 'B', 'C']) AS symbol, unnest([10, 20, 10])::SMALLINT AS a, unnest([10.0, NULL, 9.0])::DOUBLE AS b,
       unnest([1.5, 2, 3])::DOUBLE AS weight`,
    );
    const panel = await readPanel(BARS, { groups: path });
    expect([...panel.groups.keys()]).toEqual(["a", "b"]);
    expect(panel.groups.get("a")!.labels).toEqual(["10", "20"]);
    expect(panel.groups.get("b")!.labels).toEqual(["10", "9"]);
    expect([...panel.groups.get("b")!.codes]).toEqual([0, -1, 1]);
  });

  test("stands beside groups of the panel's own table", async () => {
    const bars = writeScratch("own.csv", "time,symbol,state\n1,A,open\n2,A,halted\n");
    const panel = await readPanel(bars, { groups: writeScratch("more.csv", "symbol,sector\nA,Tech\n") });
    expect([...panel.groups.values()].map((group) => [group.name, group.changesOverTime])).toEqual([
      ["state", true],
      ["sector", false],
    ]);
  });

  test("has the symbol column named symbol, or as in the panel", async () => {
    const bars = writeScratch("ticker.csv", "time,ticker,close\n1,A,1\n");
    for (const name of ["symbol", "ticker"]) {
      const groups = writeScratch("by.csv", `${name},sector\nA,Tech\n`);
      const panel = await readPanel(bars, { groups, symbolColumn: "ticker" });
      expect([...panel.groups.keys()]).toEqual(["sector"]);
    }
  });
});

describe("symbols without a row", () => {
  const codes = ["000001", "000002", "600000", "aapl"];
  const bars = writeScratch(
    "listed.csv",
    `time,symbol,close\n${codes.map((code) => `1,${code},1`).join("\n")}\n`,
  );

  async function warningsOf(rows: readonly string[]): Promise<string[]> {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const groups = writeScratch("sectors.csv", `symbol,sector\n${rows.map((row) => `${row},x\n`).join("")}`);
    await readPanel(bars, { groups });
    const texts = warn.mock.calls.map(([text]) => String(text).replaceAll(/[^ ]*\//g, ""));
    warn.mockRestore();
    return texts;
  }

  test("are warned of where they are half of all or more, with what looks like one of them", async () => {
    expect(await warningsOf(["600000", "AAPL", "2", "1"])).toEqual([
      'sectors.csv: only 1 of the 4 symbols of listed.csv have a row; the groups of the others are null: "000001" has none, but row 4 (line 5) is for "1": write symbols alike in both files',
    ]);
    expect(await warningsOf(["600000", "000001", "AAPL"])).toEqual([
      'sectors.csv: only 2 of the 4 symbols of listed.csv have a row; the groups of the others are null: "aapl" has none, but row 3 (line 4) is for "AAPL": write symbols alike in both files',
    ]);
    expect(await warningsOf(["600000", "000001", "0001x"])).toEqual([
      'sectors.csv: only 2 of the 4 symbols of listed.csv have a row; the groups of the others are null: "000002" has none',
    ]);
  });

  test("are not where they are fewer", async () => {
    expect(await warningsOf(["600000", "000001", "aapl", "2"])).toEqual([]);
  });

  test("are an error where they are all, with what looks like one of them", async () => {
    const groups = writeScratch("sectors.csv", "symbol,sector\nX,x\n2,x\n");
    expect(await messageOf(readPanel(bars, { groups }))).toMatchInlineSnapshot(`
      "DataError: E337 sectors.csv: none of its symbols is one of listed.csv: it has "2", the other "000002"
        write symbols alike in both files"
    `);
  });
});

describe("a group table is refused", () => {
  test("when it is missing", async () => {
    expect(await messageOf(readPanel(BARS, { groups: "none.csv" }))).toMatchInlineSnapshot(`
      "DataError: E301 none.csv: there is no such file
        check the path and the working directory"
    `);
  });
  test("without symbols", async () => {
    expect(await messageOf(readWith("nosymbol.csv", "ticker,sector\nA,Tech\n"))).toMatchInlineSnapshot(`
      "DataError: E311 nosymbol.csv: no symbol column among the columns ticker, sector
        name it symbol, or say which column it is (--symbol-column; symbolColumn in the library)"
    `);
  });
  test("without groups", async () => {
    expect(await messageOf(readWith("nogroup.csv", "symbol\nA\n"))).toMatchInlineSnapshot(`
      "DataError: E331 nogroup.csv: no group column beside the symbol among the columns symbol
        add a column of text or integers, for example sector"
    `);
    const path = await writeParquet("weights.parquet", "SELECT 'A' AS symbol, 1.5::DOUBLE AS weight");
    expect(await messageOf(readPanel(BARS, { groups: path }))).toMatchInlineSnapshot(`
      "DataError: E331 weights.parquet: no group column beside the symbol among the columns symbol, weight
        add a column of text or integers, for example sector"
    `);
  });
  test("with a symbol twice", async () => {
    expect(
      await messageOf(readWith("twice.csv", "symbol,sector\nA,Tech\nB,x\nA,Tech\n")),
    ).toMatchInlineSnapshot(`
      "DataError: E331 twice.csv: row 1 (line 2) and row 3 (line 4) are both for "A"
        keep one row per symbol: a group given here is the same at all times"
    `);
  });
  test("with an empty symbol", async () => {
    expect(await messageOf(readWith("empty.csv", "symbol,sector\nA,Tech\n,Tech\n"))).toMatchInlineSnapshot(`
      "DataError: E321 empty.csv: the symbol column "symbol" is empty in row 2 (line 3)
        every row needs a symbol; fill it in or drop the row"
    `);
  });
  test("with a name that the panel has", async () => {
    expect(await messageOf(readWith("taken.csv", "symbol,CLOSE\nA,Tech\n"))).toMatchInlineSnapshot(`
      "DataError: E314 taken.csv: the column "CLOSE" is also a column of bars.csv ("close")
        rename or drop one of them"
    `);
  });
});
