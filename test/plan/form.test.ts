import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { HAS_ROW } from "../../src/dag/row_members.ts";
import { formPlan, type PlanShape } from "../../src/plan/form.ts";
import { ARENA_HEAD_BYTES, type Plan, type PlanNode } from "../../src/plan/plan.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";

const SMALL: PlanShape = { laneCount: 4, blockRows: 10, executorCount: 4 };
const LARGE: PlanShape = { laneCount: 5000, blockRows: 64, executorCount: 3 };

const planOf = (text: string, shape = SMALL): Plan => formPlan(finalDag(compile(text)), shape);

/** What each node does, in the order of the plan: its operators, joined by blanks. */
const drawn = (plan: Plan): string[] =>
  plan.nodes.map(({ kind, tasks }) =>
    kind === "input" ? "input" : tasks.map((id) => plan.tasks[id]?.operator).join(" "),
  );

/** The same with the conditions of each node by number; none: always. */
const drawnWithConditions = (plan: Plan): string[] =>
  drawn(plan).map((text, id) => {
    const words = plan.nodes[id]?.conditions ?? [];
    const conditions = [0, 1, 2].filter((i) => (((words[0] ?? 0) >>> i) & 1) === 1);
    return [text, ...conditions.map((i) => `#${i}`)].join(" ");
  });

const columnOf = (plan: Plan, operator: string) => {
  const task = plan.tasks.find((one) => one.operator === operator);
  return plan.columns[task?.column ?? -1];
};

describe("nodes", () => {
  test("work lane by lane is one node; what reads whole rows is a node of its own between two such", () => {
    const plan = planOf("a = ts_mean(rank(close * 2 + open), 5) - delay(close, 1)\nb = rank(open)");
    expect(drawn(plan)).toEqual(["input", "multiply add delay", "rank", "rank", "ts_mean subtract"]);
    expect(plan.nodes.map(({ kind }) => kind)).toEqual(["input", "lanes", "rows", "rows", "lanes"]);
    expect(plan.nodes.map(({ inputs }) => inputs)).toEqual([[], [0], [1], [0], [1, 2]]);
  });

  test("of whole rows have a column, also what nothing reads where passes are left out", () => {
    const disabledPasses = ["share_subexpressions", "remove_dead_tasks"];
    const plan = formPlan(finalDag(compile("a = rank(rank(close))\nb = open", { disabledPasses })), SMALL);
    const rows = plan.nodes.filter(({ kind }) => kind === "rows");
    expect(rows.length).toBe(2);
    for (const { tasks } of rows) expect(plan.columns[plan.tasks[tasks[0]!]!.column ?? -1]).toBeDefined();
  });

  test("are cut where a loop would hold too much", () => {
    const text = Array.from({ length: 30 }, (_, i) => `f${i} = ts_std(close, ${i + 2})`).join("\n");
    const plan = planOf(text);
    expect(plan.nodes.length).toBeGreaterThan(3);
    expect(plan.nodes.flatMap(({ tasks }) => tasks)).toEqual(plan.tasks.map((_, id) => id));
  });

  test("are cut where no value has to pass", () => {
    const rest = " + open - volume + high - low + vwap - amount + cap - close";
    const plan = planOf([2, 3, 4, 5].map((d) => `f${d} = ts_std(close, ${d})${rest}`).join("\n"));
    expect(plan.nodes.map(({ tasks }) => tasks.length)).toEqual([0, 18, 18]);
    expect(plan.tasks.filter(({ column }) => column !== null).length).toBe(4);
  });

  test("carry settings, min_periods and the group", () => {
    const { tasks, columns } = planOf("a = indneutralize(ts_mean(close, 5, min_periods=2), sector)");
    expect(tasks[0]).toMatchObject({ operator: "ts_mean", settings: { d: 5 }, minPeriods: 2, group: null });
    const neutralize = tasks.find(({ operator }) => operator === "group_neutralize");
    expect(neutralize).toMatchObject({ settings: {}, minPeriods: null });
    expect(columns[neutralize?.group ?? -1]?.source).toEqual({ kind: "group", name: "sector" });
  });

  test("come after what they read, and know their outputs", () => {
    const plan = planOf("a = rank(close) * 2\nb = a\nc = close\nd = ts_sum(rank(open), 3)");
    for (const { id, inputs } of plan.nodes) for (const input of inputs) expect(input).toBeLessThan(id);
    const outputs = plan.nodes.flatMap((node) => node.outputs.map((index) => plan.outputs[index]?.name));
    expect(outputs.sort()).toEqual(["a", "b", "c", "d"]);
    for (const node of plan.nodes) {
      for (const index of node.outputs) expect(node.columns).toContain(plan.outputs[index]?.column);
    }
  });

  test("weigh their critical paths", () => {
    const { nodes } = planOf("a = rank(ts_mean(close, 20)) + ts_std(open, 5)\nb = ts_std(open, 5) * 2");
    const weights = criticalPathWeights(
      nodes.map(({ costNs, partCount }) => costNs / partCount),
      nodes,
    );
    expect(nodes.map(({ weight }) => weight)).toEqual([...weights]);
  });

  test("cost as much as the cells of a full block, by their code, or by their reference if they have none", () => {
    const costs = (laneCount: number, blockRows: number, inner = "ts_mean(close, 20)") =>
      planOf(`a = rank(${inner})`, { laneCount, blockRows, executorCount: 1 }).nodes.map(
        ({ costNs }) => costNs,
      );
    const one = costs(1, 1);
    expect(costs(3, 7)).toEqual(one.map((cost) => expect.closeTo(21 * cost)));
    expect(costs(1, 1, "ts_mean(close, 100)")).toEqual(one);
    expect(costs(1, 1, "ts_kurt(close, 100)")[1]).toBeGreaterThan(
      costs(1, 1, "ts_kurt(close, 20)")[1] as number,
    );
  });
});

