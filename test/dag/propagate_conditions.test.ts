import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { type Dag, inputsOf } from "../../src/dag/dag.ts";
import { propagateConditions } from "../../src/dag/passes/propagate_conditions.ts";
import { call, dagOf } from "./graphs.ts";
import { verifyDag } from "./verify_dag.ts";

/** The conditions under which a task is needed; null: always. */
function conditionsOf(dag: Dag, task: number): number[] | null {
  const set = dag.conditionSets?.[task];
  if (!set) return null;
  return dag.conditions.flatMap((_, i) => ((set[Math.floor(i / 32)]! >>> (i % 32)) & 1 ? [i] : []));
}

const taskOf = (dag: Dag, operator: string): number =>
  dag.tasks.findIndex((task) => task.kind === "call" && task.operator.name === operator);

describe("a task is needed under the conditions of the factors that it reaches", () => {
  const dag = dagOf(`
    param p = 1
    let m = ts_mean(close, 5)
    a = rank(m) when p == 1
    b = m + open when p == 2
    c = ts_std(close, 9)`);

  test.each([
    ["rank", [0]],
    ["add", [1]],
    ["ts_mean", [0, 1]],
    ["ts_std", null],
  ])("%s", (operator, conditions) => {
    expect(conditionsOf(dag, taskOf(dag, operator))).toEqual(conditions);
  });

  test("a field that an unconditional factor reads is always needed, another one is not", () => {
    const field = (name: string) =>
      dag.tasks.findIndex((task) => task.kind === "field" && task.name === name);
    expect(conditionsOf(dag, field("close"))).toBeNull();
    expect(conditionsOf(dag, field("open"))).toEqual([1]);
  });
});

test("what has unbounded lookback is needed under the conditions of its factors, like all other tasks", () => {
  const dag = dagOf("param p = 1\na = ts_max(rank(ema(ts_mean(close, 3), 5)), 4) when p == 1");
  const sets = ["ts_mean", "ema", "rank", "ts_max"].map((name) => conditionsOf(dag, taskOf(dag, name)));
  expect(sets).toEqual([[0], [0], [0], [0]]);
});

test("left out, no task has conditions", () => {
  const text = "param p = 1\na = rank(close) when p == 1";
  expect(dagOf(text, "propagate_conditions").conditionSets).toBeUndefined();
});

test("any number of conditions: equal sets are one object", () => {
  const count = 100;
  const factors = Array.from({ length: count }, (_, i) => `f${i} = ts_mean(close, 5) * ${i} when p == ${i}`);
  const dag = verifyDag(finalDag(compile(`param p = 1\n${factors.join("\n")}`)));
  expect(conditionsOf(dag, taskOf(dag, "ts_mean"))).toEqual(Array.from({ length: count }, (_, i) => i));
  for (const { task, condition } of dag.outputs) {
    if (condition !== 5) continue;
    expect(dag.conditionSets?.[task]).toEqual([1 << 5, 0, 0, 0]);
  }
  const distinct = new Set(dag.conditionSets);
  expect(distinct.size).toBe(new Set([...distinct].map(String)).size);
});

test("the sets of any graph are the union over all ways to a factor", () => {
  const graphs = fc.record({
    picks: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 60 }),
    outputs: fc.array(fc.record({ task: fc.nat(), condition: fc.option(fc.nat(79), { freq: 20 }) }), {
      minLength: 1,
      maxLength: 100,
    }),
  });
  fc.assert(
    fc.property(graphs, ({ picks, outputs }) => {
      const tasks = [
        { kind: "field" as const, name: "close" },
        ...picks.map(([a, b], i) => call("add", [a % (i + 1), b % (i + 1)])),
      ];
      const drawn = outputs.map(({ task, condition }, i) => ({
        name: `f${i}`,
        task: task % tasks.length,
        condition,
        priority: 0,
      }));
      const conditions = Array.from({ length: 80 }, () => ({ steps: [] }));
      const dag = verifyDag(propagateConditions({ tasks, outputs: drawn, params: [], conditions }));
      const reached = tasks.map(() => new Set<number | null>());
      for (const { task, condition } of drawn) {
        const open = [task];
        const seen = new Set(open);
        for (let id = open.pop(); id !== undefined; id = open.pop()) {
          reached[id]!.add(condition);
          for (const input of inputsOf(tasks[id]!)) if (!seen.has(input)) open.push(seen.add(input) && input);
        }
      }
      reached.forEach((set, id) => {
        const expected = set.has(null) ? null : [...(set as Set<number>)].sort((a, b) => a - b);
        expect(conditionsOf(dag, id)).toEqual(expected);
      });
    }),
    { seed: 501, numRuns: 100 },
  );
});
