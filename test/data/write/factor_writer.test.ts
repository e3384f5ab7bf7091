import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { describe, expect, test } from "vitest";
import type { FactorBlock, OutputOptions } from "../../../src/data/factors/factor_batches.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import type { FactorWriter } from "../../../src/data/write/batch_writer.ts";
import { openFactorWriter } from "../../../src/data/write/factor_writer.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import type { Panel, TimeType } from "../../../src/panel.ts";
import { factorTable } from "../../support/factor_table.ts";
import { messageOf, runSql, scratchPath, writeScratch } from "../scratch.ts";

const EXTENSIONS = ["arrow", "parquet", "csv", "csv.gz"];
const DATE: TimeType = { kind: "date" };

interface Result {
  readonly panel: Panel;
  readonly columns: ReadonlyMap<string, Float64Array | null>;
}

/** `rowCount` days x `laneCount` symbols with gaps, nulls, infinities and an unwanted factor. */
function resultOf(rowCount: number, laneCount: number, type: TimeType = DATE): Result {
  const cellCount = rowCount * laneCount;
  const cells = Array.from({ length: cellCount }, (_, cell) => cell);
  const panel: Panel = {
    rowCount,
    laneCount,
    time: {
      name: "Date",
      type,
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row * 3)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${1000 + lane}`),
    fields: new Map(),
    groups: new Map(),
    present: Uint8Array.from(cells, (cell) => Number(cell % 5 !== 2)),
  };
  const columns = new Map([
    ["plain", Float64Array.from(cells, (cell) => cell / 8)],
    ["gappy", Float64Array.from(cells, (cell) => (cell % 3 === 0 ? Number.NaN : -cell))],
    ["odd", Float64Array.from(cells, (cell) => [Infinity, -0, 1e-300, -Infinity, 0.1][cell % 5]!)],
    ["unwanted", null],
  ]);
  return { panel, columns };
}

function tableOf({ panel, columns }: Result, options: OutputOptions = {}) {
  const factors = [...columns].map(([name, values]) => ({ name, values }));
  return factorTable(panel, factors, options);
}

function openFor({ panel, columns }: Result, path: string, options?: OutputOptions): Promise<FactorWriter> {
  const { time, symbols } = panel;
  return openFactorWriter(path, { time, symbols, factors: [...columns.keys()] }, options);
}

function* blocksOf({ panel, columns }: Result, blockRows: number): Generator<FactorBlock> {
  const { rowCount, laneCount, time, present } = panel;
  for (let first = 0; first < rowCount; first += blockRows) {
    const end = Math.min(rowCount, first + blockRows);
    yield {
      rowCount: end - first,
      times: time.values.subarray(first, end),
      present: present.subarray(first * laneCount, end * laneCount),
      columns: new Map(
        [...columns].map(([name, values]) => [
          name,
          values?.subarray(first * laneCount, end * laneCount) ?? null,
        ]),
      ),
    };
  }
}

async function writeBlocks(
  result: Result,
  path: string,
  blockRows: number,
  options?: OutputOptions,
): Promise<FactorWriter> {
  const writer = await openFor(result, path, options);
  for (const block of blocksOf(result, blockRows)) await writer.append(block);
  await writer.commit();
  return writer;
}

describe("a result in blocks", () => {
  const result = resultOf(150, 7);

  test.each(EXTENSIONS)("is the same .%s, byte for byte, as a table at once", async (extension) => {
    await writeTable((await tableOf(result)).table, scratchPath(`whole.${extension}`));
    const expected = readFileSync(scratchPath(`whole.${extension}`));
    for (const blockRows of [1, 7, 64, 1000]) {
      const path = scratchPath(`blocks.${extension}`);
      await writeBlocks(result, path, blockRows);
      expect(readFileSync(path).equals(expected)).toBe(true);
    }
  });

  test("counts what the table counts", async () => {
    for (const options of [{}, { keepInfinite: true }]) {
      const { table, nullCounts, nonFiniteCounts } = await tableOf(result, options);
      const path = scratchPath("counted.arrow");
      const writer = await writeBlocks(result, path, 7, options);
      expect(writer.nullCounts).toEqual(nullCounts);
      expect(writer.nonFiniteCounts).toEqual(nonFiniteCounts);
      expect(nonFiniteCounts.get("odd")).toBeGreaterThan(0);
      const written = tableFromIPC(readFileSync(path));
      expect(written.schema.fields.map(({ metadata }) => metadata)).toEqual(
        table.schema.fields.map(({ metadata }) => metadata),
      );
      expect(written.numRows).toBe(table.numRows);
    }
  });

  test("reads back as the values that went in", async () => {
    for (const extension of EXTENSIONS) {
      const path = scratchPath(`back.${extension}`);
      await writeBlocks(result, path, 7, { keepInfinite: true });
      const panel = await readPanel(path);
      expect(panel.present).toEqual(result.panel.present);
      for (const [name, values] of result.columns) {
        const expected = Array.from(panel.present, (isPresent, cell) =>
          isPresent === 1 && values !== null ? values[cell] : Number.NaN,
        );
        expect([...panel.fields.get(name)!]).toEqual(expected);
      }
    }
  });
});

describe("a result of many pieces", async () => {
  const result = resultOf(4000, 120, { kind: "timestamp", unit: "ms", timezone: "UTC" });
  const rowCount = result.panel.present.reduce((sum, bit) => sum + bit, 0);
  const sql = (path: string) =>
    runSql(
      `SELECT count(*), sum(plain), count(gappy), count(*) FILTER (plain < before)
       FROM (SELECT *, lag(plain) OVER () AS before FROM '${path}')`,
    );
  const plain = result.columns.get("plain")!;
  const gappy = result.columns.get("gappy")!;
  const sum = plain.reduce((total, value, cell) => total + value * result.panel.present[cell]!, 0);
  const gappyCount = gappy.reduce(
    (count, value, cell) => count + Number(!Number.isNaN(value)) * result.panel.present[cell]!,
    0,
  );
  const expected = [[BigInt(rowCount), sum, BigInt(gappyCount), 0n]];

  test("is Parquet of several row groups in order", async () => {
    const path = scratchPath("pieces.parquet");
    await writeBlocks(result, path, 64);
    expect(await sql(path)).toEqual(expected);
    const groups = await runSql(
      `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${path}') ORDER BY 1`,
    );
    expect(groups.map(([id]) => Number(id))).toEqual([0, 1, 2, 3]);
    expect(groups.reduce((total, [, rows]) => total + Number(rows), 0)).toBe(rowCount);
    // Statistics serve the row groups that they belong to.
    expect(await runSql(`SELECT count(*) FROM '${path}' WHERE plain BETWEEN 50000 AND 50001`)).toEqual([
      [7n],
    ]);
    await writeTable((await tableOf(result)).table, scratchPath("whole.parquet"));
    expect(readFileSync(path).equals(readFileSync(scratchPath("whole.parquet")))).toBe(true);
  });

  test("is CSV with one header, also gzipped", async () => {
    await writeBlocks(result, scratchPath("pieces.csv"), 64);
    expect(await sql(scratchPath("pieces.csv"))).toEqual(expected);
    await writeBlocks(result, scratchPath("pieces.csv.gz"), 64);
    const text = gunzipSync(readFileSync(scratchPath("pieces.csv.gz")));
    expect(text.equals(readFileSync(scratchPath("pieces.csv")))).toBe(true);
  });

  test("is an Arrow file of several batches", async () => {
    await writeBlocks(result, scratchPath("pieces.arrow"), 64);
    const table = tableFromIPC(readFileSync(scratchPath("pieces.arrow")));
    expect(table.batches.length).toBe(8);
    expect(table.numRows).toBe(rowCount);
    expect(table.getChild("gappy")!.nullCount).toBe(rowCount - gappyCount);
  });
});

