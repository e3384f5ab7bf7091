import type { Expression } from "../ast/nodes.ts";
import type { Registry } from "../operator/registry.ts";
import { type CallTask, DagBuilder, type Task } from "./dag.ts";
import { addExpression } from "./intern.ts";
import { sorted } from "./passes/canonical_order.ts";
import { folded } from "./passes/fold_constants.ts";
import { simplified } from "./passes/simplify_algebra.ts";

/** Comparisons that are another one with swapped operands. */
const MIRRORED: Readonly<Record<string, string>> = { greater: "less", greater_equal: "less_equal" };

/** Expressions by value: those that the laws of their operators show to be equal are one task. */
export class ValueGraph {
  /** The task of each expression, operands first. */
  readonly ids = new Map<Expression, number>();
  readonly #builder = new DagBuilder(true);
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  get tasks(): readonly Task[] {
    return this.#builder.tasks;
  }

  taskOf(expression: Expression): Task {
    return this.tasks[this.ids.get(expression)!]!;
  }

  /** Adds an expression and everything below it. @returns the new ones, operands first */
  add(root: Expression): Expression[] {
    const known = this.ids.size;
    addExpression(root, (task) => this.#idOf(task), this.ids);
    return [...this.ids.keys().drop(known)];
  }

  #idOf(task: Task): number {
    const simple = simplified(folded(task, this.tasks), this.#builder, this.#registry);
    if (typeof simple === "number") return simple;
    return this.#builder.add(simple, sorted(simple.kind === "call" ? this.#unmirrored(simple) : simple));
  }

  #unmirrored(task: CallTask): CallTask {
    const mirrored = MIRRORED[task.operator.name];
    if (mirrored === undefined) return task;
    return { ...task, operator: this.#registry.kernel(mirrored), inputs: task.inputs.toReversed() };
  }
}
