import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Engine } from "../../../src/index.ts";
import { trials } from "../../support/trials.ts";
import { JobFolder, keptLog, realBars, SILENT, type Sink } from "../job_folder.ts";
import { type Columns, expectedOf, random, resultsOf } from "./job_results.ts";

/** Random lives of a job whose formulas change: after each run its sink has the values of one evaluation of all rows. */

const EXPRESSIONS = [
  "rank(delta(close, 3))",
  "ema(close, 5)",
  "ts_mean(high - low, 4) / close",
  "group_neutralize(rank(volume), sector)",
  "cum_sum(volume)",
  "ts_max(ema(close, 3), 4)",
  "close * k",
  "log(close - close)",
];
const FILES = 12;
const BARS = realBars(FILES, 2, 6);

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

async function live(seed: number, sink: Sink): Promise<void> {
  const below = random(seed);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const factors = new Map([
    ["a", EXPRESSIONS[0]!],
    ["b", EXPRESSIONS[1]!],
  ]);
  const removed: Columns = new Map();
  let [k, names, given] = [2, 2, 1];
  const textOf = () =>
    `param k = 1\n${[...factors].map(([name, expression]) => `${name} = ${expression}\n`).join("")}a_last = close * k\n`;
  using folder = new JobFolder({ sink, formulas: textOf(), job: `params: { k: ${k} }` });
  folder.addBars(BARS[0]!);
  expect(await folder.run()).toBeNull();
  const events: Record<string, () => void> = {
    bars: () => {
      if (given < FILES) folder.addBars(BARS[given++]!);
    },
    reorder: () => {
      const [first, ...others] = [...factors];
      factors.clear();
      for (const entry of [...others, first!]) factors.set(...entry);
    },
    add: () => factors.set(`f${names++}`, pick(EXPRESSIONS)),
    change: () => factors.set(pick([...factors.keys()]), pick(EXPRESSIONS)),
    remove: () => {
      if (factors.size > 1) factors.delete(pick([...factors.keys()]));
    },
    rename: () => {
      const name = pick([...factors.keys()]);
      factors.set(`f${names++}`, factors.get(name)!);
      factors.delete(name);
    },
    param: () => {
      k = below(5);
    },
  };
  const history: string[] = [];
  for (let step = 0; step < 6; step++) {
    const before = await resultsOf(folder);
    for (let count = 1 + below(2); count > 0; count--) {
      const event = pick(Object.keys(events));
      history.push(event);
      events[event]!();
    }
    const comment = below(3) === 0 ? "# a comment\r\n" : "";
    folder.configure({ sink, formulas: comment + textOf(), job: `params: { k: ${k} }` });
    const killedAt = below(3) === 0 ? pick(["staged", "prepared", "published"]) : null;
    const kill = (fields: object) => {
      if ((fields as { step?: string }).step === killedAt) throw new Error("killed");
    };
    const failure = await folder.run({ ...SILENT, debug: kill });
    if (failure !== null) {
      expect(String(failure)).toContain("killed");
      expect(await folder.run(), history.join()).toBeNull();
    }
    const found = await resultsOf(folder);
    const expected = await expectedOf(engine, folder.path, BARS.slice(0, given), textOf(), k);
    for (const [name, values] of expected)
      expect(found.get(name), `${name} after ${history}`).toEqual(values);
    for (const name of removed.keys()) if (expected.has(name)) removed.delete(name);
    for (const [name, values] of found) {
      if (expected.has(name)) continue;
      const last = removed.get(name) ?? before.get(name)!;
      const rows = [...values].map(([key, value]) => [key, last.get(key) ?? null, value] as const);
      for (const [key, was, is] of rows) expect(is, `${name} of ${key}, removed, after ${history}`).toBe(was);
      removed.set(name, values);
    }
    const kept = [...found.keys()].filter((name) => !expected.has(name));
    expect([...removed.keys()].sort()).toEqual(kept.sort());
  }
}

describe.each(["parquet", "arrow", "duckdb"] as const)("a sink of %s", (sink) => {
  test.each(Array.from({ length: trials(2, 60) }, (_, index) => index + 1))("life %i", async (seed) => {
    await live(seed, sink);
  }, 120_000);
});

test("formulas may change as long as there are no results", async () => {
  using folder = new JobFolder({ formulas: "param k = 1\na = log(close) * k\n" });
  const path = folder.addBars(BARS[0]!.replace(/\d+\.\d+/, "none"));
  expect(String(await folder.run())).toContain("E3");
  const now = "param k = 1\nb = ema(close, 5) * k\n";
  folder.configure({ formulas: now });
  writeFileSync(path, BARS[0]!);
  expect(await folder.run()).toBeNull();
  expect(await folder.run()).toBeNull();
  expect(await resultsOf(folder)).toEqual(await expectedOf(engine, folder.path, BARS.slice(0, 1), now, 1));
});

test("a large rebuild waits, and new rows go on with the formulas of before", async () => {
  using folder = new JobFolder({ formulas: "param k = 1\na = ema(close, 5) * k\n", job: "limit: 10" });
  folder.addBars(BARS[0]!);
  expect(await folder.run()).toBeNull();
  const now = "param k = 1\na = ema(close, 7) * k\n";
  folder.configure({ formulas: now, job: "limit: 10" });
  folder.addBars(BARS[1]!);
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  expect(messages.join("\n")).toContain(
    'waiting {"job":"bars","changed":"formulas","factors":["a"],"cells":24}',
  );
  expect(await resultsOf(folder)).toEqual(
    await expectedOf(engine, folder.path, BARS.slice(0, 2), "param k = 1\na = ema(close, 5) * k\n", 1),
  );
  expect(await folder.run(SILENT, {}, { apply: "bars" })).toBeNull();
  expect(await resultsOf(folder)).toEqual(await expectedOf(engine, folder.path, BARS.slice(0, 2), now, 1));
});
