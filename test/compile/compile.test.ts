import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_GROUPS } from "../../src/ast/names.ts";
import { type CompileOptions, compile, DEFAULT_FIELDS, finalDag } from "../../src/compile.ts";
import { FormulaError, UsageError } from "../../src/errors.ts";
import { verifyDag } from "../dag/verify_dag.ts";
import { refusal } from "./rendered.ts";

describe("a program", () => {
  const program = compile("param p = 1\nslow = ts_mean(close, 20)\nfast = close when p == 1 priority 10", {
    file: "my.factors",
  });

  test("tells its file, dialect, factors and params", () => {
    expect(program.file).toBe("my.factors");
    expect(program.dialect).toBe("native");
    expect(program.factors).toEqual([
      { name: "slow", lookbackRows: 19, isConditional: false, priority: 0 },
      { name: "fast", lookbackRows: 0, isConditional: true, priority: 10 },
    ]);
    expect([...program.params]).toEqual([["p", 1]]);
  });

  test("holds the graph after each stage, the last of which is evaluated", () => {
    expect(program.stages.length).toBeGreaterThan(1);
    expect(finalDag(program)).toBe(program.stages.at(-1)?.dag);
  });

  test("gives its graph as plain data that JSON holds", () => {
    const text =
      "param p = 1\nmean = ema(close, 3) when p == 1 priority 10\nby = group_mean(close * p, sector)\nzero = close > 2 ? -0 : null";
    const graph = compile(text).graph();
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
    const call = { kind: "call", group: null, settings: {}, minPeriods: null, when: null };
    expect(graph.tasks.map(({ id }) => id)).toEqual([...graph.tasks.keys()]);
    expect(graph.tasks.map(({ id: _, ...task }) => task)).toEqual(
      expect.arrayContaining([
        { kind: "field", name: "close", when: null },
        { kind: "param", name: "p", when: null },
        { kind: "number", value: "-0", when: null },
        { kind: "number", value: null, when: null },
        { ...call, operator: "ema", inputs: [expect.any(Number)], settings: { n: 3 }, when: ["p == 1"] },
        { ...call, operator: "group_mean", inputs: [expect.any(Number)], group: "sector" },
      ]),
    );
    const task = expect.any(Number);
    expect(graph.outputs).toEqual([
      { name: "mean", task, lookbackRows: null, when: "p == 1", priority: 10 },
      { name: "by", task, lookbackRows: 0, when: null, priority: 0 },
      { name: "zero", task, lookbackRows: 0, when: null, priority: 0 },
    ]);
    for (const one of graph.tasks)
      if (one.kind === "call") for (const input of one.inputs) expect(input).toBeLessThan(one.id);
  });
});

describe("the panel's columns", () => {
  test("are the usual ones unless they are named", () => {
    for (const field of DEFAULT_FIELDS) expect(refusal(`a = rank(${field})`)).toBeUndefined();
    for (const group of DEFAULT_GROUPS) expect(refusal(`a = indneutralize(close, ${group})`)).toBeUndefined();
  });

  test("are those that are named and no others", () => {
    const options = { fields: ["price"], groups: [] };
    expect(refusal("a = price", options)).toBeUndefined();
    expect(refusal("a = close", options)?.diagnostics[0]?.code).toBe("E205");
    expect(refusal("a = indneutralize(price, sector)", options)?.diagnostics[0]?.code).toBe("E205");
  });
});

