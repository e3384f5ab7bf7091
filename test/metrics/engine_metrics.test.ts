import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  compile,
  defineOperator,
  Engine,
  type LiveCounts,
  type LiveSession,
  metricsText,
} from "../../src/index.ts";
import { ENGINE_METRICS, type MetricDefinition } from "../../src/metrics/definitions.ts";
import { facts, x } from "../engine/fixtures/operator_facts.ts";
import { panelOf } from "../panels.ts";
import { until } from "../support/until.ts";
import { familiesOf } from "./exposition.ts";

const program = compile(
  "urgent = ts_mean(close, 3) priority 2\nusual = ts_std(close, 4)\nother = delta(close, 1)",
  {
    fields: ["close"],
  },
);
const options = { symbols: ["A", "B"], revisable: true };
const bar = (time: number) => ({ time, fields: { close: [time, 2 * time] } });
const NOTHING: LiveCounts = { rows: 0, metBudgets: 0, missedBudgets: 0, lateFactors: 0, skippedFactors: 0 };

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const countsOf = (session: LiveSession) =>
  engine.metrics().sessions.find((one) => one.session === session.number);

/** Lets promises go on, but no message of a thread arrive. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 1_000; count++) await null;
}

describe("a session", () => {
  test("counts rows, budgets met and missed, and what budgets left out", async () => {
    await using session = await engine.openSession(program, options);
    const { number } = session;
    expect(countsOf(session)).toEqual({ session: number, ...NOTHING, waitingCalls: 0 });
    await session.push([bar(1), bar(2), bar(3)]);
    await session.push(bar(4), { budgetMs: 60_000 });
    expect(countsOf(session)).toMatchObject({ ...NOTHING, rows: 4, metBudgets: 1 });
    const late = await session.push(bar(5), { budgetMs: 1e-6 });
    await late.late;
    await session.push(bar(6), { budgetMs: 1e-6, late: "skip" });
    const expected = { rows: 6, metBudgets: 1, missedBudgets: 2, lateFactors: 2, skippedFactors: 2 };
    expect(countsOf(session)).toMatchObject(expected);
    await session.revise(bar(6), { budgetMs: 60_000 });
    expect(countsOf(session)).toMatchObject({ ...expected, metBudgets: 2 });
    await session.also();
    expect(countsOf(session)).toMatchObject({ ...expected, metBudgets: 2 });
    await expect(session.push(bar(6), { budgetMs: 60_000 })).rejects.toMatchObject({ code: "E371" });
    await expect(session.push(bar(7), { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(countsOf(session)).toMatchObject({ ...expected, metBudgets: 2 });
  });

  test("counts nothing for a warm-up", async () => {
    const warmup = panelOf({ close: Array(4).fill([1, 2]) });
    await using session = await engine.openSession(program, { warmup });
    expect(countsOf(session)).toMatchObject(NOTHING);
  });

  test("has the calls that wait for their turn, and not those under way", async () => {
    await using session = await engine.openSession(program, options);
    await session.push(bar(1));
    const calls: Promise<unknown>[] = [2, 3, 4, 5, 6, 7].map((time) => session.push(bar(time)));
    expect(countsOf(session)?.waitingCalls).toBe(6);
    await Promise.all(calls);
    expect(countsOf(session)?.waitingCalls).toBe(0);
    const behind = [session.push(bar(8)), session.revise(bar(8)), session.checkpoint()];
    await microtasks();
    expect(countsOf(session)?.waitingCalls).toBe(2);
    await Promise.all(behind);
    const aborted = new AbortController();
    const refused = [session.push(bar(9)), session.revise(bar(9), { signal: aborted.signal })];
    aborted.abort();
    await Promise.allSettled(refused);
    expect(countsOf(session)?.waitingCalls).toBe(0);
  });

  test("is one of several, and those that were closed count in the whole engine alone", async () => {
    const before = engine.metrics().live;
    await using one = await engine.openSession(program, options);
    const other = await engine.openSession(program, options);
    expect(other.number).toBe(one.number + 1);
    await one.push([bar(1), bar(2)]);
    await other.push(bar(1), { budgetMs: 1e-6, late: "skip" });
    expect(engine.metrics().sessions).toMatchObject([
      { session: one.number, rows: 2, skippedFactors: 0 },
      { session: other.number, rows: 1, skippedFactors: 2 },
    ]);
    await other.close();
    await other.close();
    const { live, sessions } = engine.metrics();
    expect(sessions.map(({ session }) => session)).toEqual([one.number]);
    expect(live.rows - before.rows).toBe(3);
    expect(live.skippedFactors - before.skippedFactors).toBe(2);
    const families = familiesOf(await metricsText(engine.metrics()));
    expect([...families.get("factorloom_session_rows_total")!.samples]).toEqual([
      [`{session="${one.number}"}`, 2],
    ]);
    expect(families.get("factorloom_live_rows_total")!.samples.get("")).toBe(live.rows);
    await using third = await engine.openSession(program, options);
    expect(third.number).toBe(other.number + 1);
  });

  test("that could not be opened is not there", async () => {
    const signal = AbortSignal.timeout(1);
    const warmup = panelOf({ close: Array.from({ length: 5_000 }, (_, row) => [row]) });
    const opening = engine.openSession(program, { warmup, signal });
    await expect(opening).rejects.toMatchObject({ name: "TimeoutError" });
    expect(engine.metrics().sessions).toEqual([]);
  });
});

describe("executors and memory", () => {
  test("are busy while they run parts, and their time stays when a plan is closed", async () => {
    await using own = await Engine.start({ threads: 1 });
    const idle = own.metrics().executors;
    expect(idle).toEqual({ count: 1, lost: 0, busySeconds: 0, busyShare: 0, hangs: 0 });
    const panel = panelOf({ close: Array.from({ length: 400 }, (_, row) => [row, -row]) });
    await own.evaluate(program, panel);
    const once = own.metrics().executors;
    expect(once.busySeconds).toBeGreaterThan(0);
    expect(once.busyShare).toBeGreaterThan(0);
    expect(once.busyShare).toBeLessThan(1);
    await using session = await own.openSession(program, { warmup: panel });
    const open = own.metrics();
    expect(open.executors.busySeconds).toBeGreaterThan(once.busySeconds);
    expect(open.memory.managedBytes).toBeGreaterThan(0);
    await session.close();
    expect(own.metrics().executors.busySeconds).toBeGreaterThanOrEqual(open.executors.busySeconds);
    expect(own.metrics().memory.managedBytes).toBe(0);
    await using _left = await own.openSession(program, { warmup: panel });
    const last = own.metrics().executors;
    expect(last.busySeconds).toBeGreaterThan(open.executors.busySeconds);
    await own.close();
    expect(own.metrics().executors).toMatchObject({ count: 0, lost: 0 });
    expect(own.metrics().executors.busySeconds).toBeGreaterThanOrEqual(last.busySeconds);
  });

  test("hangs and lost threads count", async () => {
    await using own = await Engine.start({
      threads: 2,
      hang: { limitMs: 100, replaces: true, onHang: () => {} },
    });
    const endless = defineOperator({
      ...facts,
      name: "endless_at_9",
      axis: "elementwise",
      parameters: [x],
      summary: "x; never ends for 9.",
      reference: (x) => {
        while (x === 9) Math.sqrt(x);
        return x;
      },
    });
    const hanging = compile("y = endless_at_9(x)", { fields: ["x"], operators: [endless] });
    await expect(own.evaluate(hanging, panelOf({ x: [[9]] }))).rejects.toMatchObject({ code: "E402" });
    expect(own.metrics().executors).toMatchObject({ hangs: 2, lost: 2 });
    await until(() => own.metrics().executors.count === 2);
    const families = familiesOf(await metricsText(own.metrics()));
    expect(families.get("factorloom_hangs_total")!.samples.get("")).toBe(2);
    expect(families.get("factorloom_lost_executors_total")!.samples.get("")).toBe(2);
  });

  test("what nobody looks at is left out", async () => {
    await using own = await Engine.start({ threads: 1, hang: false });
    const metrics = own.metrics();
    expect(metrics.executors.hangs).toBeNull();
    expect([...familiesOf(await metricsText(metrics)).keys()]).not.toContain("factorloom_hangs_total");
  });
});

describe("the text", () => {
  test("has every number of the object, and no other", async () => {
    await using one = await engine.openSession(program, options);
    await using other = await engine.openSession(program, options);
    await one.push(bar(1), { budgetMs: 1e-6, late: "skip" });
    await other.push(bar(1));
    const metrics = engine.metrics();
    const expected = new Map<string, unknown>();
    for (const [part, definitions] of Object.entries(ENGINE_METRICS))
      for (const [field, { name, kind, help }] of Object.entries<MetricDefinition>(definitions)) {
        const numbers = metrics[part as keyof typeof metrics];
        const samples = [numbers].flat().map((one) => {
          const { [field]: value, session } = one as unknown as Record<string, number | boolean>;
          return [session === undefined ? "" : `{session="${session}"}`, Number(value)] as const;
        });
        expected.set(name, { kind, help, samples: new Map(samples) });
      }
    expect(familiesOf(await metricsText(metrics))).toEqual(expected);
    // The definitions have a name for each number; what is not defined would be missed here.
    expect(Object.keys(metrics)).toEqual(Object.keys(ENGINE_METRICS));
    for (const [part, definitions] of Object.entries(ENGINE_METRICS)) {
      const [first] = [metrics[part as keyof typeof metrics]].flat();
      expect(
        Object.keys(first!)
          .filter((field) => field !== "session")
          .sort(),
      ).toEqual(Object.keys(definitions).sort());
    }
  });

  test("comes from numbers that went through JSON as well", async () => {
    const metrics = engine.metrics();
    const sent = JSON.parse(JSON.stringify(metrics)) as typeof metrics;
    expect(sent).toEqual(metrics);
    expect(await metricsText(sent)).toBe(await metricsText(metrics));
  });
});
