import type { Code } from "../../emit/code.ts";
import { type I32, locals, parameter } from "../../emit/expressions.ts";
import { type Signature, takes } from "../../emit/module.ts";
import { VALUE_BYTES } from "../../memory/vectors.ts";
import { wholeSteps } from "../layout/padded_row.ts";
import type { SegmentPlace } from "../layout/segment.ts";

/**
 * The two steps of a part of a row that is split over lanes: it summarises a share of the row for all parts, then
 * computes the results of its lanes from all summaries.
 */

/** Whole numbers behind the addresses of the row in the columns. */
const NUMBERS = 5;

/**
 * Parameters of a step: addresses of the row in the columns, then the memory that the parts share, which share this is
 * and of how many, its first lane and the one after its last, and at last, for shares by value, the range of its values.
 * The result is 1 if the reference has to compute the lanes.
 */
export function stepSignature(columnCount: number): Signature {
  const { parameters } = takes(columnCount + NUMBERS);
  return { parameters: [...parameters, "f64", "f64"], results: ["i32"] };
}

/** The names under which the steps of a row node are exported. */
export const summaryName = (node: number): string => `summary of node${node}`;
export const resultsName = (node: number): string => `results of node${node}`;

export function stepParameters(code: Code) {
  return {
    input: parameter(code, 0),
    /** The group's codes; some other address for a node without a group. */
    codes: parameter(code, -9),
    output: parameter(code, -8),
    shared: parameter(code, -7),
    share: parameter(code, -6),
    shareCount: parameter(code, -5),
    laneStart: parameter(code, -4),
    laneEnd: parameter(code, -3),
    /** The least value of the share; then what its values do not reach, null for the last share. */
    low: parameter(code, -2, "f64"),
    high: parameter(code, -1, "f64"),
  };
}

/** The whole row, in whole steps of lanes. */
export function wholeRow(code: Code, lanes: number): SegmentPlace {
  const place: SegmentPlace = locals(code, "i32", 3);
  const { input, output } = stepParameters(code);
  place[0].set(input);
  place[1].set(output);
  place[2].set(lanes * VALUE_BYTES);
  return place;
}

/** Moves the place of the whole row to the lanes of the share. */
export function moveToShare([input, output, bytes]: SegmentPlace): void {
  const { laneStart, laneEnd } = stepParameters(input.code);
  const bytesOf = (lanes: I32) => lanes.shiftLeft(Math.log2(VALUE_BYTES));
  input.set(input.add(bytesOf(laneStart)));
  output.set(output.add(bytesOf(laneStart)));
  bytes.set(bytesOf(wholeSteps(laneEnd.sub(laneStart))));
}
