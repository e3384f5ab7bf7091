import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import { compile, defineOperator, Engine, type LiveSession } from "../../src/index.ts";
import { LiveProgram } from "../../src/live/live_program.ts";
import { openSession } from "../../src/live/session/open_session.ts";
import { WarmUp } from "../../src/live/session/update.ts";
import { facts, x } from "../engine/fixtures/operator_facts.ts";
import { until } from "../support/until.ts";

/** A session that is closed, or was never wanted, leaves nothing open, nothing running and no memory in use. */

const panel = syntheticPanel({ lanes: 60, rows: 300, nullShare: 0 });
const fields = [...panel.fields.keys()];
const program = compile(
  "a = ts_rank(correlation(rank(close), rank(volume), 9), 12)\nb = ema(rank(close), 5)",
  {
    fields,
  },
);
const other = compile("a = ts_std(close, 17)\nb = ema(rank(close), 5)\nc = ts_mean(volume, 9)", { fields });

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2, memoryLimit: "1GiB", costs: "default" });
});
afterAll(() => engine.close());

const expectNothingLeft = () => expect(engine.memory.managedBytes).toBe(0);

describe("opening", () => {
  test("with an aborted signal is an AbortError, and opens nothing", async () => {
    const opening = engine.openSession(program, { warmup: panel, signal: AbortSignal.abort() });
    await expect(opening).rejects.toMatchObject({ name: "AbortError" });
    expectNothingLeft();
    const symbols = panel.symbols;
    await expect(engine.openSession(program, { symbols, signal: AbortSignal.abort() })).rejects.toMatchObject(
      {
        name: "AbortError",
      },
    );
    expectNothingLeft();
  });

  test.each([
    "at once",
    "while it is compiled",
    "while it warms up",
  ])("that is aborted %s leaves nothing", async (when) => {
    const controller = new AbortController();
    const { open } = LiveProgram;
    if (when === "while it is compiled") {
      LiveProgram.open = async (...parts) => {
        const opened = await open.apply(LiveProgram, parts);
        controller.abort();
        return opened;
      };
    }
    const { symbols } = panel;
    const { signal } = controller;
    try {
      const isWarmedUp = when !== "while it is compiled";
      const opening = engine.openSession(program, {
        ...(isWarmedUp ? { warmup: panel } : { symbols }),
        signal,
      });
      if (when === "at once") controller.abort();
      if (when === "while it warms up") setTimeout(() => controller.abort(), 40);
      const session = await opening.catch((error: Error) => error);
      if (session instanceof Error) expect(session.name).toBe("AbortError");
      // The warm-up was faster.
      else await session.close();
      if (when === "while it is compiled") expect(session).toBeInstanceOf(Error);
    } finally {
      LiveProgram.open = open;
    }
    expectNothingLeft();
  });
});

describe("while there is no room for its program", () => {
  const MIB = 2 ** 20;
  let host: EngineHost;
  let giveBack: () => void;
  beforeAll(async () => {
    host = await startHost({ threads: 1, memoryLimitBytes: 64 * MIB, memoryThresholds: { refuse: 0 } });
  });
  afterAll(() => host.pool.close());
  afterEach(() => {
    giveBack();
    expect(host.budget.usedBytes).toBe(0);
  });
  const fill = () => {
    const bytes = { results: 64 * MIB - host.budget.usedBytes };
    giveBack = host.budget.reserve({ bytes, held: [], remedy: "" });
  };
  const waiting = () => until(() => host.budget.memory.waitingCount === 1);

  test("opening a session ends with its signal", async () => {
    fill();
    const controller = new AbortController();
    const opening = openSession(host, program, { symbols: ["A"], signal: controller.signal });
    await waiting();
    controller.abort(new Error("enough"));
    await expect(opening).rejects.toThrow("enough");
  });

  test("an update ends with its session", async () => {
    const session = await openSession(host, program, { symbols: ["A"] });
    fill();
    const updating = session.update(other);
    await waiting();
    await Promise.all([expect(updating).rejects.toThrow("E404"), session.close()]);
  });
});

