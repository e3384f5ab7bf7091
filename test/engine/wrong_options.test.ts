import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  compile,
  Engine,
  type LiveSession,
  openPanelSource,
  panelSource,
  readCheckpoint,
  readPanel,
  writeCheckpoint,
  writeTable,
} from "../../src/index.ts";
import { panelOf } from "../panels.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const panel = panelOf({ close: [[1, 2]] });
const program = compile("a = close", { fields: ["close"], groups: [] });
const wrong = (value: unknown) => value as never;

async function batchesOf(...args: Parameters<Engine["stream"]>): Promise<void> {
  for await (const _ of engine.stream(...args));
}

async function tablesOf(...args: Parameters<Engine["evaluateMany"]>): Promise<void> {
  for await (const _ of engine.evaluateMany(...args));
}

async function inSession(work: (session: LiveSession) => Promise<unknown>): Promise<void> {
  await using session = await engine.open(program, { symbols: ["A", "B"] });
  await work(session);
}

/** Each option of each call with a value of another kind, which JavaScript would take or fail on later. */
describe("an option of a wrong kind", () => {
  const FLAG = ["true or false", "give one of them"];
  const LIST = ["a list", "give an array: [...]"];
  const NAMES = ["a list of texts", 'give an array: ["..."]'];
  const NUMBERS = ["an object", "write { name: value }"];
  const PATH = ["a path", "give the path as a text"];
  const SIGNAL = ["an AbortSignal", "give the signal of an AbortController"];
  const COLUMN = ["the name of a column", "give it as a text"];
  const TEXT = ["a text", 'write it in quotes: "..."'];
  const FUNCTION = ["a function", "write (...) => ..."];
  const CALL = { params: NUMBERS, paramsByTime: PATH, select: NAMES, keepInfinite: FLAG, signal: SIGNAL };
  const CALLS = { ...CALL, onProgress: FUNCTION };
  const cell = { factor: "a", symbol: "L0" };
  const tables: Readonly<
    Record<string, [work: (options: object) => unknown, kinds: Readonly<Record<string, readonly string[]>>]>
  > = {
    compile: [
      (options) => compile("a = close", options),
      {
        dialect: TEXT,
        file: TEXT,
        universe: TEXT,
        fields: NAMES,
        groups: NAMES,
        disabledPasses: NAMES,
        operators: LIST,
      },
    ],
    evaluate: [(options) => engine.evaluate(program, panel, options), CALLS],
    stream: [(options) => batchesOf(program, panel, options), CALLS],
    evaluateMany: [
      (options) => tablesOf(program, panel, [], options),
      { select: NAMES, keepInfinite: FLAG, signal: SIGNAL, onProgress: FUNCTION },
    ],
    "a call": [(options) => tablesOf(program, panel, [options]), { params: NUMBERS }],
    nulls: [(options) => engine.nulls(program, panel, options), CALLS],
    diff: [(options) => engine.diff(program, program, panel, options), CALLS],
    why: [
      (options) => engine.why(program, panel, { ...cell, time: "1970-01-01", ...options }),
      { params: NUMBERS, paramsByTime: PATH, keepInfinite: FLAG, signal: SIGNAL },
    ],
    open: [
      (options) => engine.open(program, { symbols: ["A"], ...options }),
      {
        params: NUMBERS,
        priorities: NUMBERS,
        select: NAMES,
        keepInfinite: FLAG,
        revisable: FLAG,
        signal: SIGNAL,
      },
    ],
    push: [
      (options) => inSession((session) => session.push({ time: 1, fields: { close: [1, 2] } }, options)),
      { params: NUMBERS, copy: FLAG, signal: SIGNAL },
    ],
    update: [
      (options) => inSession((session) => session.update(program, options)),
      { params: NUMBERS, priorities: NUMBERS, select: NAMES },
    ],
    readPanel: [
      (options) => readPanel("bars.csv", options),
      { groups: PATH, series: PATH, timeColumn: COLUMN, symbolColumn: COLUMN },
    ],
    "Engine.start": [(options) => Engine.start(options), { trace: FUNCTION }],
    hang: [(hang) => Engine.start({ hang }), { replaces: FLAG, onHang: FUNCTION }],
  };
  const cases = Object.entries(tables).flatMap(([call, [work, kinds]]) =>
    Object.entries(kinds).map(([option, [what, remedy]]) => ({ call, option, work, what, remedy })),
  );

  test.each(cases)("$call takes as $option $what", async ({ option, work, what, remedy }) => {
    const wrongs = [
      5,
      new Map(),
      Promise.resolve(),
      () => {},
      ...([TEXT, PATH, COLUMN].some(([kind]) => kind === what) ? [] : ["a"]),
    ];
    for (const value of wrongs.filter((one) => what !== "a function" || typeof one !== "function")) {
      const problem = `the option ${option} takes ${what}, got `;
      const shown = value instanceof Promise ? `await it: ${remedy}` : remedy;
      await expect((async () => work({ [option]: value }))()).rejects.toMatchObject({
        code: "E528",
        problem: expect.stringContaining(problem),
        remedy: shown,
      });
    }
  });

  test.each(cases)("null is like no $option of $call", async ({ option, work }) => {
    const problems = await Promise.all(
      [{}, { [option]: null }].map(async (options) => {
        const error = await (async () => work(options))().then(
          (made: unknown) => (made as Engine | undefined)?.[Symbol.asyncDispose]?.(),
          (cause: Error) => cause.message,
        );
        return error;
      }),
    );
    expect(problems[1]).toEqual(problems[0]);
  });
});

