import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { pruneDag } from "../../src/dag/prune.ts";
import { verifyDag } from "./verify_dag.ts";

const dag = finalDag(
  compile(
    `
    let m = ts_mean(close, 5)
    a = rank(m)
    b = ts_std(m, 5)
    c = a + open
    d = close`,
    { disabledPasses: ["propagate_conditions"] },
  ),
);

/** Operators of the pruned graph, and its outputs. */
function pruned(...names: string[]) {
  const { tasks, outputs } = verifyDag(pruneDag(dag, ({ name }) => names.includes(name)));
  const operators = tasks.flatMap((task) => (task.kind === "call" ? [task.operator.name] : []));
  return { operators, outputs: outputs.map(({ name }) => name), taskCount: tasks.length };
}

describe("a pruned graph", () => {
  test.each([
    [["a"], ["ts_mean", "rank"], 3],
    [["b"], ["ts_mean", "ts_std"], 3],
    [["c"], ["ts_mean", "rank", "add"], 5],
    [["d"], [], 1],
    [[], [], 0],
  ])("for the factors %j holds all that they depend on, and nothing else", (factors, operators, taskCount) => {
    expect(pruned(...factors)).toEqual({ operators, outputs: factors, taskCount });
  });

  test("for all factors is the graph", () => {
    expect(pruneDag(dag)).toEqual(dag);
  });

  test("keeps priorities", () => {
    const ranked = finalDag(compile("x = rank(close) priority 3\ny = open\nz = rank(close) priority -2"));
    expect(ranked.outputs.map(({ priority }) => priority)).toEqual([3, 0, -2]);
    expect(ranked.outputs[2]?.task).toBe(ranked.outputs[0]?.task);
    expect(pruneDag(ranked, (_, index) => index > 0).outputs.map(({ priority }) => priority)).toEqual([
      0, -2,
    ]);
  });

  test("keeps the conditions of what is left, which is always needed", () => {
    const conditional = finalDag(compile("param p = 1\nx = close when p == 1\ny = open when p == 2"));
    expect(conditional.conditionSets).toHaveLength(2);
    expect(pruneDag(conditional).conditionSets).toBeUndefined();
    const [output] = pruneDag(conditional, (_, index) => index > 0).outputs;
    expect(output?.condition).toBe(conditional.outputs[1]?.condition);
  });
});
