import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { compile, type Panel } from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { realFormulas, startHost } from "../../execution/real_formulas.ts";
import { arenaCounts, smallArenas } from "../../support/small_arenas.ts";
import { barOf, linesOf, rowsOf } from "../real_session.ts";

/** A session over several memories is one session. What else it does is in lives.generated.test.ts. */

const TEXT = ["first", "second", "third", "fourth"]
  .map((name, index) => `${name} = ts_mean(rank(close + ${index} * volume), 60) priority ${index % 2}`)
  .join("\n");

let host: EngineHost;
let small: EngineHost;
let panel: Panel;
const counts: number[] = [];
beforeAll(async () => {
  host = await startHost(2);
  small = smallArenas(host, 2 ** 18);
  ({ panel } = await realFormulas());
  arenaCounts(host, counts);
});
afterAll(async () => await host.pool.close());

const program = () => compile(TEXT, { fields: [...panel.fields.keys()] });

test("a budget leaves out what is least urgent in all memories", async () => {
  const session = await openSession(small, program(), { symbols: panel.symbols, late: "deliver" });
  expect(counts.at(-1)).toBeGreaterThan(1);
  const whole = await openSession(host, program(), { symbols: panel.symbols });
  expect(counts.at(-1)).toBe(1);
  for (let row = 0; row < 12; row++) {
    const bar = barOf(panel, row, session.symbols);
    const { tags, late, table } = await session.push(bar, { budgetMs: 1e-6 });
    expect(Object.values(tags)).toEqual(["late", "on_time", "late", "on_time"]);
    const complete = linesOf((await whole.push(bar)).table);
    expect(linesOf(table).length).toBe(complete.length);
    expect(linesOf((await late!).table)).toEqual(complete);
  }
  await session.close();
  await whole.close();
});

test("a checkpoint is of sessions with several memories and with one, revisable or not", async () => {
  const session = await openSession(small, program(), { warmup: rowsOf(panel, 0, 70), revisable: true });
  const checkpoint = await session.checkpoint();
  const bar = barOf(panel, 70, session.symbols);
  const expected = linesOf((await session.push(bar)).table);
  await session.close();
  for (const where of [small, host]) {
    const later = await openSession(where, program(), { checkpoint });
    expect(linesOf((await later.push(bar)).table)).toEqual(expected);
    await later.close();
  }
});