test("a path has no null character", async () => {
  await expect(readCheckpoint("a\0b")).rejects.toThrow("E528 readCheckpoint takes a path, got a string");
  await expect(writeCheckpoint("a\0b", new Uint8Array(1))).rejects.toThrow("E528");
});

test.each([
  [{ hang: 5 }, "E528 hang takes an object of options, got a number"],
  [{ hang: { limit: 5 } }, "E527 unknown option limit of hang"],
  [{ hang: { limitMs: true } }, "E572 hang.limitMs is true"],
  [{ memoryLimit: [1] }, "E507 an array is not a size of memory"],
])("Engine.start(%j) is refused", async (options, message) => {
  await expect(Engine.start(wrong(options))).rejects.toThrow(message);
});

test("operators of compile are definitions of operators", () => {
  expect(() => compile("a = close", { operators: [wrong(1)] })).toThrow(
    "E528 defineOperator takes the definition of an operator, got a number",
  );
  expect(() => compile("a = close", { operators: [wrong({ name: "one" })] })).toThrow(
    "E549 operator one: axis is one of elementwise, rolling",
  );
});

test("a cell to be explained has a factor, a symbol and a time", async () => {
  await using session = await engine.open(program, { symbols: ["A", "B"] });
  await session.push({ time: 1, fields: { close: [1, 2] } });
  for (const symbol of [undefined, 5]) {
    const what = symbol === undefined ? "undefined" : "a number";
    const options = { factor: "a", symbol, time: "1970-01-01" };
    const message = `E528 the symbol takes a text, got ${what}`;
    await expect(engine.why(program, panel, wrong(options))).rejects.toThrow(message);
    await expect(engine.whyRows(program, panel, wrong({ factor: "a", symbol }))).rejects.toThrow(message);
    await expect(session.why("a", wrong(symbol))).rejects.toThrow(message);
    await expect(session.why(wrong(symbol), "A")).rejects.toThrow(
      `E528 the factor takes a text, got ${what}`,
    );
  }
  await expect(engine.why(program, panel, wrong({ factor: "a", symbol: "L0" }))).rejects.toThrow(
    "E528 the time takes a text or a Date, got undefined",
  );
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
  [{ rows: 5 }, "E528 the option rows takes rows"],
  [{ field: [] }, "E527 unknown option field of blocks"],
])("blocks of a source with %j are refused", async (request, message) => {
  const folder = await mkdtemp(join(tmpdir(), "blocks-"));
  await writeTable(await engine.evaluate(program, panel), join(folder, "bars.arrow"));
  const source = await openPanelSource(join(folder, "bars.arrow"), { rename: { close: "a" } });
  for (const each of [source, panelSource(panel)])
    expect(() => each.blocks(wrong({ fields: ["close"], groups: [], blockRows: 1, ...request }))).toThrow(
      message,
    );
  await source.close();
  await rm(folder, { recursive: true });
});

test("a panel that does not fit together is refused wherever panels are taken", async () => {
  const broken = { ...panel, present: new Uint8Array(1) };
  const message = "E522 the panel does not fit together: present has length 1";
  await expect(engine.evaluate(program, broken)).rejects.toThrow(message);
  await expect(engine.open(program, { warmup: broken })).rejects.toThrow(message);
  await using session = await engine.open(program, { warmup: panel });
  await expect(session.push(broken)).rejects.toThrow(message);
  const nameless = { ...panel, time: { ...panel.time, name: wrong(undefined) } };
  await expect(engine.evaluate(program, nameless)).rejects.toThrow("time.name is not the name of a column");
});

test("params have values of their kinds, also those without a default", async () => {
  const needs = compile("param p\nparam q = 1\na = close * p * q", { fields: ["close"] });
  for (const [value, got] of [
    [null, "null"],
    [[3], "an array"],
    [Promise.resolve(3), "a promise"],
    [3n, "a bigint"],
  ]) {
    const given = (params: object) => engine.evaluate(needs, panel, { params: wrong(params) });
    await expect(given({ p: value })).rejects.toThrow(
      `E504 param p is a number, a text, true or false, got ${got}`,
    );
    await expect(given({ p: 1, q: value })).rejects.toThrow(`E504 param q is a number, got ${got}`);
  }
});

test("a checkpoint goes on with times of the same type only", async () => {
  const time = { name: "day", type: { kind: "date" } } as const;
  await using session = await engine.open(program, { symbols: ["A"], time });
  const checkpoint = await session.checkpoint();
  const refused = "E352 the checkpoint belongs to another session: its times are each a date (YYYY-MM-DD)";
  const other = { name: "day", type: { kind: "integer", bits: 64 } } as const;
  await expect(engine.open(program, { checkpoint, time: other })).rejects.toThrow(refused);
  await using again = await engine.open(program, { checkpoint, time: { ...time, name: "date" } });
  expect(again.symbols).toEqual(["A"]);
});
