import type { Label } from "../../emit/code.ts";
import {
  clearBytes,
  type F64,
  type I32,
  type I32Local,
  locals,
  Pointer,
  when,
} from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import { forEach, forSome, repeat } from "../../emit/loops.ts";
import { STEP_LANES, VECTORS } from "../../memory/vectors.ts";
import { orderedBits } from "./sort_entries.ts";
import { COUNTER_BYTES, COUNTER_SHIFT, type SortFrame, type SortVisitor } from "./sort_frame.ts";

/** Moves of the insertion sort per lane before the rows are sorted by all bits. */
const MOVES_PER_LANE = 4;

/** Key of nulls where rows are sorted by all bits, and the sign bit of a key. */
const HIGHEST = 2n ** 63n - 1n;
const SIGN = 2n ** 63n;

/**
 * Emits the rest of a sort by heads: lanes with equal heads are sorted by their values. Nulls, which have the last places,
 * are not visited.
 *
 * First lists the places whose lane has the head of the next one, as far as entries show it, without a branch for each;
 * steps of lanes without such a place are skipped. In a usual row most of these candidates are pairs, which are sorted
 * without a branch; longer runs turn out to be ties, or are sorted by insertion. If that takes more than four moves per
 * lane, all lanes are sorted by all 64 bits instead.
 */
export function emitSortedRuns(sort: SortFrame, visitor: SortVisitor): void {
  // Address of the current candidate, without the offset of the list.
  const [candidate] = locals(sort.base.code, "i32", 1);
  listCandidates(sort, candidate);
  visitRuns(sort, candidate, visitor);
}

/** Lists the places whose lane may have the head of the next, followed by the largest number. */
function listCandidates(sort: SortFrame, candidate: I32Local): void {
  const { base, count, at, library, laneBits } = sort;
  const on = new LaneCode(base.code, library, VECTORS / 2);
  const [i, address] = locals(base.code, "i32", 2);
  const { offset, bytes } = at.sorted;
  // The last value has no next one.
  at.sorted.at(count).store(at.sorted.at(count, -1).load().xor(-1));
  candidate.set(base);
  i.set(0);
  const listStep = () => {
    on.scope(() => {
      address.set(at.sorted.addressOf(i));
      const [own, next] = [on.loadAt(address, offset), on.loadAt(address, offset + bytes)];
      // Heads may differ in bits that did not fit: such lanes are already in order, which is found out later.
      const difference = on.shift("i32x4.shr_u", on.xorBits(own, next), laneBits);
      on.pushAny(on.op("i32x4.eq", difference, on.bits(0n)));
    });
    base.code.if(() => listCandidatesOf(sort, candidate, i, address));
  };
  forSome(i, count, listStep, STEP_LANES);
  at.candidates.from(candidate).store(-1);
}

/** Writes every place to the end of the list, which only grows if the place is a candidate. */
function listCandidatesOf(sort: SortFrame, candidate: I32Local, i: I32, address: I32): void {
  const { at, laneBits } = sort;
  for (let k = 0; k < STEP_LANES; k++) {
    at.candidates.from(candidate).store(i.add(k));
    const [own, next] = [at.sorted.from(address, k).load(), at.sorted.from(address, k + 1).load()];
    const isCandidate = own.xor(next).lt(2 ** laneBits);
    candidate.set(candidate.add(isCandidate.shiftLeft(COUNTER_SHIFT)));
  }
}

function visitRuns(sort: SortFrame, candidate: I32Local, visitor: SortVisitor): void {
  const { base, count, at } = sort;
  const { code } = base;
  const [place, end, moves] = locals(code, "i32", 3);
  const listed = at.candidates.from(candidate);
  const goOn = () => candidate.set(candidate.add(COUNTER_BYTES));
  candidate.set(base);
  moves.set(0);
  code.block((done) => {
    count.lt(2).branchTo(done);
    code.loop((again) => {
      place.tee(listed.load()).ge(count.sub(1)).branchTo(done);
      end.set(place.add(1));
      goOn();
      when(listed.load().ne(end), () => {
        visitPair(sort, place, visitor);
        code.branch(again);
      });
      code.loop((more) => {
        end.set(end.add(1));
        goOn();
        listed.load().eq(end).branchTo(more);
      });
      end.set(end.add(1));
      visitRun(sort, place, end, moves, visitor, done);
      code.branch(again);
    });
  });
}

