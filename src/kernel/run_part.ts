import { InternalError } from "../errors.ts";
import type { Registry } from "../operator/registry.ts";
import type { PlanNode } from "../plan/plan.ts";
import type { Columns, PartJob } from "./columns.ts";
import { runCrossSection } from "./cross_section.ts";
import { runElementwise } from "./elementwise.ts";
import { runGroup } from "./group.ts";
import { partRange } from "./part_range.ts";
import { runRecursive } from "./recursive.ts";
import { runRolling } from "./rolling.ts";

/**
 * Runs one part of a node: writes the part's cells of the node's column `[rows x lanes]`, and no other cell.
 *
 * Running a part again writes the same bits, and the cut into parts changes no bit.
 *
 * @throws InternalError if the operator is unknown, or a row operator is cut by lanes; whatever a reference throws.
 */
export function runPart(registry: Registry, node: PlanNode, part: number, columns: Columns): void {
  const { task } = node;
  const operator = registry.kernel(task.operator);
  const readsWholeRows = operator.axis === "cross_section" || operator.axis === "group";
  if (readsWholeRows && node.partAxis === "lanes" && node.partCount > 1) {
    throw new InternalError(`${operator.name} reads whole rows and cannot be cut by lanes`);
  }
  const job: PartJob = {
    laneCount: columns.laneCount,
    range: partRange(node, part, columns.rowCount, columns.laneCount),
    settings: task.settings,
    minPeriods: task.minPeriods,
    operands: task.operands.map((operand) => columns.read(operand)),
    group: task.group === null ? null : columns.group(task.group),
    output: columns.result(node.id),
  };
  if (operator.axis === "elementwise") runElementwise(operator, job);
  else if (operator.axis === "rolling") runRolling(operator, job);
  else if (operator.axis === "recursive") runRecursive(operator, job);
  else if (operator.axis === "cross_section") runCrossSection(operator, job);
  else runGroup(operator, job);
}
