import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import {
  type CrossSectionDefinition,
  type ElementwiseDefinition,
  isSeriesLike,
  type KernelOperator,
  kernelOperators,
  type RecursiveDefinition,
  type RollingDefinition,
} from "../../src/operator/definition.ts";
import type { NullCause } from "../../src/operator/null_causes.ts";
import { declaredCause } from "../../src/reasons/blame.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

/** What an operator declares in `nullWhere` is where its reference has no value, and nowhere else. */
const numRuns = trials(600, 20_000);
const ROUNDS_MAX = 20;
const LENGTH_MAX = 8;
const HISTORY_ROWS = 10;

const FINITE = [0, -0, 1, -1, 2, 3.5, -7, 1e-300, 5e-324, 1e300, 1.7e308, -1.7e308];
const CONSTANTS = [0, 1, 0.25, 0.5, 0.75, 0.9, -1, -0.5, 2, 3, 17, 100];

/** What the values of one case are drawn from: usual ones, extreme ones, infinities of one sign or of both. */
const palettes = fc.constantFrom(
  [1, 2, -3, 5, 8, 13, -21],
  [1.7e308, -1.7e308],
  FINITE,
  [0, 1, 3, Infinity],
  [0, Infinity, -Infinity],
  [...FINITE, Infinity, -Infinity],
);

/** A column with ties, or of equal values; with `hasNulls` some are null. */
function columnOf(palette: readonly number[], length: number, hasNulls: boolean): fc.Arbitrary<number[]> {
  const one = fc.constantFrom(...palette);
  const cell = hasNulls ? fc.option(one, { nil: Number.NaN, freq: 4 }) : one;
  const drawn = fc.array(cell, { minLength: length, maxLength: length });
  const equal = cell.map((value) => new Array<number>(length).fill(value));
  return fc.oneof({ weight: 5, arbitrary: drawn }, { weight: 1, arbitrary: equal });
}

type Draw = fc.GeneratorValue;

/** What a reference gave, and the cause that its operator declares for the same arguments. */
interface Answer {
  readonly inputs: readonly (readonly number[])[];
  readonly result: number;
  readonly cause: NullCause | null;
  /** True where the engine finds the cause of a null by itself: a null among what the operator reads. */
  readonly isExplained: boolean;
}

const hasNull = (inputs: readonly (readonly number[])[]) =>
  inputs.some((column) => column.some(Number.isNaN));

function drawInputs(draw: Draw, { parameters }: KernelOperator, length: number, hasNulls: boolean) {
  const palette = draw(() => palettes);
  const kinds = parameters.map(({ kind }) => kind).filter(isSeriesLike);
  return kinds.map((kind) => draw(columnOf, kind === "condition" ? [0, 1] : palette, length, hasNulls));
}

function drawSettings(draw: Draw, { parameters }: KernelOperator): Record<string, number> {
  const settings: Record<string, number> = {};
  for (const { name, kind } of parameters) {
    if (kind === "window") settings[name] = draw(fc.integer, { min: 1, max: LENGTH_MAX });
    if (kind === "delay") settings[name] = draw(fc.integer, { min: 0, max: LENGTH_MAX - 1 });
    if (kind === "constant") settings[name] = draw(() => fc.constantFrom(...CONSTANTS));
  }
  return settings;
}

function answerOfCell(draw: Draw, operator: ElementwiseDefinition): Answer[] {
  const inputs = drawInputs(draw, operator, 1, operator.seesNulls ?? false);
  const cells = inputs.map(([cell]) => cell!);
  const result = operator.reference(...cells);
  return [{ inputs, result, cause: declaredCause(operator, ...cells), isExplained: hasNull(inputs) }];
}

