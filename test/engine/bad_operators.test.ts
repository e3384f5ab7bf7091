import type { Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import { type ChosenCosts, chooseCosts } from "../../src/evaluation/stored_costs.ts";
import { compile, defineOperator, Engine, type Operator, UsageError } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { exitsOnThreads } from "./fixtures/exits_on_threads.ts";
import { d, facts, x } from "./fixtures/operator_facts.ts";

/** What operators of the user's do to threads is their own failure: other calls go on beside them. */

const panel = syntheticPanel({ lanes: 60, rows: 400, nullShare: 0 });
const fields = [...panel.fields.keys()];
const good = compile("a = ts_rank(correlation(rank(close), rank(volume), 9), 12)\nb = ema(rank(close), 5)", {
  fields,
});

const valuesOf = (table: Table) => ["a", "b"].map((name) => [...table.getChild(name)!]);

let engine: Engine;
let expected: ReturnType<typeof valuesOf>;
beforeAll(async () => {
  // Heaps that are soon full: most of the time of those that never return is spent in collecting garbage.
  const host = await startHost({ threads: 2, memoryLimitBytes: 2 ** 30, heapMebibytesMax: 64 });
  const OfHost = Engine as unknown as new (host: EngineHost, costs: ChosenCosts) => Engine;
  engine = new OfHost(host, await chooseCosts("default"));
  expected = valuesOf((await engine.evaluate(good, panel)).table);
});
afterAll(() => engine.close());

/** Evaluates a formula that fails, with a good call beside it, before it and behind it. */
async function failing(text: string, operators: readonly Operator[]): Promise<Error> {
  const call = engine.evaluate(compile(text, { fields, operators }), panel).then(
    () => new Error("it has not failed"),
    (error: Error) => error,
  );
  const beside = valuesOf((await engine.evaluate(good, panel)).table);
  expect(beside).toEqual(expected);
  const error = await call;
  expect(valuesOf((await engine.evaluate(good, panel)).table)).toEqual(expected);
  expect(engine.memory.managedBytes).toBe(0);
  return error;
}

/** What V8 itself cannot end without the process is among them: a long list that is enlarged. */
const HOARDS: Readonly<Record<string, (value: number) => number>> = {
  arrays: (value) => {
    if (value === 1) return value;
    const hoard: number[][] = [];
    for (;;) hoard.push(new Array<number>(10_000).fill(hoard.length));
  },
  objects: (value) => {
    if (value === 1) return value;
    const hoard: object[] = [];
    for (;;) hoard.push({ at: hoard.length, list: [1] });
  },
  texts: (value) => {
    if (value === 1) return value;
    const hoard: string[] = [];
    for (;;) hoard.push(`${"text ".repeat(3)} ${hoard.length}`);
  },
};

test.each(
  Object.keys(HOARDS),
)("an operator that allocates %s without end is E402 by its name, and the call beside it goes on", async (what) => {
  const hoarding = defineOperator({
    ...facts,
    name: `hoarding_${what}`,
    axis: "elementwise",
    parameters: [x],
    summary: "Does not return for values of a panel.",
    reference: HOARDS[what]!,
  });
  const error = await failing(`y = hoarding_${what}(close + 1000)`, [hoarding]);
  expect(error.message).toContain(`E402 the operator hoarding_${what} ended its thread twice in a row`);
});

test("a plan whose loading ends its threads is E402 by its operator, and the engine goes on", async () => {
  const error = await failing("y = exits_on_threads(close)", [exitsOnThreads]);
  expect(error.message).toMatch(
    /^E402 the operator exits_on_threads ended its thread twice while it was loaded/,
  );
  const session = engine.openSession(
    compile("y = exits_on_threads(close)", { fields, operators: [exitsOnThreads] }),
    { warmup: panel },
  );
  await expect(session).rejects.toThrow(/^E402 /);
  expect(engine.memory.managedBytes).toBe(0);
});

describe("an operator that gives a BigInt", () => {
  const operators: readonly Operator[] = [
    defineOperator({
      ...facts,
      name: "big_cell",
      axis: "elementwise",
      parameters: [x],
      summary: "Gives a BigInt.",
      reference: (value) => (value === 1 ? value : (BigInt(Math.trunc(value)) as never)),
    }),
    defineOperator({
      ...facts,
      name: "big_window",
      axis: "rolling",
      parameters: [x, d],
      summary: "Gives a BigInt.",
      windowRows: ({ d: rows }) => rows,
      reference: ([window]) => (window![0] === 1 ? 1 : (5n as never)),
    }),
    defineOperator({
      ...facts,
      name: "big_step",
      axis: "recursive",
      parameters: [x],
      summary: "Gives a BigInt.",
      initialState: () => [0],
      reference: ([value]) => (value === 1 ? 1 : (5n as never)),
    }),
    defineOperator({
      ...facts,
      name: "big_row",
      axis: "cross_section",
      parameters: [x],
      summary: "Writes a BigInt.",
      reference: ([row], _settings, output) => {
        output[0] = row![0] === 1 ? 1 : (5n as never);
      },
    }),
    defineOperator({
      ...facts,
      name: "big_group",
      axis: "group",
      parameters: [x, { name: "group", kind: "group" }],
      summary: "Writes a BigInt.",
      reference: ([row], _settings, output) => {
        output[0] = row![0] === 1 ? 1 : (5n as never);
      },
    }),
  ];

  test.each([
    ["big_cell", "big_cell(x)"],
    ["big_window", "big_window(x, 2)"],
    ["big_step", "big_step(x)"],
    ["big_row", "big_row(x)"],
    ["big_group", "big_group(x, g)"],
  ])("is E515 by its name: %s", async (name, formula) => {
    const rows = panelOf({ x: [[4], [2], [7]] });
    const codes = new Int32Array(new SharedArrayBuffer(4));
    const grouped = {
      ...rows,
      groups: new Map([["g", { name: "g", labels: ["one"], codes, changesOverTime: false }]]),
    };
    const program = compile(`y = ${formula}`, { fields: ["x"], groups: ["g"], operators });
    const call = engine.evaluate(program, grouped);
    await expect(call).rejects.toThrow(UsageError);
    await expect(call).rejects.toThrow(`E515 the operator ${name} failed: TypeError: `);
  });

  test("for constants of a formula is E515, as what it throws for them", () => {
    expect(() => compile("y = x + big_cell(2)", { fields: ["x"], operators })).toThrow(
      "E515 operator big_cell fails on 2: TypeError: ",
    );
  });
});

describe("what a definition must not have", () => {
  const plain = {
    ...facts,
    name: "odd_one",
    summary: "Odd.",
    axis: "elementwise",
    parameters: [x],
    reference: (v: number) => v,
  };
  const define = (parts: object) => () => defineOperator({ ...plain, ...parts } as never);

  test.each<[parts: object, problem: string]>([
    [{ axis: "rollin" }, "axis is one of elementwise, rolling, recursive, cross_section, group, rewrite"],
    [{ axis: "rolling" }, "windowRows is a function, got undefined"],
    [{ axis: "recursive" }, "initialState is a function, got undefined"],
    [{ reference: 5 }, "reference is a function, got a number"],
    [{ lower: "x" }, "lower is a function, got a string"],
    [{ costNs: 3 }, "costNs is a function, got a number"],
    [{ result: "serie" }, "result is series or condition, got a string"],
    [{ summary: undefined }, "summary is a text, got undefined"],
    [{ laws: "commutative" }, "laws is a list of texts, got a string"],
    [{ seesNulls: 1 }, "seesNulls is true or false, got a number"],
    [{ parameters: [null] }, "parameters is a list of { name, kind }, some with a default that is a number"],
    [{ parameters: [{ name: "x", kind: "serie" }] }, "parameters is a list of { name, kind }"],
    [
      { axis: "rolling", windowRows: () => 1, states: [5] },
      "states is a list of window states, each with kind and rebuild, got an array",
    ],
  ])("%j", (parts, problem) => {
    expect(define(parts)).toThrow(`E549 operator odd_one: ${problem}`);
  });

  test.each<[reference: () => unknown, given: string]>([
    [() => undefined, "undefined"],
    [() => "1", "a string"],
    [() => true, "a boolean"],
    [() => ({}), "an object"],
    [async () => 1, "a promise"],
  ])("a reference that gives no number: %s", async (reference, given) => {
    const odd = define({ reference })();
    expect((await failing("y = odd_one(close)", [odd])).message).toContain(
      `E515 the operator odd_one failed: TypeError: its reference gives ${given}, not a number`,
    );
    expect(() => compile("y = close + odd_one(3)", { operators: [odd] })).toThrow(
      `E515 operator odd_one fails on 3: TypeError: its reference gives ${given}, not a number`,
    );
  });

  test.each<[lower: () => unknown, problem: string]>([
    [() => 1, "its lower gives a number"],
    [() => undefined, "its lower gives undefined"],
    [
      () => {
        throw new RangeError("no");
      },
      "its lower throws RangeError: no",
    ],
  ])("a lower that gives no value: %s", async (lower, problem) => {
    const error = await failing("y = odd_one(close)", [define({ lower })()]);
    expect(error.message).toContain(`E515 the operator odd_one failed: ${problem}`);
  });
});
