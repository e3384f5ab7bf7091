import type { Value } from "../../../operator/lowering.ts";
import type { Code, Label } from "../../emit/code.ts";
import { constant, type I32, locals, Pointer, when } from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { forEach, forSome } from "../../emit/loops.ts";
import { STEP_LANES, VALUE_BYTES, VECTOR_BYTES, VECTORS } from "../../memory/vectors.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { COUNTER_BYTES, COUNTER_SHIFT, type SortFrame, upperHalf } from "../sort/sort_frame.ts";
import { LaneSort } from "../sort/sort_lanes.ts";

/** Twice a rank, i32. */
const DOUBLED_BYTES = 4;

/** A row counts as one of few values if at most one in this many high digits occurs. */
const DIGITS_PER_LEVEL = 8;

/**
 * Emits the average ranks of a row's values, divided by their number; nulls stay null. Lanes are scattered as integers,
 * twice their rank, with more than twice the number of values for nulls: results would be larger than the L1 cache.
 */
export function emitRank(code: Code, library: Library, laneCount: number, scratch: RowScratch): void {
  const { input, output } = rowParameters(code);
  const sort = new LaneSort(code, library, laneCount, scratch);
  const part = scratch.part("doubled ranks", DOUBLED_BYTES * sort.lanes);
  const doubled = new Pointer(sort.base, "i32", part);
  sort.emitCounts(input);
  code.block((ranked) => {
    emitLevelRanks(sort, doubled, ranked);
    emitSortedRanks(sort, doubled);
  });
  emitQuotients(sort, doubled, output);
}

/**
 * Emits the ranks of rows of few values, such as places in a window, signs or conditions: if no two values share a high
 * digit, the places of its lanes are the ranks, and nothing is sorted. Twice the rank of every lane goes to `doubled`;
 * nulls get more than twice their number. Otherwise the code falls through and leaves the sort's input unchanged.
 */
function emitLevelRanks(sort: SortFrame, doubled: Pointer<"i32">, ranked: Label): void {
  const { base, digitBits, lanes, values, at, scratch } = sort;
  const { code } = base;
  const part = scratch.part("values of high digits", VALUE_BYTES * 2 ** digitBits);
  const levels = new Pointer(base, "f64", part);
  const [i, address, ofRow, halves, digit, differs] = locals(code, "i32", 6);
  const [value, level] = locals(code, "f64", 2);
  /** Runs the body for every lane, given its place in a step that has its results at `halves`. */
  const forLanes = (body: (k: number) => void, endStep = () => {}) => {
    const runStep = () => {
      address.set(at.entries.addressOf(i));
      ofRow.set(values.addressOf(i));
      halves.set(doubled.addressOf(i));
      for (let k = 0; k < STEP_LANES; k++) {
        value.set(values.from(ofRow, k).load());
        const counter = upperHalf(at.entries.from(address, k)).load();
        digit.set(counter.sub(base).shiftRight(COUNTER_SHIFT));
        body(k);
      }
      endStep();
    };
    forEach(i, lanes, runStep, STEP_LANES);
  };
  const rankLane = (k: number) => {
    level.set(levels.at(digit).load());
    differs.set(value.ne(level).and(value.eq(value)).or(differs));
    digit.set(at.highCounters.addressOf(digit));
    const places = at.highCounters.from(digit).load().add(at.highCounters.from(digit, 1).load());
    doubled.from(halves, k).store(places.add(1));
  };
  const rankLevels = () => {
    forLanes(() => levels.at(digit).store(value));
    code.block((failed) => {
      differs.set(0);
      forLanes(rankLane, () => differs.branchTo(failed));
      code.branch(ranked);
    });
  };
  when(emitHasFewDigits(sort), rankLevels);
}

/** Counts high digits; the result is not 0 if few of them occur, and no value has that of nulls. */
function emitHasFewDigits(sort: SortFrame): I32 {
  const { base, count, lanes } = sort;
  const digits = 2 ** sort.digitBits;
  const hasFew = emitDigitCount(sort).le(digits / DIGITS_PER_LEVEL);
  // Nulls have the last digit.
  const firstOfLast = sort.at.highCounters.from(base, digits - 1).load();
  return hasFew.and(firstOfLast.ge(count).or(count.eq(lanes)));
}