function answerOfWindow(draw: Draw, operator: RollingDefinition): Answer[] {
  const settings = drawSettings(draw, operator);
  const rows = operator.windowRows(settings);
  const leavesOut = (operator.allowsMinPeriods ?? false) && draw(fc.boolean);
  const existing = leavesOut ? draw(fc.integer, { min: 1, max: rows }) : rows;
  const all = Array.from({ length: existing }, (_, row) => row);
  const positions = Float64Array.from(leavesOut ? draw(fc.subarray<number>, all, { minLength: 1 }) : all);
  const at = { positions, last: existing - 1 };
  const inputs = drawInputs(draw, operator, positions.length, operator.seesNulls ?? false);
  const windows = () => inputs.map((column) => Float64Array.from(column));
  const result = operator.reference(windows(), settings, at);
  const cause = declaredCause(operator, windows(), settings, at);
  return [{ inputs, result, cause, isExplained: hasNull(inputs) }];
}

function answersOfHistory(draw: Draw, operator: RecursiveDefinition): Answer[] {
  const settings = drawSettings(draw, operator);
  const columns = drawInputs(draw, operator, HISTORY_ROWS, true);
  const state = Float64Array.from(operator.initialState(settings));
  return Array.from({ length: HISTORY_ROWS }, (_, row) => {
    const cells = columns.map((column) => column[row]!);
    const compute = (given: readonly number[], from: Float64Array) =>
      operator.reference([...given], settings, from);
    // Today's nulls are to blame if any number in their place gives a number.
    const stands = (value: number) => cells.map((cell) => (Number.isNaN(cell) ? value : cell));
    const isExplained =
      cells.some(Number.isNaN) &&
      FINITE.some((value) => !Number.isNaN(compute(stands(value), state.slice())));
    const cause = declaredCause(operator, cells, settings, state.slice());
    return { inputs: columns, result: compute(cells, state), cause, isExplained };
  });
}

function answersOfRow(draw: Draw, operator: CrossSectionDefinition): Answer[] {
  const settings = drawSettings(draw, operator);
  const length = draw(fc.integer, { min: 1, max: LENGTH_MAX });
  const inputs = drawInputs(draw, operator, length, false);
  const columns = () => inputs.map((column) => Float64Array.from(column));
  const output = new Float64Array(length);
  operator.reference(columns(), settings, output);
  return Array.from(output, (result, index) => {
    const cause = declaredCause(operator, columns(), settings, index);
    return { inputs, result, cause, isExplained: false };
  });
}

function answers(draw: Draw, operator: KernelOperator): Answer[] {
  if (operator.axis === "elementwise") return answerOfCell(draw, operator);
  if (operator.axis === "rolling") return answerOfWindow(draw, operator);
  if (operator.axis === "recursive") return answersOfHistory(draw, operator);
  return answersOfRow(draw, operator);
}

test.each(
  kernelOperators(builtInRegistry.operators).map((operator) => [operator.name, operator] as const),
)("%s declares a cause where it has no value, and only there", (_, operator) => {
  const provoked = new Set<NullCause>();
  let numbers = 0;
  const check = ({ inputs, result, cause, isExplained }: Answer) => {
    if (Number.isFinite(result)) {
      numbers++;
      expect(cause).toBeNull();
    }
    if (Number.isNaN(result) && !isExplained) expect(cause).not.toBeNull();
    if (cause !== null) provoked.add(cause);
    if (cause === "infinite_input")
      expect(inputs.flat().some((value) => Math.abs(value) === Infinity)).toBe(true);
  };
  const property = fc.property(fc.gen(), (draw) => {
    for (const answer of answers(draw, operator)) check(answer);
  });
  const declared = Object.keys(operator.nullWhere).sort();
  const random = new Seeded();
  // A rare cause may need more cases than one round has.
  for (let round = 0; round === 0 || (round < ROUNDS_MAX && provoked.size < declared.length); round++)
    fc.assert(property, { numRuns, seed: random.below(2 ** 31) });
  expect([...provoked].sort()).toEqual(declared);
  expect(numbers).toBeGreaterThan(numRuns / 100);
});
