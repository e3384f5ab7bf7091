import { foldedConstant } from "../../ast/nodes.ts";
import { type CallTask, type Dag, type NumberTask, numberText, type Task } from "../dag.ts";
import { rebuildDag } from "../rebuild.ts";

/**
 * fold_constants: `close * (2 * 3 - 1)` -> `close * 5`.
 *
 * Algorithm: one sweep in topological order; an elementwise task whose inputs are all numbers becomes the number that
 * its operator's scalar reference gives for them, null rule included: the bits that its kernel would give each cell.
 * Hazards: -0 is a number of its own, and so is null, which a formula may hold as a literal too.
 * Misses: rolling, recursive and cross-section operators of numbers. They are null while history is shorter than the
 * window, and depend on which lanes have values. Params: they are known to a call, not to the compiler.
 */
export function foldConstants(dag: Dag, isSharing: boolean): Dag {
  return rebuildDag(dag, isSharing, (task, builder) => builder.add(folded(task, builder.tasks)));
}

/** The task, or the number that it gives everywhere; `tasks` holds its inputs. */
export function folded(task: Task, tasks: readonly Task[]): Task {
  if (task.kind !== "call" || task.operator.axis !== "elementwise") return task;
  const inputs = task.inputs.map((input) => tasks[input] as Task);
  if (!inputs.every((input): input is NumberTask => input.kind === "number")) return task;
  const value = foldedConstant(
    task.operator,
    inputs.map((input) => input.value),
  );
  // Null is one NaN, whichever the arithmetic gave.
  const number: NumberTask = { kind: "number", value: Number.isNaN(value) ? Number.NaN : value };
  const formula = formulaOf(task, inputs);
  const isShorter = Number.isFinite(value) && formula.length < numberText(value).length;
  return isShorter ? { ...number, written: formula } : number;
}

/** Never longer than the digits of numbers make it: an input is printed by the shorter of its digits and its formula. */
function formulaOf({ operator: { name, symbol } }: CallTask, inputs: readonly NumberTask[]): string {
  const texts = inputs.map(({ value, written }) => {
    const text = written ?? numberText(value);
    return written !== undefined || text.startsWith("-") ? `(${text})` : text;
  });
  return symbol !== undefined && texts.length === 2
    ? texts.join(` ${symbol} `)
    : `${name}(${texts.join(", ")})`;
}
