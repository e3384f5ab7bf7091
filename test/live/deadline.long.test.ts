import type { Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import {
  compile,
  Engine,
  type FactorTag,
  type LiveRow,
  type OpenOptions,
  type Panel,
  type Program,
  readPanel,
} from "../../src/index.ts";
import { type LiveClock, splitByBudget } from "../../src/live/deadline.ts";
import type { LatencyModel } from "../../src/live/latency.ts";
import type { LatePolicy } from "../../src/live/options.ts";
import { openSession } from "../../src/live/session/open_session.ts";
import { noLarge } from "../engine/fixtures/no_large.ts";
import { startHost } from "../execution/real_formulas.ts";
import { Seeded } from "../support/seeded.ts";
import { example, rowsOf } from "./real_session.ts";

const TEXT = `
  param session = "open"
  urgent = rank(ts_mean(close, 8))
  urgent_total = cum_sum(close)
  when session == "close" { urgent_close = ts_std(close, 12) }
  usual = ts_corr(rank(close), rank(volume), 10)
  usual_again = ts_mean(rank(ts_mean(close, 8)), 6)
  slow = ts_rank(rank(high - low), 15)
  when session == "close" { slow_close = ts_max(rank(low), 18) + ts_std(close, 12) }`;

const PRIORITIES = { urgent: 10, urgent_total: 10, urgent_close: 10, slow: -1, slow_close: -1 };
const ROWS = 90;

let engine: Engine;
let host: EngineHost;
let bars: Panel;
let program: Program;
let unconditional: Program;
let expected: Table;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
  host = await startHost(2);
  bars = rowsOf(await readPanel(example("data/sp100_daily.csv.gz")), 400, 400 + ROWS);
  program = compile(TEXT, { fields: [...bars.fields.keys()] });
  unconditional = compile(TEXT.replaceAll(/when [^{]*\{|\}/g, ""), { fields: [...bars.fields.keys()] });
  expected = (await engine.evaluate(program, bars, { params: { session: "close" } })).table;
});
afterAll(async () => {
  await host.pool.close();
  await engine.close();
});

/** Every node takes 1 ms. */
const latency: LatencyModel = {
  predictMs: (selection) => selection?.isRun.reduce((sum, one) => sum + one, 0) ?? 0,
  criticalPathMs: () => 0,
  partMs: () => 1,
  note: () => {},
  ignore: () => {},
};

/** Time stands still; the test decides whether a promise settles in time. */
class TestClock implements LiveClock {
  isInTime = true;
  now = () => 0;
  settlesWithin = async (promise: Promise<unknown>) => {
    if (this.isInTime) await promise;
    return this.isInTime;
  };
}

const open = (clock: LiveClock, options: OpenOptions = {}) =>
  openSession(
    host,
    program,
    { warmup: rowsOf(bars, 0, 0), priorities: PRIORITIES, ...options },
    { clock, latency },
  );

/** Opens the same factors with priorities that the formula file gives, those in `priorities` aside. */
const openFilePriorities = (clock: LiveClock, priorities?: Readonly<Record<string, number>>) => {
  const text = Object.entries(PRIORITIES).reduce(
    (before, [name, priority]) =>
      before.replace(new RegExp(`\\b${name} = [^\\n}]*[^\\s}]`), `$& priority ${priority}`),
    TEXT,
  );
  const withPriorities = compile(text, { fields: [...bars.fields.keys()] });
  return openSession(host, withPriorities, { warmup: rowsOf(bars, 0, 0), priorities }, { clock, latency });
};

/** The values of a factor in one row of the panel. */
function valuesOf(table: Table, name: string, row: number | null): (number | null)[] {
  const days = [...table.getChildAt(0)!].map((time) => Number(time) / 86_400_000);
  const values = [...table.getChild(name)!] as (number | null)[];
  return row === null ? values : values.filter((_, i) => days[i] === Number(bars.time.values[row]));
}

