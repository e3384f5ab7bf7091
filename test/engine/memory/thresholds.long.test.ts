import { tableToIPC } from "apache-arrow";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { compile, Engine, type EngineOptions, type Panel, type Program } from "../../../src/index.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";
import { until } from "../../support/until.ts";

/** Memory that the process takes behind the engine's back makes its thresholds act. */

const MIB = 2 ** 20;
const OWN = 300 * MIB;

const panel: Panel = syntheticPanel({ lanes: 200, rows: 400, nullShare: 0.01 });
const program: Program = compile(
  "param k = 1\na = ts_rank(rank(close * k), 12)\nb = ts_std(volume, 17) * k\nc = rank(open - close)",
  { fields: [...panel.fields.keys()] },
);
const calls = [1, 2, 3, 4].map((k) => ({ params: { k } }));
const bytesOf = (table: Parameters<typeof tableToIPC>[0]) => Buffer.from(tableToIPC(table, "file"));

/** An engine whose limit is above what the process takes now. */
async function engineAbove(mebibytes: number, options: EngineOptions = {}): Promise<Engine> {
  const taken = Math.max(0, process.memoryUsage.rss() - OWN);
  return await Engine.start({
    threads: 2,
    costs: "default",
    memoryLimit: taken + mebibytes * MIB,
    ...options,
  });
}

/** Memory of somebody else, which the system has mapped. */
const allocated = (mebibytes: number) => Buffer.alloc(mebibytes * MIB, 1);

let expected: Buffer[];
beforeAll(async () => {
  await using engine = await Engine.start({ threads: 2, costs: "default" });
  expected = [];
  for (const call of calls) expected.push(bytesOf((await engine.evaluate(program, panel, call)).table));
});

describe("another allocation in the process", () => {
  test("refuses nothing that the engine itself has room for", async () => {
    await using engine = await engineAbove(100);
    const session = await engine.openSession(program, { warmup: panel });
    const other = allocated(400);
    const last = panel.time.values.at(-1)!;
    const fields = Object.fromEntries(
      [...panel.fields].map(([name, column]) => [name, column.slice(0, 200)]),
    );
    for (let time = 0; time < 25; time++) {
      const { table } = await engine.evaluate(program, panel, calls[time % 4]);
      expect(bytesOf(table).equals(expected[time % 4]!)).toBe(true);
      expect((await session.push({ time: last + BigInt(time + 1), fields })).table.numRows).toBe(200);
    }
    expect(engine.memory.unmanagedBytes).toBeGreaterThan(engine.memory.limitBytes);
    expect(other.length).toBeGreaterThan(0);
  });

  test("has calls refused until it is let go, where a share says so, but no row of a session", async () => {
    await using engine = await engineAbove(200, { memoryThresholds: { refuse: 0.95 } });
    const session = await engine.openSession(program, { warmup: panel });
    let time = panel.time.values.at(-1)!;
    const bar = () => ({
      time: ++time,
      fields: Object.fromEntries([...panel.fields].map(([name, column]) => [name, column.slice(0, 200)])),
    });
    let other: Buffer | null = allocated(600);
    expect(engine.memory.unmanagedRecentBytes).toBeGreaterThanOrEqual(0);
    const refused = /^E401 .*for the process itself, which takes .* of them unmanaged/;
    await expect(engine.evaluate(program, panel)).rejects.toThrow(refused);
    for (let count = 0; count < 3; count++) expect((await session.push(bar())).table.numRows).toBe(200);
    expect(other.length).toBeGreaterThan(0);
    other = null;
    await vi.waitFor(
      async () => {
        const { table } = await engine.evaluate(program, panel, calls[2]);
        expect(bytesOf(table).equals(expected[2]!)).toBe(true);
      },
      { timeout: 60_000, interval: 300 },
    );
  });

  test("makes results that wait go to disk, with the same bits", async () => {
    await using engine = await engineAbove(300, { memoryThresholds: { pause: 0 } });
    const other = allocated(500);
    const tables = engine.evaluateMany(program, panel, calls);
    const taken = [bytesOf((await tables.next()).value!)];
    expect(engine.memory).toMatchObject({ keptBytes: 0 });
    expect(engine.memory.spilledBytes).toBeGreaterThan(0);
    for await (const table of tables) taken.push(bytesOf(table));
    expect(taken.map((bytes, index) => bytes.equals(expected[index]!))).toEqual([true, true, true, true]);
    expect(other.length).toBeGreaterThan(0);
    expect(engine.memory).toMatchObject({ managedBytes: 0, keptBytes: 0, spilledBytes: 0 });
  });

  test("lets one call at a time go on, with the same bits", async () => {
    await using engine = await engineAbove(100);
    const other = allocated(400);
    const begun = calls.map((call) => engine.evaluate(program, panel, { ...call, blockRows: 16 }));
    expect(
      (await Promise.all(begun)).map(({ table }, i) => bytesOf(table).equals(expected[i]!)),
    ).not.toContain(false);
    expect(other.length).toBeGreaterThan(0);
  });
});

