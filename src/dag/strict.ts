import { windowRowsOf } from "../operator/definition.ts";
import { type CallTask, type Dag, inputsOf, type Task } from "./dag.ts";
import { HAS_ROW } from "./row_members.ts";

/** Something that a formula file may say but rarely means. */
export interface Suspicion {
  readonly code: string;
  readonly factor: string;
  readonly message: string;
  readonly remedy: string;
}

/**
 * What `check --strict` looks for beyond mistakes: state that never ends, factors that are equal or constant, sums of
 * different units, divisions of zero by zero. (Look-ahead cannot be written: a negative delay is a mistake, and
 * instruments that have no row yet are hidden from operators across the row.) What factors
 * are comes from the graph that is evaluated, what their formulas say from the graph as it is written.
 */
export function findSuspicions(written: Dag, evaluated: Dag): Suspicion[] {
  return written.outputs.flatMap(({ name, task }, i) => {
    const formula = tasksBelow(written, task);
    const computed = tasksBelow(evaluated, evaluated.outputs[i]?.task as number);
    return [
      ...equalFactor(evaluated, i),
      ...constantFactor(evaluated, computed),
      ...unboundedState(evaluated, computed),
      ...mixedUnits(written, formula),
      ...zeroByZero(written, formula),
    ].map((found) => ({ ...found, factor: name }));
  });
}

type Found = Omit<Suspicion, "factor">;

/** The task and all that it depends on, ascending. */
function tasksBelow(dag: Dag, root: number): number[] {
  const seen = new Set([root]);
  const pending = [root];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    for (const input of inputsOf(dag.tasks[id] as Task)) {
      if (seen.has(input)) continue;
      seen.add(input);
      pending.push(input);
    }
  }
  return [...seen].sort((a, b) => a - b);
}

function callsAmong(dag: Dag, ids: readonly number[]): CallTask[] {
  return ids.map((id) => dag.tasks[id] as Task).filter((task) => task.kind === "call");
}

function equalFactor(dag: Dag, i: number): Found[] {
  const earlier = dag.outputs.slice(0, i).find(({ task }) => task === dag.outputs[i]?.task);
  if (!earlier) return [];
  return [{ code: "S601", message: `equals ${earlier.name}`, remedy: "leave one out" }];
}

function constantFactor(dag: Dag, ids: readonly number[]): Found[] {
  const isField = (task: Task) => task.kind === "field" && task.name !== HAS_ROW;
  if (ids.some((id) => isField(dag.tasks[id] as Task))) return [];
  return [{ code: "S602", message: "does not depend on any field", remedy: "it is the same everywhere" }];
}

function unboundedState(dag: Dag, ids: readonly number[]): Found[] {
  const recursive = callsAmong(dag, ids).find(
    (task) => windowRowsOf(task.operator, task.settings) === Number.POSITIVE_INFINITY,
  );
  if (!recursive) return [];
  const message = `depends on all of history through ${recursive.operator.name}`;
  return [{ code: "S603", message, remedy: "its values depend on where history starts" }];
}

/** Units of the usual fields: exponents of price and volume. */
const FIELD_UNITS: Readonly<Record<string, Unit>> = {
  open: [1, 0],
  high: [1, 0],
  low: [1, 0],
  close: [1, 0],
  vwap: [1, 0],
  volume: [0, 1],
  amount: [1, 1],
};
type Unit = readonly [price: number, volume: number];
const SAME_UNIT_SYMBOLS = new Set(["+", "-", "<", "<=", ">", ">=", "==", "!="]);

function mixedUnits(dag: Dag, ids: readonly number[]): Found[] {
  const units = new Map<number, Unit | null>();
  for (const id of ids) {
    const task = dag.tasks[id] as Task;
    const inputs = inputsOf(task).map((input) => units.get(input) ?? null);
    const [first, second] = inputs;
    const symbol = task.kind === "call" ? task.operator.symbol : undefined;
    if (symbol && SAME_UNIT_SYMBOLS.has(symbol) && first && second && String(first) !== String(second)) {
      const message = `'${symbol}' of ${unitName(first)} and ${unitName(second)}`;
      return [{ code: "S604", message, remedy: "are both sides meant to have one unit?" }];
    }
    units.set(id, unitOf(task, inputs));
  }
  return [];
}

/** The unit of a task; null if it is not known, or if it is a number, which goes with any. */
function unitOf(task: Task, [first, second]: readonly (Unit | null)[]): Unit | null {
  if (task.kind === "field") return FIELD_UNITS[task.name.toLowerCase()] ?? null;
  if (task.kind !== "call" || !first) return null;
  const { symbol, unit } = task.operator;
  if (unit === "same" || symbol === "+" || symbol === "-") return first;
  if (symbol === "*" && second) return [first[0] + second[0], first[1] + second[1]];
  if (symbol === "/" && second) return [first[0] - second[0], first[1] - second[1]];
  return null;
}

function unitName([price, volume]: Unit): string {
  const power = (name: string, exponent: number) =>
    exponent === 0 ? "" : exponent === 1 ? name : `${name}^${exponent}`;
  return (
    [power("price", price), power("volume", volume)].filter((part) => part !== "").join(" * ") || "a ratio"
  );
}

function zeroByZero(dag: Dag, ids: readonly number[]): Found[] {
  const zeros = new Set<number>();
  for (const id of ids) {
    const task = dag.tasks[id] as Task;
    const inputs = inputsOf(task);
    const symbol = task.kind === "call" ? task.operator.symbol : undefined;
    const isDifference = symbol === "-" && inputs.length === 2 && inputs[0] === inputs[1];
    const isProduct = symbol === "*" && inputs.some((input) => zeros.has(input));
    if (isDifference || isProduct || (task.kind === "number" && task.value === 0)) zeros.add(id);
    if (symbol === "/" && inputs.every((input) => zeros.has(input))) {
      return [
        { code: "S605", message: "divides zero by zero on every row", remedy: "it is null everywhere" },
      ];
    }
  }
  return [];
}
