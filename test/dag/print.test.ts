import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { SHARING } from "../../src/dag/passes/order.ts";
import { countCalls, countUnsharedCalls, printDag, printDot } from "../../src/dag/print.ts";
import { dagOf } from "./graphs.ts";

const TEXT = `
param p = 1
let neutral = indneutralize(close / open, sector)
a = rank(ts_mean(neutral, 5, min_periods=2)) - p
b = neutral when p == 2
`;

describe("printDag", () => {
  test("writes one task a line, then the factors", () => {
    expect(printDag(dagOf(TEXT))).toMatchInlineSnapshot(`
      "%0 = close
      %1 = open
      %2 = divide(%0, %1)
      %3 = group_neutralize(%2, sector)
      %4 = ts_mean(%3, d=5, min_periods=2)
      %5 = has a row
      %6 = multiply(%4, %5)
      %7 = rank(%6)
      %8 = param p
      %9 = subtract(%7, %8)
      a = %9
      b = %3 when p == 2"
    `);
  });

  test.each([
    ["a constant that rounds is its formula", "a = close * (1 - 0.318108)", "%1 = 1 - 0.318108"],
    ["what is exact in fewer digits is its value", "a = close * (2 * 3 - 5.5)", "%1 = 0.5"],
    ["formulas of formulas", "a = close * (1 / 3 + 0.1)", "%1 = (1 / 3) + 0.1"],
    ["a function of numbers", "a = close * sqrt(2)", "%1 = sqrt(2)"],
    ["negative operands", "a = close * ((-2.3) ^ 2)", "%1 = (-2.3) ^ 2"],
    ["a literal", "a = close * 0.681892", "%1 = 0.681892"],
  ])("%s", (_, text, line) => {
    expect(printDag(dagOf(text)).split("\n")).toContain(line);
  });

  test("writes operands in the order of the formula, of equal ones that of the first", () => {
    const lines = printDag(dagOf("a = open\nb = close * open\nc = open * close")).split("\n");
    expect(lines).toEqual(["%0 = open", "%1 = close", "%2 = multiply(%1, %0)", "a = %0", "b = %2", "c = %2"]);
  });

  test("tells -0 from 0", () => {
    const tasks = [0, -0].map((value) => ({ kind: "number", value }) as const);
    expect(printDag({ tasks, outputs: [], params: [], conditions: [] })).toBe("%0 = 0\n%1 = -0");
  });
});

describe("printDot", () => {
  test("draws fields as boxes, windows and groups on the labels, factors filled", () => {
    expect(printDot(dagOf(TEXT))).toMatchInlineSnapshot(`
      "digraph factors {
        rankdir=LR;
        node [fontname="Helvetica", fontsize=10];
        t0 [label="close", shape=box];
        t1 [label="open", shape=box];
        t2 [label="divide", shape=ellipse];
        t0 -> t2;
        t1 -> t2;
        t3 [label="group_neutralize\\nsector", shape=ellipse];
        t2 -> t3;
        t4 [label="ts_mean\\nd=5\\nmin_periods=2", shape=ellipse];
        t3 -> t4;
        t5 [label="has a row", shape=box];
        t6 [label="multiply", shape=ellipse];
        t4 -> t6;
        t5 -> t6;
        t7 [label="rank", shape=ellipse];
        t6 -> t7;
        t8 [label="param p", shape=box];
        t9 [label="subtract", shape=ellipse];
        t7 -> t9;
        t8 -> t9;
        f0 [label="a", shape=box, style=filled, fillcolor="#dce9f7"];
        t9 -> f0;
        f1 [label="b", shape=box, style=filled, fillcolor="#dce9f7"];
        t3 -> f1 [style=dashed, label="when p == 2"];
      }"
    `);
  });

  test("has windows and delays as they are written: a delay of 1 is d=1, not the 2 rows that it spans", () => {
    const dot = printDot(dagOf("a = delay(close, 1) + delta(close, 3)"));
    expect(dot).toContain('[label="delay\\nd=1", shape=ellipse]');
    expect(dot).toContain('[label="delta\\nd=3", shape=ellipse]');
  });

  test("is DOT, also for the 101 formulas", () => {
    const text = readFileSync(new URL("../../examples/alpha101.factors", import.meta.url), "utf8");
    const dot = printDot(finalDag(compile(text)));
    const result = spawnSync("dot", ["-Tcanon"], { input: dot, encoding: "utf8", maxBuffer: 2 ** 28 });
    // Where Graphviz is not installed, each line must at least be a node, an edge or a setting.
    if (result.error) {
      const line = /^(digraph factors \{|\}| {2}(rankdir=LR|[a-z]\w*( -> [a-z]\w*)?( \[[^[\]]*\])?);)$/;
      expect(dot.split("\n").filter((written) => !line.test(written))).toEqual([]);
    } else expect(result).toMatchObject({ status: 0, stderr: "" });
  });
});

describe("counts", () => {
  test.each([
    // rank, mean and + of a are three; b takes all of them and adds two.
    ["a = rank(ts_mean(close, 5) + open)\nb = a * a", 10, 4],
    ["a = close", 0, 0],
    ["a = close + open\nb = close + open", 2, 1],
    ["let m = ts_mean(close, 5)\na = m - m", 3, 2],
    // Each level doubles: 1, 3, 7, 15.
    ["let a1 = close + close\nlet a2 = a1 + a1\nlet a3 = a2 + a2\na4 = a3 + a3", 15, 4],
  ])("of %j: %d written out, %d in the graph", (text, unshared, shared) => {
    expect(countUnsharedCalls(dagOf(text))).toBe(unshared);
    expect(countCalls(dagOf(text))).toBe(shared);
  });

  test("written out they do not depend on the passes", () => {
    const text = "a = close * open + 1\nb = rank(open * close + 1)";
    const counts = [[], [SHARING], ["canonical_order"]].map((left) =>
      countUnsharedCalls(dagOf(text, ...left)),
    );
    expect(counts).toEqual([5, 5, 5]);
  });
});
