import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { formPlan, type PlanShape } from "../../src/plan/form.ts";
import type { PlanNode } from "../../src/plan/plan.ts";

const LIVE = { laneCount: 60_000, blockRows: 1, executorCount: 4 };

function rowNodes(text: string, shape: Partial<PlanShape> = {}): PlanNode[] {
  const dag = finalDag(compile(text, { fields: ["x", "y"], groups: ["g"] }));
  return formPlan(dag, { ...LIVE, ...shape }).nodes.filter(({ kind }) => kind === "rows");
}

const cutsOf = (nodes: readonly PlanNode[]) =>
  nodes.map(({ partAxis, partCount }) => `${partAxis} x${partCount}`);

describe("the rows of a node are split over lanes", () => {
  test.each([
    "a = rank(x)",
    "a = group_rank(x, g)",
    "a = zscore(x)",
    "a = winsorize(x, 2)",
    "a = normalize(x, 1)",
  ])("%s", (text) => {
    expect(cutsOf(rowNodes(text))).toEqual(["lanes x4"]);
    expect(cutsOf(rowNodes(text, { executorCount: 3 }))).toEqual(["lanes x3"]);
  });

  test("in each node of a chain", () => {
    expect(cutsOf(rowNodes("a = zscore(zscore(x) * y)"))).toEqual(["lanes x4", "lanes x4"]);
  });
});

describe("a row is one part", () => {
  test.each([
    ["of few lanes", "a = zscore(x)", { laneCount: 5_000 }],
    ["of more lanes than the code takes", "a = zscore(x)", { laneCount: 70_000 }],
    ["of two executors, which it would hardly make faster", "a = rank(x)", { executorCount: 2 }],
    ["of one executor", "a = zscore(x)", { executorCount: 1 }],
    ["in blocks of few rows", "a = zscore(x)", { blockRows: 2, executorCount: 1 }],
    ["without the pass", "a = zscore(x)", { disabledPasses: new Set(["split_nodes"]) }],
    ["of an operator without code for parts", "a = demean(x)", {}],
    ["of groups", "a = group_zscore(x, g)", {}],
    ["by other settings of the operator", "a = normalize(x, 0)", {}],
  ])("%s", (_, text, shape) => {
    expect(cutsOf(rowNodes(text, shape))).toEqual(["rows x1"]);
  });

  test("of nodes beside each other that keep all executors busy", () => {
    const text = [1, 2, 3, 4].map((k) => `a${k} = zscore(x * ${k})`).join("\n");
    expect(cutsOf(rowNodes(text))).toEqual(["rows x1", "rows x1", "rows x1", "rows x1"]);
  });

  test("of a node that may have to run several rows to catch up", () => {
    const text = "param p = 1\na = ts_mean(zscore(x), 5) when p == 1";
    expect(cutsOf(rowNodes(text))).toEqual(["rows x1"]);
  });
});

test("blocks of several rows are split over rows", () => {
  expect(cutsOf(rowNodes("a = zscore(x)", { blockRows: 64 }))).toEqual(["rows x4"]);
});
