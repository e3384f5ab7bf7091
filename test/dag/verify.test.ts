import { describe, expect, test } from "vitest";
import type { Dag, Task } from "../../src/dag/dag.ts";
import { InternalError } from "../../src/errors.ts";
import { call } from "./graphs.ts";
import { verifyDag } from "./verify_dag.ts";

const close: Task = { kind: "field", name: "close" };

function graph(tasks: Task[], rest: Partial<Dag> = {}): Dag {
  return { tasks, outputs: [], params: [], conditions: [], ...rest };
}

describe("verifyDag", () => {
  test("gives back a graph that holds", () => {
    const mean = call("ts_mean", [0], { settings: { d: 5 } });
    const neutral = call("group_neutralize", [1], { group: "sector" });
    const dag = graph([close, mean, neutral], {
      outputs: [{ name: "a", task: 2, condition: 0, priority: 0 }],
      conditions: [{ steps: [{ kind: "value", value: 1 }] }],
    });
    expect(verifyDag(dag)).toBe(dag);
    expect(verifyDag(graph([]))).toEqual(graph([]));
  });

  test.each<[string, Dag, string]>([
    ["a missing input", graph([close, call("add", [0])]), "task 1 has add with 1 inputs"],
    ["an input too many", graph([close, call("abs", [0, 0])]), "task 1 has abs with 2 inputs"],
    [
      "an input behind it",
      graph([call("abs", [1]), close]),
      "task 0 has an input that does not come before it",
    ],
    ["itself as input", graph([call("abs", [0])]), "task 0 has an input that does not come before it"],
    [
      "a negative input",
      graph([close, call("abs", [-1])]),
      "task 1 has an input that does not come before it",
    ],
    [
      "an input that is no number",
      graph([close, call("abs", [Number.NaN])]),
      "task 1 has an input that does not",
    ],
    [
      "a group operator without a group",
      graph([close, call("group_neutralize", [0])]),
      "task 1 has an unexpected or missing group",
    ],
    [
      "a group where there should be none",
      graph([close, call("abs", [0], { group: "sector" })]),
      "task 1 has an unexpected or missing group",
    ],
    [
      "a setting that is not a number",
      graph([close, call("ts_mean", [0], { settings: { d: Number.NaN } })]),
      "task 1 has a setting that is not a number",
    ],
    [
      "an output of no task",
      graph([close], { outputs: [{ name: "a", task: 1, condition: null, priority: 0 }] }),
      "task 1 has output a that does not exist",
    ],
    [
      "an output under no condition",
      graph([close], { outputs: [{ name: "a", task: 0, condition: 0, priority: 0 }] }),
      "task 0 has output a under an unknown condition",
    ],
    [
      "a condition set for another number of tasks",
      graph([close], { conditionSets: [] }),
      "task 0 has a missing or surplus condition set",
    ],
    [
      "an input that is not needed whenever it is",
      graph([close, call("abs", [0])], { conditionSets: [[2], [3]] }),
      "task 1 has conditions under which its input 0 is not needed",
    ],
    [
      "the same in the second word of a set",
      graph([close, call("abs", [0])], {
        conditionSets: [
          [3, 2],
          [3, 3],
        ],
      }),
      "task 1 has conditions under which its input 0 is not needed",
    ],
    [
      "an input that is not always needed though it is",
      graph([close, call("abs", [0])], { conditionSets: [[1], null] }),
      "task 1 has conditions under which its input 0 is not needed",
    ],
  ])("finds %s", (_, dag, message) => {
    expect(() => verifyDag(dag)).toThrow(InternalError);
    expect(() => verifyDag(dag)).toThrow(message);
  });
});
