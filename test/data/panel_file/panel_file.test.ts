import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { openArrowFile } from "../../../src/data/arrow/arrow_file.ts";
import { type PanelSource, panelSource, type RowRange } from "../../../src/data/panel/panel_source.ts";
import { openPanelFile } from "../../../src/data/panel_file/panel_file_rows.ts";
import { writePanelFile } from "../../../src/data/panel_file/write_panel_file.ts";
import type { GroupColumn, Panel } from "../../../src/panel.ts";
import { Seeded } from "../../support/seeded.ts";
import { collectBlocks } from "../collect_blocks.ts";
import { messageOf, scratchPath, writeScratch } from "../scratch.ts";

const seeded = new Seeded();

function floats(count: number, value: (cell: number) => number): Float64Array<SharedArrayBuffer> {
  const values = new Float64Array(new SharedArrayBuffer(8 * count));
  for (let cell = 0; cell < count; cell++) values[cell] = value(cell);
  return values;
}

function group(name: string, codes: readonly number[], changesOverTime: boolean): GroupColumn {
  const shared = new Int32Array(new SharedArrayBuffer(4 * codes.length));
  shared.set(codes);
  return { name, labels: ["a", "b", "c"], codes: shared, changesOverTime };
}

const SPECIAL = [Number.NaN, Infinity, -Infinity, -0, 0, 5e-324, -Number.MAX_VALUE];

