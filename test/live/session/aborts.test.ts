import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, defineOperator, Engine, type PushOptions } from "../../../src/index.ts";
import { facts, x } from "../../engine/fixtures/operator_facts.ts";
import { linesOf } from "../real_session.ts";

/** What goes on from a row that was aborted after it had begun, at once or from a checkpoint, has not seen it. */

/** The value, after 50 ms for values from 1000 on: a busy machine aborts in time too. */
const slow = defineOperator({
  ...facts,
  name: "slow",
  axis: "elementwise",
  parameters: [x],
  summary: "The value.",
  reference: (x: number) => {
    const end = performance.now() + (x >= 1000 ? 50 : 0);
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

describe("a push that is called when one that runs was aborted", () => {
  test.each([0, 1, 2])("is the row behind those that stand (%i rows run ahead)", async (ahead) => {
    for (let round = 0; round < 4; round++) {
      await using life = await opened("total = cum_sum(slow(close))");
      const { push } = life;
      expect(await push(1)).toBe(1);
      const standing = Array.from({ length: ahead }, (_, index) => push(2 + index, 2000));
      const controller = new AbortController();
      const cut = push(10, 1000, { signal: controller.signal });
      for (let turn = 0; turn <= round; turn++) await nextTurn();
      controller.abort(new Error("enough"));
      const next = push(11, 5);
      expect(await cut).toBe("enough");
      const rest = [push(12, 6), push(13, 7)];
      const before = 1 + 2000 * ahead;
      expect(await Promise.all(standing)).toEqual([2001, 4001].slice(0, ahead));
      expect(await Promise.all([next, ...rest])).toEqual([before + 5, before + 11, before + 18]);
    }
  });

  test("may be of the same bar, and is then the row in its place", async () => {
    for (let round = 0; round < 4; round++) {
      await using life = await opened("total = cum_sum(slow(close))");
      const { push } = life;
      expect(await push(1)).toBe(1);
      const controller = new AbortController();
      const cut = push(10, 1000, { signal: controller.signal });
      for (let turn = 0; turn <= round; turn++) await nextTurn();
      controller.abort(new Error("enough"));
      const [again, same] = [push(10, 5), push(10, 6)];
      expect(await Promise.all([cut, again, same, push(11, 7)])).toEqual(["enough", 6, "E371 a", 13]);
    }
  });

  test("is taken back with one between them, which was called before the abort", async () => {
    await using life = await opened("total = cum_sum(slow(close))");
    const { push } = life;
    const controller = new AbortController();
    const cut = push(1, 1000, { signal: controller.signal });
    const between = push(2, 1000);
    await nextTurn();
    controller.abort(new Error("enough"));
    const behind = push(3, 1000);
    expect(await Promise.all([cut, between, behind])).toEqual(["enough", "E412 a", "E412 a"]);
    expect(await Promise.all([push(2), push(3)])).toEqual([2, 5]);
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

test("a checkpoint after an aborted push and idle catch-up is one of a session that has not begun it", async () => {
  const text =
    "mean = ts_mean(close, 4)\nslow = slow(1000 + rank(close))\nparam p = 0\nrest = ts_max(close, 3) when p == 1";
  for (let round = 0; round < 4; round++) {
    await using life = await opened(text);
    const { session, push } = life;
    for (let time = 1; time < 5; time++) await push(time);
    const controller = new AbortController();
    const first = push(5);
    const cut = push(6, 1000, { signal: controller.signal });
    await wait(round);
    controller.abort(new Error("enough"));
    expect([await first, await cut]).toEqual([3.5, "enough"]);
    await using later = await opened(text, await session.checkpoint());
    expect(await later.push(6)).toBe(4.5);
  }
});
