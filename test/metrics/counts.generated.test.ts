import { expect, test } from "vitest";
import { compile, Engine, type LiveCounts, type LiveRow } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const program = compile(
  "urgent = ts_mean(close, 3) priority 2\nusual = ts_std(close, 4)\nother = delta(close, 1)",
  {
    fields: ["close"],
  },
);
const options = { symbols: ["A", "B"], revisable: true };
const bar = (time: number) => ({ time, fields: { close: [time, 2 * time] } });
const NOTHING: LiveCounts = { rows: 0, metBudgets: 0, missedBudgets: 0, lateFactors: 0, skippedFactors: 0 };

test("counts are those of the rows that the caller got, whatever the calls", async () => {
  const random = new Seeded();
  await using engine = await Engine.start({ threads: 2 });
  const sessions = [
    await engine.openSession(program, options),
    await engine.openSession(program, { ...options, late: "skip" }),
  ];
  const expected = sessions.map(() => ({ ...NOTHING }) as { -readonly [Name in keyof LiveCounts]: number });
  const times = [0, 0];
  const note = (which: number, row: LiveRow, rows: number, hasBudget: boolean) => {
    const counts = expected[which]!;
    counts.rows += rows;
    if (hasBudget) counts[row.missedBudget ? "missedBudgets" : "metBudgets"]++;
    counts.lateFactors += Object.values(row.tags).filter((tag) => tag === "late").length;
    counts.skippedFactors += Object.values(row.tags).filter((tag) => tag === "skipped").length;
  };
  const calls: Promise<void>[] = [];
  for (let count = 0; count < trials(60, 2_000); count++) {
    const which = random.below(2);
    const session = sessions[which]!;
    const budget = [{}, { budgetMs: 1e-6 }, { budgetMs: 0.3 }, { budgetMs: 60_000 }][random.below(4)]!;
    const hasBudget = "budgetMs" in budget;
    const isRevision = times[which]! > 0 && random.below(5) === 0;
    if (isRevision) {
      calls.push(session.revise(bar(times[which]!), budget).then((row) => note(which, row, 0, hasBudget)));
    } else {
      const rows = hasBudget ? 1 : 1 + random.below(3);
      const bars = Array.from({ length: rows }, () => bar(++times[which]!));
      calls.push(session.push(bars, budget).then((row) => note(which, row, rows, hasBudget)));
    }
    if (random.below(4) === 0) await Promise.all(calls);
  }
  await Promise.all(calls);
  expect(engine.metrics().sessions, `seed ${random.seed}`).toMatchObject(expected);
  for (const session of sessions) await session.close();
  const { live } = engine.metrics();
  for (const name of Object.keys(NOTHING) as (keyof LiveCounts)[])
    expect(live[name], name).toBe(expected[0]![name] + expected[1]![name]);
});
