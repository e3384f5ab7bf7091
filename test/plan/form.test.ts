import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { formPlan, type PanelShape, wantedNodes } from "../../src/plan/form.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";

const SMALL: PanelShape = { rowCount: 10, laneCount: 4 };

function planOf(text: string, shape = SMALL, executorCount = 4): Plan {
  return formPlan(finalDag(compile(text)), shape, executorCount);
}

/** `operator` of each node that is wanted with these factors. */
function wanted(text: string, ...factors: string[]): string[] {
  const plan = planOf(text);
  const flags = wantedNodes(
    plan,
    plan.outputs.map(({ name }) => factors.includes(name)),
  );
  return plan.nodes.filter(({ id }) => flags[id]).map(({ task }) => task.operator);
}

describe("nodes", () => {
  test("are the operator applications in the order of the graph, each with what it reads", () => {
    const { nodes } = planOf("let m = ts_mean(close, 5)\na = rank(m) - m\nb = m");
    expect(
      nodes.map(({ id, task, inputs, isOutput }) => ({ id, operator: task.operator, inputs, isOutput })),
    ).toEqual([
      { id: 0, operator: "ts_mean", inputs: [], isOutput: true },
      { id: 1, operator: "rank", inputs: [0], isOutput: false },
      { id: 2, operator: "subtract", inputs: [0, 1], isOutput: true },
    ]);
  });

  test("read a node once, however often it is an argument", () => {
    const square = planOf("a = rank(close) * rank(close)").nodes[1];
    expect(square?.inputs).toEqual([0]);
    expect(square?.task.operands).toEqual([
      { kind: "node", node: 0 },
      { kind: "node", node: 0 },
    ]);
  });

  test("carry settings, min_periods and the group", () => {
    const [mean, neutral] = planOf("a = indneutralize(ts_mean(close, 5, min_periods=2), sector)").nodes;
    expect(mean?.task).toMatchObject({ settings: { d: 5 }, minPeriods: 2, group: null });
    expect(neutral?.task).toMatchObject({ settings: {}, minPeriods: null, group: "sector" });
  });

  test("weigh their critical paths", () => {
    const { nodes } = planOf("a = rank(ts_mean(close, 20)) + ts_std(open, 5)\nb = ts_std(open, 5) * 2");
    const weights = criticalPathWeights(
      nodes.map(({ costNs }) => costNs),
      nodes.map(({ inputs }) => inputs),
    );
    expect(nodes.map(({ weight }) => weight)).toEqual(weights);
  });

  test("cost as much as their cells", () => {
    const costs = (shape: PanelShape) =>
      planOf("a = rank(ts_mean(close, 20))", shape).nodes.map(({ costNs }) => costNs);
    const [mean, rank] = costs({ rowCount: 1, laneCount: 1 }) as [number, number];
    expect(mean).toBeGreaterThan(0);
    expect(costs({ rowCount: 7, laneCount: 3 })).toEqual([21 * mean, 21 * rank]);
    expect(costs({ rowCount: 0, laneCount: 3 })).toEqual([0, 0]);
  });

  test("of longer windows cost more", () => {
    const cost = (rows: number) => planOf(`a = ts_std(close, ${rows})`).nodes[0]?.costNs as number;
    expect(cost(100)).toBeGreaterThan(cost(10));
  });
});

describe("operands", () => {
  test("are nodes, fields, numbers and params, in the order of the operator's parameters", () => {
    const { nodes } = planOf("param p = 1\na = (2 - close) / (p - rank(open))");
    const operands = (operator: string) =>
      nodes.filter(({ task }) => task.operator === operator).map(({ task }) => task.operands);
    expect(operands("subtract")).toEqual([
      [
        { kind: "number", value: 2 },
        { kind: "field", name: "close" },
      ],
      [
        { kind: "param", name: "p" },
        { kind: "node", node: nodes.findIndex(({ task }) => task.operator === "rank") },
      ],
    ]);
  });

  test("a field, a number and a param may be outputs without any node", () => {
    const plan = planOf("param p = 1\na = close\nb = 3\nc = p");
    expect(plan.nodes).toEqual([]);
    expect(plan.outputs).toEqual([
      { name: "a", operand: { kind: "field", name: "close" } },
      { name: "b", operand: { kind: "number", value: 3 } },
      { name: "c", operand: { kind: "param", name: "p" } },
    ]);
    expect(wantedNodes(plan, [true, true, true])).toEqual(new Uint8Array(0));
  });

  test("two factors may be one node", () => {
    const { outputs } = planOf("a = rank(close)\nb = rank(close)");
    expect(outputs.map(({ operand }) => operand)).toEqual([
      { kind: "node", node: 0 },
      { kind: "node", node: 0 },
    ]);
  });
});

describe("parts", () => {
  const LARGE: PanelShape = { rowCount: 5000, laneCount: 5000 };
  const parts = (text: string, shape: PanelShape, executorCount: number) => {
    const node = planOf(text, shape, executorCount).nodes[0];
    return [node?.partAxis, node?.partCount];
  };

  test("rolling work is cut over lanes, all other work over rows", () => {
    expect(parts("a = ts_mean(close, 20)", LARGE, 3)).toEqual(["lanes", 3]);
    expect(parts("a = close + open", LARGE, 3)).toEqual(["rows", 3]);
    expect(parts("a = rank(close)", LARGE, 3)).toEqual(["rows", 3]);
    expect(parts("a = indneutralize(close, sector)", LARGE, 3)).toEqual(["rows", 3]);
  });

  test("small work stays whole", () => {
    expect(parts("a = ts_mean(close, 20)", SMALL, 16)).toEqual(["lanes", 1]);
    expect(parts("a = rank(close)", { rowCount: 0, laneCount: 0 }, 16)).toEqual(["rows", 1]);
  });

  test("there are never more parts than executors, lanes or rows", () => {
    expect(parts("a = ts_std(close, 60000)", { rowCount: 100_000, laneCount: 2 }, 16)).toEqual(["lanes", 2]);
    expect(parts("a = rank(close)", { rowCount: 3, laneCount: 1_000_000 }, 16)).toEqual(["rows", 3]);
    expect(parts("a = rank(close)", LARGE, 1)).toEqual(["rows", 1]);
  });

  test("the cut changes nothing but the number of parts", () => {
    const text = "a = rank(ts_mean(close, 20)) + ts_std(open, 5)";
    const whole = planOf(text, LARGE, 1);
    const cut = planOf(text, LARGE, 16);
    const asWhole = { ...cut, nodes: cut.nodes.map((node) => ({ ...node, partCount: 1 })) };
    expect(asWhole).toEqual(whole);
  });
});

describe("wantedNodes", () => {
  const text = `
    let m = ts_mean(close, 5)
    a = rank(m)
    b = ts_std(m, 5)
    c = a + open
    d = close`;

  test.each([
    [["a"], ["ts_mean", "rank"]],
    [["b"], ["ts_mean", "ts_std"]],
    [["c"], ["ts_mean", "rank", "add"]],
    [["d"], []],
    [[], []],
    [
      ["a", "b", "c", "d"],
      ["ts_mean", "rank", "ts_std", "add"],
    ],
  ])("for the factors %j are all that they depend on", (factors, operators) => {
    expect(wanted(text, ...factors)).toEqual(operators);
  });
});