/** Counts the high digits that occur. */
function emitDigitCount({ base, at, digitBits, library }: SortFrame): I32 {
  const { code } = base;
  const on = new LaneCode(code, library);
  const [offset, address] = locals(code, "i32", 2);
  const counters = 2 ** digitBits;
  const perTurn = (VECTORS * VECTOR_BYTES) / COUNTER_BYTES;
  const sum = on.copy(on.bits(0n));
  const countTurn = () => {
    on.scope(() => {
      address.set(base.add(offset));
      const own = on.loadAt(address, at.highCounters.offset);
      const next = on.loadAt(address, at.highCounters.offset + COUNTER_BYTES);
      // -1 where no lane lies between the places of a digit and the next one.
      const isEmpty = on.op("i32x4.eq", own, next);
      on.assign(sum, on.op("i32x4.add", sum, isEmpty));
    });
  };
  forEach(offset, COUNTER_BYTES * counters, countTurn, COUNTER_BYTES * perTurn);
  on.storeAt(base, at.steps.offset, sum);
  const steps = new Pointer(base, "i32", at.steps.offset);
  const empty = Array.from({ length: perTurn }, (_, k) => steps.from(base, k).load());
  return empty.reduce((total, x) => total.add(x), constant(code, "i32", counters));
}

/** Emits a sort of the lanes, which scatters twice their ranks. */
function emitSortedRanks(sort: LaneSort, doubled: Pointer<"i32">): void {
  sort.emitOrder({
    place: (lane, place) => doubled.at(lane).store(place.shiftLeft(1).add(2)),
    pair: ([lower, upper], place, isTie) => {
      doubled.at(lower).store(place.shiftLeft(1).add(2).add(isTie));
      doubled.at(upper).store(place.shiftLeft(1).add(4).sub(isTie));
    },
    tie: (start, end) => {
      const [i, lane, sum] = locals(start.code, "i32", 3);
      sum.set(i.tee(start).add(end).add(1));
      forSome(i, end, () => {
        lane.set(sort.laneAt(i));
        doubled.at(lane).store(sum);
      });
    },
  });
}

/** Emits the results: twice the ranks, divided by twice the number of values. */
function emitQuotients(
  { base, count, lanes, library }: LaneSort,
  doubled: Pointer<"i32">,
  output: I32,
): void {
  const { code } = base;
  const on = new LaneCode(code, library);
  const doubledCount = count.shiftLeft(1).to("f64.convert_i32_u");
  doubledCount.push().op("f64x2.splat");
  const divisor = on.takeSame();
  constant(code, "f64", 1).div(doubledCount).push().op("f64x2.splat");
  const inverse = on.takeSame();
  const [offset, from, to] = locals(code, "i32", 3);
  const storeStep = () => {
    on.scope(() => {
      from.set(base.add(offset));
      const rank = on.loadIntegers(from, doubled.offset);
      to.set(output.add(offset.shiftLeft(1)));
      on.storeAt(to, 0, on.keep(on.le(rank, divisor), quotientOf(on, rank, divisor, inverse)));
    });
  };
  forEach(offset, DOUBLED_BYTES * lanes, storeStep, DOUBLED_BYTES * STEP_LANES);
}

/**
 * The quotient of whole numbers, rounded once. With the nearest double to the divisor's inverse one step of Newton's
 * method does what a division does, in a third of its time (Markstein, 1990, Computation of elementary functions on the
 * IBM RISC System/6000 processor).
 */
function quotientOf(on: LaneCode, x: Value, divisor: Value, inverse: Value): Value {
  if (!on.library.hasFusedMultiply) return on.div(x, divisor);
  const quotient = on.mul(x, inverse);
  return on.fusedMultiplyAdd(on.fusedMultiplySubtract(quotient, divisor, x), inverse, quotient);
}
