import type { Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../lane_kernel.ts";
import { twoProduct } from "./double_double.ts";

/** A value, or a sum of values, cut into a multiple of `step1` and a multiple of `step2`. */
export type Parts = readonly [Value, Value];

/** Factors by which a bound becomes the constants that cut at `step1` and `step2`. */
export function cutFactors(headBits: number): { first: number; second: number } {
  return { first: 1.5 * 2 ** (headBits - 1), second: 1.5 * 2 ** (2 * headBits - 55) };
}

/** Share of the bound that is `step2`. */
export function secondStep(headBits: number): number {
  return 2 ** (2 * headBits - 107);
}

/** Bits that sums of so many values, each up to the bound, may need above it. */
export function headBitsOf(weights: number): number {
  return Math.ceil(Math.log2(weights)) + 2;
}

/** The constants that cut values up to the bound. */
export function cutsOf(on: LaneKernel, headBits: number, bound: Value): Parts {
  const factors = cutFactors(headBits);
  return [on.mul(bound, on.number(factors.first)), on.mul(bound, on.number(factors.second))];
}

/**
 * The parts of a value with their cuts added to them: what sums need is the difference of two such parts, in which the
 * cuts cancel.
 */
export interface CutValue {
  readonly raised: Parts;
  /** What the first cut leaves. */
  readonly rest: Value;
}

/** Cuts a value: adding a constant that is larger by far rounds to a multiple of its last place. */
export function cutValue(on: LaneKernel, cuts: Parts, x: Value): CutValue {
  const first = on.add(x, cuts[0]);
  const rest = on.sub(x, on.sub(first, cuts[0]));
  return { raised: [first, on.add(rest, cuts[1])], rest };
}

/**
 * Cuts a product of which no bit is lost before. Where the product lies in the middle between two multiples of `step1`
 * but for its last bits, a machine that fuses and one that does not may cut it differently: what one has more in the
 * first part it has less in the second.
 */
export function cutProduct(on: LaneKernel, cuts: Parts, x: Value, y: Value): CutValue {
  const raise = (first: Value, rest: Value): CutValue => ({ raised: [first, on.add(rest, cuts[1])], rest });
  if (on.library.hasFusedMultiply) {
    const first = on.fusedMultiplyAdd(x, y, cuts[0]);
    return raise(first, on.fusedMultiplyAdd(x, y, on.sub(cuts[0], first)));
  }
  const { high, excess } = twoProduct(on, x, y);
  const first = on.add(high, cuts[0]);
  return raise(first, on.sub(on.sub(high, on.sub(first, cuts[0])), excess));
}

/** The parts themselves. */
export function partsOf(on: LaneKernel, cuts: Parts, { raised }: CutValue): Parts {
  return [on.sub(raised[0], cuts[0]), on.sub(raised[1], cuts[1])];
}

export function loadParts(on: LaneKernel, vector: number): Parts {
  return [on.loadWindow(vector), on.loadWindow(vector + 1)];
}

export function storeParts(on: LaneKernel, vector: number, [first, second]: Parts): void {
  on.storeWindow(vector, first);
  on.storeWindow(vector + 1, second);
}

/** What a sum becomes when a value enters and another leaves, both cut alike: no operation rounds. */
export function moveSum(on: LaneKernel, before: Parts, enter: CutValue, leave: CutValue): Parts {
  const move = (i: 0 | 1) => on.add(before[i], on.sub(enter.raised[i], leave.raised[i]));
  return [move(0), move(1)];
}
