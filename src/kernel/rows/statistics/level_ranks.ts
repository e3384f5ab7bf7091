import type { Label } from "../../emit/code.ts";
import {
  constant,
  type I32,
  type I32Local,
  type LocalExpression,
  locals,
  Pointer,
  when,
} from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import { forEach } from "../../emit/loops.ts";
import { STEP_LANES, VECTOR_BYTES, VECTORS } from "../../emit/vectors.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { COUNTER_BYTES, COUNTER_SHIFT, type SortFrame, upperHalf } from "../sort/sort_frame.ts";

/** A row counts as one of few values if at most one in this many high digits occurs. */
const DIGITS_PER_LEVEL = 8;

/**
 * Emits the ranks of rows of few values, such as places in a window, signs or conditions: if no two values share a high
 * digit, the places of its lanes are the ranks, and nothing is sorted. Twice the rank of every lane goes to `doubled`;
 * nulls get more than twice their number. Otherwise the code falls through and leaves the sort's input unchanged.
 */
export function emitLevelRanks(
  sort: SortFrame,
  doubled: Pointer<"i32">,
  scratch: RowScratch,
  ranked: Label,
): void {
  const { base, digitBits } = sort;
  const { code } = base;
  const { highCounters } = sort.at;
  const part = scratch.part("values of high digits", Float64Array.BYTES_PER_ELEMENT * 2 ** digitBits);
  const levels = new Pointer(base, "f64", part);
  const [i, address, values, halves, digit, differs] = locals(code, "i32", 6);
  const [value, level] = locals(code, "f64", 2);
  const lane = { i, address, values, halves, digit, value };
  const rankLevels = () => {
    forLanes(sort, doubled, lane, () => levels.at(digit).store(value));
    code.block((failed) => {
      const rankLane = (k: number) => {
        level.set(levels.at(digit).load());
        differs.set(value.ne(level).and(value.eq(value)).or(differs));
        digit.set(highCounters.addressOf(digit));
        const places = highCounters.from(digit).load().add(highCounters.from(digit, 1).load());
        doubled.from(halves, k).store(places.add(1));
      };
      differs.set(0);
      forLanes(sort, doubled, lane, rankLane, () => differs.branchTo(failed));
      code.branch(ranked);
    });
  };
  when(emitHasFewDigits(sort), rankLevels);
}

/** Runs the body for every lane, after `value` and `digit` are set; `halves` is the address of its step's results. */
function forLanes(
  { values, lanes, base, at }: SortFrame,
  doubled: Pointer<"i32">,
  lane: Readonly<Record<"i" | "address" | "values" | "halves" | "digit", I32Local>> & {
    readonly value: LocalExpression<"f64">;
  },
  body: (k: number) => void,
  endStep = () => {},
): void {
  const step = () => {
    lane.address.set(at.entries.addressOf(lane.i));
    lane.values.set(values.addressOf(lane.i));
    lane.halves.set(doubled.addressOf(lane.i));
    for (let k = 0; k < STEP_LANES; k++) {
      lane.value.set(values.from(lane.values, k).load());
      const counter = upperHalf(at.entries.from(lane.address, k)).load();
      lane.digit.set(counter.sub(base).shiftRight(COUNTER_SHIFT));
      body(k);
    }
    endStep();
  };
  forEach(lane.i, lanes, step, STEP_LANES);
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
      const isEmpty = on.binary("i32x4.eq", own, next);
      on.assign(sum, on.binary("i32x4.add", sum, isEmpty));
    });
  };
  forEach(offset, COUNTER_BYTES * counters, countTurn, COUNTER_BYTES * perTurn);
  on.storeAt(base, at.steps.offset, sum);
  const steps = new Pointer(base, "i32", at.steps.offset);
  const empty = Array.from({ length: perTurn }, (_, k) => steps.from(base, k).load());
  return empty.reduce((total, x) => total.add(x), constant(code, "i32", counters));
}