describe("tasks that are needed under different conditions", () => {
  test("share no node; what is needed under more conditions comes first", () => {
    const plan = planOf(`
      param p = 1
      a = delay(open, 3) when p == 1
      let m = ts_mean(close, 5)
      b = m * 2 when p == 1
      c = rank(m) + open when p == 2
      d = ts_std(open, 9)`);
    expect(drawnWithConditions(plan)).toEqual([
      "input",
      "ts_std",
      "ts_mean #0 #1",
      "delay multiply #0",
      "rank #1",
      "add #1",
    ]);
    for (const { id, inputs } of plan.nodes) for (const input of inputs) expect(input).toBeLessThan(id);
  });

  test("are stored where another node reads them", () => {
    const plan = planOf("param p = 1\nlet m = close + open\na = m * 2 when p == 1\nb = m - high");
    expect(columnOf(plan, "add")).toMatchObject({ historyRows: 0, ringRows: SMALL.blockRows });
  });

  test("make the same plan as without conditions where all are needed under none", () => {
    const text = "a = rank(ts_mean(close * 2 + open, 5)) - delay(close, 1)\nb = ts_max(open, 3)";
    const dag = finalDag(compile(text));
    expect(dag.conditionSets).toEqual(dag.tasks.map(() => null));
    expect(formPlan(dag, SMALL)).toEqual(formPlan({ ...dag, conditionSets: null }, SMALL));
  });
});

describe("switched off", () => {
  const text = "a = rank(ts_mean(close, 20) + 1) * 2 + ts_std(open, 5)";
  const without = (pass: string) => planOf(text, { ...LARGE, disabledPasses: new Set([pass]) });

  test("merge_chains: every task is a node of its own", () => {
    const plan = without("merge_chains");
    expect(drawn(plan)).toEqual(["input", "ts_mean", "add", "rank", "multiply", "ts_std", "add"]);
    for (const { id, inputs } of plan.nodes) for (const input of inputs) expect(input).toBeLessThan(id);
  });

  test("split_nodes: every node is one part", () => {
    expect(planOf(text, LARGE).nodes.some(({ partCount }) => partCount > 1)).toBe(true);
    expect(without("split_nodes").nodes.every(({ partCount }) => partCount === 1)).toBe(true);
  });

  test("critical_path_weights: no node weighs anything", () => {
    expect(without("critical_path_weights").nodes.every(({ weight }) => weight === 0)).toBe(true);
  });
});

