import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, defineOperator, Engine, type Operator, UsageError } from "../../src/index.ts";
import { rolling } from "../../src/kernel_builders.ts";
import type { ElementwiseDefinition, RecursiveDefinition } from "../../src/operator/definition.ts";
import { panelOf } from "../panels.ts";
import { d, facts, x } from "./fixtures/operator_facts.ts";
import { plusOne } from "./fixtures/plus_one.ts";
import { twiceDeviation } from "./fixtures/twice_deviation.ts";
import { weightedRange } from "./fixtures/weighted_range.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const panel = panelOf({ x: [[1], [4], [2], [7]] });

async function evaluate(text: string, operators: readonly Operator[]) {
  const { table } = await engine.evaluate(compile(text, { fields: ["x"], operators }), panel);
  return [...(table.getChild("y") ?? [])];
}

describe("operators passed to compile", () => {
  test("of every axis run on the executors, beside built-in ones", async () => {
    const twice = defineOperator({
      ...facts,
      name: "twice",
      axis: "elementwise",
      parameters: [x],
      summary: "2x.",
      reference: (a) => 2 * a,
    });
    const tsRange = defineOperator({
      ...facts,
      name: "ts_span",
      axis: "rolling",
      parameters: [x, d],
      summary: "Range.",
      windowRows: ({ d: rows }) => rows,
      reference: ([window]) => Math.max(...window) - Math.min(...window),
    });
    const runningMax = defineOperator({
      ...facts,
      name: "running_max",
      axis: "recursive",
      parameters: [x],
      summary: "Running maximum.",
      initialState: () => [Number.NEGATIVE_INFINITY],
      reference([value], _settings, state) {
        state[0] = Math.max(state[0], value);
        return state[0];
      },
    });
    const share = defineOperator({
      ...facts,
      name: "share",
      axis: "cross_section",
      parameters: [x],
      summary: "Share of the row.",
      reference: ([row], _settings, output) => {
        row.forEach((value, lane) => {
          output[lane] = value / row.reduce((sum, other) => sum + other, 0);
        });
      },
    });
    const operators = [twice, tsRange, runningMax, share];
    expect(
      await evaluate("y = twice(ts_span(x, 2)) + running_max(x) * share(x) + rank(x)", operators),
    ).toEqual([null, 11, 9, 18]);
  });

  test("may stand for a formula", async () => {
    const change = defineOperator({
      ...facts,
      name: "change",
      axis: "rewrite",
      parameters: [x, d],
      summary: "Change.",
      formula: "x - delay(x, d)",
    });
    expect(await evaluate("y = change(x + 1, 2)", [change])).toEqual([null, null, 1, 3]);
  });

  test("may use their module, which executors import", async () => {
    expect(await evaluate("y = weighted_range(x, 2)", [weightedRange])).toEqual([null, 6, 4, 10]);
  });

  test("may make something of a statistic that is undecided", async () => {
    const program = compile("y = twice_deviation(x, 3)", { fields: ["x"], operators: [twiceDeviation] });
    const tiny = panelOf({
      x: [
        [1e-200, 1],
        [2e-200, 2],
        [3e-200, 3],
      ],
    });
    const { table } = await engine.evaluate(program, tiny);
    expect([...table.getChild("y")!]).toEqual([null, null, null, null, 2e-200, 2]);
  });

  test("may compose extremes, whose references are plain JavaScript", async () => {
    const spread = defineOperator({
      ...facts,
      name: "ts_spread",
      axis: "rolling",
      parameters: [x, d],
      summary: "Largest minus smallest value of the window.",
      windowRows: ({ d: rows }) => rows,
      reference: ([window]) => Math.max(...window) - Math.min(...window),
      lower: (on, [series], { d: rows }) =>
        on.sub(rolling.largest(on, series, rows, null), rolling.smallest(on, series, rows, null)),
    });
    const values = [0, -0, 1e-200, -0, 0, 1e200, Infinity, Infinity, -Infinity, 3, null, 3, 4];
    const awkward = panelOf({ x: values.map((value) => [value]) });
    const program = compile("y = ts_spread(x, 2)", { fields: ["x"], operators: [spread] });
    const [byCode, byReference] = await Promise.all(
      (["compiled", "reference"] as const).map(async (kernel) => {
        const { table } = await engine.evaluate(program, awkward, { kernel });
        return [...table.getChild("y")!];
      }),
    );
    expect(byCode).toEqual(byReference);
    expect(byCode!.slice(1, 6)).toEqual([0, 1e-200, 1e-200, 0, 1e200]);
  });

  test("may outline under the name of a built-in one: neither runs the other's code", async () => {
    const sum = defineOperator({
      ...facts,
      name: "own_power",
      axis: "elementwise",
      parameters: [x, { ...x, name: "a" }],
      summary: "x + a.",
      reference: (a, b) => a + b,
      lower: (on, a, b) => on.outline("power", (inside, p, q) => inside.add(p, q), a, b),
    });
    const own = await evaluate("y = own_power(x, x + 0.5)", [sum]);
    const builtIn = await evaluate("y = (x + 0.5) ^ (x / 3)", []);
    expect(own).toEqual([2.5, 8.5, 4.5, 14.5]);
    const both = { fields: ["x"], operators: [sum] };
    for (const text of [
      "own = own_power(x, x + 0.5)\nbuilt_in = (x + 0.5) ^ (x / 3)",
      "built_in = (x + 0.5) ^ (x / 3)\nown = own_power(x, x + 0.5)",
    ]) {
      const { table } = await engine.evaluate(compile(text, both), panel);
      expect([...table.getChild("own")!], text).toEqual(own);
      expect([...table.getChild("built_in")!], text).toEqual(builtIn);
    }
  });

  test("that use something outside without naming their module are refused", () => {
    const outside = 3;
    const leaky = defineOperator({
      ...facts,
      name: "leaky",
      axis: "elementwise",
      parameters: [x],
      summary: "Leaks.",
      reference: (a) => a * outside,
    });
    expect(() => compile("y = leaky(x)", { operators: [leaky] })).toThrow(
      "E510 operator leaky uses something outside its functions: outside is not defined\n  add module: import.meta.url",
    );
  });

  test("that lack something are refused as a mistake of the user", () => {
    const lacking = () => defineOperator({ ...plusOne, examples: [] } as ElementwiseDefinition);
    expect(lacking).toThrow(UsageError);
    expect(lacking).toThrow("E549 operator plus_one: at least one worked example is needed");
  });

  test("may not take a name that is taken", () => {
    const rank = defineOperator({
      ...facts,
      name: "rank",
      axis: "elementwise",
      parameters: [x],
      summary: "No rank.",
      reference: (a) => a,
    });
    expect(() => compile("y = rank(x)", { operators: [rank] })).toThrow(UsageError);
    expect(() => compile("y = rank(x)", { operators: [rank] })).toThrow(
      "operators rank and rank both claim rank",
    );
  });

  test.each([
    [
      '"reference"',
      {
        reference(a: number) {
          return a * 3;
        },
      },
    ],
    [
      "a computed name",
      {
        ["reference"](a: number) {
          return a * 3;
        },
      },
    ],
    [
      "another name",
      {
        reference: {
          triple(a: number) {
            return a * 3;
          },
        }.triple,
      },
    ],
    [
      "function",
      {
        reference: function triple(a: number) {
          return a * 3;
        },
      },
    ],
  ])("may have a reference written as %s", async (_how, code) => {
    expect(await evaluate("y = thrice(x)", [cellOperator("thrice", code)])).toEqual([3, 12, 6, 21]);
  });

  test.each([
    ["native", Math.cbrt],
    ["bound", ((a: number) => a).bind(null)],
  ])("whose reference is %s are refused", (_how, reference) => {
    expect(refusal([cellOperator("odd", { reference })])).toBe(
      "E510 operator odd: the source of its reference cannot be read by other threads\n  give it as an arrow function, or add module: import.meta.url",
    );
  });

  test("are found in their module among functions of their name", async () => {
    expect(await evaluate("y = plus_one(x)", [plusOne])).toEqual([2, 5, 3, 8]);
  });

  test.each([
    ["https://example.org/a.js", "E510 operator odd: its module https://example.org/a.js cannot be imported"],
    ["file:///none/none.js", "E510 operator odd: its module file:///none/none.js cannot be imported"],
    [plusOne.module as string, `E510 ${plusOne.module} exports no operator odd`],
  ])("of module %s are refused", (module, message) => {
    expect(refusal([cellOperator("odd", { module })])).toContain(message);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("whose cost is %d are refused", (cost) => {
    const costNs = new Function("rows", `return rows < 20 ? 1 : ${cost};`) as () => number;
    expect(refusal([cellOperator("odd", { costNs })])).toContain(
      `E549 operator odd: costNs gives ${cost} for a window of 20 rows`,
    );
  });

  test.each([
    ["d / 2", 'gives 0.5 for {"d":1}'],
    ["d - 1", 'gives 0 for {"d":1}'],
    ["d * 1e5", 'gives 200000 for {"d":2}'],
    ["undefined", 'gives undefined for {"d":2}'],
    ["d.x.y", "fails: Cannot read properties of undefined"],
  ])("whose window is %s are refused", (rows, message) => {
    const windowRows = new Function("{ d }", `return ${rows};`) as () => number;
    const odd = defineOperator({
      ...facts,
      name: "odd",
      axis: "rolling",
      parameters: [x, d],
      summary: "Odd.",
      windowRows,
      reference: () => 1,
    });
    expect(refusal([odd])).toContain(`E549 operator odd: windowRows ${message}`);
  });

  test.each([
    ["undefined", 'gives undefined for {"d":2}'],
    ["d", 'gives 2 for {"d":2}'],
    ["d === 20 ? ['a'] : []", 'gives a for {"d":20}'],
    ["new Array(-d)", "fails: Invalid array length"],
  ])("whose state is %s are refused", (values, message) => {
    const initialState = new Function("{ d }", `return ${values};`) as () => number[];
    const odd = recursiveOperator("odd", { initialState });
    expect(refusal([odd])).toContain(`E549 operator odd: initialState ${message}`);
  });

  test("whose state uses something outside are refused", () => {
    const outside = 3;
    expect(refusal([recursiveOperator("odd", { initialState: () => [outside] })])).toContain(
      "E510 operator odd uses something outside its functions: outside is not defined",
    );
  });

  test("whose facts cannot travel are refused", () => {
    const odd = cellOperator("odd", { extra: { run: () => 1 } } as object);
    expect(refusal([odd])).toContain("E510 operator odd cannot be sent to other threads");
  });

  test("that throw on constants are named", () => {
    const odd = cellOperator("odd", {
      reference: () => {
        throw new RangeError("no");
      },
    });
    expect(refusal([odd], "y = x + odd(3)")).toBe(
      "E515 operator odd fails on 3: RangeError: no\n  return NaN for values without a result",
    );
  });

  test("that throw on some value end the call with the user's error, and the engine stays usable", async () => {
    const picky = cellOperator("picky", {
      reference: (a) => {
        if (a > 5) throw new RangeError("too large");
        return a;
      },
    });
    const failing = evaluate("y = abs(x) + picky(x) * 2", [picky]);
    await expect(failing).rejects.toThrow(UsageError);
    await expect(failing).rejects.toThrow("E515 the operator picky failed: RangeError: too large\n");
    expect(await evaluate("y = picky(min(x, 5))", [picky])).toEqual([1, 4, 2, 5]);
  });

  test.each([
    ["x + volume", "its formula uses volume, which is not one of its parameters"],
    ["twice(x)", "its formula uses twice, which is not an operator"],
    ["x +", "its formula cannot be read"],
    ["x\nz = x", "its formula cannot be read: it is not a single expression"],
    ["x when x > 1", "its formula cannot be read: it is not a single expression"],
    ["odd(x) + 1", "its formula uses itself: odd -> odd"],
  ])("that stand for %s are refused", (formula, message) => {
    const text = "let volume = x * 2\nlet twice(a) = 2 * a\ny = x";
    expect(refusal([formulaOperator("odd", formula)], text)).toContain("E549 operator odd: ");
    expect(refusal([formulaOperator("odd", formula)], text)).toContain(message);
  });

  test("mean the same where a file in another dialect defines what native calls an alias", async () => {
    const text = "dialect gtja191\nlet ts_delay(a, b) = a * 100\ny = change(x)";
    expect(await evaluate(text, [formulaOperator("change", "x - ts_delay(x, 1)")])).toEqual([null, 3, -2, 5]);
  });

  test("that use each other are refused", () => {
    const operators = [
      formulaOperator("fa", "fb(x)"),
      formulaOperator("fb", "fc(x) + fd(x)"),
      formulaOperator("fc", "fd(x) + fb(x)"),
      formulaOperator("fd", "abs(x)"),
    ];
    expect(refusal(operators)).toContain("E549 operator fb: its formula uses itself: fb -> fc -> fb");
  });

  test("may stand for formulas of each other", async () => {
    const operators = [formulaOperator("fa", "fb(X) * 2"), formulaOperator("fb", "x + 1")];
    expect(await evaluate("y = fa(x)", operators)).toEqual([4, 10, 6, 16]);
  });
});

function cellOperator(name: string, code: Partial<ElementwiseDefinition>): Operator {
  const usual = {
    axis: "elementwise",
    parameters: [x],
    summary: "Made.",
    reference: (a: number) => a,
  } as const;
  return defineOperator({ ...facts, ...usual, ...code, name });
}

function recursiveOperator(name: string, code: Partial<RecursiveDefinition>): Operator {
  const usual = {
    axis: "recursive",
    parameters: [x, d],
    summary: "Made.",
    initialState: () => [],
    reference: () => 1,
  } as const;
  return defineOperator({ ...facts, ...usual, ...code, name });
}

function formulaOperator(name: string, formula: string): Operator {
  return defineOperator({ ...facts, name, axis: "rewrite", parameters: [x], summary: "Made.", formula });
}

/** The message of the UsageError that compiling with these operators ends in. */
function refusal(operators: readonly Operator[], text = "y = x"): string {
  try {
    compile(text, { fields: ["x"], operators });
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message;
  }
  return "nothing is refused";
}
