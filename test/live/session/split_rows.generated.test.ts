import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { startHost } from "../../../src/evaluation/start_host.ts";
import type { TraceEvent } from "../../../src/execution/trace/trace_events.ts";
import { compile, type Panel, readPanel } from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { disturbed, example, expectLines, linesOf, rowsOf } from "../real_session.ts";

/**
 * Sessions whose rows are split over lanes, since their operators are said to be slow: with pushes under way, aborts,
 * revisions and lost threads, each row has the lines of a session of one thread, which splits nothing.
 */

const BURSTS = trials(40, 600);
const THREADS = 3;
const OPERATORS = ["zscore", "winsorize", "normalize", "rank", "group_rank"];
const COSTS = {
  machine: null,
  operators: Object.fromEntries(OPERATORS.map((name) => [name, [{ windowRows: 1, nsPerCell: 1e6 }]])),
};
/** One path through all of them: what is beside it need not be split. */
const TEXT = `
  let moved = close / delay(close, 1) - 1
  chained = rank(winsorize(zscore(group_rank(normalize(moved, 1, 2), sector) * moved), 1.5))
  averaged = ts_mean(zscore(moved), 3)`;

const random = new Seeded();
let hosts: { readonly split: EngineHost; readonly whole: EngineHost };
let bars: Panel;
const opened: Extract<TraceEvent, { kind: "opened" }>[] = [];

beforeAll(async () => {
  const all = await readPanel(example("data/sp100_daily.csv.gz"), {
    groups: example("data/sp100_sectors.csv"),
  });
  bars = rowsOf(all, 300, 500);
  const trace = (events: readonly TraceEvent[]) => {
    opened.push(...events.filter((event) => event.kind === "opened"));
  };
  const split = await startHost({ threads: THREADS, costs: COSTS, trace });
  hosts = { split, whole: await startHost({ threads: 1 }) };
});
afterAll(async () => {
  for (const { pool } of Object.values(hosts)) await pool.close();
});

const barOf = (row: number) => disturbed(rowsOf(bars, row, row + 1), random.below(13));

test(`${BURSTS} bursts of pushes`, { timeout: 5000 * BURSTS }, async () => {
  const program = compile(TEXT, { fields: [...bars.fields.keys()], groups: [...bars.groups.keys()] });
  const options = { warmup: rowsOf(bars, 0, 0), revisable: true };
  const kinds = { compared: 0, cut: 0, revised: 0, lost: 0 };
  let [session, calm] = [null, null] as unknown as Awaited<ReturnType<typeof openSession>>[];
  let row = 0;
  for (let burst = 0; burst < BURSTS; burst++) {
    if (burst % 20 === 0) {
      await session?.close();
      await calm?.close();
      session = await openSession(hosts.split, program, options);
      calm = await openSession(hosts.whole, program, options);
      row = 0;
    }
    const where = `burst ${burst}, seed ${random.seed}`;
    const sent = Array.from({ length: 1 + random.below(6) }, () => barOf(row++));
    const cutAt = random.uniform() < 0.3 ? random.below(sent.length) : -1;
    const controller = new AbortController();
    const { signal } = controller;
    const pushing = sent.map((bar, i) => session!.push(bar, i === cutAt ? { signal } : {}));
    const ends = Promise.allSettled(pushing);
    let losing = Promise.resolve();
    if (random.uniform() < 0.3) {
      const [lost, afterMs] = [random.below(THREADS), random.below(4)];
      losing = wait(afterMs).then(() => hosts.split.pool.restartExecutor(lost));
      kinds.lost++;
    }
    for (let turn = random.below(5); turn > 0; turn--) await new Promise<void>((done) => setImmediate(done));
    controller.abort(new Error("enough"));
    for (const [i, end] of (await ends).entries()) {
      if (end.status === "rejected") {
        expect(end.reason.message, where).toMatch(/^enough$|^E413 /);
        kinds.cut++;
        continue;
      }
      const { table } = await calm!.push(sent[i]!);
      expectLines(end.value.table, linesOf(table), where);
      kinds.compared++;
    }
    // A part that is lost twice is an error of its own.
    await losing;
    if (cutAt < 0 && random.uniform() < 0.4) {
      const bar = disturbed(sent.at(-1)!, random.below(13));
      const [revised, expected] = [await session!.revise(bar), await calm!.revise(bar)];
      expectLines(revised.table, linesOf(expected.table), `revised, ${where}`);
      kinds.revised++;
    }
  }
  await session!.close();
  await calm!.close();
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThan(0);
  const splitNodes = opened.flatMap(({ nodes }) =>
    nodes.filter((node) => node.kind === "rows" && node.partCount > 1),
  );
  expect(new Set(splitNodes.map(({ name }) => name))).toEqual(
    new Set(["group_rank", "rank", "winsorize", "zscore", "normalize"]),
  );
});

test("a session of one thread goes on from the checkpoint of one that splits rows, and the other way round", async () => {
  const program = compile(TEXT, { fields: [...bars.fields.keys()], groups: [...bars.groups.keys()] });
  const options = { warmup: rowsOf(bars, 0, 20) };
  for (const [from, to] of [
    [hosts.split, hosts.whole],
    [hosts.whole, hosts.split],
  ] as const) {
    await using session = await openSession(from, program, options);
    await session.push(rowsOf(bars, 20, 21));
    const checkpoint = await session.checkpoint();
    await using other = await openSession(to, program, { ...options, checkpoint });
    const bar = rowsOf(bars, 21, 22);
    const [expected, { table }] = [await session.push(bar), await other.push(bar)];
    expectLines(table, linesOf(expected.table), "after the checkpoint");
  }
});
