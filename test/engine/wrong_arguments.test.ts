import { join } from "node:path";
import type { Table } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  compile,
  defineOperator,
  Engine,
  type LiveSession,
  openPanelSource,
  openResultWriter,
  type PanelSource,
  panelSource,
  type ResultWriter,
  readPanel,
  writeTable,
} from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { fileFolder } from "../support/file_folder.ts";
import { facts, x } from "./fixtures/operator_facts.ts";
import { errorOf, WRONG_VALUES } from "./fixtures/wrong_values.ts";

/** What JavaScript lets through: each public function names what it takes, what it got and where to get the right thing. */

const panel = panelOf({ close: [[1, 2]] });
const program = compile("a = close", { fields: ["close"], groups: [] });
const wrong = (value: unknown) => value as never;

let engine: Engine;
let grouped: LiveSession;
let session: LiveSession;
let source: PanelSource;
let table: Table;
let writer: ResultWriter;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
  grouped = await engine.openSession(compile("a = group_mean(close, sector)"), { symbols: ["A", "B"] });
  session = await engine.openSession(program, { symbols: ["A", "B"] });
  await session.push({ time: 1, fields: { close: [1, 2] } });
  const bars = join(fileFolder(), "bars.arrow");
  table = (await engine.evaluate(program, panel)).table;
  await writeTable(table, bars);
  source = await openPanelSource(bars, { rename: { close: "a" } });
  writer = await openResultWriter(join(fileFolder(), "result.csv"));
});
afterAll(async () => {
  await writer.abort();
  await source.close();
  await engine.close();
});

async function all(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of batches);
}

const A_PANEL = "a panel is what await readPanel(path) gives";
const STRINGS = ["an empty text", "a string"];
const LISTS = ["an array", "a Buffer"];

/** How to get what a call takes, and what is taken, as it is called. */
const KINDS: Readonly<Record<string, readonly [remedy: string, ...taken: string[]]>> = {
  "a text of formulas": ['give the text itself, e.g. of readFileSync(file, "utf8")', ...STRINGS],
  "a program": ["a program is what compile(text) gives"],
  "a panel": [A_PANEL],
  "a panel or a source": [`${A_PANEL}, a source what await openPanelSource(path) gives`],
  "a path": ["give the path as a text", "a string"],
  "a text": ['write it in quotes: "..."', ...STRINGS],
  "a list": ["give an array: [...]", ...LISTS],
  "a list of calls": ["write [{ params: { ... } }, ...]", "an array"],
  "a list of numbers": ["give one value per symbol, null where there is none", ...LISTS],
  "a bar": [
    "write { time, fields: { close: [...] } }, or give several, or a panel: await readPanel(path)",
    "an array",
  ],
  "a checkpoint": [
    "a checkpoint is the folder that await session.checkpoint(folder) has written, or the bytes that it gives without one",
    "a Buffer",
    "a string",
  ],
  "an Arrow table": ["a table is what (await engine.evaluate(program, panel)).table is"],
  "a record batch": ["give the batches of engine.stream(program, source)"],
  "the definition of an operator": ["docs/user_operators.md says what it needs", "an object", "a URL"],
};

