import { expect, test } from "vitest";
import { printCondition } from "../../src/ast/print.ts";
import { compile, finalDag } from "../../src/compile.ts";

const conditionsOf = (text: string) =>
  finalDag(compile(`param p = 1\nparam s = "a"\nx = close when ${text}`)).conditions;

test.each([
  ["p == 1"],
  ['s == "close" && p > 2 || !(p < 3)'],
  ["(p > 1 || p < 0) && p != 5"],
  ["p - (1 - p) > -p ^ 2"],
  ["(-p) ^ 2 > 3"],
  ["(2 ^ p) ^ 2 > 2 ^ p ^ 2"],
  ["p > 1 ? p < 3 : p == 0"],
  ["(p > 1 ? p : 2) > 3"],
])("%s is printed as it is written", (text) => {
  const conditions = conditionsOf(text);
  expect(conditions.map(printCondition)).toEqual([text]);
});

test("nested blocks are one condition", () => {
  const { conditions } = finalDag(compile("param p = 1\nwhen p > 1 || p < 0 {\nx = close when p != 5\n}"));
  expect(conditions.map(printCondition)).toEqual(["(p > 1 || p < 0) && p != 5"]);
});
