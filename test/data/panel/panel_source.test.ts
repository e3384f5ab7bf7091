import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { Dictionary, Float64, Int32, Int64, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { parsing, querying, type Relation } from "../../../src/data/duckdb/relation.ts";
import { type PanelSource, panelSource } from "../../../src/data/panel/panel_source.ts";
import { openPanelSource } from "../../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import type { Panel } from "../../../src/panel.ts";
import { collectBlocks } from "../collect_blocks.ts";
import { messageOf, writeArrow, writeParquet, writeScratch } from "../scratch.ts";

const DATA = resolve(import.meta.dirname, "../../../examples/data");
const BARS = `${DATA}/sp100_daily.csv.gz`;
const ALL_ROWS = 1_000_000;

interface Bar {
  readonly time: number;
  readonly symbol: string;
  readonly close: number | null;
  readonly volume: number;
  readonly state: string | null;
}

/** 40 times x 9 symbols with gaps, a symbol that appears late, nulls, and a group that changes. */
const IN_ORDER: readonly Bar[] = Array.from({ length: 360 }, (_, index): Bar => {
  const [time, lane] = [Math.floor(index / 9), index % 9];
  return {
    time: 100 + time * time,
    symbol: `S${(lane * 5) % 9}`, // not in the order of the symbols
    close: (time + lane) % 11 === 0 ? null : time + lane / 16,
    volume: index,
    state: lane === 3 ? null : ["open", "halted", "auction"][Math.floor(index / 50) % 3]!,
  };
}).filter(({ time, symbol, volume }) => volume % 7 !== 3 && (symbol !== "S4" || time > 500));
/** The same rows, most of them far from their place. */
const MIXED: readonly Bar[] = IN_ORDER.map((_, index) => IN_ORDER[(index * 101) % IN_ORDER.length]!);

function csvOf(bars: readonly Bar[]): string {
  const lines = bars.map(({ time, symbol, close, volume, state }) =>
    [time, symbol, close ?? "", volume, state ?? ""].join(","),
  );
  return `time,symbol,close,volume,state\n${lines.join("\n")}\n`;
}

/** Text columns plain, or as dictionaries of the given ids. */
function arrowOf(bars: readonly Bar[], ids: readonly [number, number] | null): Table {
  const column = <K extends keyof Bar>(name: K) => bars.map((bar) => bar[name]);
  const text = (id: number | undefined) =>
    id === undefined ? new Utf8() : new Dictionary(new Utf8(), new Int32(), id);
  return new Table({
    time: vectorFromArray(column("time").map(BigInt), new Int64()),
    symbol: vectorFromArray(column("symbol"), text(ids?.[0])),
    close: vectorFromArray(column("close"), new Float64()),
    volume: vectorFromArray(column("volume"), new Int32()),
    state: vectorFromArray(column("state"), text(ids?.[1])),
  });
}

/** A stream of two record batches with dictionaries of their own. */
function inTwoBatches(bars: readonly Bar[]): Uint8Array {
  const half = Math.floor(bars.length / 2);
  const tables = [bars.slice(0, half), bars.slice(half)].map((part) => arrowOf(part, [7, 8]));
  return tableToIPC(new Table(tables.flatMap((table) => table.batches)), "stream");
}

async function writeAs(format: string, bars: readonly Bar[], name: string): Promise<string> {
  switch (format) {
    case "CSV":
      return writeScratch(`${name}.csv`, csvOf(bars));
    case "gzipped CSV":
      return writeScratch(`${name}.csv.gz`, gzipSync(csvOf(bars)));
    case "Parquet": {
      const csv = writeScratch(`${name}.source.csv`, csvOf(bars));
      return writeParquet(`${name}.parquet`, `FROM read_csv('${csv}')`);
    }
    case "Arrow file":
      return writeArrow(`${name}.arrow`, arrowOf(bars, null));
    case "Arrow file with dictionaries":
      return writeArrow(`${name}.feather`, arrowOf(bars, [7, 8]));
    default:
      return writeScratch(`${name}.ipc`, inTwoBatches(bars));
  }
}

async function withSource<T>(
  path: string,
  work: (source: PanelSource) => Promise<T>,
  options: Parameters<typeof openPanelSource>[1] = { memoryLimitBytes: 1e9 },
): Promise<T> {
  const source = await openPanelSource(path, options);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

/** Equal in every bit of every value. */
function expectSame(actual: Panel, expected: Panel): void {
  const bytesOf = (array: Float64Array | Int32Array | Uint8Array) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const shapeOf = (panel: Panel) => ({
    ...panel,
    fields: [...panel.fields.keys()],
    groups: [...panel.groups.values()].map((group) => ({ ...group, codes: null })),
    present: null,
  });
  expect(shapeOf(actual)).toEqual(shapeOf(expected));
  expect(bytesOf(actual.present).equals(bytesOf(expected.present))).toBe(true);
  for (const [name, values] of expected.fields) {
    expect(bytesOf(actual.fields.get(name)!).equals(bytesOf(values)), name).toBe(true);
  }
  for (const [name, { codes }] of expected.groups) {
    expect(bytesOf(actual.groups.get(name)!.codes).equals(bytesOf(codes)), name).toBe(true);
  }
}

describe("the real bars", async () => {
  const options = { groups: `${DATA}/sp100_sectors.csv`, rename: { last: "close" } };
  const expected = await readPanel(BARS, options);

  test.each([1, 7, 64, ALL_ROWS])("come in blocks of %d rows as from readPanel", async (blockRows) => {
    const panel = await withSource(BARS, (source) => collectBlocks(source, blockRows), options);
    expectSame(panel, expected);
  });

  test("have their names and shape beforehand", async () => {
    await withSource(
      BARS,
      async (source) => {
        const { rowCount, laneCount, symbols, time, fieldNames, groupNames } = source;
        expect([rowCount, laneCount]).toEqual([1259, 100]);
        expect([symbols, time]).toEqual([expected.symbols, expected.time]);
        expect(fieldNames).toEqual(["open", "high", "low", "last", "volume"]);
        expect(groupNames).toEqual(["sector"]);
      },
      options,
    );
  });

  test.each([1, 100, ALL_ROWS])("are blocks of %d rows also when they lie in memory", async (blockRows) => {
    expectSame(await collectBlocks(panelSource(expected), blockRows), expected);
  });
});

describe.each([
  "CSV",
  "gzipped CSV",
  "Parquet",
  "Arrow file",
  "Arrow file with dictionaries",
  "Arrow stream",
])("%s", async (format) => {
  const expected = await readPanel(writeScratch(`expected.csv`, csvOf(IN_ORDER)));
  expect([expected.rowCount, expected.laneCount, expected.groups.size]).toEqual([40, 9, 1]);

  test.each([
    ["in the order of time", IN_ORDER],
    ["in no order", MIXED],
  ])("with rows %s", async (order, bars) => {
    const path = await writeAs(format, bars, order.replaceAll(" ", "_"));
    for (const blockRows of [1, 7, 64]) {
      const panel = await withSource(path, (source) => collectBlocks(source, blockRows));
      expectSame(panel, expected);
    }
  });
});

describe("blocks", () => {
  const path = writeScratch("blocks.csv", csvOf(IN_ORDER));

  test("hold what was asked for only, in the order of the request", async () => {
    const panel = await withSource(path, (source) =>
      collectBlocks(source, 7, { fields: ["volume"], groups: [] }),
    );
    expect([...panel.fields.keys(), ...panel.groups.keys()]).toEqual(["volume"]);
    const reversed = await withSource(path, (source) =>
      collectBlocks(source, 7, { fields: ["volume", "close"] }),
    );
    expect([...reversed.fields.keys()]).toEqual(["volume", "close"]);
    expect(reversed.fields).toEqual((await readPanel(path)).fields);
  });

  test("stay valid until the second next is asked for, then their memory is used again", async () => {
    await withSource(path, async (source) => {
      const blocks = source.blocks({ fields: ["close"], groups: ["state"], blockRows: 3 });
      const iterator = blocks[Symbol.asyncIterator]();
      const next = async () => (await iterator.next()).value!;
      const first = await next();
      const close = first.fields.get("close")!;
      const copy = [...close];
      expect(close.buffer).toBeInstanceOf(SharedArrayBuffer);
      const second = await next();
      expect([...close]).toEqual(copy);
      const third = await next();
      expect(third.fields.get("close")!.buffer).toBe(close.buffer);
      expect(second.fields.get("close")!.buffer).not.toBe(close.buffer);
      await iterator.return?.();
    });
  });

  test("can be read again, also after a reading that was left", async () => {
    await withSource(path, async (source) => {
      const request = { fields: source.fieldNames, groups: source.groupNames, blockRows: 2 };
      for await (const block of source.blocks(request)) {
        expect(block.rowCount).toBe(2);
        break;
      }
      const left = source.blocks(request)[Symbol.asyncIterator]();
      await left.next();
      expectSame(await collectBlocks(source, 7), await readPanel(path));
    });
  });

  test("of two concurrent readings are those of the later one, and the earlier one fails with the reason", async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `${index},A,${index}\n${index},B,${-index}\n`);
    const source = await openPanelSource(writeScratch("twice.csv", `time,symbol,close\n${lines.join("")}`));
    try {
      const count = async () => {
        let rows = 0;
        for await (const block of source.blocks({ fields: ["close"], groups: [], blockRows: 7 }))
          rows += block.rowCount;
        return rows;
      };
      const [first, second] = await Promise.all([messageOf(count()), count()]);
      expect(second).toBe(3000);
      expect(first).toMatchInlineSnapshot(`
        "UsageError: E548 twice.csv: another reading of the same source has begun
          read a source once at a time, or open the file again for the other reading"
      `);
    } finally {
      await source.close();
    }
  });
  test("may be closed in the midst of a reading", async () => {
    const large = await writeParquet(
      "large.parquet",
      "SELECT r.range AS time, 'S' || l.range AS symbol, random() AS x FROM range(1000) r, range(200) l",
    );
    const source = await openPanelSource(large);
    const iterator = source.blocks({ fields: ["x"], groups: [], blockRows: 10 })[Symbol.asyncIterator]();
    const { value: block } = await iterator.next();
    await source.close();
    await source.close();
    expect(block!.fields.get("x")).toHaveLength(2000);
  });

  test("end with the reason of the signal", async () => {
    const unsorted = await writeParquet(
      "shuffled.parquet",
      "SELECT r.range AS time, 'S' || l.range AS symbol, random() AS x FROM range(5000) r, range(200) l ORDER BY x",
    );
    await withSource(unsorted, async (source) => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const request = { fields: ["x"], groups: [], blockRows: 10, signal: controller.signal };
      const first = source.blocks(request)[Symbol.asyncIterator]().next();
      setTimeout(() => controller.abort(reason), 20);
      const work = first.then(async () => {
        for await (const _ of source.blocks(request));
      });
      await expect(work).rejects.toBe(reason);
      await expect(source.blocks(request)[Symbol.asyncIterator]().next()).rejects.toBe(reason);
      expect(await collectBlocks(source, 5000, { fields: [] })).toMatchObject({ rowCount: 5000 });
    });
  });

  test("hold series of a table of their own", async () => {
    const series = writeScratch("series.csv", "time,index\n100,1.5\n104,2.5\n101,3\n1,9\n");
    const expected = await readPanel(path, { series });
    expect([...expected.fields.keys()]).toEqual(["close", "volume", "index"]);
    expect([...expected.fields.get("index")!.subarray(0, 36)]).toEqual([
      ...Array(9).fill(1.5),
      ...Array(9).fill(3),
      ...Array(9).fill(2.5),
      ...Array(9).fill(Number.NaN),
    ]);
    for (const blockRows of [1, 3, 64]) {
      const panel = await withSource(path, (source) => collectBlocks(source, blockRows), { series });
      expectSame(panel, expected);
    }
  });

  test("of times that are text follow the times, not the texts", async () => {
    const text = "date,symbol,x\n2020-9-1,A,1\n2020-10-01,A,2\n2020-10-1,B,3\n2020-11-1,A,4\n";
    const dates = writeScratch("texts.csv", text);
    const panel = await withSource(dates, (source) => collectBlocks(source, 1));
    expect([...panel.fields.get("x")!]).toEqual([1, Number.NaN, 2, 3, 4, Number.NaN]);
    expectSame(panel, await readPanel(dates));
  });

  test.each([
    ["one row", "time,symbol,x\n5,A,1.5\n", [1, 1, 1.5]],
    ["one lane", "time,symbol,x\n7,A,1.5\n5,A,2\n", [2, 1, 2, 1.5]],
    ["one time", "time,symbol,x\n5,B,1.5\n5,A,\n", [1, 2, Number.NaN, 1.5]],
  ])("of %s", async (name, text, expected) => {
    const small = writeScratch(`${name}.csv`, text);
    const panel = await withSource(small, (source) => collectBlocks(source, 1));
    expect([panel.rowCount, panel.laneCount, ...panel.fields.get("x")!]).toEqual(expected);
  });
});

