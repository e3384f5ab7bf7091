import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, defineOperator, Engine, type LiveSession, type PushOptions } from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { facts, x } from "../../engine/fixtures/operator_facts.ts";
import { startHost } from "../../execution/real_formulas.ts";

const valueFacts = { ...facts, axis: "elementwise", parameters: [x], summary: "The value." } as const;
const SLOW = 50;
const SLOWER = 51;
const BAD = 7;
/** The value; takes 250 ms for 50 and 1,500 ms for 51, and fails for 7. */
const testing = defineOperator({
  ...valueFacts,
  name: "testing",
  reference: (x: number) => {
    const end = performance.now() + (x === 50 ? 250 : x === 51 ? 1500 : 0);
    while (performance.now() < end);
    if (x === 7) throw new Error("seven");
    return x;
  },
});
/** The value; fails for 7 after 600 ms. */
const failing_late = defineOperator({
  ...valueFacts,
  name: "failing_late",
  reference: (x: number) => {
    const end = performance.now() + 600;
    while (x === 7 && performance.now() < end);
    if (x === 7) throw new Error("seven");
    return x;
  },
});
const FIELDS = { fields: ["close", "volume"], operators: [testing, failing_late] };
/** Of a push that leaves out whatever it may. */
const HURRY: PushOptions = { budgetMs: 1e-3 };

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const barOf = (time: number, volume = 2, close = time) => ({
  time,
  fields: { close: [close], volume: [volume] },
});

async function opened(text: string, options = {}): Promise<LiveSession> {
  return await engine.openSession(compile(text, FIELDS), { symbols: ["A"], spareSymbols: 0, ...options });
}

const PARTIAL = "first = close priority 1\nlast = testing(volume)";

test("a bar that fails behind a burst: recursions go on from what was read while later rows were under way", async () => {
  await using session = await opened("sum = cum_sum(close)\nt = testing(volume)", { retainRows: 16 });
  let [time, sum] = [0, 0];
  for (let burst = 0; burst < 4; burst++) {
    const pushes = Array.from({ length: 40 }, () => session.push(barOf(++time)));
    for (const { table } of await Promise.all(pushes)) sum = table.getChild("sum")!.get(0);
    expect(sum).toBe((time * (time + 1)) / 2);
    await expect(session.push(barOf(time + 1, BAD))).rejects.toThrow("E515");
    const { table } = await session.push(barOf(++time));
    expect(table.getChild("sum")!.get(0)).toBe(sum + time);
  }
});

describe("a push of several bars", () => {
  const TEXT = "t = testing(volume)\nmean = ts_mean(close, 3)\nsum = cum_sum(close)";

  test("that fails at one of them keeps those before it, none behind it, and says why", async () => {
    await using session = await opened(TEXT);
    await using calm = await opened(TEXT);
    let time = 0;
    for (let failing = 0; failing < 8; failing++) {
      const bars = Array.from({ length: 8 }, (_, i) => barOf(time + i + 1, i === failing ? BAD : 2));
      await expect(session.push(bars)).rejects.toThrow(/^E515 the operator testing failed: .*seven/);
      time += failing;
      expect(session.lastTime).toBe(time === 0 ? null : BigInt(time));
      const good = bars.slice(0, failing);
      if (good.length > 0) await calm.push(good);
      const next = barOf(++time);
      const [mine, theirs] = [await session.push(next), await calm.push(next)];
      for (const name of ["t", "mean", "sum"])
        expect(mine.table.getChild(name)!.get(0)).toBe(theirs.table.getChild(name)!.get(0));
    }
  });

  test("that is aborted takes the bars that have begun and no others, and the session is usable and can be closed", async () => {
    const session = await opened(TEXT);
    let time = 0;
    for (let count = 0; count < 3; count++) {
      const controller = new AbortController();
      const bars = Array.from({ length: 5 + count }, (_, i) => barOf(time + i + 1, SLOW));
      const pushing = session.push(bars, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 20);
      const error: Error = await pushing.then(Object, (reason) => reason);
      expect(error.cause).toMatchObject({ message: "enough" });
      const taken = Number(session.lastTime) - time;
      expect(taken).toBeGreaterThan(0);
      expect(error.message).toMatch(
        new RegExp(`^E412 the push was aborted: ${taken} of its ${5 + count} bars were taken`),
      );
      time += taken;
    }
    await session.push(barOf(time + 1));
    await session.close();
  });
});

