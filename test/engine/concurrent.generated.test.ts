import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { evaluateTable } from "../../src/evaluation/evaluate_table.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { FactorStream } from "../../src/evaluation/factor_stream.ts";
import { ManyEvaluation } from "../../src/evaluation/many/evaluate_many.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { ExecutorPool, OVERLAPPING_BLOCKS_MAX } from "../../src/execution/executor_pool.ts";
import { compile, Engine, type EvaluateOptions, type Panel, type Program } from "../../src/index.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { trials } from "../support/trials.ts";

/** Panels of several sizes: `wide` has work for some tenths of a second. */
const small = syntheticPanel({ lanes: 24, rows: 90, nullShare: 0.02 });
const tall = syntheticPanel({ lanes: 40, rows: 400, nullShare: 0 });
const wide = syntheticPanel({ lanes: 300, rows: 600, nullShare: 0.01 });
/**
 * Work for so long that a thread which loses its core for some ms turns no order round: meanwhile the other thread goes on
 * with parts of the later call, as it should.
 */
const long = syntheticPanel({ lanes: 2400, rows: 600, nullShare: 0.01 });

const program = (text: string): Program =>
  compile(text, { fields: [...wide.fields.keys()], groups: [...wide.groups.keys()] });

/** With no node in common. The second is about three times the work. */
const first = program(`
  a = ts_rank(correlation(rank(close), rank(volume), 9), 12) + ts_std(close, 17)
  b = group_neutralize(ema(rank(ts_mean(volume, 21)), 5), sector)`);
const second = program(`
  c = ts_rank(correlation(rank(open), rank(low), 9), 12) + ts_std(high, 17)
  d = group_neutralize(ema(rank(ts_mean(amount, 21)), 5), sector)
  e = ts_rank(correlation(rank(high), rank(amount), 9), 12)
  f = ts_rank(correlation(rank(low), rank(amount), 11), 12) + ts_std(low, 17)
  g = ts_rank(correlation(rank(open), rank(high), 11), 12) + ts_std(amount, 17)`);
const withParam = program("param k = 1\na = k * ts_std(close, 17) + rank(volume)");
const others = [
  program("x = cum_sum(close) / ts_sum(volume, 5)"),
  program("x = ts_skew(close, 11)\ny = ts_quantile(low, 7, 0.3)"),
  program("x = rank(close) - delay(rank(close), 3)"),
];

/** How often what depends on the moment is tried. */
const TIMES = trials(1, 10);

/** The values of all factors; what is below a null means nothing. */
function digestOf(table: Table): string {
  const hash = createHash("sha256");
  for (const name of table.schema.names.slice(2)) {
    hash.update(String(name));
    const column: Iterable<number | null> = table.getChild(String(name))!;
    hash.update(Float64Array.from(column, (cell) => cell ?? Number.NaN));
  }
  return hash.digest("hex");
}

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2, memoryLimit: "2GiB", costs: "default" });
});
afterAll(() => engine.close());

const alone = async (...call: readonly [Program, Panel, EvaluateOptions?]) =>
  digestOf((await engine.evaluate(...call)).table);

describe("two calls at a time", () => {
  test("give what they give alone, again and again", async () => {
    const expected = [await alone(first, wide), await alone(second, wide)];
    for (let time = 0; time < TIMES; time++) {
      const calls = [first, second].map((one) => engine.evaluate(one, wide));
      expect(
        (await Promise.all(calls)).map(({ table }) => digestOf(table)),
        `time ${time}`,
      ).toEqual(expected);
    }
  });

  test("of different sizes give what they give alone", async () => {
    const pairs = [
      [first, small, others[0]!, wide],
      [second, wide, others[1]!, small],
      [others[2]!, tall, first, small],
    ] as const;
    for (const [one, onePanel, other, otherPanel] of pairs) {
      const expected = [await alone(one, onePanel), await alone(other, otherPanel)];
      const calls = [engine.evaluate(one, onePanel), engine.evaluate(other, otherPanel)];
      expect((await Promise.all(calls)).map(({ table }) => digestOf(table))).toEqual(expected);
    }
  });
});