test("closing ends pushes and checkpoints that are under way at any moment with E404", async () => {
  const closed: string[] = [];
  for (let moment = 0; moment < 40; moment++) {
    const session = await engine.openSession(program, { symbols: panel.symbols });
    const bars = [1, 2, 3].map((time) => {
      return {
        time,
        fields: Object.fromEntries(fields.map((name) => [name, panel.symbols.map(() => time)])),
      };
    });
    const calls = [...bars.map((bar) => session.push(bar)), session.checkpoint()];
    const ends = Promise.allSettled(calls);
    for (let turn = 0; turn < moment; turn++)
      await (turn % 4 ? null : new Promise<void>((resolve) => setImmediate(resolve)));
    await session.close();
    for (const end of await ends) if (end.status === "rejected") closed.push(end.reason.code);
  }
  expect(closed.length).toBeGreaterThan(0);
  expect(new Set(closed)).toEqual(new Set(["E404"]));
  expectNothingLeft();
});

describe("closing while an update", () => {
  const closedAt = async (session: LiveSession, updating: Promise<unknown>) => {
    const outcome = updating.catch((error: Error) => error);
    await session.close();
    expectNothingLeft();
    const result = await outcome;
    if (result instanceof Error) expect(result.message).toMatch(/^E404 /);
    expectNothingLeft();
    await expect(session.update(program)).rejects.toThrow("E404");
  };

  test("takes over closes the new program, too", async () => {
    const session = await engine.openSession(program, { warmup: panel });
    const { finish } = WarmUp.prototype;
    const { promise: takingOver, resolve: takesOver } = Promise.withResolvers<Promise<void>>();
    WarmUp.prototype.finish = async function () {
      await finish.call(this);
      takesOver(closedAt(session, updating));
    };
    let updating: Promise<unknown> = Promise.resolve();
    try {
      updating = session.update(other);
      await Promise.all([takingOver, updating.catch(() => {})]);
    } finally {
      WarmUp.prototype.finish = finish;
    }
    await takingOver;
    expectNothingLeft();
  });

  test.each([0, 1, 5, 20, 60])("warms up ends that (after %i ms)", async (ms) => {
    const session = await engine.openSession(program, { warmup: panel });
    const updating = session.update(other);
    await new Promise((resolve) => setTimeout(resolve, ms));
    await closedAt(session, updating);
  });
});

test("the push after one that was aborted in an operator that does not return goes on, and so does a revision", async () => {
  const waiting = defineOperator({
    ...facts,
    name: "for_ever_at_9",
    axis: "elementwise",
    parameters: [x],
    summary: "x; does not return for 9.",
    reference: (x) => {
      while (x === 9);
      return x;
    },
  });
  const sums = compile("y = cum_sum(for_ever_at_9(x))", { fields: ["x"], operators: [waiting] });
  const session = await engine.openSession(sums, { symbols: ["A"], spareSymbols: 0, revisable: true });
  const bar = (time: number, x: number) => ({ time, fields: { x: [x] } });
  const sumOf = (row: Awaited<ReturnType<LiveSession["push"]>>) => row.table.getChild("y")!.get(0);
  await session.push(bar(1, 1));
  await session.push(bar(2, 2));
  await expect(session.push(bar(3, 9), { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
    code: "E412",
    cause: { name: "TimeoutError" },
  });
  expect(sumOf(await session.push(bar(3, 4)))).toBe(7);
  await expect(session.push(bar(4, 9), { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
    code: "E412",
    cause: { name: "TimeoutError" },
  });
  expect(sumOf(await session.revise(bar(3, 5)))).toBe(8);
  expect(sumOf(await session.push(bar(4, 1)))).toBe(9);
  await session.close();
  expectNothingLeft();
});
