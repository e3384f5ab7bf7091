import type { CallTask } from "../dag/dag.ts";
import type { KernelOperator } from "../operator/definition.ts";
import { type CostModel, DEFAULT_COSTS, nsPerCellOf } from "./cost_model.ts";

/**
 * Cost of writing one value of a node to its column, and its share of reading it elsewhere, in ns. Measured as a node
 * that negates, 4096 lanes in blocks of 64 rows.
 */
export const COLUMN_COST_NS = 0.3;

/**
 * Cost of compiled code as a share of the reference's cost, where no calibration says more; measured over the operators
 * of each axis (`factorloom bench calibrate`). Most are within a factor of two; those that are far off, and whose cost
 * matters, declare `codeNs`.
 */
const CODE_SHARES: Readonly<Record<KernelOperator["axis"], number>> = {
  elementwise: 0.25,
  rolling: 0.035,
  recursive: 0.05,
  cross_section: 0.05,
  group: 0.05,
};

/**
 * Code of rolling operators costs the same for all windows: a share of the reference's cost for a window of this
 * length.
 */
const FLAT_WINDOW_ROWS = 5;

/** Estimated ns per cell of a task, without reading and writing columns. */
export function cellCostNs({ operator, settings }: CallTask, costs: CostModel = DEFAULT_COSTS): number {
  const windowRows = operator.axis === "rolling" ? operator.windowRows(settings) : 1;
  return nsPerCellOf(costs, operator.name, windowRows) ?? builtInCostNs(operator, windowRows);
}

/** The operator's own figure for its code or, if it has no code, for its reference; else what is usual for its axis. */
function builtInCostNs(operator: KernelOperator, windowRows: number): number {
  const { axis, lower, codeNs, costNs } = operator;
  if (!lower) return costNs(windowRows);
  if (codeNs) return codeNs(windowRows);
  return CODE_SHARES[axis] * costNs(axis === "rolling" ? FLAT_WINDOW_ROWS : 1);
}
