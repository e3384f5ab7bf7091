import { runInNewContext } from "node:vm";
import { vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bar, compile, Engine, type LiveSession } from "../../src/index.ts";
import { shownValue } from "../../src/text/argument_kinds.ts";
import { errorOf, WRONG_VALUES } from "../engine/fixtures/wrong_values.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const program = compile("a = group_mean(close, sector)", { fields: ["close"], groups: ["sector"] });
const open = (symbols: unknown) => engine.openSession(program, { symbols: symbols as readonly string[] });
const push = (session: LiveSession, bar: object) =>
  session.push({ time: 1, fields: { close: [1, 2] }, groups: { sector: ["x", "y"] }, ...bar } as Bar);

test("a symbol is a text that is not empty, in open, addSymbols and a bar, which then change nothing", async () => {
  await using session = await open(["A", "5"]);
  const ways = [
    (symbol: unknown) => open(["A", symbol]),
    (symbol: unknown) => session.addSymbols(["B", symbol as string]),
    (symbol: unknown) => push(session, { symbols: ["A", symbol] }),
  ];
  const wrong = WRONG_VALUES.filter(([, called]) => called !== "a string").map(([value]) => value);
  for (const [way, symbol] of ways.flatMap((way) =>
    [undefined, 5, ...wrong].map((one) => [way, one] as const),
  ))
    expect(await errorOf(() => way(symbol))).toMatchObject({
      code: "E373",
      problem: `symbols[1] is ${shownValue(symbol)}, not the name of an instrument`,
      remedy: "give each symbol as a text that is not empty",
    });
  expect(session.symbols).toEqual(["A", "5"]);
  expect(session.lastTime).toBeNull();
});

test("a bar with a key that is not known is refused and does not count", async () => {
  await using session = await open(["A", "B"]);
  for (const [wrong, remedy] of [
    [{ symbol: ["A"] }, "did you mean symbols?"],
    [{ close: [1] }, "keys of a bar: time, fields, symbols, groups"],
  ] as const) {
    const problem = `unknown key ${Object.keys(wrong)[0]} of a bar`;
    await expect(push(session, wrong)).rejects.toMatchObject({ code: "E527", problem, remedy });
  }
  expect(session.lastTime).toBeNull();
  await push(session, { symbols: undefined });
});

test("what can be read like an array is a list", async () => {
  await using session = await open(vectorFromArray(["B", "A"]));
  expect(session.symbols).toEqual(["B", "A"]);
  const sector = vectorFromArray(["x", null]);
  const { table } = await push(session, { symbols: vectorFromArray(["A", "B"]), groups: { sector } });
  expect([...table.getChild("a")!]).toEqual([1, null]);
});

test("symbols are checked before they are compared with those of a checkpoint", async () => {
  await using session = await open(["A", "B"]);
  const checkpoint = await session.checkpoint();
  const wrong = { symbols: "AB" as never, checkpoint };
  await expect(engine.openSession(program, wrong)).rejects.toMatchObject({ code: "E528" });
  const foreign = runInNewContext("(bytes) => Uint8Array.from(bytes)")(checkpoint);
  await using again = await engine.openSession(program, { checkpoint: foreign });
  expect(again.symbols).toEqual(["A", "B"]);
});

test.each([
  [{ A: 5 }, "E383 sector holds 5, not a text"],
  ["x", "E528 the group column sector takes labels by symbol, got a string"],
])("labels of a group that hold for every bar are not %j", async (sector, message) => {
  await expect(engine.openSession(program, { symbols: ["A"], groups: { sector } as never })).rejects.toThrow(
    message,
  );
});

test("an option that is null is like one not given", async () => {
  const none = { warmup: null, checkpoint: null, groups: null } as never;
  await using session = await engine.openSession(program, { symbols: ["A", "B"], ...(none as object) });
  expect(session.symbols).toEqual(["A", "B"]);
  expect(compile("a = 1", { fields: null, groups: null, operators: null } as never).factors).toHaveLength(1);
});

test("labels of groups are texts or null", async () => {
  await using session = await open(["A", "B"]);
  await expect(push(session, { groups: { sector: ["x", 5] } })).rejects.toThrow(
    "E383 sector holds 5, not a text",
  );
});
