import { finalDag, type Program, writtenDag } from "../../compile.ts";
import { printChanges } from "../../dag/difference.ts";
import { SHARING } from "../../dag/passes/order.ts";
import { conditionText, countCalls, countUnsharedCalls } from "../../dag/print.ts";
import { criticalPath, nodeText } from "../../plan/critical_path.ts";
import { columnsOfOutputs } from "../../plan/divide_outputs.ts";
import { formPlan } from "../../plan/form.ts";
import type { Box, ExplainData, FactorData, SharedBox, StageData } from "./explain_data.ts";
import { drawingOf } from "./layout.ts";
import { type WrittenBox, WrittenBoxes } from "./written_boxes.ts";

/** Rows of a block of history, for the bytes of columns. */
const BLOCK_ROWS = 64;
/** One cache line of doubles: rows of columns have no padding. */
const LANES = 8;

/** Collects what the page of `explain` shows of a program. */
export function explainData(program: Program): ExplainData {
  const { written, disabledPasses, stages, file, dialect } = program;
  const dag = finalDag(program);
  const plan = formPlan(dag, { laneCount: LANES, blockRows: BLOCK_ROWS, executorCount: 1, disabledPasses });
  const path = criticalPath(plan.nodes);
  // Of each factor, for an instrument.
  const bytes = columnsOfOutputs(plan).map((read) => {
    return read.reduce((sum, id) => sum + (plan.columns[id]!.ringRows * plan.rowBytes) / LANES, 0);
  });
  const all = new WrittenBoxes(written, writtenDag(program), !disabledPasses.has(SHARING));
  const roots = written.bound.factors.map(({ expression }) => all.add(expression));
  const below = roots.map((root) => boxesBelow(root, all.boxes));
  const boxes = withFactors(all.boxes, below);
  return {
    file,
    dialect,
    source: written.source.text,
    writtenOperations: countUnsharedCalls(writtenDag(program)),
    tasks: countCalls(dag),
    nodes: plan.nodes.length,
    pathNodes: path.map((node) => nodeText(plan, node)),
    pathNs: path.reduce((sum, { costNs }) => sum + costNs, 0) / (LANES * BLOCK_ROWS),
    bytes: plan.columnBytes / LANES,
    blockRows: BLOCK_ROWS,
    boxes,
    factors: roots.map((root, i) => factorOf(program, bytes[i]!, boxes, i, root, below[i]!)),
    shared: sharedBoxes(boxes),
    stages: stagesOf(stages),
  };
}

function factorOf(
  program: Program,
  bytes: number,
  boxes: readonly Box[],
  i: number,
  root: number,
  ids: readonly number[],
): FactorData {
  const { source, bound } = program.written;
  const { span, name } = bound.factors[i]!;
  const dag = finalDag(program);
  const { condition } = dag.outputs[i]!;
  const { lookbackRows, priority } = program.factors[i]!;
  const costOf = (some: readonly number[]) => some.reduce((sum, id) => sum + boxes[id]!.costNs, 0);
  return {
    name,
    ...source.position(span.start),
    root,
    boxes: ids,
    path: heaviestPath(root, ids, boxes),
    lookbackRows: Number.isFinite(lookbackRows) ? lookbackRows : null,
    when: condition === null ? "" : conditionText(dag, condition),
    priority,
    costNs: costOf(ids),
    sharedNs: costOf(ids.filter((id) => boxes[id]!.factors.length > 1)),
    bytes,
    drawing: drawingOf(ids, boxes),
  };
}

/** The box and everything below it, depth first, operands in order, each once. */
function boxesBelow(root: number, boxes: readonly WrittenBox[]): number[] {
  const found = new Set<number>();
  const pending = [root];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    pending.push(...boxes[id]!.operands.toReversed());
  }
  return [...found];
}

function withFactors(boxes: readonly WrittenBox[], below: readonly (readonly number[])[]): Box[] {
  const factors = boxes.map((): number[] => []);
  below.forEach((ids, factor) => {
    for (const id of ids) factors[id]!.push(factor);
  });
  return boxes.map((box, id) => ({ ...box, factors: factors[id]! }));
}

/** The chain of operands that costs most, from the root down. Operands have smaller ids than what uses them. */
function heaviestPath(root: number, ids: readonly number[], boxes: readonly Box[]): number[] {
  const weights = new Map<number, number>();
  const weightOf = (id: number) => weights.get(id)!;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const { costNs, operands } = boxes[id]!;
    weights.set(id, costNs + operands.reduce((most, operand) => Math.max(most, weightOf(operand)), 0));
  }
  const path = [root];
  for (let id = root; boxes[id]!.operands.length > 0; path.push(id))
    id = boxes[id]!.operands.reduce((most, operand) => (weightOf(operand) > weightOf(most) ? operand : most));
  return path;
}

/** Sub-expressions of several factors, without those that occur within a larger one of the same factors only. */
function sharedBoxes(boxes: readonly Box[]): SharedBox[] {
  const isWithin = new Set<number>();
  for (const { operands, factors } of boxes)
    for (const operand of operands)
      if (boxes[operand]!.factors.length === factors.length) isWithin.add(operand);
  const shared = boxes.flatMap(({ factors }, box) => {
    if (factors.length < 2 || isWithin.has(box)) return [];
    const costNs = boxesBelow(box, boxes).reduce((sum, id) => sum + boxes[id]!.costNs, 0);
    return costNs > 0 ? [{ box, costNs, savedNs: costNs * (factors.length - 1) }] : [];
  });
  return shared.sort((a, b) => b.savedNs - a.savedNs || a.box - b.box);
}

function stagesOf(stages: Program["stages"]): StageData[] {
  const changes = printChanges(stages.map(({ dag }) => dag));
  return stages.map(({ name, dag }, i) => ({ name, tasks: countCalls(dag), lines: changes[i]! }));
}
