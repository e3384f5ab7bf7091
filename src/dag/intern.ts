import type { Expression } from "../ast/nodes.ts";
import type { BoundProgram } from "../ast/program.ts";
import { InternalError } from "../errors.ts";
import { type Dag, DagBuilder, type Task } from "./dag.ts";
import { withFingerprints } from "./fingerprints.ts";

/**
 * Builds the graph of a bound program and returns it with the task of its universe. Equal expressions become one task
 * unless `isSharing` is false.
 */
export function internProgram(
  program: BoundProgram,
  isSharing: boolean,
): { readonly dag: Dag; readonly universe: number | null } {
  const builder = new DagBuilder(isSharing);
  const add = (task: Task) => builder.add(task);
  const ids = new Map<Expression, number>();
  const outputs = program.factors.map(({ name, expression, condition, priority }) => {
    addExpression(expression, add, ids);
    return { name, task: ids.get(expression) as number, condition, priority };
  });
  if (program.universe) addExpression(program.universe, add, ids);
  const dag = { tasks: builder.tasks, outputs, params: program.params, conditions: program.conditions };
  const universe = program.universe && ids.get(program.universe)!;
  return { dag: withFingerprints(dag, universe), universe };
}

/** Adds an expression and everything below it, children first, with an explicit stack; `add` returns a task's id. */
export function addExpression(
  root: Expression,
  add: (task: Task) => number,
  ids: Map<Expression, number>,
): void {
  const stack: Expression[] = [root];
  for (let node = stack.at(-1); node; node = stack.at(-1)) {
    const missing = node.kind === "call" && !ids.has(node) ? node.args.filter((arg) => !ids.has(arg)) : [];
    if (missing.length > 0) {
      stack.push(...missing.reverse());
      continue;
    }
    if (!ids.has(node)) ids.set(node, add(taskOf(node, ids)));
    stack.pop();
  }
}

function taskOf(node: Expression, ids: ReadonlyMap<Expression, number>): Task {
  switch (node.kind) {
    case "field":
    case "param":
      return { kind: node.kind, name: node.name };
    case "number":
      return { kind: "number", value: node.constant };
    case "call": {
      const { operator, settings, minPeriods } = node;
      const inputs = node.args.map((arg) => ids.get(arg) as number);
      return { kind: "call", operator, inputs, group: node.group?.name ?? null, settings, minPeriods };
    }
    default:
      throw new InternalError(`an expression of kind ${node.kind} in a program without errors`);
  }
}
