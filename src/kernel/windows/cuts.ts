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

/** Cuts a value; the rest is what the first cut leaves. */
export function cutValue(on: LaneKernel, cuts: Parts, x: Value): { parts: Parts; rest: Value } {
  const first = round(on, x, cuts[0]);
  const rest = on.sub(x, first);
  return { parts: [first, round(on, rest, cuts[1])], rest };
}

/** Cuts a product of which no bit is lost before. */
export function cutProduct(on: LaneKernel, cuts: Parts, x: Value, y: Value): Parts {
  const { high, excess } = twoProduct(on, x, y);
  const first = round(on, high, cuts[0]);
  return [first, round(on, on.sub(on.sub(high, first), excess), cuts[1])];
}

/** Rounds to a multiple of the last place of a constant that is larger by far. */
function round(on: LaneKernel, x: Value, cut: Value): Value {
  return on.sub(on.add(x, cut), cut);
}

export function loadParts(on: LaneKernel, vector: number): Parts {
  return [on.loadWindow(vector), on.loadWindow(vector + 1)];
}

export function storeParts(on: LaneKernel, vector: number, [first, second]: Parts): void {
  on.storeWindow(vector, first);
  on.storeWindow(vector + 1, second);
}

/** What a sum becomes when a value enters and another leaves: no addition rounds. */
export function moveSum(on: LaneKernel, before: Parts, enter: Parts, leave: Parts): Parts {
  const move = (i: 0 | 1) => on.add(before[i], on.sub(enter[i], leave[i]));
  return [move(0), move(1)];
}
