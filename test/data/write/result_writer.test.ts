import { existsSync, readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, Engine, openResultWriter, type Panel, writeTable } from "../../../src/index.ts";
import { panelOf } from "../../panels.ts";
import { messageOf, scratchPath, writeScratch } from "../scratch.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const ROWS = 3000;
const program = compile("a = ts_sum(close, 2)\nb = 1 / close", { fields: ["close"] });
const bars = panelOf({
  close: Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: 40 }, (_, lane) => (row + lane) % 11 || null),
  ),
});
const zeros = panelOf({
  close: [
    [0, 1],
    [0, 2],
  ],
});
const none: Panel = {
  ...zeros,
  rowCount: 0,
  time: { ...zeros.time, values: new BigInt64Array(0) },
  fields: new Map([["close", new Float64Array(new SharedArrayBuffer(0))]]),
  present: new Uint8Array(0),
};

async function streamTo(path: string, panel: Panel, keepInfinite = false): Promise<void> {
  await using writer = await openResultWriter(path);
  for await (const batch of engine.stream(program, panel, { keepInfinite })) await writer.write(batch);
  await writer.commit();
}

describe("the batches of a stream", () => {
  test.each([
    ["several batches", bars, false],
    ["infinities", zeros, false],
    ["infinities that are kept", zeros, true],
    ["no rows", none, false],
  ])("are the file of the whole table, byte for byte: %s", async (_, panel, keepInfinite) => {
    for (const extension of ["arrow", "parquet", "csv", "csv.gz"]) {
      const [whole, streamed] = [scratchPath(`whole.${extension}`), scratchPath(`streamed.${extension}`)];
      await writeTable((await engine.evaluate(program, panel, { keepInfinite })).table, whole);
      await streamTo(streamed, panel, keepInfinite);
      expect(readFileSync(streamed).equals(readFileSync(whole)), extension).toBe(true);
    }
  });

  test("make no file where the loop is left before the end, and one that was there stays", async () => {
    const path = writeScratch("left.parquet", "old");
    const before = readdirSync(scratchPath(""));
    const leave = async () => {
      await using writer = await openResultWriter(path);
      for await (const batch of engine.stream(program, bars)) {
        await writer.write(batch);
        throw new Error("enough");
      }
    };
    await expect(leave()).rejects.toThrow("enough");
    expect(readdirSync(scratchPath(""))).toEqual(before);
    expect(readFileSync(path, "utf8")).toBe("old");
  });
});

describe("a writer", () => {
  test("refuses to be used out of turn", async () => {
    const path = scratchPath("turns.csv");
    const [batch] = (await engine.evaluate(program, bars)).table.batches;
    const writer = await openResultWriter(path);
    expect(await messageOf(writer.commit())).toContain("E548 turns.csv has no columns: no batch was written");
    await writer.write(batch!);
    await writer.commit();
    await writer.abort();
    expect(existsSync(path)).toBe(true);
    expect(await messageOf(writer.write(batch!))).toContain("E548 turns.csv is no longer open for writing");
    expect(await messageOf(writer.commit())).toContain("E548 turns.csv is no longer open for writing");
  });
});