/** Fields of any values, a series, a group that changes and one that does not, cells that are absent. */
function panelOf(rowCount: number, laneCount: number, hasFields = true): Panel {
  const count = rowCount * laneCount;
  const present = Uint8Array.from({ length: count }, () => (seeded.below(4) === 0 ? 0 : 1));
  const any = () => (seeded.below(3) === 0 ? SPECIAL[seeded.below(SPECIAL.length)]! : seeded.uniform() - 0.5);
  const code = () => seeded.below(4) - 1;
  const own = (cell: number) => (present[cell] === 1 ? any() : Number.NaN);
  const fields = { close: floats(count, own), sector: floats(count, own), rate: floats(count, any) };
  const groups = [
    group("sector", Array.from({ length: laneCount }, code), false),
    group("state", Array.from({ length: count }, code), true),
  ];
  return {
    rowCount,
    laneCount,
    time: {
      name: "time",
      type: { kind: "integer", bits: 64 },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(10 * row - 7)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${String(lane).padStart(6, "0")}`),
    fields: new Map(hasFields ? Object.entries(fields) : []),
    groups: new Map(hasFields ? groups.map((each) => [each.name, each]) : []),
    present,
    seriesNames: hasFields ? ["rate"] : [],
  };
}

async function written(name: string, panel: Panel, rows?: RowRange): Promise<PanelSource> {
  const source = panelSource(panel);
  const { fieldNames, groupNames } = source;
  await writePanelFile(source, { fields: fieldNames, groups: groupNames, rows }, scratchPath(name));
  const { first, end } = rows ?? { first: 0, end: panel.rowCount };
  const time = { ...panel.time, values: panel.time.values.subarray(first, end) };
  return openPanelFile(scratchPath(name), { ...source, time });
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Int32Array | Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether rows of the panel are what was read, to the last bit. */
function expectRows(read: Panel, panel: Panel, { first, end }: RowRange): void {
  const { laneCount } = panel;
  const cells = [first * laneCount, end * laneCount] as const;
  const expectBytes = (name: string, found: Float64Array | Int32Array | Uint8Array, wanted: typeof found) =>
    expect(bytesOf(found).equals(bytesOf(wanted)), name).toBe(true);
  expect(read.time.values).toEqual(panel.time.values.slice(first, end));
  expectBytes("present", read.present, panel.present.subarray(...cells));
  expect([...read.fields.keys(), ...read.groups.keys()]).toEqual([
    ...panel.fields.keys(),
    ...panel.groups.keys(),
  ]);
  for (const [name, values] of panel.fields)
    expectBytes(name, read.fields.get(name)!, values.subarray(...cells));
  for (const [name, { codes, changesOverTime }] of panel.groups) {
    const found = read.groups.get(name)!;
    expect(found).toMatchObject({ name, labels: [], changesOverTime: true });
    const spread = Int32Array.from(found.codes, (_, cell) => codes[cell % laneCount]!);
    expectBytes(name, found.codes, changesOverTime ? codes.subarray(...cells) : spread);
  }
}

describe("a panel file", () => {
  test("gives any rows back in blocks of any size, to the last bit", async () => {
    const panel = panelOf(150, 6_000); // 4 record batches
    const source = await written("many.arrow", panel);
    expect(openArrowFile(scratchPath("many.arrow")).batchCount).toBe(4);
    expectRows(await collectBlocks(source, 150), panel, { first: 0, end: 150 });
    for (let trial = 0; trial < 12; trial++) {
      const first = seeded.below(150);
      const rows = { first, end: first + seeded.below(151 - first) };
      const blockRows = 1 + seeded.below(trial % 2 === 0 ? 9 : 150);
      if (rows.first === rows.end) continue;
      expectRows(await collectBlocks(source, blockRows, { rows }), panel, rows);
    }
  });

  test("may have one lane, one row, or no columns but present", async () => {
    for (const [name, panel] of Object.entries({
      "lane.arrow": panelOf(37, 1),
      "row.arrow": panelOf(1, 23),
      "cell.arrow": panelOf(1, 1),
      "present.arrow": panelOf(11, 7, false),
    })) {
      const source = await written(name, panel);
      expectRows(await collectBlocks(source, 3), panel, { first: 0, end: panel.rowCount });
    }
  });

  test("has one row in a record batch where a row is larger than one should be", async () => {
    const panel = panelOf(3, 400_000);
    const source = await written("wide.arrow", panel);
    expect(openArrowFile(scratchPath("wide.arrow")).batchCount).toBe(3);
    expectRows(await collectBlocks(source, 2), panel, { first: 0, end: 3 });
  });

  test("may have neither rows nor lanes", async () => {
    for (const [rowCount, laneCount] of [
      [0, 5],
      [5, 0],
      [0, 0],
    ] as const) {
      const name = `empty${rowCount}${laneCount}.arrow`;
      const source = await written(name, panelOf(rowCount, laneCount));
      expect((await collectBlocks(source, 2)).rowCount).toBe(0);
      expect(openArrowFile(scratchPath(name)).schema.fields.map((field) => field.name)).toEqual([
        "field close",
        "field sector",
        "field rate",
        "group sector",
        "group state",
        "present",
      ]);
    }
  });

  test("holds the rows that it was asked for, and gives the columns that a reader names", async () => {
    const panel = panelOf(40, 9);
    const rows = { first: 4, end: 31 };
    const source = await written("part.arrow", panel, rows);
    expect(source.rowCount).toBe(27);
    expectRows(await collectBlocks(source, 8), panel, rows);
    const close = openPanelFile(scratchPath("part.arrow"), {
      ...source,
      fieldNames: ["rate"],
      groupNames: [],
    });
    const read = await collectBlocks(close, 8);
    expect([...read.fields.keys()]).toEqual(["rate"]);
    expectRows(
      read,
      { ...panel, fields: new Map([["rate", panel.fields.get("rate")!]]), groups: new Map() },
      rows,
    );
    await expect(collectBlocks(close, 8, { fields: ["close"] })).rejects.toThrow("E350");
  });

  test("has blocks that stay valid while the next one is read", async () => {
    const panel = panelOf(60, 11);
    const source = await written("overlap.arrow", panel);
    const held: { row: number; values: Float64Array }[] = [];
    let row = 0;
    for await (const { fields, rowCount } of source.blocks({ fields: ["rate"], groups: [], blockRows: 7 })) {
      held.push({ row, values: fields.get("rate")! });
      row += rowCount;
      for (const { row, values } of held.slice(-2)) {
        const wanted = panel.fields.get("rate")!.subarray(row * 11, row * 11 + values.length);
        expect(bytesOf(values).equals(bytesOf(wanted)), `rows from ${row}`).toBe(true);
      }
      expect(fields.get("rate")!.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
    expect(new Set(held.map(({ values }) => values.buffer)).size).toBe(2);
  });

  test("holds 5,000 lanes x 700 rows of 6 fields", async () => {
    const [rowCount, laneCount, names] = [700, 5_000, ["open", "high", "low", "close", "volume", "vwap"]];
    const count = rowCount * laneCount;
    const fields = new Map(names.map((name, at) => [name, floats(count, (cell) => cell / (at + 3))]));
    const time = {
      ...panelOf(1, 1).time,
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    };
    const symbols = Array.from({ length: laneCount }, (_, lane) => String(lane + 10_000));
    const present = new Uint8Array(count).fill(1);
    const source = await written("big.arrow", {
      rowCount,
      laneCount,
      time,
      symbols,
      fields,
      groups: new Map(),
      present,
    });
    let cell = 0;
    for await (const block of source.blocks({ fields: names, groups: [], blockRows: 64 })) {
      const cellEnd = cell + block.rowCount * laneCount;
      for (const [name, values] of block.fields)
        expect(bytesOf(values).equals(bytesOf(fields.get(name)!.subarray(cell, cellEnd))), name).toBe(true);
      cell = cellEnd;
    }
    expect(cell).toBe(count);
  });

  test("is described by its bytes and their digest", async () => {
    const path = scratchPath("digest.arrow");
    const content = { fields: ["close"], groups: ["state"] };
    const { bytes, digest } = await writePanelFile(panelSource(panelOf(70, 4_000)), content, path);
    expect(bytes).toBe(statSync(path).size);
    expect(digest).toBe(createHash("sha256").update(readFileSync(path)).digest("hex"));
  });
});

describe("an unfinished panel file", () => {
  const panel = panelOf(30, 60_000);
  const content = { fields: ["close", "rate"], groups: [] };

  test("is removed when writing is aborted", async () => {
    const path = scratchPath("aborted.arrow");
    const controller = new AbortController();
    const source = panelSource(panel);
    let sizeThen = 0;
    async function* blocks(request: Parameters<PanelSource["blocks"]>[0]) {
      let count = 0;
      for await (const block of source.blocks(request)) {
        if (++count === 3) {
          sizeThen = statSync(path).size;
          controller.abort(new Error("enough"));
        }
        yield block;
      }
    }
    const work = writePanelFile({ ...source, blocks }, content, path, controller.signal);
    await expect(work).rejects.toThrow("enough");
    expect(sizeThen).toBeGreaterThan(2 ** 23);
    expect(existsSync(path)).toBe(false);
  });

  test("is removed when its input fails; an error of the system is given as it is", async () => {
    const path = scratchPath("failed.arrow");
    const source = panelSource(panel);
    await expect(writePanelFile(source, { ...content, fields: ["none"] }, path)).rejects.toThrow("E350");
    expect(existsSync(path)).toBe(false);
    const nowhere = writePanelFile(source, content, scratchPath("no_folder/failed.arrow"));
    await expect(nowhere).rejects.toMatchObject({ code: "ENOENT", syscall: "open" });
  });

  test("of a full disk is not left", async () => {
    const path = scratchPath("full.arrow");
    const handle = await open(scratchPath("other"), "w");
    await handle.close();
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC", syscall: "write" });
    const writev = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "writev");
    writev.mockImplementation(async (parts) => {
      if (writev.mock.calls.length === 3) throw full;
      return { bytesWritten: parts.reduce((sum, part) => sum + part.byteLength, 0), buffers: parts };
    });
    await expect(writePanelFile(panelSource(panel), content, path)).rejects.toBe(full);
    writev.mockRestore();
    expect(existsSync(path)).toBe(false);
  });

  test("is not begun where there is a file", async () => {
    const path = writeScratch("other.arrow", "kept");
    const work = writePanelFile(panelSource(panel), content, path);
    await expect(work).rejects.toMatchObject({ code: "EEXIST", syscall: "open" });
    expect(readFileSync(path, "utf8")).toBe("kept");
  });
});

describe("another file than that of the panel", () => {
  const unreadable = (file: string, reason: string) =>
    `DataError: E303 ${file}: cannot be read as a panel file (${reason})\n` +
    "  check that the file is complete and that its extension fits its content";

  test("is refused if it is cut anywhere", async () => {
    const source = await written("whole.arrow", panelOf(9, 5));
    const bytes = readFileSync(scratchPath("whole.arrow"));
    for (const length of [0, 5, 8, 100, 900, bytes.length - 200, bytes.length - 11, bytes.length - 1]) {
      const path = writeScratch("cut.arrow", bytes.subarray(0, length));
      expect(await messageOf(() => openPanelFile(path, source)), `${length} bytes`).toContain(
        "DataError: E303 cut.arrow: cannot be read as a panel file (",
      );
    }
    const path = writeScratch("cut.arrow", bytes.subarray(0, -1));
    const message = await messageOf(() => openPanelFile(path, source));
    expect(message).toContain(unreadable("cut.arrow", "it does not end like an Arrow file").split("\n")[0]);
  });

  test("is refused if it is cut while it is read", async () => {
    const panel = panelOf(150, 6_000);
    const source = await written("later.arrow", panel);
    const bytes = readFileSync(scratchPath("later.arrow"));
    writeScratch("later.arrow", bytes.subarray(0, 2 ** 23));
    expect(await messageOf(collectBlocks(source, 10))).toContain("E303 later.arrow: ");
    writeScratch("later.arrow", bytes.fill(0, 8, 2 ** 23));
    expect(await messageOf(collectBlocks(source, 10))).toContain("E303 later.arrow: ");
  });

  test("is refused for other rows, lanes or columns, and for none", async () => {
    const source = await written("small.arrow", panelOf(9, 5));
    const refused = (names: Partial<PanelSource>) =>
      messageOf(() => openPanelFile(scratchPath("small.arrow"), { ...source, ...names }));
    const symbols = source.symbols.slice(1);
    expect(await refused({ symbols })).toContain("E303 small.arrow: ");
    expect(await refused({ symbols })).toContain("it has 9 rows x 5 lanes instead of 9 x 4");
    const time = { ...source.time, values: source.time.values.slice(2) };
    expect(await refused({ time })).toContain("it has 9 rows x 5 lanes instead of 7 x 5");
    expect(await refused({ fieldNames: ["state"] })).toContain("it has no column field state of Float64");
    expect(await refused({ groupNames: ["close"] })).toContain("it has no column group close of Int32");
    expect(await messageOf(() => openPanelFile(scratchPath("none.arrow"), source))).toContain(
      "E309 none.arrow: cannot be opened (ENOENT",
    );
  });
});