describe("bad input ends like in readPanel", () => {
  const rows = Array.from({ length: 100 }, (_, index) => `${index},A,${index}\n`);
  const withRow = (position: number, row: string) => rows.with(position, row).join("");
  test.each([
    ["empty file", ""],
    ["no rows", "time,symbol,x\n"],
    ["no symbol", "time,x\n1,2\n"],
    ["empty time", `time,symbol,x\n${withRow(60, ",A,1\n")}`],
    ["empty symbol", `time,symbol,x\n${withRow(60, "60,,1\n")}`],
    ["text among numbers", `time,symbol,x\n${withRow(60, "60,A,abc\n")}`],
    ["bad time", `time,symbol,x\n${withRow(60, "noon,A,1\n")}`],
    ["duplicate", `time,symbol,x\n${withRow(60, "59,A,1\n")}`],
    ["duplicate far away", `time,symbol,x\n${withRow(60, "3,A,1\n")}`],
    ["unsorted duplicate", `time,symbol,x\n${[...rows].reverse().join("")}7,A,1\n`],
  ])("%s", async (name, text) => {
    const path = writeScratch(`${name}.csv`, text);
    const expected = await messageOf(readPanel(path));
    expect(expected).toMatch(/^DataError: E3/);
    for (const blockRows of [1, 7, ALL_ROWS]) {
      const actual = await messageOf(withSource(path, (source) => collectBlocks(source, blockRows)));
      expect(actual).toBe(expected);
    }
  });

  test("a file that is replaced meanwhile", async () => {
    const query = (first: number) =>
      `SELECT range + ${first} AS time, 'A' AS symbol, 1.5 AS x FROM range(10)`;
    const path = await writeParquet("replaced.parquet", query(0));
    const source = await openPanelSource(path);
    await writeParquet("replaced.parquet", query(5));
    expect(await messageOf(collectBlocks(source, 3))).toContain(
      "DataError: E303 replaced.parquet: cannot be read",
    );
    await source.close();
  });

  test("too little memory and disk for DuckDB", async () => {
    const relation = { file: "bars.csv", format: "CSV" } as Relation;
    const work = async () => {
      throw new Error(
        "Out of Memory Error: could not allocate block of size 256.0 KiB\n\nPossible solutions:",
      );
    };
    expect(await messageOf(querying(relation, work))).toMatchInlineSnapshot(`
      "ResourceError: E441 bars.csv: does not fit in memory and temporary files (could not allocate block of size 256.0 KiB)
        give a larger memory limit, or more space for temporary files (TMPDIR); Parquet sorted by time needs neither"
    `);
    expect(await messageOf(parsing("bars.csv", "CSV", work))).toContain("ResourceError: E441");
  });

  test("a block that would not fit in memory", async () => {
    const wide = await writeParquet(
      "wide.parquet",
      "SELECT range % 30000 AS time, 'S' || range AS symbol, 1.5 AS x FROM range(60000)",
    );
    const message = await messageOf(withSource(wide, (source) => collectBlocks(source, 29_999)));
    expect(message).toContain("ResourceError: E441 wide.parquet: 29999 times x 60000 symbols need 30");
  });
});
