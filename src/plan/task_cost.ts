import type { CallTask } from "../dag/dag.ts";
import type { KernelOperator } from "../operator/definition.ts";

/**
 * What a cell costs in compiled code, in ns, for each series argument; measured on one kind of machine, good enough to
 * weigh nodes against each other. Elementwise code costs in proportion to what the operator says.
 */
const CODE_COSTS_NS: Readonly<Record<Exclude<KernelOperator["axis"], "elementwise">, number>> = {
  rolling: 6,
  recursive: 2.5,
  cross_section: 6,
  group: 4,
};

const ELEMENTWISE_SHARE = 0.5;

/** Estimated ns of one cell of a task: of its code, or of its reference if it has none. */
export function cellCostNs({ operator, settings, inputs }: CallTask): number {
  const windowRows = operator.axis === "rolling" ? operator.windowRows(settings) : 1;
  const byReferenceNs = operator.costNs(windowRows);
  if (!operator.lower) return byReferenceNs;
  if (operator.axis === "elementwise") return ELEMENTWISE_SHARE * byReferenceNs;
  return CODE_COSTS_NS[operator.axis] * inputs.length;
}
