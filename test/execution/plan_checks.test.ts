import { expect, test } from "vitest";
import { checkPlanData } from "../../src/execution/plan_checks.ts";
import type { PlanData } from "../../src/execution/protocol.ts";

test("a plan of more outputs than a call has arguments: why asks for all sub-expressions of a formula", () => {
  const outputs = Array.from({ length: 300_000 }, (_, i) => (i === 7 ? new Float64Array(6) : null));
  const plan = { laneCount: 2, blockRows: 1, nodes: [], columns: [], outputs };
  const data = { plan, arenas: [], results: outputs } as unknown as PlanData;
  expect(checkPlanData(data).resultRows).toBe(3);
});