describe("a limit that holds one call", () => {
  let bytes = 0;
  beforeAll(async () => {
    await using engine = await Engine.start({ threads: 2, costs: "default" });
    const onProgress = () => {
      bytes = engine.memory.managedBytes;
    };
    await engine.evaluate(program, panel, { onProgress, blockRows: 16 });
  });
  const tight = async (share = 1.2) => {
    return await Engine.start({
      threads: 2,
      costs: "default",
      memoryLimit: share * bytes,
      memoryThresholds: MANAGED_ONLY,
    });
  };

  test("has many go one after the other, all with their own bits", async () => {
    await using engine = await tight();
    let [most, waiting] = [0, 0];
    const onProgress = () => {
      most = Math.max(most, engine.memory.managedBytes);
      waiting = Math.max(waiting, engine.memory.waitingCount);
    };
    const numbers = Array.from({ length: 12 }, (_, i) => i % calls.length);
    const options = { onProgress, blockRows: 16 };
    const begun = numbers.map((i) => engine.evaluate(program, panel, { ...calls[i], ...options }));
    const tables = await Promise.all(begun);
    expect(tables.every(({ table }, i) => bytesOf(table).equals(expected[numbers[i]!]!))).toBe(true);
    expect(most).toBeLessThanOrEqual(engine.memory.limitBytes);
    expect(waiting).toBeGreaterThan(8);
    expect(engine.memory).toMatchObject({ managedBytes: 0, waitingCount: 0 });
  });

  test("has a call wait until a stream is left, and an aborted one wait no longer", async () => {
    await using engine = await tight();
    const stream = engine.stream(program, panel, { blockRows: 64 });
    await stream.next();
    const controller = new AbortController();
    const aborted = engine.evaluate(program, panel, { signal: controller.signal, blockRows: 16 });
    const waiting = engine.evaluate(program, panel, { ...calls[1], blockRows: 16 });
    await until(() => engine.memory.waitingCount === 2);
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await stream.return();
    expect(bytesOf((await waiting).table).equals(expected[1]!)).toBe(true);
  });

  test("refuses at once what a session leaves no room for, with need and limit", async () => {
    await using engine = await tight(1);
    const session = await engine.openSession(program, { warmup: panel });
    const started = performance.now();
    await expect(engine.evaluate(program, panel, { blockRows: 16 })).rejects.toThrow(
      /^E401 the evaluation needs [\d.]+ MiB \(.*\), the limit is [\d.]+ MiB, of which [\d.]+ [KM]iB are in use\n/,
    );
    expect(performance.now() - started).toBeLessThan(9000);
    await session.close();
    expect(
      bytesOf((await engine.evaluate(program, panel, { blockRows: 16 })).table).equals(expected[0]!),
    ).toBe(true);
  });

  test("ends what waits when the engine is closed", async () => {
    const engine = await tight();
    const stream = engine.stream(program, panel, { blockRows: 64 });
    await stream.next();
    const waiting = engine.evaluate(program, panel, { blockRows: 16 });
    const rejected = expect(waiting).rejects.toThrow("E404 the engine was closed");
    await until(() => engine.memory.waitingCount === 1);
    await engine.close();
    await rejected;
  });
});

test("wrong thresholds are refused at the start", async () => {
  await expect(Engine.start({ memoryThresholds: { pause: -1 } })).rejects.toThrow(
    "E528 memoryThresholds.pause is -1",
  );
});
