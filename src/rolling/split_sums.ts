import type { StepBuilder, Value } from "../operator/lowering.ts";
import type { WindowBuilder } from "../operator/window_code.ts";
import { twoProduct } from "./double_double.ts";

/**
 * Sums that are exact, whatever has passed through them, emitted and computed here side by side.
 *
 * Every value is split at two fixed places into a multiple of `step1` and a multiple of `step2`. Sums of such parts are
 * whole numbers of steps below 2^53, so adding a new value and subtracting an old one never rounds. The places follow
 * from a power of two, the `bound`, above every value. Bits below `step2` are dropped: the sum of a window is off by at
 * most half a step for each value that has some. Source of splitting by adding and subtracting a large constant: Demmel,
 * Nguyen (2015), Parallel reproducible summation; Ahrens, Demmel, Nguyen (2020), Algorithms for efficient reproducible
 * floating point summation.
 */

/** A value, or a sum of values, split into a multiple of `step1` and a multiple of `step2`. */
export type Parts = readonly [Value, Value];

/** Factors that turn a bound into the constants that split at `step1` and `step2`. */
export function splitFactors(headBits: number): { first: number; second: number } {
  return { first: 1.5 * 2 ** (headBits - 1), second: 1.5 * 2 ** (2 * headBits - 55) };
}

/** `step2` as a share of the bound. */
export function secondStep(headBits: number): number {
  return 2 ** (2 * headBits - 107);
}

/** Bits above the bound that a sum of `weights` values, each up to the bound, may need. */
export function headBitsOf(weights: number): number {
  return Math.ceil(Math.log2(weights)) + 2;
}

/** The constants that split values up to the bound. */
export function splitConstants(on: StepBuilder, headBits: number, bound: Value): Parts {
  const factors = splitFactors(headBits);
  return [on.mul(bound, on.number(factors.first)), on.mul(bound, on.number(factors.second))];
}

/**
 * The parts of a value with the splitting constants added to them. Sums need the difference of two such parts, in which
 * the constants cancel.
 */
export interface SplitValue {
  readonly offsetParts: Parts;
  /** The value less its first part. */
  readonly rest: Value;
}

/** Splits a value: adding a far larger constant rounds it to a multiple of that one's last place. */
export function splitValue(on: StepBuilder, constants: Parts, x: Value): SplitValue {
  const first = on.add(x, constants[0]);
  const rest = on.sub(x, on.sub(first, constants[0]));
  return { offsetParts: [first, on.add(rest, constants[1])], rest };
}

/**
 * Splits a product none of whose bits is lost. Where the product is halfway between two multiples of `step1` except for
 * its last bits, machines with and without fused instructions may split it differently: what one has more in the first
 * part it has less in the second.
 */
export function splitProduct(on: StepBuilder, constants: Parts, x: Value, y: Value): SplitValue {
  const offset = (first: Value, rest: Value): SplitValue => ({
    offsetParts: [first, on.add(rest, constants[1])],
    rest,
  });
  if (on.fusesMultiply) {
    const first = on.fusedMultiplyAdd(x, y, constants[0]);
    return offset(first, on.fusedMultiplyAdd(x, y, on.sub(constants[0], first)));
  }
  const { high, excess } = twoProduct(on, x, y);
  const first = on.add(high, constants[0]);
  return offset(first, on.sub(on.sub(high, on.sub(first, constants[0])), excess));
}

/** The parts without the splitting constants. */
export function partsOf(on: StepBuilder, constants: Parts, { offsetParts }: SplitValue): Parts {
  return [on.sub(offsetParts[0], constants[0]), on.sub(offsetParts[1], constants[1])];
}

export function loadParts(on: WindowBuilder, vector: number): Parts {
  return [on.loadVector(vector), on.loadVector(vector + 1)];
}

export function storeParts(on: WindowBuilder, vector: number, [first, second]: Parts): void {
  on.storeVector(vector, first);
  on.storeVector(vector + 1, second);
}

/** Updates a sum when a value enters and another leaves, both split alike: no operation rounds. */
export function moveSum(on: StepBuilder, before: Parts, enter: SplitValue, leave: SplitValue): Parts {
  const move = (i: 0 | 1) => on.add(before[i], on.sub(enter.offsetParts[i], leave.offsetParts[i]));
  return [move(0), move(1)];
}

/** The part of a number that splitting with this constant keeps. */
export const headOf = (value: number, constant: number): number => value + constant - constant;

/** Adds `high + low`, split as emitted code does, to the sum in two parts at `at`. */
export function addSplit(
  parts: Float64Array,
  at: number,
  high: number,
  low: number,
  constant1: number,
  constant2: number,
): void {
  const head = headOf(high, constant1);
  parts[at]! += head;
  parts[at + 1]! += headOf(high - head + low, constant2);
}