const cell = { factor: "a", symbol: "L0", time: "1970-01-01" };
const bar = { time: 2, fields: { close: [1, 2] } };
const calls: readonly [callee: string, what: string, call: (value: never) => unknown][] = [
  ["compile", "a text of formulas", (text) => compile(text)],
  ["evaluate", "a program", (one) => engine.evaluate(one, panel)],
  ["evaluate", "a panel or a source", (one) => engine.evaluate(program, one)],
  ["stream", "a program", (one) => all(engine.stream(one, panel))],
  ["stream", "a program", (one) => engine.openStream(one, panel)],
  ["stream", "a panel or a source", (one) => all(engine.stream(program, one))],
  ["stream", "a panel or a source", (one) => engine.openStream(program, one)],
  ["evaluateMany", "a program", (one) => all(engine.evaluateMany(one, panel, []))],
  ["evaluateMany", "a panel or a source", (one) => all(engine.evaluateMany(program, one, []))],
  ["evaluateMany", "a list of calls", (many) => all(engine.evaluateMany(program, panel, many))],
  ["why", "a program", (one) => engine.why(one, panel, cell)],
  ["why", "a panel or a source", (one) => engine.why(program, one, cell)],
  ["whyRows", "a program", (one) => engine.whyRows(one, panel, cell)],
  ["whyRows", "a panel or a source", (one) => engine.whyRows(program, one, cell)],
  ["nulls", "a program", (one) => engine.nulls(one, panel)],
  ["nulls", "a panel or a source", (one) => engine.nulls(program, one)],
  ["diff", "a program", (one) => engine.diff(one, program, panel)],
  ["diff", "a program", (one) => engine.diff(program, one, panel)],
  ["diff", "a panel or a source", (one) => engine.diff(program, program, one)],
  ["openSession", "a program", (one) => engine.openSession(one, { symbols: ["A"] })],
  ["a session", "a checkpoint", (one) => session.restore(one)],
  ["update", "a program", (one) => session.update(one)],
  ["a session", "a bar", (one) => session.push(one)],
  ["a session", "a bar", (one) => session.push([one])],
  ["symbols", "a list", (many) => session.push({ ...bar, symbols: many })],
  ["symbols", "a list", (many) => session.addSymbols(many)],
  ["the group column sector", "a list", (labels) => grouped.push({ ...bar, groups: { sector: labels } })],
  ["the field close", "a list of numbers", (close) => session.push({ time: 2, fields: { close } })],
  ["the factor", "a text", (factor) => session.why(factor, "A")],
  ["the symbol", "a text", (symbol) => session.why("a", symbol)],
  ["a panel's reading", "a path", (path) => readPanel(path)],
  ["a panel's reading", "a path", (path) => openPanelSource(path)],
  ["panelSource", "a panel", (one) => panelSource(one)],
  ["writeTable", "an Arrow table", (table) => writeTable(table, "a.csv")],
  ["writeTable", "a path", (path) => writeTable(table, path)],
  ["writeTable", "a program", (one) => writeTable(table, "a.csv", one)],
  ["openResultWriter", "a path", (path) => openResultWriter(path)],
  ["openResultWriter", "a program", (one) => openResultWriter("a.csv", one)],
  ["write", "a record batch", (batch) => writer.write(batch)],
  ["checkpoint", "a path", (path) => session.checkpoint(path)],
  ["defineOperator", "the definition of an operator", (one) => defineOperator(one)],
  ["defineOperator", "the definition of an operator", (one) => compile("a = close", { operators: [one] })],
];
const NOTHING = [undefined, "undefined"] as const;
/** What may be left out. */
const OPTIONAL = [
  "symbols a list",
  "checkpoint a path",
  "writeTable a program",
  "openResultWriter a program",
];

test.each(calls)("%s takes %s, and nothing else", async (callee, what, call) => {
  const [remedy, ...taken] = KINDS[what]!;
  for (const [value, called] of OPTIONAL.includes(`${callee} ${what}`)
    ? WRONG_VALUES
    : [NOTHING, ...WRONG_VALUES]) {
    // No path has this character.
    if (taken.includes(called) && !(["a path", "a checkpoint"].includes(what) && value === "a\0b")) continue;
    expect(await errorOf(() => call(wrong(value)))).toMatchObject({
      name: "UsageError",
      code: "E528",
      problem: `${callee} takes ${what}, got ${called}`,
      remedy: called === "a promise" ? `await it: ${remedy}` : remedy,
    });
  }
});

test.each<[call: string, work: () => unknown, problem: string]>([
  ["a source", () => panelSource(wrong(source)), "panelSource takes a panel, got an object"],
  [
    "plain columns",
    () => engine.evaluate(program, wrong({ ...panel, fields: { close: [1, 2] } })),
    "evaluate takes a panel or a source, got an object",
  ],
  [
    "no fields",
    () => session.push(wrong({ time: 2, close: [1, 2] })),
    "a session takes a bar, got an object",
  ],
  ["a table", () => writer.write(wrong(table)), "write takes a record batch, got a Table"],
  [
    "no time",
    () => engine.why(program, panel, wrong({ factor: "a", symbol: "L0" })),
    "the option time takes a text or a Date, got undefined",
  ],
])("%s for what is like it", async (_, work, problem) => {
  expect(await errorOf(work)).toMatchObject({ name: "UsageError", code: "E528", problem });
});

const { nullWhere: _, ...undeclared } = facts;
const PLUS_ONE = {
  ...undeclared,
  name: "plus_one",
  axis: "elementwise",
  parameters: [x],
  summary: "One more.",
  reference: (value: number) => value + 1,
};