describe("no file is left", () => {
  const result = resultOf(3000, 100);
  const listing = () => readdirSync(scratchPath("")).sort();
  const [block] = [...blocksOf(result, 3000)];

  test.each(EXTENSIONS)("by an aborted .%s, and one that was there stays", async (extension) => {
    const kept = writeScratch(`kept.${extension}`, "old");
    const before = listing();
    for (const appendCount of [0, 1]) {
      const writer = await openFor(result, kept);
      for (let index = 0; index < appendCount; index += 1) await writer.append(block!);
      await writer.abort();
      await writer.abort();
      expect(listing()).toEqual(before);
      expect(readFileSync(kept, "utf8")).toBe("old");
      expect(await messageOf(writer.append(block!))).toContain("is no longer open for writing");
      expect(await messageOf(writer.commit())).toContain("is no longer open for writing");
    }
  });

  test("where the folder goes away", async () => {
    const before = listing();
    for (const extension of EXTENSIONS) {
      mkdirSync(scratchPath("gone"));
      const writer = await openFor(result, scratchPath(`gone/out.${extension}`));
      rmSync(scratchPath("gone"), { recursive: true });
      const work = async () => {
        await writer.append(block!);
        await writer.commit();
      };
      expect(await messageOf(work())).toContain(
        `ResourceError: E442 gone/out.${extension}: cannot be written (`,
      );
    }
    expect(listing()).toEqual(before);
  });
});

describe("a committed result", () => {
  test("takes no more rows", async () => {
    const result = resultOf(3, 2);
    const writer = await writeBlocks(result, scratchPath("done.csv"), 2);
    const [block] = [...blocksOf(result, 1)];
    expect(await messageOf(writer.append(block!))).toContain("is no longer open for writing");
    await writer.abort();
    expect(readFileSync(scratchPath("done.csv"), "utf8")).toContain("Date,symbol,plain");
  });

  test("may be empty", async () => {
    const result = resultOf(0, 2);
    for (const extension of EXTENSIONS) await writeBlocks(result, scratchPath(`empty.${extension}`), 2);
    expect(await runSql(`SELECT count(*) FROM '${scratchPath("empty.parquet")}'`)).toEqual([[0n]]);
    expect(readFileSync(scratchPath("empty.csv"), "utf8")).toBe("Date,symbol,plain,gappy,odd,unwanted\n");
    expect(tableFromIPC(readFileSync(scratchPath("empty.arrow"))).schema.fields).toHaveLength(6);
  });

  test("may have no factors", async () => {
    const { panel } = resultOf(4, 2);
    for (const extension of EXTENSIONS) {
      const path = scratchPath(`bare.${extension}`);
      const writer = await openFactorWriter(path, { time: panel.time, symbols: panel.symbols, factors: [] });
      const { time, present } = panel;
      await writer.append({ rowCount: 4, times: time.values, present, columns: new Map() });
      await writer.commit();
      expect(existsSync(path)).toBe(true);
    }
  });

  test("is refused before anything is written for names that are taken", async () => {
    const { time, symbols } = resultOf(1, 1).panel;
    const open = (factors: string[], path: string) =>
      messageOf(openFactorWriter(scratchPath(path), { time, symbols, factors }));
    expect(await open(["date"], "x.csv")).toContain("E314");
    expect(await open(["a", "A"], "x.csv")).toContain("differ only by case");
    expect(await open(["a"], "x.txt")).toContain("E544");
  });
});
