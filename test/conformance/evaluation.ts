import { builtInRegistry } from "../../operators/index.ts";
import { finalDag, type Program } from "../../src/compile.ts";
import { runPart } from "../../src/kernel/run_part.ts";
import type { Panel } from "../../src/panel.ts";
import { formPlan } from "../../src/plan/form.ts";
import type { Operand, PlanNode } from "../../src/plan/plan.ts";

/** How the nodes of a plan are cut; operators that cannot be cut along `partAxis` are cut along their own axis. */
export interface Cut {
  readonly partAxis: "lanes" | "rows";
  readonly partCount: number;
}

export interface EvaluationOptions {
  readonly cut?: Cut;
  readonly params?: Readonly<Record<string, number>>;
}

/** What a cell holds before its part ran: a NaN that no operator writes. */
const UNTOUCHED = new BigUint64Array([0x7ff4_dead_beef_0001n]);

/** Evaluates every factor of a program on this thread, node after node: one column `[rows x lanes]` each. */
export function evaluateHere(
  program: Program,
  panel: Panel,
  options: EvaluationOptions = {},
): Float64Array[] {
  const { rowCount, laneCount } = panel;
  const { params = {} } = options;
  const plan = formPlan(finalDag(program), panel, 1);
  const results = plan.nodes.map(() => untouchedColumn(rowCount * laneCount));
  const read = (operand: Operand) => {
    if (operand.kind === "node") return results[operand.node]!;
    if (operand.kind === "number") return operand.value;
    return operand.kind === "param" ? params[operand.name]! : panel.fields.get(operand.name)!;
  };
  const columns = {
    rowCount,
    laneCount,
    read,
    group: (name: string) => panel.groups.get(name)!,
    result: (node: number) => results[node]!,
  };
  for (const node of plan.nodes) {
    const parts = cutNode(node, options.cut);
    for (let part = 0; part < parts.partCount; part++) runPart(builtInRegistry, parts, part, columns);
  }
  return plan.outputs.map(({ operand }) => {
    const values = read(operand);
    return typeof values === "number" ? new Float64Array(rowCount * laneCount).fill(values) : values;
  });
}

function untouchedColumn(cellCount: number): Float64Array {
  return new Float64Array(new BigUint64Array(cellCount).fill(UNTOUCHED[0]!).buffer);
}

/** Cells that no part has written, or that hold another NaN than the one null. */
export function countStrangeNulls(column: Float64Array): number {
  const theNull = new BigUint64Array(Float64Array.of(Number.NaN).buffer)[0];
  const bits = new BigUint64Array(column.slice().buffer);
  return column.reduce((count, cell, i) => count + Number(Number.isNaN(cell) && bits[i] !== theNull), 0);
}

function cutNode(node: PlanNode, cut: Cut | undefined): PlanNode {
  if (!cut) return node;
  const { axis } = builtInRegistry.kernel(node.task.operator);
  const isFree = axis === "elementwise" || axis === "rolling";
  return { ...node, partCount: cut.partCount, partAxis: isFree ? cut.partAxis : node.partAxis };
}