describe("columns", () => {
  test("hold what an output, a window or another node reads; all else stays in registers", () => {
    const plan = planOf("a = ts_mean(close + open, 5) * (close - open)");
    expect(columnOf(plan, "add")).toBeDefined();
    expect(columnOf(plan, "multiply")).toBeDefined();
    expect(columnOf(plan, "subtract")).toBeUndefined();
    expect(columnOf(plan, "ts_mean")).toBeUndefined();
  });

  test("keep as many rows as the longest window over them reads, and the one that leaves it", () => {
    const plan = planOf("let x = close + open\na = ts_mean(x, 5)\nb = ts_std(x, 30)\nc = delay(x, 7)\nd = x");
    expect(columnOf(plan, "add")).toMatchObject({ historyRows: 30, ringRows: 30 + SMALL.blockRows });
    expect(columnOf(plan, "ts_mean")).toMatchObject({ historyRows: 0, ringRows: SMALL.blockRows });
  });

  test("bring fields, params and numbers in where windows and whole rows need them", () => {
    const plan = planOf("param p = 1\na = ts_sum(p, 3) + rank(2)\nb = close * 3");
    const sources = plan.columns.map(({ source }) => source).filter(({ kind }) => kind !== "task");
    expect(sources).toContainEqual({ kind: "param", name: "p" });
    expect(sources).toContainEqual({ kind: "field", name: HAS_ROW });
    expect(sources).not.toContainEqual({ kind: "number", value: 3 });
    const factors = plan.tasks
      .filter(({ operator }) => operator === "multiply")
      .map(({ operands }) => operands);
    // The 2 counts in the row of those that have one.
    for (const value of [2, 3])
      expect(factors).toContainEqual(expect.arrayContaining([{ kind: "number", value }]));
  });

  test("a field, a number and a param may be outputs without any task", () => {
    const plan = planOf("param p = 1\na = close\nb = 3\nc = p");
    expect(drawn(plan)).toEqual(["input"]);
    expect(plan.outputs.map(({ column }) => plan.columns[column]?.source)).toEqual([
      { kind: "field", name: "close" },
      { kind: "number", value: 3 },
      { kind: "param", name: "p" },
    ]);
  });

  test("two factors may be one column", () => {
    const { outputs } = planOf("a = rank(close)\nb = rank(close)");
    expect(outputs[0]?.column).toBe(outputs[1]?.column);
  });

  test("lie one after the other behind the head, in rows of whole and oddly many cache lines", () => {
    const { columns, rowBytes, columnBytes } = planOf("a = rank(ts_mean(close, 5)) + open", LARGE);
    let end = ARENA_HEAD_BYTES;
    for (const { byteOffset, ringRows } of columns) {
      expect(byteOffset).toBe(end);
      end += ringRows * rowBytes;
    }
    expect(columnBytes).toBe(end);
    expect(rowBytes).toBeGreaterThanOrEqual(8 * LARGE.laneCount);
    expect((rowBytes / 64) % 2).toBe(1);
  });
});

describe("parts", () => {
  const parts = (text: string, shape: PlanShape): [PlanNode["partAxis"] | undefined, number | undefined] => {
    const node = planOf(text, shape).nodes[1];
    return [node?.partAxis, node?.partCount];
  };

  test("work lane by lane is cut over lanes, work on whole rows over rows", () => {
    expect(parts("a = ts_mean(close, 20)", LARGE)).toEqual(["lanes", 3]);
    expect(parts("a = close + open * 2 - high / low", LARGE)).toEqual(["lanes", 3]);
    expect(parts("a = rank(close)", LARGE)).toEqual(["rows", 3]);
    expect(parts("a = indneutralize(close, sector)", LARGE)).toEqual(["rows", 3]);
  });

  test("small work stays whole", () => {
    expect(parts("a = ts_mean(close, 20)", SMALL)).toEqual(["lanes", 1]);
    expect(parts("a = rank(close)", { ...SMALL, laneCount: 0 })).toEqual(["rows", 1]);
  });

  test("there are never more parts than executors, lanes or rows", () => {
    expect(parts("a = ts_std(close, 60000)", { laneCount: 2, blockRows: 10_000, executorCount: 16 })).toEqual(
      ["lanes", 2],
    );
    expect(parts("a = rank(close)", { laneCount: 1_000_000, blockRows: 3, executorCount: 16 })).toEqual([
      "rows",
      3,
    ]);
    expect(parts("a = rank(close)", { ...LARGE, executorCount: 1 })).toEqual(["rows", 1]);
  });

  test("the cut changes nothing but the number of parts and with it the weights", () => {
    const text = "a = rank(ts_mean(close, 20)) + ts_std(open, 5)";
    const whole = planOf(text, { ...LARGE, executorCount: 1 });
    const cut = planOf(text, { ...LARGE, executorCount: 16 });
    const uncut = ({ nodes, ...plan }: Plan) => {
      return { ...plan, nodes: nodes.map((node) => ({ ...node, partCount: 1, weight: 0 })) };
    };
    expect(uncut(cut)).toEqual(uncut(whole));
  });
});
