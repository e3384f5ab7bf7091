import { THREADS_MAX } from "../../../limits.ts";
import type { Value } from "../../../operator/lowering.ts";
import { type Pair, twoSum } from "../../../rolling/double_double.ts";
import type { Code } from "../../emit/code.ts";
import { type I32, type I32Local, locals, when } from "../../emit/expressions.ts";
import type { Library } from "../../emit/library.ts";
import { forSome } from "../../emit/loops.ts";
import { VECTOR_BYTES } from "../../memory/vectors.ts";
import { paddedLanes } from "../layout/padded_row.ts";
import { SegmentCode } from "../layout/segment.ts";
import {
  type Deviations,
  emitBound,
  emitDeviationOf,
  emitSquares,
  emitTotal,
} from "../statistics/standard_scores.ts";
import { moveToShare, stepParameters, wholeRow } from "./step_function.ts";

/** What a summary holds, one vector each: numbers of the whole row, and the squares of the share as a pair. */
const PLACES = ["count", "sumHigh", "sumLow", "error", "squaresHigh", "squaresLow"] as const;

/** Of a summary, in cache lines of its own. */
const SUMMARY_BYTES = 128;

export const SUMMARIES_BYTES = THREADS_MAX * SUMMARY_BYTES;

/** Counts that stand for a row of fewer than two values, and for one that the code leaves to the reference. */
const TOO_FEW = 0;
const UNDECIDED = Number.NaN;

/** A segment whose results the other step stores. */
class SummarySegment extends SegmentCode {
  override fill(): void {}
}

/**
 * Emits the summary of a statistic of deviations. Every part adds up the whole row, which is a fraction of the work and
 * saves another step, and then the squared deviations of its share. A summary may be made twice, while it is read: so it
 * is stored at the end, and its bits are the same.
 */
export function emitSummary(code: Code, library: Library, laneCount: number): void {
  const { laneStart, laneEnd } = stepParameters(code);
  const place = wholeRow(code, paddedLanes(laneCount));
  const on = new SummarySegment(code, library, laneCount, place);
  const { single } = on;
  const numbers = PLACES.map(() => single.copy(single.number(TOO_FEW)));
  const set = (...values: readonly Value[]) => {
    values.forEach((x, i) => {
      single.assign(numbers[i]!, x);
    });
  };
  const summarise = () => {
    const { count, sum, error } = emitTotal(on);
    const of = emitDeviationOf(on, { count, sum, error });
    moveToShare(place);
    const squares = emitSquares(on, of);
    set(count, sum.high, sum.low, error, squares.high, squares.low);
  };
  when(laneStart.lt(laneEnd), () => on.withFallback(summarise, () => set(single.number(UNDECIDED))));
  const summary = ownSummary(code);
  numbers.forEach((x, i) => {
    single.storeAt(summary, i * VECTOR_BYTES, x);
  });
  code.i32(0);
}

/** Emits the results of the lanes of the share. */
export function emitResults(
  code: Code,
  library: Library,
  laneCount: number,
  emit: (on: SegmentCode, deviations: Deviations) => void,
): void {
  const place = wholeRow(code, paddedLanes(laneCount));
  moveToShare(place);
  const on = new SegmentCode(code, library, laneCount, place);
  const { single } = on;
  const summary = ownSummary(code);
  const apply = () => {
    const [count, high, low, error] = PLACES.map((_, i) => single.loadAt(summary, i * VECTOR_BYTES));
    on.giveUpIf(single, single.isNull(count!));
    on.finishIf(single.eq(count!, single.number(TOO_FEW)), () => on.fill(single.null));
    const total = { count: count!, sum: { high: high!, low: low! }, error: error! };
    emit(on, emitBound(on, total, emitAllSquares(on), emitDeviationOf(on, total), THREADS_MAX));
  };
  on.withFallback(apply, () => code.i32(1).op("return"));
  code.i32(0);
}

/** The address of the summary of the share. */
function ownSummary(code: Code): I32Local {
  const { shared, share } = stepParameters(code);
  const [summary] = locals(code, "i32", 1);
  summary.set(addressOf(shared, share));
  return summary;
}

function addressOf(shared: I32, share: I32): I32 {
  return shared.add(share.shiftLeft(Math.log2(SUMMARY_BYTES)));
}

/** The sum of the squares of all shares: as in a whole row, rounding errors are added up separately. */
function emitAllSquares({ single, code }: SegmentCode): Pair {
  const { shared, shareCount } = stepParameters(code);
  const [summary, end] = locals(code, "i32", 2);
  const [highs, lows] = [single.copy(single.number(0)), single.copy(single.number(0))];
  summary.set(shared);
  end.set(addressOf(shared, shareCount));
  const [highPlace, lowPlace] = [PLACES.indexOf("squaresHigh"), PLACES.indexOf("squaresLow")];
  const addShare = () => {
    single.scope(() => {
      const sum = twoSum(single, highs, single.loadAt(summary, highPlace * VECTOR_BYTES));
      const low = single.loadAt(summary, lowPlace * VECTOR_BYTES);
      single.assign(highs, sum.high);
      single.assign(lows, single.add(lows, single.add(sum.low, low)));
    });
  };
  forSome(summary, end, addShare, SUMMARY_BYTES);
  return twoSum(single, highs, lows);
}
