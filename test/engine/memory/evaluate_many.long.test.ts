import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tableToIPC } from "apache-arrow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { compile, Engine, type Panel, ResourceError } from "../../../src/index.ts";
import { panelOf } from "../../panels.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "factorloom-test-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  // Whatever a test did: nothing is left behind.
  expect(readdirSync(folder).filter((name) => name !== BLOCKER)).toEqual([]);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const BLOCKER = "not_a_folder";
const ROWS = 2000;
const LANES = 20;

/** Nulls, both zeros and infinities (of a division by zero) among the values. */
const panel: Panel = panelOf({
  x: Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: LANES }, (_, lane) => {
      const draw = (row * 31 + lane * 17) % 23;
      return draw === 0 ? null : draw === 1 ? -0 : draw === 2 ? 0 : Math.sin(row + lane);
    }),
  ),
});
const program = compile(
  `param k = 1
   mean = ts_mean(x, 3)
   product = x * k
   inverse = k / x
   ranked = rank(x) - k`,
  { fields: ["x"] },
);
const calls = Array.from({ length: 6 }, (_, k) => ({ params: { k } }));
const options = { keepInfinite: true };

/** Room for all that is managed, not for all results: those of the six calls are 6.1 MB, the panel 0.4 MB. */
const MEMORY_LIMIT = "5MiB";

let expected: Buffer[];
beforeAll(async () => {
  await using ample = await Engine.start({ threads: 2 });
  expected = [];
  for (const { params } of calls) {
    expected.push(
      Buffer.from(tableToIPC((await ample.evaluate(program, panel, { ...options, params })).table, "file")),
    );
  }
});

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2, memoryLimit: MEMORY_LIMIT, memoryThresholds: MANAGED_ONLY });
});
afterAll(() => engine.close());

function expectAllGivenBack(): void {
  expect(engine.memory).toMatchObject({ managedBytes: 0, keptBytes: 0, spilledBytes: 0 });
}

describe("results that do not fit into memory", () => {
  test("wait on disk and come back with the same bits", async () => {
    const before = engine.memory.spilledBytesTotal;
    let index = 0;
    let spilledMax = 0;
    const onProgress = () => {
      const { managedBytes, keptBytes, limitBytes } = engine.memory;
      expect(managedBytes + keptBytes).toBeLessThanOrEqual(limitBytes);
    };
    for await (const table of engine.evaluateMany(program, panel, calls, { ...options, onProgress })) {
      const { spilledBytes, keptBytes, managedBytes, limitBytes } = engine.memory;
      spilledMax = Math.max(spilledMax, spilledBytes);
      expect(keptBytes + managedBytes).toBeLessThanOrEqual(0.8 * limitBytes);
      expect(Buffer.from(tableToIPC(table, "file")).equals(expected[index++]!), `calls[${index - 1}]`).toBe(
        true,
      );
    }
    expect(index).toBe(calls.length);
    expect(spilledMax).toBeGreaterThan(1_000_000);
    expect(engine.memory.spilledBytesTotal - before).toBeGreaterThanOrEqual(spilledMax);
    expectAllGivenBack();
  });

  test("of several loops at a time do not get into each other's way", async () => {
    const taken = async () => {
      const tables = await Array.fromAsync(engine.evaluateMany(program, panel, calls, options));
      return tables.map((table) => Buffer.from(tableToIPC(table, "file")));
    };
    for (const tables of await Promise.all([taken(), taken()])) {
      expect(tables.every((bytes, index) => bytes.equals(expected[index]!))).toBe(true);
    }
    expectAllGivenBack();
  });

  test("do not keep another evaluation from starting", async () => {
    const tables = engine.evaluateMany(program, panel, calls, options);
    await tables.next();
    const { table } = await engine.evaluate(program, panel, { ...options, ...calls[3] });
    expect(Buffer.from(tableToIPC(table, "file")).equals(expected[3]!)).toBe(true);
    await tables.return();
    expectAllGivenBack();
  });

  test("are given back when the consumer stops early", async () => {
    for await (const table of engine.evaluateMany(program, panel, calls, options)) {
      expect(table.numRows).toBe(ROWS * LANES);
      expect(engine.memory.spilledBytes).toBeGreaterThan(0);
      break;
    }
    expectAllGivenBack();
  });

  test("are given back on abort while they are computed", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (done: number) => {
      if (done > ROWS / 2) controller.abort(new Error("enough"));
    };
    const taken = Array.fromAsync(engine.evaluateMany(program, panel, calls, { signal, onProgress }));
    await expect(taken).rejects.toThrow("enough");
    await vi.waitFor(expectAllGivenBack, { timeout: 60_000 });
  });

  test("are given back on abort though no table is asked for any more", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const tables = engine.evaluateMany(program, panel, calls, { ...options, signal });
    await tables.next();
    expect(engine.memory.spilledBytes).toBeGreaterThan(0);
    controller.abort(new Error("enough"));
    expectAllGivenBack();
    await expect(tables.next()).rejects.toThrow("enough");
  });

  test("are given back on abort while they are read", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const tables = engine.evaluateMany(program, panel, calls, { ...options, signal });
    await tables.next();
    const reading = tables.next();
    setImmediate(() => controller.abort(new Error("enough")));
    await expect(reading).rejects.toThrow("enough");
    expectAllGivenBack();
  });

  test("end in E444 where there is no place to wait", async () => {
    const blocked = join(folder, BLOCKER);
    writeFileSync(blocked, "");
    vi.stubEnv("TMPDIR", blocked);
    const taken = Array.fromAsync(engine.evaluateMany(program, panel, calls, options));
    await expect(taken).rejects.toThrow(ResourceError);
    const again = Array.fromAsync(engine.evaluateMany(program, panel, calls, options));
    await expect(again).rejects.toThrow(`E444 results that wait do not fit in memory and cannot be kept in`);
    expectAllGivenBack();
    const { table } = await engine.evaluate(program, panel, { ...options, ...calls[1] });
    expect(Buffer.from(tableToIPC(table, "file")).equals(expected[1]!)).toBe(true);
  });
});

