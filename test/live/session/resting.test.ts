import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ExecutorPool } from "../../../src/execution/executor_pool.ts";
import { type CatchUpPolicy, compile, defineOperator, Engine } from "../../../src/index.ts";
import type { LatencyModel } from "../../../src/live/latency.ts";
import { LivePlan } from "../../../src/live/live_plan.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { facts, x } from "../../engine/fixtures/operator_facts.ts";
import { startHost } from "../../execution/real_formulas.ts";
import { linesOf } from "../real_session.ts";

/** What rows leave out that do not want a factor: windows, and recursions with all that they read. */

const TEN = Array.from({ length: 10 }, (_, k) => k);
const ROWS = 200;
/** Rows between two pauses. */
const PAUSE_ROWS = 8;

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

const TEN_OF = (formulaOf: (k: number) => string) => {
  const factors = TEN.map((k) => `f${k} = ${formulaOf(k)} when p == ${k}`);
  return compile(["param p = 0", ...factors].join("\n"), { fields: ["close"] });
};

/** For each row the nodes that its push left out, and the values of the factor that it wants. */
async function run(formulaOf: (k: number) => string, catchUp: CatchUpPolicy, pause = async () => {}) {
  await using session = await engine.openSession(TEN_OF(formulaOf), { symbols, time, catchUp });
  const pruned: number[] = [];
  const values: unknown[] = [];
  for (let row = 0; row < ROWS; row++) {
    const p = wantedIn(row);
    const { table, timing } = await session.push(barOf(row), { params: { p } });
    pruned.push(timing.nodesPruned);
    values.push(table.getChild(`f${p}`)!.toArray().slice());
    if (row % PAUSE_ROWS === 0) await pause();
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

  test("windows catch up once no push comes: all of them, and only those that have missed rows", async () => {
    const rests = new Rests();
    const { values } = await run(mean, "idle", () => rests.caughtUp());
    rests.end();
    expect(values).toEqual((await run(mean, "on_demand")).values);
    // Rows leave out nine of ten factors, each a condition of its own.
    expect(rests.pieces).toEqual(new Array((ROWS / PAUSE_ROWS) * (TEN.length - 1)).fill(1));
  });

  test("nothing catches up between pushes that follow each other at once", async () => {
    for (const catchUp of ["idle", "on_demand"] as const) {
      const rests = new Rests();
      await run(mean, catchUp);
      rests.end();
      expect(rests.pieces).toEqual([]);
    }
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
    const rests = new Rests();
    expect((await run(ema, "idle", () => rests.caughtUp())).values).toEqual(expected);
    rests.end();
  });

  test("what one condition left out is caught up node by node where nodes take long", async () => {
    const host = await startHost(2);
    const latency: LatencyModel = {
      predictMs: () => 0,
      criticalPathMs: () => 0,
      partMs: () => 1,
      note: () => {},
      ignore: () => {},
    };
    const text = "a = rank(ts_mean(rank(ts_mean(close, 3)), 4)) when p == 1";
    const program = compile(`param p = 0\nb = close\n${text}`, { fields: ["close"] });
    const rests = new Rests();
    const session = await openSession(host, program, { symbols, time }, { latency });
    for (let row = 0; row < 20; row++) {
      const { timing } = await session.push(barOf(row));
      rests.pieces.length = 0;
      await rests.caughtUp();
      expect(rests.pieces).toEqual(new Array(timing.nodesPruned).fill(1));
      expect(timing.nodesPruned).toBeGreaterThan(2);
    }
    const { table } = await session.push(barOf(20), { params: { p: 1 } });
    rests.end();
    await session.close();
    await using always = await engine.openSession(program, { symbols, time, params: { p: 1 } });
    for (let row = 0; row < 20; row++) await always.push(barOf(row));
    expect(linesOf(table)).toEqual(linesOf((await always.push(barOf(20))).table));
    await host.pool.close();
  });

  test("nothing catches up while another call of the engine has work", async () => {
    const host = await startHost(1);
    const session = await openSession(host, TEN_OF(mean), { symbols, time });
    const rests = new Rests();
    const idle = vi.spyOn(ExecutorPool.prototype, "isIdle", "get").mockReturnValue(false);
    for (let row = 0; row < 5; row++) {
      await session.push(barOf(row));
      await vi.waitUntil(() => idle.mock.calls.length > row);
    }
    expect(rests.pieces).toEqual([]);
    idle.mockRestore();
    await session.push(barOf(5));
    await rests.caughtUp();
    rests.end();
    expect(rests.pieces.length).toBeGreaterThanOrEqual(TEN.length - 1);
    await session.close();
    await host.pool.close();
  });
});

/** Counts what catches up: for each piece the nodes that it ran. */
class Rests {
  readonly pieces: number[] = [];
  readonly #run = LivePlan.prototype.run;
  /** Conditions of which nothing is left. */
  #ends = 0;
  #ended = Promise.withResolvers<void>();

  constructor() {
    const { pieces } = this;
    const run = this.#run;
    const noteEnd = (gateCount: number) => {
      this.#ends++;
      if (this.#ends % gateCount === 0) this.#ended.resolve();
    };
    LivePlan.prototype.run = async function (options) {
      const account = await run.call(this, options);
      if (options.pieceMs !== undefined && account.nodesRun > 0) pieces.push(account.nodesRun);
      if (options.pieceMs !== undefined && account.nodesRun === 0) noteEnd(this.gates.length);
      return account;
    };
  }

  /** Resolves once each condition has nothing left; call it right after a push, when nothing has caught up yet. */
  async caughtUp(): Promise<void> {
    this.#ends = 0;
    this.#ended = Promise.withResolvers();
    await this.#ended.promise;
  }

  end(): void {
    LivePlan.prototype.run = this.#run;
  }
}

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