describe("the order of calls", () => {
  /** A host whose plans are opened when `onOpen` lets them; it gets the number of their call, and so does `onOpened`. */
  async function withHost(
    onOpen: (call: number | undefined) => void | Promise<void>,
    body: (host: EngineHost) => Promise<void>,
    onOpened: (call: number | undefined) => void = () => {},
  ): Promise<void> {
    const pool = await ExecutorPool.start({ threads: 2 });
    const open = pool.open.bind(pool);
    pool.open = async (data, order) => {
      await onOpen(order?.call);
      const opened = await open(data, order);
      onOpened(order?.call);
      return opened;
    };
    try {
      await body({
        pool,
        budget: new MemoryBudget(2 ** 30),
        threads: 2,
        costs: DEFAULT_COSTS,
      });
    } finally {
      await pool.close();
    }
  }

  /** Evaluates `first`, then `second`, and tells who ends first. */
  async function endsOf(host: EngineHost): Promise<string[]> {
    const ended: string[] = [];
    const evaluate = async (name: string, one: Program) => {
      // All blocks are under way from the start: the schedule decides, not how soon the main thread asks for the next.
      const blockRows = long.rowCount / OVERLAPPING_BLOCKS_MAX;
      await evaluateTable(host, builtInRegistry, one, panelSource(long), { blockRows });
      ended.push(name);
    };
    await Promise.all([evaluate("first", first), evaluate("second", second)]);
    return ended;
  }

  test("is that in which they are made, again and again", async () => {
    let waiting: PromiseWithResolvers<void> | null = null;
    // Both plans are opened at a time: what goes first is up to the schedule, not to how long forming a plan takes.
    const meet = async () => {
      if (!waiting) {
        waiting = Promise.withResolvers();
        await waiting.promise;
      } else {
        waiting.resolve();
        waiting = null;
      }
    };
    await withHost(meet, async (host) => {
      for (let time = 0; time < TIMES; time++)
        expect(await endsOf(host), `time ${time}`).toEqual(["first", "second"]);
    });
  });

  test("is that in which they are made, though the first opens its plan last", async () => {
    const { promise: secondOpened, resolve } = Promise.withResolvers<void>();
    const hold = async (call: number | undefined) => {
      if (call === 0) await secondOpened;
    };
    const body = async (host: EngineHost) => expect(await endsOf(host)).toEqual(["first", "second"]);
    await withHost(hold, body, (call) => {
      if (call === 1) resolve();
    });
  });

  test("is taken when they are made, before a file is read and a plan is formed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "factorloom-calls-"));
    const paramsByTime = join(folder, "params.csv");
    writeFileSync(paramsByTime, "date,k\n2000-01-01,2\n");
    const opened: (number | undefined)[] = [];
    await withHost(
      (call) => void opened.push(call),
      async (host) => {
        const run = [builtInRegistry, withParam] as const;
        const evaluated = evaluateTable(host, ...run, panelSource(small), { paramsByTime });
        const opening = FactorStream.open(host, ...run, panelSource(small), { paramsByTime });
        const many = ManyEvaluation.open(host, ...run, panelSource(small), [{ params: { k: 3 } }], {});
        expect(host.pool.nextCall().call).toBe(3);
        await evaluated;
        await (await opening).close();
        for await (const table of (await many).tables()) expect(table.numRows).toBeGreaterThan(0);
      },
    );
    expect(opened.sort()).toEqual([0, 1, 2]);
    rmSync(folder, { recursive: true });
  });
});

