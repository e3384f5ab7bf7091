import type { CallNode, Expression } from "../../ast/nodes.ts";
import type { WrittenProgram } from "../../compile.ts";
import { type Dag, DagBuilder } from "../../dag/dag.ts";
import { addExpression } from "../../dag/intern.ts";
import { runsByReference } from "../../operator/definition.ts";
import { cellCostNs } from "../../plan/task_cost.ts";
import type { Source, Span } from "../../text/source.ts";
import type { Axis, Box } from "./explain_data.ts";

/** A box before the factors that need it are known. */
export type WrittenBox = Omit<Box, "factors">;

/** The operations of all factors as they are written; equal ones are one box. */
export class WrittenBoxes {
  readonly boxes: WrittenBox[] = [];
  readonly #source: Source;
  readonly #dag: Dag;
  readonly #taskOf = new Map<Expression, number>();
  readonly #boxOfTask = new Map<number, number>();

  /** `dag` is the program's first graph: it has the same tasks in the same order. */
  constructor({ source, bound }: WrittenProgram, dag: Dag, isSharing: boolean) {
    this.#source = source;
    this.#dag = dag;
    const builder = new DagBuilder(isSharing);
    for (const { expression } of bound.factors)
      addExpression(expression, (task) => builder.add(task), this.#taskOf);
  }

  /** The box of an expression, with the boxes of its operands added first; trees may be deep. */
  add(root: Expression): number {
    const stack = [root];
    for (let node = stack.at(-1); node; node = stack.at(-1)) {
      const { members, operands } = groupOf(node);
      const missing = operands.filter((operand) => isComputed(operand) && this.#find(operand) === undefined);
      if (missing.length > 0 && this.#find(node) === undefined) {
        stack.push(...missing.reverse());
        continue;
      }
      if (this.#find(node) === undefined) this.#addOne(node, members, operands);
      stack.pop();
    }
    return this.#find(root)!;
  }

  #find(node: Expression): number | undefined {
    return this.#boxOfTask.get(this.#taskOf.get(node)!);
  }

  #addOne(node: Expression, members: readonly CallNode[], operands: readonly Expression[]): void {
    const computed = operands.filter(isComputed);
    const ids = new Set(members.map((member) => this.#taskOf.get(member)!));
    this.#boxOfTask.set(this.#taskOf.get(node)!, this.boxes.length);
    this.boxes.push({
      label: labelOf(node, computed, this.#source.text),
      ...node.span,
      ...this.#source.position(node.span.start),
      axis: axisOf(members),
      costNs: [...ids].reduce((sum, id) => sum + this.#costNs(id), 0),
      isByReference: members.some(({ operator }) => runsByReference(operator)),
      operands: computed.map((operand) => this.#find(operand)!),
    });
  }

  #costNs(id: number): number {
    const task = this.#dag.tasks[id]!;
    return task.kind === "call" ? cellCostNs(task) : 0;
  }
}

/** What is known at compile time, or is a column, is written where it is used. */
const isComputed = (node: Expression): boolean => node.kind === "call" && node.constant === null;

/**
 * The calls that one place of the text stands for, and what they are applied to. `returns` of a dialect is three calls
 * at one place; most places are one call.
 */
function groupOf(node: Expression): { members: CallNode[]; operands: Expression[] } {
  const members: CallNode[] = [];
  const operands: Expression[] = [];
  if (!isComputed(node)) return { members, operands };
  const pending: Expression[] = [node];
  for (let one = pending.pop(); one; one = pending.pop()) {
    if (one.kind === "call" && isSame(one.span, node.span)) {
      members.push(one);
      pending.push(...one.args.toReversed());
    } else operands.push(one);
  }
  return { members, operands };
}

const isSame = (a: Span, b: Span): boolean => a.start === b.start && a.end === b.end;

/** The axis that says most about where the box's time goes. */
function axisOf(members: readonly CallNode[]): Axis {
  if (members.length === 0) return "column";
  const axes = members.map(({ operator }) => operator.axis);
  return axes.find((axis) => axis !== "elementwise") ?? "elementwise";
}

/** The text of a node with a circled number in the place of each operand, comments and line breaks left out. */
function labelOf(node: Expression, operands: readonly Expression[], text: string): string {
  const { start, end } = node.span;
  const cuts = operands
    .map(({ span }, i) => ({ span, mark: operandMark(i) }))
    .filter(({ span }) => span.start >= start && span.end <= end && !isSame(span, node.span))
    .sort((a, b) => a.span.start - b.span.start);
  let label = "";
  let from = start;
  for (const { span, mark } of cuts) {
    // Two operands at one place are one argument that is used twice.
    if (span.start < from) continue;
    label += text.slice(from, span.start) + mark;
    from = span.end;
  }
  const whole = (label + text.slice(from, end))
    .replaceAll(/(?:#|\/\/)[^\r\n]*/g, " ")
    .replaceAll(/\s+/g, " ");
  return whole.trim().replaceAll(/(?<![\w.])\(\s*([①-⑳])\s*\)/g, "$1");
}

/** `①` for the first operand. */
export function operandMark(index: number): string {
  return index < 20 ? String.fromCodePoint(0x2460 + index) : `(${index + 1})`;
}
