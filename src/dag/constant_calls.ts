import { nullForNulls } from "../operator/certain_nulls.ts";
import { isSeriesLike, type KernelOperator, referenceCell, windowRowsOf } from "../operator/definition.ts";
import type { CallTask, Task } from "./dag.ts";

/** The constant result of a call, independent of the values of its inputs. */
export type Always =
  | { readonly kind: "value"; readonly value: number }
  /** Always equal to this input. */
  | { readonly kind: "input"; readonly input: number };

/** Trial cells: both signs, all sizes, zero, infinities and null. */
const CELLS = [0, 0.5, 1, -1, 3, -2.5, 1e-300, 1e300, -1e300, Infinity, -Infinity, Number.NaN];
const TRUTHS = [0, 1, Number.NaN];

/** Distinct inputs that are tried in all combinations, and windows that are tried. */
const VARIABLES_MAX = 3;
const WINDOWS_TRIED = 16;
const WINDOW_ROWS_MAX = 512;

/** True if the call is null everywhere because this input is null everywhere. */
export function isNullFor(
  { operator, minPeriods, inputs }: CallTask,
  isNull: (input: number) => boolean,
): boolean {
  return nullForNulls(operator, inputs.map(isNull), minPeriods !== null);
}

/** True if two inputs of a call are the same task or the same number. */
export function hasEqualInputs({ inputs }: CallTask): boolean {
  return new Set(inputs).size < inputs.length;
}

/**
 * Tries whether an elementwise call has the same result for all inputs: runs its operator's reference on values of all
 * kinds, with equal values where inputs are the same task. Null if results differ, or if no input varies.
 */
export function alwaysOf(call: CallTask, tasks: readonly Task[]): Always | null {
  const { operator, inputs } = call;
  if (operator.axis !== "elementwise") return null;
  const variables = variablesOf(call, tasks);
  if (variables.length === 0 || variables.length > VARIABLES_MAX) return null;
  const trials: { cells: readonly number[]; result: number }[] = [];
  for (const values of combinations(variables.map((variable) => triedCells(call, variable, tasks)))) {
    const cells = inputs.map((input) => cellOf(input, tasks, variables, values));
    if (operator.seesNulls !== true && cells.some(Number.isNaN)) continue;
    const result = referenceCell(operator, cells);
    // An infinity minus itself is null, and so is zero by zero: not worth reporting where operands are equal.
    const isNoNews = hasEqualInputs(call) || cells.some((cell) => Math.abs(cell) === Infinity);
    if (!Number.isNaN(result) || !isNoNews) trials.push({ cells, result });
  }
  const [first] = trials;
  if (!first) return { kind: "value", value: Number.NaN };
  if (trials.every(({ result }) => isSame(result, first.result)))
    return { kind: "value", value: first.result };
  const place = inputs.findIndex((_, i) => trials.every(({ cells, result }) => isSame(cells[i]!, result)));
  return place < 0 ? null : { kind: "input", input: inputs[place]! };
}

/** Tries whether a rolling call gives the same number, or null, for every window without a null. */
export function sameForAllWindows(call: CallTask, tasks: readonly Task[]): number | null {
  const { operator, inputs, settings } = call;
  const rows = windowRowsOf(operator, settings);
  const variables = variablesOf(call, tasks);
  if (operator.axis !== "rolling" || variables.length === 0 || rows > WINDOW_ROWS_MAX) return null;
  const positions = Float64Array.from({ length: rows }, (_, row) => row);
  let same: number | null = null;
  for (let trial = 0; trial < WINDOWS_TRIED; trial++) {
    const windows = inputs.map((input) => {
      const variable = variables.indexOf(input);
      const isTruth = kindOf(operator, inputs.indexOf(input)) === "condition";
      return positions.map((row) => {
        if (variable < 0) return cellOf(input, tasks, [], []);
        if (operator.seesNulls === true && trial % 4 === 3 && (row + trial) % 3 === 0) return Number.NaN;
        const value = spread(1 + row + rows * (variable + variables.length * trial));
        return isTruth ? Number(value > 0) : value;
      });
    });
    const result = operator.reference(windows, settings, { positions, last: rows - 1 });
    if (Number.isNaN(result) && windows.some((window) => window.some(Number.isNaN))) continue;
    if (same !== null && !isSame(same, result)) return null;
    same = result;
  }
  return same;
}

function variablesOf({ inputs }: CallTask, tasks: readonly Task[]): number[] {
  return [...new Set(inputs)].filter((input) => tasks[input]!.kind !== "number");
}

function cellOf(
  input: number,
  tasks: readonly Task[],
  variables: readonly number[],
  values: readonly number[],
): number {
  const task = tasks[input]!;
  return task.kind === "number" ? task.value : values[variables.indexOf(input)]!;
}

function triedCells(
  { operator, inputs }: CallTask,
  variable: number,
  tasks: readonly Task[],
): readonly number[] {
  const isTruth = inputs.some((input, i) => input === variable && kindOf(operator, i) === "condition");
  if (isTruth) return TRUTHS;
  // Equality with a number holds for that number only: it must be among the trial cells.
  const numbers = inputs.map((input) => tasks[input]!).filter((task) => task.kind === "number");
  return [...CELLS, ...numbers.map(({ value }) => value)];
}

function kindOf({ parameters }: KernelOperator, input: number): string | undefined {
  return parameters.filter(({ kind }) => isSeriesLike(kind))[input]?.kind;
}

function* combinations(choices: readonly (readonly number[])[]): Generator<readonly number[]> {
  const [first, ...others] = choices;
  if (!first) yield [];
  else for (const value of first) for (const rest of combinations(others)) yield [value, ...rest];
}

/** Pseudo-random numbers between -4 and 4, the same in every run: multiples of the golden ratio's fraction. */
function spread(index: number): number {
  return ((index * 0.618033988749895) % 1) * 8 - 4;
}

/** Compares null as equal to null and 0 as equal to -0: readers of a formula do not distinguish zeros. */
function isSame(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}