describe("many calls at a time", () => {
  const calls = [
    [first, small],
    [second, tall],
    [others[0]!, wide],
    [others[1]!, tall],
    [others[2]!, small],
    [first, tall],
    [second, small],
    [others[0]!, small],
  ] as const;

  test("some of them aborted: the others give what they give alone, and no memory stays in use", async () => {
    const expected: string[] = [];
    for (const [one, panel] of calls) expected.push(await alone(one, panel));
    const isAborted = (index: number) => index % 3 === 2;
    const running = calls.map(async ([one, panel], index) => {
      const controller = new AbortController();
      const onProgress = () => controller.abort(new Error("enough"));
      const { table } = await engine.evaluate(
        one,
        panel,
        isAborted(index) ? { signal: controller.signal, onProgress, blockRows: 8 } : {},
      );
      return digestOf(table);
    });
    const ends = await Promise.allSettled(running);
    ends.forEach((end, index) => {
      if (isAborted(index)) expect(end).toMatchObject({ status: "rejected", reason: { message: "enough" } });
      else expect(end, `call ${index}`).toEqual({ status: "fulfilled", value: expected[index] });
    });
    // What was aborted gives its memory back with its last part, which comes before the next call's.
    await alone(others[2]!, small);
    expect(engine.memory.managedBytes).toBe(0);
  });

  test("one of them aborted at any moment: it rejects, or gives what it gives alone", async () => {
    const expected = await alone(first, small);
    const ends = { done: 0, enough: 0 };
    for (let moment = 0; moment < 60; moment++) {
      const controller = new AbortController();
      const running = engine.evaluate(first, small, { signal: controller.signal }).then(
        ({ table }) => {
          expect(digestOf(table), `aborted after ${moment} turns`).toBe(expected);
          return "done" as const;
        },
        (error: Error) => error.message as "enough",
      );
      for (let turn = 0; turn < moment; turn++) await new Promise<void>((done) => setImmediate(done));
      controller.abort(new Error("enough"));
      ends[await running]++;
    }
    expect(ends.enough).toBeGreaterThan(0);
    expect(ends.done + ends.enough).toBe(60);
  });

  test("a stream that is left in the middle does not disturb a call beside it", async () => {
    const expected = await alone(second, tall);
    const running = engine.evaluate(second, tall);
    let batchCount = 0;
    for await (const batch of engine.stream(first, wide, { blockRows: 16 })) {
      expect(batch.numRows).toBeGreaterThan(0);
      if (++batchCount === 2) break;
    }
    const beside = engine.evaluate(others[1]!, small);
    expect(digestOf((await running).table)).toBe(expected);
    expect(digestOf((await beside).table)).toBe(await alone(others[1]!, small));
    expect(engine.memory.managedBytes).toBe(0);
  });
});

describe("closing the engine", () => {
  test.each([0, 1, 3])("after %i blocks rejects calls with E404 and ends", async (blocks) => {
    const closing = await Engine.start({ threads: 2, costs: "default" });
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const onProgress = (rowsDone: number) => {
      if (rowsDone >= blocks * 8) resolve();
    };
    if (blocks === 0) resolve();
    const running = [first, second].map((one) =>
      closing.evaluate(one, wide, { blockRows: 8, onProgress }).then(
        () => "done",
        (error: Error) => error.message,
      ),
    );
    await reached;
    await closing.close();
    const closed = expect.stringMatching(/^E404 the engine was closed/);
    expect(await Promise.all(running)).toEqual([closed, closed]);
    await expect(closing.evaluate(first, small)).rejects.toThrow("E404");
    await closing.close();
  });

  test("while a stream is read rejects what it is asked for next", async () => {
    const closing = await Engine.start({ threads: 1, costs: "default" });
    const stream = closing.stream(first, wide, { blockRows: 8 });
    expect((await stream.next()).done).toBe(false);
    await closing.close();
    const readOn = async () => {
      for await (const batch of stream) expect(batch.numRows).toBeGreaterThan(0);
    };
    await expect(readOn()).rejects.toThrow("E404 the engine was closed");
  });
});
