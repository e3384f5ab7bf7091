import { expect, test } from "vitest";
import { compile, Engine, type LiveSession } from "../../../src/index.ts";
import { Seeded } from "../../support/seeded.ts";

const MIB = 2 ** 20;
const symbols = Array.from({ length: 2_000 }, (_, at) => `S${at}`);
const options = {
  symbols,
  spareSymbols: 0,
  time: { name: "time", type: { kind: "integer", bits: 64 } },
} as const;
const barOf = (time: number) => ({
  time,
  fields: { close: Float64Array.from(symbols, (_, at) => time + at) },
});
/** A value of `close` and whether there is a row, for each symbol and the lane that is absent in all rows. */
const ROW_BYTES = 9 * (symbols.length + 1);

test("kept rows that do not fit are refused when the session is opened, with rows, bytes and factor", async () => {
  await using engine = await Engine.start({ threads: 1, memoryLimit: "128MiB" });
  const program = compile(
    "short = ts_mean(close, 5)\nlong = delay(close, 4000)\nrest = open + high + low + volume + vwap",
  );
  const opening = engine.openSession(program, options);
  await expect(opening).rejects.toMatchObject({ code: "E401" });
  await expect(opening).rejects.toThrow(/4001 kept rows 374\.1 MiB/);
  await expect(opening).rejects.toThrow(/without long, which looks back furthest/);
  expect(engine.memory.managedBytes).toBe(0);
  await using small = await engine.openSession(program, { ...options, retainRows: 256 });
  expect(small.shortAfterRestore).toEqual({ long: 4000 - 256 });
});

test("an update whose rows do not fit keeps the program, and its memory", async () => {
  await using engine = await Engine.start({ threads: 1, memoryLimit: "128MiB" });
  await using session = await engine.openSession(compile("a = ts_sum(close, 3)"), options);
  for (let time = 1; time <= 3; time++) await session.push(barOf(time));
  const { managedBytes } = engine.memory;
  const update = session.update(compile("a = ts_sum(close, 3)\nb = delay(close, 4000)"));
  await expect(update).rejects.toMatchObject({ code: "E401" });
  await expect(update).rejects.toThrow(/4001 kept rows/);
  expect(engine.memory.managedBytes).toBe(managedBytes);
  const { table } = await session.push(barOf(4));
  expect(table.getChild("a")!.get(0)).toBe(9);
  await session.update(compile("b = delay(close, 400)"));
  expect(engine.memory.managedBytes).toBeGreaterThan(managedBytes + 100 * ROW_BYTES);
});

test("kept rows are reserved and laid out before the first push, and given back", async () => {
  await using engine = await Engine.start({ threads: 1 });
  const program = compile("a = ts_sum(close, 3)");
  const bytesOf = async (retainRows: number) => {
    const session = await engine.openSession(program, { ...options, retainRows });
    const { managedBytes } = engine.memory;
    const buffersBefore = process.memoryUsage().arrayBuffers;
    await session.push(barOf(1));
    const grown = process.memoryUsage().arrayBuffers - buffersBefore;
    await session.close();
    return { managedBytes, grown };
  };
  const [few, many] = [await bytesOf(16), await bytesOf(1_016)];
  expect(many.managedBytes - few.managedBytes).toBe(1_000 * ROW_BYTES);
  expect(many.grown).toBeLessThan(4 * MIB);
  expect(engine.memory.managedBytes).toBe(0);
});

const TEXT = `
window = ts_mean(close, 40)
nested = ts_max(ts_mean(close, 20), 15)
mean = ema(close, 5)
smooth = ema(ts_mean(close, 10), 5)
over = ts_mean(ema(ts_min(close, 12), 4), 20)
plain = close * 2`;

test("shortAfterRestore names the factors that may be short, and how many rows they need", async () => {
  await using engine = await Engine.start({ threads: 1 });
  const program = compile(TEXT);
  const few = { ...options, symbols: ["A", "B"] };
  const barOfTwo = (time: number) => ({ time, fields: { close: [time % 7, time % 5] } });
  const random = new Seeded();
  const opened = async (more: object): Promise<LiveSession> =>
    await engine.openSession(program, { ...few, ...more });
  await using whole = await opened({});
  expect(whole.shortAfterRestore).toEqual({});
  for (let life = 0; life < 8; life++) {
    const retainRows = random.below(60);
    const revisable = random.below(2) === 1;
    const session = await opened({ retainRows, revisable });
    const told = session.shortAfterRestore;
    const count = 130 + random.below(64);
    for (let time = 1; time <= count; time++) await session.push(barOfTwo(time));
    const restored = await opened({ checkpoint: await session.checkpoint(), retainRows, revisable });
    const found = restored.shortOfHistory;
    const where = `${retainRows} rows, ${revisable ? "revisable" : "not revisable"}, ${count} bars`;
    for (const name of ["window", "nested"])
      expect([where, name, told[name]]).toEqual([where, name, found[name]]);
    expect([where, told.plain, told.mean]).toEqual([where, undefined, undefined]);
    for (const [name, rows] of Object.entries(found))
      expect([where, name, told[name]! >= rows]).toEqual([where, name, true]);
    await session.close();
    await restored.close();
  }
});
