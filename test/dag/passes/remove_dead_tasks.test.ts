import { describe, expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { removeDeadTasks } from "../../../src/dag/passes/remove_dead_tasks.ts";
import { dagOf, printed } from "../graphs.ts";
import { testGolden } from "./golden.ts";

describe("remove_dead_tasks", () => {
  testGolden("remove_dead_tasks", [
    "a = close * (2 * 3 - 1)",
    "a = -(-close) + !(open < close)",
    "a = 1 > 2 ? ts_mean(volume, 20) : open",
    "param p = 1\na = -(-close) when p == 1\nb = ts_mean(close, 5) when p == 2",
  ]);

  test("leaves a graph in which all is needed alone", () => {
    const dag = dagOf("a = rank(close) - open", "remove_dead_tasks", "propagate_conditions");
    expect(removeDeadTasks(dag)).toEqual(dag);
  });

  test("a field that no task reads is not asked of the panel", () => {
    const text = "a = 1 > 2 ? volume : open";
    expect(printed(text)).toBe("%0 = open\na = %0");
    expect(printed(text, "remove_dead_tasks")).toContain("= volume\n");
  });

  test("params stay known, whether tasks read them or not", () => {
    expect([...compile("param p = 1\na = 1 > 2 ? p : open").params]).toEqual([["p", 1]]);
  });
});
