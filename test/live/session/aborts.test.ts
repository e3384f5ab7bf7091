import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, defineOperator, Engine, type PushOptions } from "../../../src/index.ts";
import { facts, x } from "../../engine/fixtures/operator_facts.ts";
import { linesOf } from "../real_session.ts";

/** A row that has begun is taken although its push is aborted; one that waits is not, and those behind it are. */

const HANGS = 1e6;

/** The value, after 50 ms for values from 1000 on: a busy machine aborts in time too. Never for `HANGS`. */
const slow = defineOperator({
  ...facts,
  name: "slow",
  axis: "elementwise",
  parameters: [x],
  summary: "The value.",
  reference: (x: number) => {
    const end = performance.now() + (x >= 1e6 ? 1e9 : x >= 1000 ? 50 : 0);
    while (performance.now() < end);
    return x;
  },
});

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function opened(text: string, checkpoint?: Uint8Array) {
  const program = compile(text, { fields: ["close"], operators: [slow] });
  const options = checkpoint ? { checkpoint } : { symbols: ["A"], spareSymbols: 0 };
  const session = await engine.openSession(program, options);
  const push = async (time: number, close = time, pushOptions: PushOptions = {}): Promise<unknown> => {
    try {
      const { table } = await session.push({ time, fields: { close: [close] } }, pushOptions);
      return table.getChildAt(2)!.get(0);
    } catch (error) {
      return (error as Error).message.slice(0, 6);
    }
  };
  return { session, push, [Symbol.asyncDispose]: () => session.close() };
}

describe("a push that is aborted", () => {
  test.each([0, 1, 2])("once its row has begun is taken (%i rows run ahead)", async (ahead) => {
    for (let round = 0; round < 4; round++) {
      await using life = await opened("total = cum_sum(slow(close))");
      const { push } = life;
      expect(await push(1)).toBe(1);
      const standing = Array.from({ length: ahead }, (_, index) => push(2 + index, 2000));
      const controller = new AbortController();
      const cut = push(10, 1000, { signal: controller.signal });
      const behind = push(11, 5);
      for (let turn = 0; turn <= round; turn++) await nextTurn();
      controller.abort(new Error("enough"));
      const before = 1 + 2000 * ahead;
      expect(await Promise.all(standing)).toEqual([2001, 4001].slice(0, ahead));
      expect(await Promise.all([cut, behind, push(12, 6)])).toEqual([
        before + 1000,
        before + 1005,
        before + 1011,
      ]);
    }
  });

  test("before its turn is refused with the reason as the cause, and those behind it are kept", async () => {
    await using life = await opened("total = cum_sum(slow(close))");
    const { session, push } = life;
    const running = [1, 2, 3].map((time) => push(time, 1000));
    const controller = new AbortController();
    const cut = session.push({ time: 4, fields: { close: [1000] } }, { signal: controller.signal });
    const behind = push(5, 5);
    await nextTurn();
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(cut).rejects.toMatchObject({ code: "E412", cause: reason });
    expect(await Promise.all([...running, behind])).toEqual([1000, 2000, 3000, 3005]);
  });

  test("may be pushed again in its place", async () => {
    await using life = await opened("total = cum_sum(slow(close))");
    const { push } = life;
    const running = [1, 2, 3].map((time) => push(time, 1000));
    const controller = new AbortController();
    const cut = push(4, 1000, { signal: controller.signal });
    await nextTurn();
    controller.abort(new Error("enough"));
    const [again, same] = [push(4, 5), push(4, 6)];
    expect(await Promise.all([...running, cut, again, same])).toEqual([
      1000,
      2000,
      3000,
      "E412 t",
      3005,
      "E371 a",
    ]);
  });

  test("while a part of its row runs for more than two seconds ends that thread: the state is made again", async () => {
    await using life = await opened("total = cum_sum(slow(close))\nmean = ts_mean(close, 2)");
    const { session, push } = life;
    expect(await push(1)).toBe(1);
    const controller = new AbortController();
    const reason = new Error("enough");
    const cut = session.push({ time: 2, fields: { close: [HANGS] } }, { signal: controller.signal });
    const behind = session.push({ time: 3, fields: { close: [3] } });
    await wait(20);
    controller.abort(reason);
    await expect(cut).rejects.toMatchObject({
      code: "E412",
      cause: reason,
      problem: expect.stringMatching(/was ended/),
    });
    await expect(behind).rejects.toMatchObject({
      code: "E412",
      problem: expect.stringMatching(/earlier bar failed/),
    });
    expect([session.lastTime, session.shortOfHistory]).toEqual([1n, {}]);
    expect(await push(2)).toBe(3);
  });
});

test("tables of pushes that are not awaited keep their values", async () => {
  await using life = await opened("total = cum_sum(close)");
  const { session } = life;
  const bar = (time: number) => ({ time, fields: { close: [time] } });
  const rows = await Promise.all([0, 1, 2, 3, 4, 5].map((time) => session.push(bar(time))));
  expect(rows.flatMap(({ table }) => linesOf(table))).toEqual([
    "0 A 0",
    "1 A 1",
    "2 A 3",
    "3 A 6",
    "4 A 10",
    "5 A 15",
  ]);
  const lines = rows.map(({ table }) => linesOf(table));
  await session.push(bar(6));
  expect(rows.map(({ table }) => linesOf(table))).toEqual(lines);
});

test("a checkpoint after an aborted push and idle catch-up is one of the rows that were taken", async () => {
  const text =
    "mean = ts_mean(close, 4)\nslow = slow(1000 + rank(close))\nparam p = 0\nrest = ts_max(close, 3) when p == 1";
  for (let round = 0; round < 4; round++) {
    await using life = await opened(text);
    const { session, push } = life;
    for (let time = 1; time < 5; time++) await push(time);
    const controller = new AbortController();
    const first = push(5);
    const cut = push(6, 10, { signal: controller.signal });
    await wait(round);
    controller.abort(new Error("enough"));
    const isTaken = (await cut) !== "E412 t";
    expect(await first).toBe(3.5);
    await using later = await opened(text, await session.checkpoint());
    expect(await later.push(7, 6)).toBe(isTaken ? (4 + 5 + 10 + 6) / 4 : 4.5);
  }
});