function expectValues(
  table: Table,
  tags: LiveRow["tags"],
  wanted: readonly FactorTag[],
  row: number,
  seed = 0,
): void {
  for (const [name, tag] of Object.entries(tags)) {
    const right = valuesOf(expected, name, row);
    const values = wanted.includes(tag) ? right : right.map(() => null);
    expect(valuesOf(table, name, null), `${name} (${tag}) in row ${row}, seed ${seed}`).toEqual(values);
  }
}

const byTag = (tags: LiveRow["tags"], tag: FactorTag) =>
  Object.entries(tags).flatMap(([name, found]) => (found === tag ? [name] : []));

describe("a budget", () => {
  test("of half of what is needed has the urgent factors on time, the others come late", async () => {
    await using session = await open(new TestClock());
    const needed = (await session.push(rowsOf(bars, 0, 1), { params: { session: "close" } })).timing
      .predictedMs;
    const row = await session.push(rowsOf(bars, 1, 2), {
      params: { session: "close" },
      budgetMs: needed / 2,
    });
    expect(byTag(row.tags, "on_time")).toEqual(
      expect.arrayContaining(["urgent", "urgent_total", "urgent_close"]),
    );
    expect(byTag(row.tags, "late")).toEqual(expect.arrayContaining(["slow", "slow_close"]));
    expect(row.timing.predictedMs).toBe(needed);
    expectValues(row.table, row.tags, ["on_time"], 1);
    const late = await row.late!;
    expectValues(late.table, row.tags, ["on_time", "late"], 1);
  });

  test("is split by the priorities of the file as by those of the options", async () => {
    await using given = await open(new TestClock());
    await using written = await openFilePriorities(new TestClock());
    let late = 0;
    for (let row = 0; row < 12; row++) {
      const options = { params: { session: row % 2 ? "close" : "open" }, budgetMs: 1 + row } as const;
      const bar = rowsOf(bars, row, row + 1);
      const [expectedRow, found] = [await given.push(bar, options), await written.push(bar, options)];
      expect(found.tags).toEqual(expectedRow.tags);
      expectValues(found.table, found.tags, ["on_time"], row);
      late += byTag(found.tags, "late").length;
    }
    expect(late).toBeGreaterThan(0);
  });

  test("is split by the options where they and the file differ", async () => {
    await using session = await openFilePriorities(new TestClock(), { slow: 20 });
    const { tags } = await session.push(rowsOf(bars, 0, 1), { budgetMs: 1 });
    expect(byTag(tags, "on_time")).toContain("slow");
    expect(byTag(tags, "late")).toEqual(expect.arrayContaining(["urgent", "usual"]));
  });

  test("that suffices changes nothing", async () => {
    await using session = await open(new TestClock());
    const row = await session.push(rowsOf(bars, 0, 1), { budgetMs: 1e6 });
    expect(byTag(row.tags, "on_time")).toHaveLength(5);
    expect(byTag(row.tags, "unwanted")).toEqual(["urgent_close", "slow_close"]);
    expect(row.late).toBeNull();
  });

  test("that is missed during the run gives what is urgent", async () => {
    const clock = new TestClock();
    await using session = await open(clock);
    clock.isInTime = false;
    const needed = (await session.push(rowsOf(bars, 0, 1))).timing.predictedMs;
    const row = await session.push(rowsOf(bars, 1, 2), { budgetMs: needed });
    expect(byTag(row.tags, "late")).toEqual(["usual", "usual_again", "slow"]);
    expectValues((await row.late!).table, row.tags, ["on_time", "late"], 1);
  });

  test.each([
    [false, "deliver"],
    [true, "deliver"],
    [false, "skip"],
    [true, "skip"],
  ] as const)("leaves later rows right, whatever was left out (revised: %s, opened to %s)", async (isRevised, usual) => {
    const random = new Seeded();
    const clock = new TestClock();
    await using session = await open(clock, { revisable: isRevised, late: usual });
    for (let row = 0; row < ROWS; row++) {
      clock.isInTime = random.uniform() < 0.6;
      const params = { session: random.uniform() < 0.5 ? "open" : "close" };
      const given = [undefined, "deliver", "skip"][random.below(3)] as LatePolicy | undefined;
      const late = given ?? usual;
      const budget = random.uniform() < 0.8 ? { budgetMs: 1 + random.below(14) } : {};
      const bar = rowsOf(bars, row, row + 1);
      const options = { params, late: given, ...budget } as const;
      if (isRevised) await session.push(raised(bar), { late, ...budget });
      const found = await (isRevised ? session.revise(bar, options) : session.push(bar, options));
      expectValues(found.table, found.tags, ["on_time"], row, random.seed);
      if (late === "skip") expect(found.late).toBeNull();
      if (found.late && random.uniform() < 0.7)
        expectValues((await found.late).table, found.tags, ["on_time", "late"], row);
    }
  });
});

