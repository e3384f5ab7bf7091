import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CatchUpPolicy, compile, defineOperator, Engine } from "../../../src/index.ts";
import { LivePlan } from "../../../src/live/live_plan.ts";
import { facts, x } from "../../engine/fixtures/operator_facts.ts";

/** What rows leave out that do not want a factor: windows, and recursions with all that they read. */

const TEN = Array.from({ length: 10 }, (_, k) => k);
const ROWS = 200;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

const symbols = ["A", "B", "C"];
const barOf = (row: number) => ({
  time: row,
  fields: { close: symbols.map((_, lane) => 50 + Math.sin(row * (lane + 2)) + lane) },
});
const time = { name: "minute", type: { kind: "integer", bits: 64 } } as const;

/** The factor that a row wants: one for 70 rows, then each for two rows. */
const wantedIn = (row: number) => (row < 100 ? 3 : Math.floor(row / 2) % TEN.length);

/** For each row the nodes that its push left out, and the values of the factor that it wants. */
async function run(formulaOf: (k: number) => string, catchUp: CatchUpPolicy) {
  const factors = TEN.map((k) => `f${k} = ${formulaOf(k)} when p == ${k}`);
  const program = compile(["param p = 0", ...factors].join("\n"), { fields: ["close"] });
  await using session = await engine.openSession(program, { symbols, time, catchUp });
  const pruned: number[] = [];
  const values: unknown[] = [];
  for (let row = 0; row < ROWS; row++) {
    const p = wantedIn(row);
    const { table, timing } = await session.push(barOf(row), { params: { p } });
    pruned.push(timing.nodesPruned);
    values.push(table.getChild(`f${p}`)!.toArray().slice());
  }
  return { pruned, values };
}

const ema = (k: number) => `ema(ts_mean(close, ${k + 2}), 10)`;
const mean = (k: number) => `ts_mean(ts_mean(close, ${k + 2}), 10)`;

describe("of ten recursions one of which is wanted", () => {
  test("rows leave out as many nodes as of ten windows", async () => {
    const { pruned } = await run(ema, "idle");
    expect(pruned).toEqual((await run(mean, "idle")).pruned);
    expect(Math.min(...pruned)).toBe(TEN.length - 1);
  });

  test("rows that catch nothing up before leave out as many", async () => {
    const [{ pruned }, windows] = [await run(ema, "on_demand"), await run(mean, "on_demand")];
    expect(pruned).toEqual(windows.pruned);
  });

  test.each([
    { catchUp: "idle", least: ROWS, most: TEN.length * ROWS },
    { catchUp: "on_demand", least: 0, most: 0 },
  ] as const)("$catchUp: windows catch up while no push waits, or in pushes", async ({
    catchUp,
    least,
    most,
  }) => {
    const { run: runPlan } = LivePlan.prototype;
    let rests = 0;
    LivePlan.prototype.run = function (options) {
      if (options.row === "rest") rests++;
      return runPlan.call(this, options);
    };
    await run(mean, catchUp);
    LivePlan.prototype.run = runPlan;
    expect(rests).toBeGreaterThanOrEqual(least);
    expect(rests).toBeLessThanOrEqual(most);
  });

  test("values are those of recursions that always run", async () => {
    const always = compile(TEN.map((k) => `f${k} = ${ema(k)}`).join("\n"), { fields: ["close"] });
    await using session = await engine.openSession(always, { symbols, time });
    const expected: unknown[] = [];
    for (let row = 0; row < ROWS; row++) {
      const { table } = await session.push(barOf(row));
      expected.push(
        table
          .getChild(`f${wantedIn(row)}`)!
          .toArray()
          .slice(),
      );
    }
    for (const catchUp of ["idle", "on_demand"] as const)
      expect((await run(ema, catchUp)).values).toEqual(expected);
  });
});

const valueFacts = { ...facts, axis: "elementwise", parameters: [x], summary: "The value." } as const;

/** Takes 1.5 s for a 5. */
const slow = defineOperator({
  ...valueFacts,
  name: "slow",
  reference: (x: number) => {
    const end = performance.now() + (x === 5 ? 1500 : 0);
    while (performance.now() < end);
    return x;
  },
});

/** Fails for odd numbers. */
const picky = defineOperator({
  ...valueFacts,
  name: "picky",
  reference: (x: number) => {
    if (x % 2 === 1) throw new Error("odd");
    return x;
  },
});

test("an update begins with all rows of a recursion, where a push was aborted that waited for its rest to end", async () => {
  const text = "param p = 0\nf = ts_sum(cum_sum(close), 2) when p == 1\nlong = slow(close)";
  const [before, after] = [text, `${text}\nother = close`].map((formulas) =>
    compile(formulas, { fields: ["close"], operators: [slow] }),
  );
  // Carried values are kept before each row.
  const options = { symbols: ["A"], spareSymbols: 0, retainRows: 3, catchUp: "on_demand" } as const;
  await using session = await engine.openSession(before!, options);
  const push = (value: number, options = {}) =>
    session.push({ time: value, fields: { close: [value] } }, options);
  for (const value of [1, 2, 3, 4]) await push(value);
  const controller = new AbortController();
  const pushes = [push(5), push(6, { signal: controller.signal }), push(7)];
  setTimeout(() => controller.abort(), 100);
  const ends = (await Promise.allSettled(pushes)).map(({ status }) => status);
  expect(ends).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await session.update(after!);
  const { table } = await push(8, { params: { p: 1 } });
  const sum = 1 + 2 + 3 + 4 + 5 + 7;
  expect(table.getChild("f")!.get(0)).toBe(sum + (sum + 8));
});

test("a session that is restored forgets what a row has left out, and why that failed", async () => {
  const text = "param p = 0\nfirst = close priority 1\nlast = picky(volume) when p == 1";
  const program = compile(text, { fields: ["close", "volume"], operators: [picky] });
  await using session = await engine.openSession(program, { symbols: ["A"], catchUp: "on_demand" });
  const barOf = (value: number) => ({ time: value, fields: { close: [value], volume: [value] } });
  await session.push(barOf(5));
  const checkpoint = await session.checkpoint();
  const wanted = { params: { p: 1 } };
  const { late } = await session.push(barOf(7), { ...wanted, budgetMs: 1e-6, late: "deliver" });
  await expect(late).rejects.toThrow("odd");
  await expect(session.push(barOf(8))).rejects.toThrow("odd");
  await session.restore(checkpoint);
  const { table } = await session.push(barOf(8), wanted);
  expect(table.getChild("last")!.get(0)).toBe(8);
});
