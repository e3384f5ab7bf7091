import { foldedConstant } from "../../ast/nodes.ts";
import { WINDOW_ROWS_MAX } from "../../limits.ts";
import type { ElementwiseDefinition, Parameter, Settings } from "../../operator/definition.ts";
import type { CallTask, DagBuilder, Task } from "../dag.ts";
import type { CallTerm, Equation, Term, Values } from "../laws.ts";
import { folded } from "./fold_constants.ts";

/** What the names of a law match: ids of tasks, and numbers known at compile time. */
interface Bindings {
  readonly tasks: Map<string, number>;
  readonly numbers: Map<string, number>;
}

/**
 * Applies one law to a task: returns the replacement, as a new task or the id of an existing one. Null if the law does
 * not match. The inputs of the task must be in the graph.
 */
export function rewrite(
  task: CallTask,
  { left, right }: Equation,
  builder: DagBuilder,
): Task | number | null {
  const bindings: Bindings = { tasks: new Map(), numbers: new Map() };
  if (!matchesCall(left, task, builder.tasks, bindings)) return null;
  if (right.kind === "variable") return bindings.tasks.get(right.name) as number;
  return taskOf(right, bindings, builder);
}

function matches(term: Term, id: number, tasks: readonly Task[], bindings: Bindings): boolean {
  const task = tasks[id] as Task;
  switch (term.kind) {
    case "number":
      return task.kind === "number" && Object.is(task.value, term.value);
    case "variable":
      return isAmong(term.values, task) && bind(term.name, id, bindings.tasks);
    case "call":
      return task.kind === "call" && matchesCall(term, task, tasks, bindings);
  }
}

function matchesCall(term: CallTerm, task: CallTask, tasks: readonly Task[], bindings: Bindings): boolean {
  if (task.operator !== term.operator || task.minPeriods !== null) return false;
  const haveSettings = Object.entries(term.settings).every(([name, setting]) => {
    const value = task.settings[name] as number;
    return setting.kind === "variable"
      ? bind(setting.name, value, bindings.numbers)
      : setting.kind === "number" && Object.is(setting.value, value);
  });
  return (
    haveSettings && term.inputs.every((input, i) => matches(input, task.inputs[i] as number, tasks, bindings))
  );
}

function isAmong(values: Values, task: Task): boolean {
  if (values === "all") return true;
  return task.kind === "number" && (values === "numbers" || isPowerOfTwo(task.value));
}

/** Binds the name unless it is bound; true if it then has this value. */
function bind(name: string, value: number, bindings: Map<string, number>): boolean {
  const bound = bindings.get(name);
  if (bound === undefined) bindings.set(name, value);
  return bound === undefined || Object.is(bound, value);
}

/** Builds a term's task and adds its inputs to the graph; null if it would look back further than formulas may. */
function taskOf(
  term: Exclude<Term, { kind: "variable" }>,
  bindings: Bindings,
  builder: DagBuilder,
): Task | null {
  if (term.kind === "number") return term;
  const { operator } = term;
  const settings: Settings = Object.fromEntries(
    Object.entries(term.settings).map(([name, setting]) => [name, numberOf(setting, bindings)]),
  );
  if (!operator.parameters.every((parameter) => isAllowed(parameter, settings))) return null;
  const inputs: number[] = [];
  for (const input of term.inputs) {
    const id = addTerm(input, bindings, builder);
    if (id === null) return null;
    inputs.push(id);
  }
  const call: CallTask = { kind: "call", operator, inputs, group: null, settings, minPeriods: null };
  return folded(call, builder.tasks);
}

function addTerm(term: Term, bindings: Bindings, builder: DagBuilder): number | null {
  if (term.kind === "variable") return bindings.tasks.get(term.name) as number;
  const task = taskOf(term, bindings, builder);
  return task && builder.add(task);
}

function numberOf(term: Term, bindings: Bindings): number {
  if (term.kind === "number") return term.value;
  if (term.kind === "variable") return bindings.numbers.get(term.name) as number;
  const cells = term.inputs.map((input) => numberOf(input, bindings));
  return foldedConstant(term.operator as Readonly<ElementwiseDefinition>, cells);
}

function isAllowed({ name, kind }: Parameter, settings: Settings): boolean {
  const value = settings[name] as number;
  if (kind === "constant") return Number.isFinite(value);
  if (kind !== "window" && kind !== "delay") return true;
  return Number.isInteger(value) && value >= (kind === "window" ? 1 : 0) && value <= WINDOW_ROWS_MAX;
}

const doubles = new Float64Array(1);
const bits = new BigUint64Array(doubles.buffer);

/** True for powers of two of either sign that, like their reciprocals, have full precision. */
function isPowerOfTwo(value: number): boolean {
  doubles[0] = value;
  const exponent = Number(((bits[0] as bigint) >> 52n) & 0x7ffn);
  const fraction = (bits[0] as bigint) & 0xfffffffffffffn;
  // Reciprocals of exponents 1 and 2045 have exponents 2045 and 1; 0 is subnormal, 2047 infinite.
  return fraction === 0n && exponent >= 1 && exponent <= 2045;
}
