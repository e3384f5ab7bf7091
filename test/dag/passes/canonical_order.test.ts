import { describe, expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { canonicalOrder } from "../../../src/dag/passes/canonical_order.ts";
import { PASS_NAMES, SHARING } from "../../../src/dag/passes/order.ts";
import { printDag } from "../../../src/dag/print.ts";
import { countTasks, dagOf, printed } from "../graphs.ts";
import { verifyDag } from "../verify_dag.ts";
import { testGolden } from "./golden.ts";

const PASS = "canonical_order";

describe("canonical_order", () => {
  testGolden(PASS, [
    "a = open * close + volume\nb = volume + close * open",
    "a = correlation(open, close, 5)\nb = correlation(close, open, 5)",
    "a = open - close\nb = close - open",
    "a = rank(volume) + -close\nb = max(rank(volume), close)",
  ]);
});

describe("operands of commutative operators in any order are one task", () => {
  test.each([
    ["+", "a = close + open\nb = open + close", { field: 2, add: 1 }],
    ["*", "a = close * open\nb = open * close", { field: 2, multiply: 1 }],
    ["max", "a = max(close, open)\nb = max(open, close)", { field: 2, max: 1 }],
    [
      "correlation",
      "a = correlation(close, open, 5)\nb = correlation(open, close, 5)",
      { field: 2, correlation: 1 },
    ],
  ])("%s", (_, text, counts) => {
    expect(countTasks(text)).toEqual(counts);
    const name = Object.keys(counts)[1] as string;
    expect(countTasks(text, PASS)).toEqual({ ...counts, [name]: 2 });
  });

  test("at any depth", () => {
    const text = "a = rank(close * open + volume)\nb = rank(volume + open * close)";
    expect(countTasks(text)).toEqual({ field: 3, multiply: 1, add: 1, rank: 1 });
    expect(countTasks(text, PASS)).toEqual({ field: 3, multiply: 2, add: 2, rank: 2 });
  });
});

test.each([
  ["of operators that are not commutative", "a = close - open\nb = open - close"],
  [
    "of sums that are grouped in another way, which round differently",
    "a = (close + open) + volume\nb = close + (open + volume)",
  ],
])("operands %s stay apart", (_, text) => {
  const [a, b] = dagOf(text).outputs;
  expect(a?.task).not.toBe(b?.task);
});

test("what only the operands' order tells apart is left out of the graph", () => {
  expect(printed("a = open * close\nb = close * open")).toMatchInlineSnapshot(`
    "%0 = open
    %1 = close
    %2 = multiply(%0, %1)
    a = %2
    b = %2"
  `);
});

test("the pass changes nothing when it is run again", () => {
  const dag = dagOf("a = rank(close * open + volume)\nb = volume - open * close");
  expect(printDag(canonicalOrder(dag, true))).toBe(printDag(dag));
});

test("the order stands without sharing too, and nothing is merged", () => {
  expect(countTasks("a = close + open\nb = open + close", SHARING)).toEqual({ field: 4, add: 2 });
});

test("the graph holds after each stage, with every pass left out in turn", () => {
  const text =
    "param p = 1\na = rank(open * close + p) when p == 1\nb = ts_mean(close * open, 5, min_periods=2)";
  for (const left of [[], ...PASS_NAMES.map((name) => [name]), PASS_NAMES]) {
    const { stages } = compile(text, { disabledPasses: left });
    for (const { dag } of stages) expect(verifyDag(dag)).toBe(dag);
    expect(stages.map(({ name }) => name).filter((name) => left.includes(name))).toEqual([]);
  }
});