describe("what a budget leaves out", () => {
  test("is kept to catch up where it may be skipped for good, and nowhere else", async () => {
    const sizes = new Map<string, number>();
    for (const [name, options] of Object.entries({
      equal: { priorities: {} },
      urgent: { priorities: { urgent_total: 1 } },
      skipping: { priorities: { urgent_total: 1 }, late: "skip" },
    } as const)) {
      const before = host.budget.usedBytes;
      await using _ = await openSession(host, unconditional, {
        warmup: bars,
        retainRows: 0,
        ...options,
      });
      sizes.set(name, host.budget.usedBytes - before);
    }
    expect(sizes.get("urgent")!).toBeLessThan(1.05 * sizes.get("equal")!);
    expect(sizes.get("skipping")!).toBeGreaterThan(2 * sizes.get("equal")!);
  });

  test("is in a checkpoint that is taken right after, and in the rows after it", async () => {
    const params = { session: "close" };
    await using session = await open(new TestClock());
    for (let row = 0; row < 30; row++) {
      const { tags } = await session.push(rowsOf(bars, row, row + 1), { params, late: "skip", budgetMs: 1 });
      expect(byTag(tags, "skipped")).toContain("slow");
    }
    await using other = await open(new TestClock(), { checkpoint: await session.checkpoint() });
    for (const one of [session, other]) {
      const { table, tags } = await one.push(rowsOf(bars, 30, 31), { params });
      expectValues(table, tags, ["on_time"], 30);
    }
  });

  test("fails the next row if it fails, until the bar is corrected", async () => {
    const text = "urgent = ts_mean(x, 2) priority 1\nslow = ts_mean(no_large(x), 2)";
    const fragile = compile(text, { operators: [noLarge], fields: ["x"] });
    await using session = await openSession(
      host,
      fragile,
      { symbols: ["A"], revisable: true },
      { clock: new TestClock(), latency },
    );
    const push = (time: number, x: number) => session.push({ time, fields: { x: [x] } }, { budgetMs: 1 });
    for (const x of [1, 2]) await (await push(x, x)).late;
    const { table, late } = await push(3, 4000);
    expect(table.getChild("urgent")!.get(0)).toBe(2001);
    const refused = { code: "E515", message: expect.stringContaining("too large") };
    await expect(late).rejects.toMatchObject(refused);
    await expect(push(4, 4)).rejects.toMatchObject(refused);
    await expect(session.checkpoint()).rejects.toMatchObject(refused);
    await session.revise({ time: 3, fields: { x: [3] } });
    const row = await (await push(4, 4)).late;
    expect(["urgent", "slow"].map((name) => row!.table.getChild(name)!.get(0))).toEqual([3.5, 3.5]);
  });
});

function raised(panel: Panel): Panel {
  const fields = [...panel.fields].map(
    ([name, values]) => [name, values.map((value) => value * 1.5)] as const,
  );
  return { ...panel, fields: new Map(fields) as unknown as Panel["fields"] };
}

describe("splitting a row by its budget", () => {
  test.each([
    [[10], 1, { first: 1, inTime: 1 }],
    [[1, 2, 3], 10, { first: 3, inTime: 3 }],
    [[1, 2, 8], 10, { first: 1, inTime: 3 }],
    [[1, 2, 30], 10, { first: 1, inTime: 2 }],
    [[20, 30, 40], 10, { first: 1, inTime: 1 }],
  ])("predicted %j ms with a budget of %i ms", (predictMs, budgetMs, split) => {
    expect(splitByBudget(predictMs, budgetMs)).toEqual(split);
  });
});
