import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, defineOperator, Engine, type Operator, UsageError } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { weightedRange } from "./fixtures/weighted_range.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const panel = panelOf({ x: [[1], [4], [2], [7]] });

async function evaluate(text: string, operators: readonly Operator[]) {
  const table = await engine.evaluate(compile(text, { fields: ["x"], operators }), panel);
  return [...(table.getChild("y") ?? [])];
}

const facts = {
  result: "series",
  nulls: "Null where x is null.",
  source: "made for a test",
  costNs: () => 1,
  examples: [{ formula: "x", inputs: { x: [1] }, output: [1] }],
} as const;
const x = { name: "x", kind: "series" } as const;
const d = { name: "d", kind: "window" } as const;

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
      windowRows: ({ d: rows }) => rows as number,
      reference: ([window]) => Math.max(...(window as Float64Array)) - Math.min(...(window as Float64Array)),
    });
    const runningMax = defineOperator({
      ...facts,
      name: "running_max",
      axis: "recursive",
      parameters: [x],
      summary: "Running maximum.",
      reference([column], _settings, output) {
        let most = Number.NEGATIVE_INFINITY;
        column?.forEach((value, row) => {
          most = Math.max(most, value);
          output[row] = most;
        });
      },
    });
    const share = defineOperator({
      ...facts,
      name: "share",
      axis: "cross_section",
      parameters: [x],
      summary: "Share of the row.",
      reference: ([row], _settings, output) => {
        row?.forEach((value, lane) => {
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
});
