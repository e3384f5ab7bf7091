import { foldedConstant } from "../../ast/nodes.ts";
import { type CallTask, type Dag, type NumberTask, numberText, type Task } from "../dag.ts";
import { rebuildDag } from "../rebuild.ts";

/**
 * fold_constants: `close * (2 * 3 - 1)` -> `close * 5`.
 *
 * Algorithm: one sweep in topological order; an elementwise task whose inputs are all numbers becomes the number that
 * its operator's scalar reference gives for them, null rule included: the bits of every cell of its kernel.
 * Hazards: -0 is distinct from 0, and null is a number that a formula may contain as a literal.
 * Misses: rolling, recursive and cross-section operators of numbers. They are null while history is shorter than the
 * window, and depend on which lanes have values. Params: calls know them, the compiler does not.
 */
export function foldConstants(dag: Dag, isSharing: boolean): Dag {
  return rebuildDag(dag, isSharing, (task, builder) => builder.add(folded(task, builder.tasks)));
}

/** The task, or the number that it always gives; `tasks` holds its inputs. */
export function folded(task: Task, tasks: readonly Task[]): Task {
  if (task.kind !== "call" || task.operator.axis !== "elementwise") return task;
  const inputs = task.inputs.map((input) => tasks[input] as Task);
  if (!inputs.every((input): input is NumberTask => input.kind === "number")) return task;
  const value = foldedConstant(
    task.operator,
    inputs.map((input) => input.value),
  );
  // All nulls become the same NaN.
  const number: NumberTask = { kind: "number", value: Number.isNaN(value) ? Number.NaN : value };
  const formula = formulaOf(task, inputs);
  const isShorter = Number.isFinite(value) && formula.length < numberText(value).length;
  return isShorter ? { ...number, written: formula } : number;
}

/** Prints each input by the shorter of its digits and its formula, so that formulas never exceed what digits need. */
function formulaOf({ operator: { name, symbol } }: CallTask, inputs: readonly NumberTask[]): string {
  const texts = inputs.map(({ value, written }) => {
    const text = written ?? numberText(value);
    return written !== undefined || text.startsWith("-") ? `(${text})` : text;
  });
  return symbol !== undefined && texts.length === 2
    ? texts.join(` ${symbol} `)
    : `${name}(${texts.join(", ")})`;
}