test("pushes that overlap run whole, whatever time passes meanwhile", async () => {
  const host = await startHost(2);
  let [now, step] = [0, 0];
  const clock = {
    now: () => {
      now += step;
      return now;
    },
    settlesWithin: async () => true,
  };
  const latency = {
    predictMs: (selection: { readonly isRun: Uint8Array } | null) =>
      selection?.isRun.reduce((sum, one) => sum + one, 0) ?? 10,
    criticalPathMs: () => 0,
    note: () => {},
    ignore: () => {},
    save: () => ({ averages: [] }),
    restore: () => {},
  };
  const program = compile("first = testing(close) priority 1\nlast = ts_sum(testing(volume), 3)", FIELDS);
  const options = { symbols: ["A"], spareSymbols: 0 };
  const session = await openSession(host, program, options, { clock, latency: latency as never });
  // Far from the values for which the operator fails or is slow.
  let time = 1000;
  for (; time < 1003; ) await session.push(barOf(++time, time, 1));
  // At one of these budgets there is time for all at the first look, and none at the second.
  for (let budgetMs = 14; budgetMs <= 18; budgetMs++) {
    step = 0;
    const under = session.push(barOf(++time, time, SLOW));
    step = 1;
    const pushes = [under, session.push(barOf(++time, time, 1), { budgetMs })];
    for (let more = 0; more < 3; more++) pushes.push(session.push(barOf(++time, time, 1)));
    for (const [index, push] of pushes.entries()) {
      const row = await push;
      const table = (await row.late)?.table ?? row.table;
      const own = time - 4 + index;
      expect(table.getChild("last")!.get(0), `budget ${budgetMs}, push ${index}`).toBe(3 * own - 3);
    }
  }
  await session.close();
  await host.pool.close();
});

describe("a row whose late factor failed", () => {
  test("can be revised, also after a revision that failed or was aborted", async () => {
    await using session = await opened("first = testing(close) priority 1\nlast = testing(volume)", {
      revisable: true,
    });
    await session.push(barOf(1));
    const row = await session.push(barOf(2, BAD), HURRY);
    await expect(row.late).rejects.toThrow("E515");
    await expect(session.push(barOf(3))).rejects.toThrow("E515");
    await expect(session.revise(barOf(2, 2, BAD))).rejects.toThrow("E515");
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    const aborted = session.revise(barOf(2, SLOWER), { signal: controller.signal });
    expect((await aborted).table.getChild("last")!.get(0)).toBe(SLOWER);
    const { table } = await session.revise(barOf(2, 3));
    expect(table.getChild("last")!.get(0)).toBe(3);
    await session.push(barOf(3));
  });

  test("is finished before any other one, also if the push that does so is aborted", async () => {
    await using session = await opened("first = close priority 1\nlast = ts_sum(failing_late(volume), 3)");
    for (let time = 1; time < 4; time++) await session.push(barOf(time));
    const row = await session.push(barOf(4, BAD), HURRY);
    await expect(row.late).rejects.toThrow("E515");
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 100);
    await expect(session.push(barOf(5), { signal: controller.signal })).rejects.toThrow(/^E(412|515) /);
    for (let count = 0; count < 2; count++) await expect(session.push(barOf(5))).rejects.toThrow("E515");
  });
});

