import { afterEach, describe, expect, test, vi } from "vitest";
import { type PanelSource, panelSource } from "../../../src/data/panel/panel_source.ts";
import { KeptBlocks } from "../../../src/evaluation/many/kept_blocks.ts";
import { MemoryBudget } from "../../../src/evaluation/memory/memory_budget.ts";
import { panelOf } from "../../panels.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";

afterEach(() => vi.unstubAllEnvs());

const ROWS = 4;
const BLOCKS = 12;
const panel = panelOf({ x: Array.from({ length: ROWS * BLOCKS }, (_, row) => [row, -row]) });
const inMemory = panelSource(panel);
/** The same, of which nothing is known but its blocks. */
const elsewhere: PanelSource = { ...inMemory };

/** Two outputs of 64 bytes each in a block. */
function block(index: number) {
  const [first, end] = [index * ROWS, (index + 1) * ROWS];
  const values = (sign: number) =>
    Float64Array.from({ length: ROWS * 2 }, (_, cell) => sign * (index + cell));
  const columns = new Map([
    ["0", values(1)],
    ["1", values(-1)],
  ]);
  const times = panel.time.values.subarray(first, end);
  return { rowCount: ROWS, times, present: panel.present.subarray(first * 2, end * 2), columns };
}

const FACTORS = new Map([
  ["a", 1],
  ["none", null],
  ["b", 0],
]);
const ONE = new Map([["b", 0]]);

const read = (kept: KeptBlocks) =>
  Array.fromAsync(kept.read(FACTORS), ({ times, present, columns }) => ({
    times: [...times],
    present: [...present],
    columns: [...columns].map(([name, values]) => [name, values && [...values]]),
  }));

const expected = Array.from({ length: BLOCKS }, (_, index) => {
  const { times, present, columns } = block(index);
  const [b, a] = [...columns.values()].map((values) => [...values]);
  return {
    times: [...times],
    present: [...present],
    columns: [
      ["a", a],
      ["none", null],
      ["b", b],
    ],
  };
});

describe.each([
  ["in memory", inMemory, 128],
  ["elsewhere", elsewhere, 136],
])("blocks that are kept of a source %s", (_, source, blockBytes) => {
  /** All blocks, under a limit for everything. */
  async function keptUnder(limitBytes: number) {
    const budget = new MemoryBudget(limitBytes, { thresholds: MANAGED_ONLY });
    const kept = new KeptBlocks(budget, source, 0);
    for (let index = 0; index < BLOCKS; index++) await kept.append(block(index));
    return { budget, kept };
  }

  test("stay in memory below 60 % of the limit", async () => {
    const { budget, kept } = await keptUnder(4000);
    expect(budget.memory).toMatchObject({ keptBytes: BLOCKS * blockBytes, spilledBytesTotal: 0 });
    expect(await read(kept)).toEqual(expected);
    expect(await read(kept)).toEqual(expected);
    await kept.close();
    expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0 });
  });

  test("go to disk above it, and come back with the same bits", async () => {
    const { budget, kept } = await keptUnder(1000);
    const spilledBytes = (BLOCKS - 4) * blockBytes;
    expect(budget.memory).toMatchObject({ keptBytes: 4 * blockBytes, spilledBytes });
    expect(await read(kept)).toEqual(expected);
    kept.discard(1);
    expect(budget.memory).toMatchObject({
      keptBytes: 4 * (blockBytes - 64),
      spilledBytes: (BLOCKS - 4) * (blockBytes - 64),
    });
    expect(await Array.fromAsync(kept.read(ONE))).toHaveLength(BLOCKS);
    await kept.close();
    expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0, spilledBytesTotal: spilledBytes });
  });

  test("keep their bits while others are discarded that are read", async () => {
    const { budget, kept } = await keptUnder(4000);
    const reading = kept.read(ONE);
    const { value: first } = await reading.next();
    kept.discard(0);
    expect([...first!.columns.get("b")!]).toEqual([...block(0).columns.get("0")!]);
    await reading.return();
    expect(budget.memory).toMatchObject({ keptBytes: BLOCKS * (blockBytes - 64) });
    await kept.close();
    expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0 });
  });

  test("that are closed while they are written or read are gone", async () => {
    const { budget, kept } = await keptUnder(1000);
    const reading = kept.read(ONE);
    await reading.next();
    const appending = kept.append(block(0));
    const closing = kept.close();
    expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0 });
    await expect(appending).rejects.toThrow();
    await expect(reading.next()).rejects.toThrow();
    await closing;
    expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0 });
  });
});

test("blocks that cannot be written end in E444, and nothing waits forever", async () => {
  vi.stubEnv("TMPDIR", "/no/such/folder");
  const budget = new MemoryBudget(1000, { thresholds: MANAGED_ONLY });
  const kept = new KeptBlocks(budget, inMemory, 0);
  await kept.append(block(0));
  const release = budget.reserve({ bytes: { results: 800 }, held: [], remedy: "" });
  await expect(kept.append(block(1))).rejects.toThrow("cannot be kept in /no/such/folder (ENOENT)");
  await kept.close();
  release();
  expect(budget.memory).toMatchObject({ keptBytes: 0, spilledBytes: 0 });
});
