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

/** Each stands behind "A". */
describe.each<[symbol: unknown, told: string]>([
  [5, "5"],
  [undefined, "undefined"],
  [null, "null"],
  ["", '""'],
])("the symbol %j", (symbol, told) => {
  const refused = {
    code: "E373",
    problem: `symbols[1] is ${told}, not the name of an instrument`,
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

  test("is refused in a bar, which has not been there then", async () => {
    await using session = await open(["A", "5"]);
    await expect(push(session, { symbols: ["A", symbol] })).rejects.toMatchObject(refused);
    expect(session.lastTime).toBeNull();
  });
});

test.each(["A", new Set(["A"]), Promise.resolve(["A"])])("symbols are a list, not %o", async (symbols) => {
  const told = /^symbols takes a list, got a/;
  await expect(open(symbols)).rejects.toMatchObject({ code: "E528", problem: expect.stringMatching(told) });
  await using session = await open(["A"]);
  await expect(session.addSymbols(symbols as never)).rejects.toMatchObject({ code: "E528" });
  await expect(push(session, { symbols })).rejects.toMatchObject({ code: "E528" });
});

test("labels of groups are texts or null, in a list", async () => {
  await using session = await open(["A", "B"]);
  await expect(push(session, { groups: { sector: ["x", 5] } })).rejects.toMatchObject({
    code: "E375",
    problem: "sector holds 5, not a text",
  });
  await expect(push(session, { groups: { sector: "xy" } })).rejects.toMatchObject({
    code: "E528",
    problem: "the group column sector takes a list, got a string",
  });
});