test.each([
  [{}, "a name is lower-case letters, digits and _"],
  [{ name: "twice" }, "axis is one of elementwise, rolling"],
  [{ name: "twice", axis: "rolling" }, "parameters is a list"],
  [{ ...PLUS_ONE, result: "serie" }, "result is series or condition, got a string"],
  [{ ...PLUS_ONE, unit: "price" }, "unit is same or none or other, got a string"],
  [{ ...PLUS_ONE, examples: undefined }, "examples is a list, got undefined"],
  [PLUS_ONE, "nullWhere says where it has no value: { domain: (x) => x < 0 }, say, or {} for nowhere"],
  [
    { ...PLUS_ONE, nullWhere: null },
    "nullWhere says where it has no value: { domain: (x) => x < 0 }, say, or {} for nowhere",
  ],
  [
    { ...PLUS_ONE, nullWhere: { bad_luck: () => true } },
    "nullWhere has an unknown cause, bad_luck; docs/null_causes.md has the list",
  ],
  [
    { ...PLUS_ONE, nullWhere: { absent: () => true } },
    "nullWhere has absent, a cause that the engine finds by itself",
  ],
  [{ ...PLUS_ONE, nullWhere: { domain: true } }, "nullWhere.domain is a function"],
])("defineOperator(%j)", (definition, problem) => {
  expect(() => defineOperator(wrong(definition))).toThrow(
    `E549 operator ${wrong(definition)["name"]}: ${problem}`,
  );
});

test("a memory limit is a positive number of bytes, however large", async () => {
  const path = "examples/data/sp100_sectors.csv";
  const limit = (memoryLimitBytes: number) => openPanelSource(path, { memoryLimitBytes });
  for (const bytes of [0, -1, Number.NaN])
    await expect(limit(bytes)).rejects.toThrow(`E528 a memory limit of ${bytes} bytes`);
  for (const bytes of [1, 1e20, 1e30, Number.POSITIVE_INFINITY])
    await expect(limit(bytes)).rejects.toThrow("E311 examples/data/sp100_sectors.csv: no time column");
});

test.each([
  [{ fields: ["open"] }, "E350 the panel has no field open"],
  [{ groups: ["sector"] }, "E350 the panel has no group column sector"],
  [{ fields: undefined }, "E528 the option fields takes a list of texts, got undefined"],
  [{ blockRows: 0 }, "E528 the option blockRows takes a whole number of rows from 1, got a number"],
  [
    { rows: { first: 0, end: 2 } },
    "E528 the option rows takes rows { first, end } from 0 to 1, got an object",
  ],
  [{ field: [] }, "E527 unknown option field of blocks"],
])("blocks of a source with %j are refused", (request, message) => {
  for (const each of [source, panelSource(panel)])
    expect(() => each.blocks(wrong({ fields: ["close"], groups: [], blockRows: 1, ...request }))).toThrow(
      message,
    );
});

test("a panel that does not fit together is refused wherever panels are taken", async () => {
  const broken = { ...panel, present: new Uint8Array(1) };
  const message = "E522 the panel does not fit together: present has length 1";
  await expect(engine.evaluate(program, broken)).rejects.toThrow(message);
  await expect(engine.openSession(program, { warmup: broken })).rejects.toThrow(message);
  await using session = await engine.openSession(program, { warmup: panel });
  await expect(session.push(broken)).rejects.toThrow(message);
  const nameless = { ...panel, time: { ...panel.time, name: wrong(undefined) } };
  await expect(engine.evaluate(program, nameless)).rejects.toThrow("time.name is not the name of a column");
});

test("params have values of their kinds, also those without a default", async () => {
  const needs = compile("param p\nparam q = 1\na = close * p * q", { fields: ["close"] });
  for (const [value, called] of WRONG_VALUES.filter(
    ([one]) => !["number", "string", "boolean"].includes(typeof one),
  ))
    for (const params of [{ p: value }, { p: 1, q: value }]) {
      const wanted = "q" in params ? "q is a number" : "p is a number, a text, true or false";
      const error = await errorOf(() => engine.evaluate(needs, panel, { params: wrong(params) }));
      expect(error?.message).toContain(`E528 param ${wanted}, got ${called}`);
    }
});

test("a checkpoint goes on with times of the same type only", async () => {
  const time = { name: "day", type: { kind: "date" } } as const;
  await using session = await engine.openSession(program, { symbols: ["A"], time });
  const checkpoint = await session.checkpoint();
  const refused = "E352 the checkpoint belongs to another session: its times are each a date (YYYY-MM-DD)";
  const other = { name: "day", type: { kind: "integer", bits: 64 } } as const;
  await expect(engine.openSession(program, { checkpoint, time: other })).rejects.toThrow(refused);
  await using again = await engine.openSession(program, { checkpoint, time: { ...time, name: "date" } });
  expect(again.symbols).toEqual(["A"]);
});