describe("a recursion that fails in a row that no push wants", () => {
  const [TEXT, WANTED] = [
    "param p = 0\nseen = close\nother = cum_sum(close) when p == 2\nboth = ema(volume, 3) when p > 0",
    "bad = ts_mean(cum_sum(testing(volume)), 3) when p == 1",
  ];
  const totalOf = (time: number) => (time * (time + 1)) / 2;

  test.each([
    { catchUp: "idle", burst: 1 },
    { catchUp: "on_demand", burst: 1 },
    { catchUp: "on_demand", burst: 7 },
  ])("fails pushes that want it and no others, until an update ($catchUp, $burst at once)", async (how) => {
    await using session = await opened(`${TEXT}\n${WANTED}`, { catchUp: how.catchUp, retainRows: 30 });
    let time = 0;
    const push = (p: number, to = session) =>
      to.push(barOf(++time, time === 13 ? BAD : 2), { params: { p } });
    for (let count = 0; count < 22; count++)
      await Promise.all(Array.from({ length: how.burst === 1 ? 7 : how.burst }, () => push(0)));
    const other = async (to: LiveSession) => (await push(2, to)).table.getChild("other")!.get(0);
    expect(await other(session)).toBe(totalOf(time));
    await expect(session.checkpoint()).rejects.toThrow("E515 testing");
    await expect(push(1)).rejects.toThrow("E515 testing");
    time--;
    expect(await other(session)).toBe(totalOf(time));
    await session.update(compile(`${TEXT}\nbad = testing(volume) when p == 1`, FIELDS));
    expect((await push(1)).table.getChild("bad")!.get(0)).toBe(2);
    expect(await other(session)).toBe(totalOf(time));
  });

  test("comes through once the row is revised", async () => {
    await using session = await opened(`${TEXT}\n${WANTED}`, { revisable: true });
    await session.push(barOf(1, BAD));
    await session.revise(barOf(1, 5));
    for (let time = 2; time < 100; time++) await session.push(barOf(time));
    const { table } = await session.push(barOf(100), { params: { p: 1 } });
    expect(table.getChild("bad")!.get(0)).toBe(5 + 2 * 98);
  });
});

test("the table of a late row stays as it is while pushes run that were called before it came", async () => {
  await using session = await opened(PARTIAL);
  for (let time = 1; time < 5; time++) await session.push(barOf(time));
  const row = await session.push(barOf(40, SLOW), HURRY);
  const pushes = Array.from({ length: 8 }, (_, i) => session.push(barOf(101 + i)));
  const late = await row.late;
  await Promise.all(pushes);
  expect(late!.table.getChild("first")!.get(0)).toBe(40);
  expect(late!.table.getChild("last")!.get(0)).toBe(SLOW);
});

test.each([
  { closes: "the session is closed", problem: "the session was closed" },
  { closes: "the session is closed as the first is aborted", problem: "the session was closed" },
  { closes: "its engine is closed", problem: "the engine was closed" },
])("calls that are under way or wait when $closes say so, as later ones do", async ({ closes, problem }) => {
  const own = await Engine.start({ threads: 2 });
  const options = { symbols: ["A"], spareSymbols: 0, revisable: true };
  const session = await own.openSession(compile(PARTIAL, FIELDS), options);
  await session.push(barOf(1));
  const controller = new AbortController();
  const { signal } = controller;
  const pushes = Array.from({ length: 8 }, (_, i) =>
    session.push(barOf(2 + i, SLOW), i === 0 ? { signal } : {}),
  );
  const calls = Promise.allSettled([...pushes, session.revise(barOf(9)), session.push(barOf(10))]);
  await delay(20);
  if (closes.includes("aborted")) controller.abort();
  await (closes.startsWith("its engine") ? own : session).close();
  const rejected = (await calls).map((call) =>
    call.status === "rejected" ? (call.reason.problem ?? call.reason.name) : "",
  );
  expect(new Set(rejected)).toEqual(new Set([problem]));
  await expect(session.push(barOf(20))).rejects.toMatchObject({ code: "E404", problem });
  await session.close();
  await own.close();
});
