import { describe, expect, test } from "vitest";
import { DagBuilder } from "../../src/dag/dag.ts";
import { SHARING } from "../../src/dag/passes/order.ts";
import { call, countTasks, dagOf, printed } from "./graphs.ts";

describe("equal expressions are one task", () => {
  test("within a factor and across factors", () => {
    expect(printed("a = rank(close) + rank(close)\nb = rank(close) * 2")).toMatchInlineSnapshot(`
      "%0 = close
      %1 = rank(%0)
      %2 = add(%1, %1)
      %3 = 2
      %4 = multiply(%1, %3)
      a = %2
      b = %4"
    `);
  });

  test("whether written out, as a let, as another factor, or by a function of parameters", () => {
    const text =
      "let m = ts_mean(close, 5)\nlet f(x, d) = ts_mean(x, d)\na = m\nb = a\nc = f(close, 5)\nd = TS_MEAN(close, d=5)";
    expect(countTasks(text)).toEqual({ field: 1, ts_mean: 1 });
  });

  test("whatever was written for the number", () => {
    expect(countTasks("a = close + 0.5\nb = close + .5\nc = close + 5e-1")).toEqual({
      field: 1,
      number: 1,
      add: 1,
    });
  });

  test("several factors may be one task", () => {
    expect(dagOf("a = close\nb = close").outputs.map(({ task }) => task)).toEqual([0, 0]);
  });
});

describe("tasks that differ stay apart", () => {
  test.each([
    ["in their operator", "a = close + open\nb = close - open"],
    ["in their inputs", "a = close / open\nb = open / close"],
    ["in their window", "a = ts_mean(close, 5)\nb = ts_mean(close, 6)"],
    ["in min_periods", "a = ts_mean(close, 5)\nb = ts_mean(close, 5, min_periods=5)"],
    ["in their group", "a = indneutralize(close, sector)\nb = indneutralize(close, industry)"],
    ["in a constant", "a = scale(close, 1)\nb = scale(close, 2)"],
    ["in the sign of a zero", "a = scale(close, 0)\nb = scale(close, -0)"],
  ])("%s", (_, text) => {
    const [a, b] = dagOf(text).outputs;
    expect(a?.task).not.toBe(b?.task);
  });

  test("0 and -0 are two numbers: 1 / 0 is not 1 / -0", () => {
    const builder = new DagBuilder(true);
    expect(builder.add({ kind: "number", value: 0 })).toBe(0);
    expect(builder.add({ kind: "number", value: -0 })).toBe(1);
    expect(builder.add({ kind: "number", value: 0 })).toBe(0);
  });

  test("a field, a param and a number never meet, whatever they are called", () => {
    const builder = new DagBuilder(true);
    expect(builder.add({ kind: "field", name: "x" })).toBe(0);
    expect(builder.add({ kind: "param", name: "x" })).toBe(1);
    expect(builder.add({ kind: "field", name: "x 1" })).toBe(2);
    expect(builder.add({ kind: "number", value: 1 })).toBe(3);
    expect(builder.add(call("abs", [1]))).toBe(4);
    expect(builder.add(call("abs", [0]))).toBe(5);
  });

  test("inputs 1, 23 are not 12, 3", () => {
    const builder = new DagBuilder(true);
    for (let i = 0; i < 24; i++) builder.add({ kind: "number", value: i });
    expect(builder.add(call("add", [1, 23]))).not.toBe(builder.add(call("add", [12, 3])));
  });
});

describe("without sharing", () => {
  const text = "a = rank(close) + rank(close)";

  test("each expression is a task of its own", () => {
    expect(countTasks(text, SHARING)).toEqual({ field: 2, rank: 2, add: 1 });
  });

  test("what has a name is still one", () => {
    expect(countTasks("let r = rank(close)\na = r + r", SHARING)).toEqual({ field: 1, rank: 1, add: 1 });
  });
});