describe("options", () => {
  test.each<[CompileOptions, string]>([
    [
      { dialekt: "qlib" } as CompileOptions,
      "E527 unknown option dialekt of compile\n  did you mean dialect?",
    ],
    [{ dialect: "alpha11" }, "E506 unknown dialect alpha11\n  did you mean alpha101?"],
    [{ dialect: "nonsense" }, "E506 unknown dialect nonsense\n  dialects: native, alpha101"],
    [
      { disabledPasses: ["canonical_ordr"] },
      "E506 unknown pass canonical_ordr\n  did you mean canonical_order?",
    ],
    [{ disabledPasses: ["nonsense"] }, "E506 unknown pass nonsense\n  passes: share_subexpressions"],
    [{ disabledPasses: ["__proto__"] }, "E506 unknown pass __proto__"],
  ])("%j make no sense", (options, message) => {
    expect(() => compile("a = close", options)).toThrow(UsageError);
    expect(() => compile("a = close", options)).toThrow(message);
  });
});

test("a refusal carries its diagnostics as data", () => {
  const error = refusal("a = clsoe");
  expect(error).toBeInstanceOf(FormulaError);
  expect(error?.code).toBe("E205");
  expect(error?.diagnostics).toEqual([
    {
      code: "E205",
      message: "unknown name clsoe",
      remedy: "did you mean close?",
      file: "a.factors",
      line: 1,
      column: 5,
      snippet: "  | a = clsoe\n  |     ^^^^^ did you mean close?",
    },
  ]);
});

test("a brace of a block that was not opened is no end of one", () => {
  expect(refusal("{ }\na = b\n}\n}\n")?.diagnostics.map(({ code, line }) => `${code}:${line}`)).toEqual([
    "E102:1",
    "E205:2",
    "E103:3",
    "E103:4",
  ]);
});

/** Pieces that often make a statement that can be read, so that names, types and windows are put to the test too. */
const piece = fc.constantFrom(
  ..."a b f close open sector adv20 returns SELF rank ts_mean delay max scale where indneutralize".split(" "),
  ..."1 0 -1 2.5 5 70000 + - * / % ^ < == && || ! ? : ( ) ( ) , , = min_periods=2 d=3 null true".split(" "),
  ..."\n \n a= b= let param when { } dialect alpha101 gtja191 qlib $close & | 'x' \"x\"".split(" "),
  "\na = ",
  "\nlet f(x) = ",
  "\nparam p = 1\n",
  " when p == 1 ",
);

test("any soup of tokens is compiled to a graph that holds, or refused with diagnostics", () => {
  const soup = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(" "));
  fc.assert(
    fc.property(soup, (text) => {
      try {
        for (const { dag } of compile(text).stages) verifyDag(dag);
      } catch (error) {
        expect(error).toBeInstanceOf(FormulaError);
        expect((error as FormulaError).diagnostics.length).toBeGreaterThan(0);
      }
    }),
    { seed: 401, numRuns: 3000 },
  );
});

test("any expression of well-formed calls is compiled to a graph that holds, or refused with diagnostics", () => {
  const expression = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        "close",
        "open",
        "sector",
        "p",
        "v",
        "x",
        "2",
        "5",
        "0",
        "-1",
        "1.5",
        "null",
        "adv5",
        '"t"',
      ),
      fc
        .tuple(
          fc.constantFrom(
            "rank",
            "ts_mean",
            "delay",
            "correlation",
            "scale",
            "indneutralize",
            "f",
            "where",
            "power",
          ),
          fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
        )
        .map(([name, args]) => `${name}(${args.join(", ")})`),
      fc
        .tuple(tie("node"), fc.constantFrom("+", "/", "<", "==", "&&", "^"), tie("node"))
        .map(([x, symbol, y]) => `(${x} ${symbol} ${y})`),
      fc.tuple(tie("node"), tie("node"), tie("node")).map(([c, x, y]) => `(${c} ? ${x} : ${y})`),
    ),
  })).node;
  fc.assert(
    fc.property(expression, expression, (body, formula) => {
      const text = `param p = 1\nlet v = 3\nlet f(x) = ${body}\na = ${formula}`;
      try {
        for (const { dag } of compile(text).stages) verifyDag(dag);
      } catch (error) {
        expect(error).toBeInstanceOf(FormulaError);
      }
    }),
    { seed: 402, numRuns: 3000 },
  );
});
