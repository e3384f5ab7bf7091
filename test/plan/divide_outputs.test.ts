import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { divideOutputs } from "../../src/plan/divide_outputs.ts";
import { formPlan } from "../../src/plan/form.ts";
import { Seeded } from "../support/seeded.ts";

function planOf(formulas: readonly string[]) {
  const text = formulas.map((formula, index) => `f${index} = ${formula}`).join("\n");
  return formPlan(finalDag(compile(text)), { laneCount: 40, blockRows: 1, executorCount: 1 });
}

describe("outputs that do not fit into one memory", () => {
  test("come together with those that read the same columns", () => {
    const plan = planOf([
      "ts_mean(rank(close), 100)",
      "ts_mean(rank(volume), 100)",
      "ts_max(rank(close), 90)",
      "ts_max(rank(volume), 90)",
      "ts_min(rank(close), 80)",
    ]);
    expect(divideOutputs(plan, 0.6)).toEqual([
      [0, 2, 4],
      [1, 3],
    ]);
  });

  test("of which one needs all columns are divided all the same", () => {
    const plan = planOf(["ts_mean(rank(close), 50)", "ts_mean(rank(close), 50) + ts_sum(rank(volume), 50)"]);
    expect(divideOutputs(plan, 0.99)).toEqual([[0], [1]]);
    expect(divideOutputs(planOf(["close + 1", "close + 1", "close + 1"]), 0.99)).toEqual([[0], [1], [2]]);
  });

  test("are in one group each, in their order", () => {
    const random = new Seeded();
    const fields = ["open", "high", "low", "close", "volume"];
    const field = () => fields[random.below(fields.length)]!;
    const formulas = Array.from(
      { length: 60 },
      () =>
        `ts_mean(rank(${field()} * ${random.below(3)} + ${field()}), ${2 + random.below(30)}) - ${field()}`,
    );
    const plan = planOf(formulas);
    for (let trial = 0; trial < 50; trial++) {
      const share = random.uniform();
      const groups = divideOutputs(plan, share);
      expect(groups.length, `share ${share} of seed ${random.seed}`).toBeGreaterThan(1);
      expect(groups.flat().sort((a, b) => a - b)).toEqual(formulas.map((_, index) => index));
      for (const group of groups) expect(group).toEqual(group.toSorted((a, b) => a - b));
    }
  });
});