/** Sorts two lanes. */
function visitPair(sort: SortFrame, place: I32, visitor: SortVisitor): void {
  const { sorted } = sort.at;
  const { code } = place;
  const [address, isTie, isFalling] = locals(code, "i32", 3);
  const [x, y] = locals(code, "f64", 2);
  const [first, second, lower, upper] = locals(code, "i32", 4);
  address.set(sorted.addressOf(place));
  x.set(sort.values.at(sort.laneOf(first.tee(sorted.from(address).load()))).load());
  y.set(sort.values.at(sort.laneOf(second.tee(sorted.from(address, 1).load()))).load());
  isTie.set(x.eq(y));
  isFalling.set(x.gt(y));
  sorted.from(address).store(lower.tee(isFalling.select(second, first)));
  lower.set(sort.laneOf(lower));
  sorted.from(address, 1).store(upper.tee(isFalling.select(first, second)));
  upper.set(sort.laneOf(upper));
  visitor.pair?.([lower, upper], place, isTie);
}

/** Visits a run of candidates; leaves the block after all lanes. */
function visitRun(
  sort: SortFrame,
  start: I32Local,
  end: I32,
  moves: I32Local,
  visitor: SortVisitor,
  done: Label,
): void {
  const { count, lanes } = sort;
  const sortAndVisit = () => {
    sortRun(sort, start, end, moves);
    when(moves.gt(MOVES_PER_LANE * lanes), () => {
      emitSortByAllBits(sort);
      start.set(0);
      visitKeys(sort, start, count, visitor);
      start.code.branch(done);
    });
    visitKeys(sort, start, end, visitor);
  };
  when(emitAreEqual(sort, start, end), () => visitor.tie?.(start, end), sortAndVisit);
}

/** Visits the lanes of a run, at least one, in key order; changes `start`. */
function visitKeys(sort: SortFrame, start: I32Local, end: I32, visitor: SortVisitor): void {
  const { code } = start;
  const { sortedKeys } = sort.at;
  const [key] = locals(code, "i64", 1);
  const [next, lane] = locals(code, "i32", 2);
  const visitPlace = () => {
    lane.set(sort.laneAt(start));
    visitor.place?.(lane, start);
  };
  code.loop((again) => {
    key.set(sortedKeys.at(start).load());
    next.set(start);
    code.block((found) => {
      code.loop((more) => {
        next.tee(next.add(1)).eq(end).branchTo(found);
        sortedKeys.at(next).load().eq(key).branchTo(more);
      });
    });
    when(next.sub(start).eq(1), visitPlace, () => visitor.tie?.(start, next));
    start.tee(next).ne(end).branchTo(again);
  });
}

/** The value of the lane at a place. */
function valueAt(sort: SortFrame, place: I32): F64 {
  return sort.values.at(sort.laneAt(place)).load();
}

/** Compares the values of a run; the result is 1 if they are all equal, else 0. */
function emitAreEqual(sort: SortFrame, start: I32, end: I32): I32 {
  const { code } = start;
  const [first] = locals(code, "f64", 1);
  const [i] = locals(code, "i32", 1);
  first.set(valueAt(sort, start));
  i.set(start);
  code.loop((next) => {
    when(i.tee(i.add(1)).lt(end), () => valueAt(sort, i).eq(first).branchTo(next));
  });
  return i.eq(end);
}

