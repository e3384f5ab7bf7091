import type { BudgetResult } from "../../../src/bench/budget/budget.ts";
import type { BudgetCell } from "../../../src/bench/budget/cell.ts";
import { msPerRow, sum } from "../../../src/bench/result.ts";

type Given = Pick<BudgetCell, "lanes" | "formulas" | "threads" | "factors" | "callMs">;

/** A cell with these calls; what else it has is made up. */
export function madeUpCell(given: Given): BudgetCell {
  const { callMs } = given;
  const ms = msPerRow(sum(callMs), callMs.length, callMs);
  return {
    ...given,
    calls: callMs.length,
    nodes: 12,
    warmUpRows: 64,
    ms,
    isInside: ms.p99 <= 100,
    prediction: { meanAbsolutePercent: 4.25, biasPercent: -1.5 },
    stageMs: { input: 0.05 * ms.mean, lanes: 0.6 * ms.mean, rows: 0.25 * ms.mean, rest: 0.1 * ms.mean },
    readyMs: 321,
    arenaBytes: 3 * 2 ** 20,
    stateBytes: 2 ** 20,
    rssBytes: 2 ** 28,
    digest: `${given.formulas} ${given.lanes}`,
  };
}

export function madeUpResult(cells: readonly BudgetCell[]): BudgetResult {
  const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
  return {
    workload: "budget",
    date: "2026-01-02T03:04:05.678Z",
    version: "1.2.3",
    node: "v26.0.0",
    cpu: "a <processor> & more",
    cores: 2,
    memoryBytes: 2 ** 34,
    settings: {
      lanes: distinct(cells.map(({ lanes }) => lanes)),
      formulas: distinct(cells.map(({ formulas }) => formulas)),
      threads: distinct(cells.map(({ threads }) => threads)),
      calls: cells[0]!.calls,
      budgetMs: 100,
      nullShare: 0.01,
      panelRows: 512,
    },
    cells,
  };
}
