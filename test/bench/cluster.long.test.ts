import { describe, expect, test } from "vitest";
import { measureAgainstLocal } from "../../bench/cluster/against_local.ts";
import { hasDask } from "../support/needs.ts";

describe.runIf(await hasDask())("the bench of clusters", () => {
  test("a job beside the same on threads: in each form, with its conversion", async () => {
    const shape = { lanes: 40, rows: 60, formulas: "alpha158", workers: 2 };
    const { factors, localMs, resultBytes, runs } = await measureAgainstLocal(shape);
    expect(factors).toBe(158);
    expect(localMs).toBeGreaterThan(0);
    expect(resultBytes).toBe(8 * 158 * 40 * 60);
    expect(runs.map(({ form }) => form)).toEqual([
      "Parquet, workers write",
      "CSV, workers write",
      "Parquet, the client writes",
    ]);
    expect(runs.map(({ conversionMs }) => conversionMs > 0)).toEqual([false, true, false]);
    for (const { wallMs, ratio, tasks, busySeconds } of runs) {
      expect(ratio).toBeCloseTo(wallMs / localMs, 10);
      expect(tasks).toBeGreaterThan(0);
      expect(busySeconds).toBeGreaterThan(0);
    }
  });
});
