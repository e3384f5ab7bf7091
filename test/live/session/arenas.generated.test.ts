import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { compile, type LiveRow, type OpenOptions, type Panel, type PushOptions } from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { realFormulas, startHost } from "../../execution/real_formulas.ts";
import { arenaCounts, smallArenas } from "../../support/small_arenas.ts";
import { trials } from "../../support/trials.ts";
import { alpha101, barOf, disturbed, linesOf, rowsOf, TEXT } from "../real_session.ts";

/** A session over several memories is one session: whatever it does has the bits of a session over one. */

const WARM_UP_ROWS = 40;
const PUSHES = 30;

let host: EngineHost;
let panel: Panel;
beforeAll(async () => {
  host = await startHost(2);
  ({ panel } = await realFormulas());
});
afterAll(async () => await host.pool.close());

const programOf = (text: string) =>
  compile(text, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });

/** What a session gives: pushes, revisions, an abort, a checkpoint that another session goes on from, an update. */
async function lifeOf(where: EngineHost, text: string, pushOptions: (row: number) => PushOptions) {
  const program = programOf(text);
  const options: OpenOptions = { warmup: rowsOf(panel, 0, WARM_UP_ROWS), revisable: true };
  let session = await openSession(where, program, options);
  const seen: unknown[] = [];
  const note = ({ table, tags }: LiveRow) => seen.push([linesOf(table), [...tags]]);
  const bar = (row: number) => barOf(panel, row, session.symbols);
  for (let row = WARM_UP_ROWS; row < WARM_UP_ROWS + PUSHES; row++) {
    if (row % 10 === 5) {
      const stopped = session.push(bar(row), { signal: AbortSignal.abort(new Error("stopped")) });
      await expect(stopped).rejects.toThrow("stopped");
    }
    note(await session.push(bar(row), pushOptions(row)));
    if (row % 7 === 3) {
      note(await session.revise(barOf(disturbed(panel, row), row, session.symbols), pushOptions(row)));
      note(await session.revise(bar(row), pushOptions(row)));
    }
    if (row % 11 === 9) {
      const checkpoint = await session.checkpoint();
      await session.close();
      session = await openSession(where, program, { ...options, warmup: undefined, checkpoint });
    }
  }
  const more = `${text}\nadded = ts_mean(rank(close), 12) + cum_sum(close)`;
  seen.push(await session.update(programOf(more)));
  note(await session.push(bar(WARM_UP_ROWS + PUSHES)));
  await session.close();
  return seen;
}

interface Life {
  readonly name: string;
  readonly text: () => string;
  readonly arenaBytes: number;
  readonly push: (row: number) => PushOptions;
}

const CONDITIONS: Life = {
  name: "conditions and params",
  text: () => TEXT,
  arenaBytes: 2 ** 20,
  push: (row) => ({
    params: { minute: row, session: row % 4 === 0 ? "close" : "open", lambda: row / 100 },
  }),
};
const PUBLISHED: Life = {
  name: "the 101 formulas",
  text: alpha101,
  arenaBytes: 3 * 2 ** 20,
  push: () => ({}),
};

test.each(trials([CONDITIONS], [CONDITIONS, PUBLISHED]))("$name", async ({ text, arenaBytes, push }) => {
  const expected = await lifeOf(host, text(), push);
  const counts = arenaCounts(host);
  expect(await lifeOf(smallArenas(host, arenaBytes), text(), push)).toEqual(expected);
  expect(Math.min(...counts)).toBeGreaterThan(1);
});

test("a budget leaves out what is least urgent in all memories", async () => {
  const text = ["first", "second", "third", "fourth"]
    .map((name, index) => `${name} = ts_mean(rank(close + ${index} * volume), 60) priority ${index % 2}`)
    .join("\n");
  const counts = arenaCounts(host);
  const session = await openSession(smallArenas(host, 2 ** 18), programOf(text), {
    symbols: panel.symbols,
    late: "deliver",
  });
  expect(counts[0]).toBeGreaterThan(1);
  const whole = await openSession(host, programOf(text), { symbols: panel.symbols });
  for (let row = 0; row < 12; row++) {
    const bar = barOf(panel, row, session.symbols);
    const { tags, late, table } = await session.push(bar, { budgetMs: 1e-6 });
    expect([...tags.values()]).toEqual(["late", "on_time", "late", "on_time"]);
    const complete = linesOf((await whole.push(bar)).table);
    expect(linesOf(table).length).toBe(complete.length);
    expect(linesOf((await late!).table)).toEqual(complete);
  }
  await session.close();
  await whole.close();
});

test("a checkpoint is of the same memories, of revisable sessions and of others", async () => {
  const program = programOf(alpha101());
  const small = smallArenas(host, 4 * 2 ** 20);
  const warmup = rowsOf(panel, 0, WARM_UP_ROWS);
  const counts = arenaCounts(host);
  const session = await openSession(small, program, { warmup, revisable: true });
  const checkpoint = await session.checkpoint();
  const later = await openSession(small, program, { checkpoint });
  expect(counts[0]).toBeGreaterThan(1);
  const bar = barOf(panel, WARM_UP_ROWS, session.symbols);
  const expected = linesOf((await session.push(bar)).table);
  expect(linesOf((await later.push(bar)).table)).toEqual(expected);
  await session.close();
  await later.close();
  await expect(openSession(host, program, { checkpoint })).rejects.toThrow("E352");
});