describe("calls that do not fit into memory together", () => {
  const wide = panelOf({
    x: Array.from({ length: 40 }, (_, row) => Array.from({ length: 200 }, (_, lane) => (row * lane) % 13)),
  });
  const windows = Array.from({ length: 6 }, (_, i) => `f${i} = rank(ts_mean(x * k, ${i + 20}))`).join("\n");
  const many = compile(`param k = 1\n${windows}`, { fields: ["x"] });
  const sets = Array.from({ length: 13 }, (_, k) => ({ params: { k: k + 1 } }));

  test("are split, and give the same tables in the same order", async () => {
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "3MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const split = tight.evaluateMany(many, wide, sets, { blockRows: 16 });
    const together = engine.evaluateMany(many, wide, sets.slice(0, 2), { blockRows: 16 });
    await together.next();
    expect(together.report.passCount).toBe(1);
    const numbers: unknown[] = [];
    for await (const table of split) {
      const { table: alone } = await tight.evaluate(many, wide, { ...sets[numbers.length]! });
      expect(Buffer.from(tableToIPC(table)).equals(Buffer.from(tableToIPC(alone)))).toBe(true);
      numbers.push(split.report.passCount);
    }
    expect(numbers).toHaveLength(sets.length);
    expect(split.report.passCount).toBeGreaterThan(1);
    expect(tight.memory).toMatchObject({ managedBytes: 0, keptBytes: 0, spilledBytes: 0 });
  });

  test("tell how far they have come, all passes as one", async () => {
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "3MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const done: number[] = [];
    const onProgress = (rows: number, count: number) => {
      expect(count).toBe(40);
      done.push(rows);
    };
    await Array.fromAsync(tight.evaluateMany(many, wide, sets, { blockRows: 16, onProgress }));
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(done.at(-1)).toBe(40);
  });

  test("are refused if not even one fits", async () => {
    await using tiny = await Engine.start({
      threads: 1,
      memoryLimit: "200KiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const taken = tiny.evaluateMany(many, wide, sets).next();
    await expect(taken).rejects.toThrow(/^E401 the evaluation needs .*the limit is 200.0 KiB/);
    expect(tiny.memory).toMatchObject({
      limitBytes: 200 * 1024,
      managedBytes: 0,
      keptBytes: 0,
      spilledBytes: 0,
      spilledBytesTotal: 0,
    });
  });
});
