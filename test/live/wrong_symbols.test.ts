import { runInNewContext } from "node:vm";
import { vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bar, compile, Engine, type LiveSession } from "../../src/index.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const program = compile("a = group_mean(close, sector)", { fields: ["close"], groups: ["sector"] });
const open = (symbols: unknown) => engine.open(program, { symbols: symbols as readonly string[] });
const push = (session: LiveSession, bar: object) =>
  session.push({ time: 1, fields: { close: [1, 2] }, groups: { sector: ["x", "y"] }, ...bar } as Bar);

/** Each follows "A". */
describe.each<[symbol: unknown, shown: string]>([
  [5, "5"],
  [undefined, "undefined"],
  [null, "null"],
  ["", '""'],
])("the symbol %j", (symbol, shown) => {
  const refused = {
    code: "E381",
    problem: `symbols[1] is ${shown}, not the name of an instrument`,
    remedy: "give each symbol as a text that is not empty",
  };

  test("is refused by open", async () => {
    await expect(open(["A", symbol])).rejects.toMatchObject(refused);
  });

  test("is refused by addSymbols, which adds nothing then", async () => {
    await using session = await open(["X"]);
    await expect(session.addSymbols(["A", symbol as string])).rejects.toMatchObject(refused);
    expect(session.symbols).toEqual(["X"]);
  });

  test("is refused in a bar, which then does not count", async () => {
    await using session = await open(["A", "5"]);
    await expect(push(session, { symbols: ["A", symbol] })).rejects.toMatchObject(refused);
    expect(session.lastTime).toBeNull();
  });
});

test.each(["A", new Set(["A"]), Promise.resolve(["A"])])("symbols are a list, not %o", async (symbols) => {
  const shown = /^symbols takes a list, got a/;
  await expect(open(symbols)).rejects.toMatchObject({ code: "E528", problem: expect.stringMatching(shown) });
  await using session = await open(["A"]);
  await expect(session.addSymbols(symbols as never)).rejects.toMatchObject({ code: "E528" });
  await expect(push(session, { symbols })).rejects.toMatchObject({ code: "E528" });
});

test("a bar with a key that is not known is refused and does not count", async () => {
  await using session = await open(["A", "B"]);
  for (const [wrong, remedy] of [
    [{ symbol: ["A"] }, "did you mean symbols?"],
    [{ close: [1] }, "options of a bar: time, fields, symbols, groups"],
  ] as const) {
    const problem = `unknown option ${Object.keys(wrong)[0]} of a bar`;
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
  await expect(engine.open(program, wrong)).rejects.toMatchObject({ code: "E528" });
  const foreign = runInNewContext("(bytes) => Uint8Array.from(bytes)")(checkpoint);
  await using again = await engine.open(program, { checkpoint: foreign });
  expect(again.symbols).toEqual(["A", "B"]);
});

test.each([
  { groups: { sector: { A: 5 } }, code: "E383", problem: "sector holds 5, not a text" },
  {
    groups: { sector: "x" },
    code: "E528",
    problem: "the group column sector takes labels by symbol, got a string",
  },
  {
    groups: Promise.resolve({}),
    code: "E528",
    problem: "the option groups takes labels by symbol, got a promise",
  },
])("groups that hold for every bar are labels by symbol: $problem", async ({ groups, code, problem }) => {
  const options = { symbols: ["A"], groups: groups as never };
  await expect(engine.open(program, options)).rejects.toMatchObject({ code, problem });
});

test("an option that is null is like one not given", async () => {
  const none = { warmup: null, checkpoint: null, groups: null } as never;
  await using session = await engine.open(program, { symbols: ["A", "B"], ...(none as object) });
  expect(session.symbols).toEqual(["A", "B"]);
  expect(compile("a = 1", { fields: null, groups: null, operators: null } as never).factors).toHaveLength(1);
});

test("labels of groups are texts or null, in a list", async () => {
  await using session = await open(["A", "B"]);
  await expect(push(session, { groups: { sector: ["x", 5] } })).rejects.toMatchObject({
    code: "E383",
    problem: "sector holds 5, not a text",
  });
  await expect(push(session, { groups: { sector: "xy" } })).rejects.toMatchObject({
    code: "E528",
    problem: "the group column sector takes a list, got a string",
  });
});