/** Sorts a run by insertion, finds its keys, and counts moves: beyond the limit it gives up. */
function sortRun(sort: SortFrame, start: I32, end: I32, moves: I32Local): void {
  const { code } = start;
  const { lanes, at } = sort;
  const { sorted, sortedKeys } = at;
  const [key] = locals(code, "i64", 1);
  const [i, place, moved] = locals(code, "i32", 3);
  /** Moves the neighbour below up by one place. */
  const moveUp = () => {
    sortedKeys.at(place).store(sortedKeys.at(place, -1).load());
    sorted.at(place).store(sorted.at(place, -1).load());
    moves.set(moves.add(1));
    place.set(place.sub(1));
  };
  i.set(start);
  code.loop((next) => {
    moved.set(sorted.at(i).load());
    // -0 becomes 0.
    key.set(orderedBits(valueAt(sort, i).add(0), key));
    place.set(i);
    repeat(code, (found) => {
      place.eq(start).branchTo(found);
      sortedKeys.at(place, -1).load().leSigned(key).branchTo(found);
      moveUp();
    });
    sortedKeys.at(place).store(key);
    sorted.at(place).store(moved);
    const isWithinLimit = moves.le(MOVES_PER_LANE * lanes);
    i.tee(i.add(1)).lt(end).and(isWithinLimit).branchTo(next);
  });
}

/** Emits a sort of the lanes by their whole keys, some bits at a time. Afterwards `sorted` holds lanes only. */
function emitSortByAllBits(sort: SortFrame): void {
  const { base, lanes, digitBits, at } = sort;
  const [pass, from, to, i, lane, address, place, sum, count] = locals(base.code, "i32", 9);
  emitKeys(sort, i);
  const digits = 2 ** digitBits;
  const counter = at.lowCounters.from(address);
  /** Stores what becomes of the counter of the lane's digit. */
  const setCounter = (value: I32) => {
    // The sign bit is flipped so that digits order keys as unsigned numbers.
    const bits = at.keys.at(lane).load().xor(SIGN).shiftRight(pass.to("i64.extend_i32_u"));
    const digit = bits.to("i32.wrap_i64").and(digits - 1);
    counter.from(address.tee(digit.shiftLeft(2).add(base))).store(value);
  };
  const sortByDigit = () => {
    clearBytes(base.add(counter.offset), counter.bytes * digits);
    forEach(i, lanes, () => {
      lane.set(i);
      setCounter(counter.load().add(1));
    });
    sum.set(0);
    forEach(i, digits, () => {
      count.set(counter.from(address.tee(at.lowCounters.addressOf(i))).load());
      counter.store(sum);
      sum.set(sum.add(count));
    });
    forEach(i, lanes, () => {
      lane.set(new Pointer(from, "i32").at(i).load());
      setCounter(place.tee(counter.load()).add(1));
      new Pointer(to, "i32").at(place).store(lane);
    });
    address.set(from);
    from.set(to);
    to.set(address);
  };
  from.set(base.add(at.sorted.offset));
  to.set(base.add(at.halfSorted.offset));
  forEach(pass, 64, sortByDigit, digitBits);
  emitSorted(sort, from, i, lane);
}

/** Emits the keys of all lanes, in their order. */
function emitKeys({ values, lanes, at }: SortFrame, i: I32Local): void {
  const [x] = locals(i.code, "f64", 1);
  const [key] = locals(i.code, "i64", 1);
  forEach(i, lanes, () => {
    at.sorted.at(i).store(i);
    key.set(orderedBits(x.tee(values.at(i).load().add(0)), key));
    at.keys.at(i).store(x.eq(x).select(key, HIGHEST));
  });
}

/** Emits the result, given the address of the lanes in order. */
function emitSorted({ lanes, at }: SortFrame, from: I32, i: I32Local, lane: I32Local): void {
  forEach(i, lanes, () => {
    lane.set(new Pointer(from, "i32").at(i).load());
    at.sorted.at(i).store(lane);
    at.sortedKeys.at(i).store(at.keys.at(lane).load());
  });
}
