import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import type { CallTask } from "../../src/dag/dag.ts";
import { kernelOperators } from "../../src/operator/definition.ts";
import { type CostModel, checkCostModel, DEFAULT_COSTS, nsPerCellOf } from "../../src/plan/cost_model.ts";
import { formPlan } from "../../src/plan/form.ts";
import { cellCostNs } from "../../src/plan/task_cost.ts";

const MODEL: CostModel = {
  machine: "somewhere",
  operators: {
    add: [{ windowRows: 1, nsPerCell: 0.5 }],
    ts_rank: [
      { windowRows: 5, nsPerCell: 2 },
      { windowRows: 15, nsPerCell: 4 },
      { windowRows: 25, nsPerCell: 9 },
    ],
    ts_sum: [
      { windowRows: 5, nsPerCell: 3 },
      { windowRows: 25, nsPerCell: 1 },
    ],
  },
};

const taskOf = (formula: string, operator: string): CallTask =>
  finalDag(compile(`a = ${formula}`)).tasks.find(
    (task) => task.kind === "call" && task.operator.name === operator,
  ) as CallTask;

describe("a cost model", () => {
  test.each([
    [1, 2],
    [5, 2],
    [10, 3],
    [15, 4],
    [20, 6.5],
    [25, 9],
    [45, 19],
  ])("gives for %i rows, on the lines through its points and beyond, %d ns", (windowRows, ns) => {
    expect(nsPerCellOf(MODEL, "ts_rank", windowRows)).toBeCloseTo(ns, 12);
  });

  test("has longer windows cost no less than the last point, the shortest as much as the first", () => {
    expect(nsPerCellOf(MODEL, "ts_sum", 15)).toBe(2);
    expect(nsPerCellOf(MODEL, "ts_sum", 60_000)).toBe(1);
    expect(nsPerCellOf(MODEL, "add", 7)).toBe(0.5);
  });

  test("knows no operator that it does not name, be it called as what every object has", () => {
    expect(nsPerCellOf(MODEL, "ts_mean", 5)).toBeNull();
    expect(nsPerCellOf(MODEL, "constructor", 5)).toBeNull();
    expect(nsPerCellOf(DEFAULT_COSTS, "add", 1)).toBeNull();
  });

  test("survives JSON", () => {
    expect(checkCostModel(JSON.parse(JSON.stringify(MODEL)))).toEqual(MODEL);
    expect(checkCostModel(DEFAULT_COSTS)).toBe(DEFAULT_COSTS);
  });

  const point = { windowRows: 1, nsPerCell: 1 };
  const wrong: [unknown, string][] = [
    [null, "no object"],
    [[], "no object"],
    ["costs", "no object"],
    [{ operators: {} }, "machine is not a text"],
    [{ machine: null }, "operators is not an object"],
    [{ machine: null, operators: [] }, "operators is not an object"],
    ...[
      [],
      {},
      [null],
      [{ windowRows: 1 }],
      [{ ...point, nsPerCell: 0 }],
      [{ ...point, nsPerCell: Number.NaN }],
      [{ ...point, nsPerCell: Number.POSITIVE_INFINITY }],
      [{ ...point, nsPerCell: "1" }],
      [{ ...point, windowRows: 0 }],
      [{ ...point, windowRows: 1.5 }],
      [point, point],
    ].map((cost): [unknown, string] => [
      { machine: null, operators: { add: cost } },
      "the costs of add are not",
    ]),
  ];
  test.each(wrong)("is not %j", (value, problem) => {
    expect(() => checkCostModel(value)).toThrow(`E528 not a cost model: ${problem}`);
  });
});

describe("a task", () => {
  test("costs what the model says", () => {
    expect(cellCostNs(taskOf("close + open", "add"), MODEL)).toBe(0.5);
    expect(cellCostNs(taskOf("ts_rank(close, 20)", "ts_rank"), MODEL)).toBe(6.5);
  });

  test("that the model does not know costs what is built in", () => {
    const task = taskOf("ts_mean(close, 20)", "ts_mean");
    expect(cellCostNs(task, MODEL)).toBe(cellCostNs(task));
  });

  test("is built in as flat in the window, but where the code compares with every row of it", () => {
    const cost = (operator: string, rows: number) =>
      cellCostNs(taskOf(`${operator}(close, ${rows})`, operator));
    expect(cost("ts_mean", 200)).toBe(cost("ts_mean", 5));
    for (const operator of ["ts_rank", "ts_median", "ts_product"])
      expect(cost(operator, 200), operator).toBeGreaterThan(4 * cost(operator, 5));
  });

  test("costs as much as its reference if it has no code", () => {
    const byReference = kernelOperators(builtInRegistry.operators).filter(({ lower }) => !lower);
    const operator = byReference.find(({ axis }) => axis === "cross_section")!;
    const task = { operator, settings: {}, inputs: [], group: null, minPeriods: null } as never;
    expect(cellCostNs(task)).toBe(operator.costNs(1));
  });
});

test("a plan is weighed by the model it is given", () => {
  const dag = finalDag(compile("a = rank(ts_rank(close, 20))\nb = rank(open)"));
  const shape = { laneCount: 1000, blockRows: 10, executorCount: 4 };
  const costOf = (nsPerCell: number) => {
    const costs = { machine: null, operators: { ts_rank: [{ windowRows: 1, nsPerCell }] } };
    const plan = formPlan(dag, { ...shape, costs });
    return plan.nodes.find(({ tasks }) => tasks.some((id) => plan.tasks[id]?.operator === "ts_rank"))!;
  };
  const [cheap, dear] = [costOf(1e-3), costOf(1000)];
  expect(dear.costNs - cheap.costNs).toBeCloseTo(10_000 * (1000 - 1e-3), 3);
  expect([cheap.partCount, dear.partCount]).toEqual([1, 4]);
});
