import { clearBytes, type I32, type I32Local, locals, type Pointer } from "../../emit/expressions.ts";
import { forEach } from "../../emit/loops.ts";
import { STEP_LANES } from "../../memory/vectors.ts";
import { emitPaddedRow } from "../layout/padded_row.ts";
import { scratchAddress } from "../layout/row_scratch.ts";
import { COUNTER_ORDER, SortEntries } from "./sort_entries.ts";
import {
  COUNTER_BYTES,
  ENTRY_BYTES,
  lowerHalf,
  SortFrame,
  type SortVisitor,
  upperHalf,
} from "./sort_frame.ts";
import { emitSortedRuns } from "./sorted_runs.ts";

/** Counters added up in one turn of a loop. */
const COUNTER_STEP = 8;

/**
 * Emits a sort of a row's lanes by their values, nulls last.
 *
 * Lanes are sorted by the two digits of their heads, at most 11 bits each, by counting (LSD radix sort). Few lanes have
 * equal heads: those are sorted by their values (`sorted_runs.ts`).
 */
export class LaneSort extends SortFrame {
  /** Counts values and digits, and finds the places where the lanes of each digit start. */
  emitCounts(input: I32): void {
    this.base.set(scratchAddress(this.base.code));
    for (const { offset } of [this.at.lowCounters, this.at.highCounters]) {
      clearBytes(this.base.add(offset), COUNTER_BYTES * 2 ** this.digitBits);
    }
    this.row.set(emitPaddedRow(input, this.laneCount, this.scratch));
    new SortEntries(this).emit();
    this.#countDigits();
    this.#addUp();
  }

  /** Sorts the lanes; the order of equal values is undefined. */
  emitOrder(visitor: SortVisitor = {}): void {
    this.#sortByLowDigit();
    this.#sortByHighDigit(visitor);
    emitSortedRuns(this, visitor);
  }

  /** Counts both digits, in a separate loop: it would have to wait for values that the same turn has just stored. */
  #countDigits(): void {
    const { entries, lowAddresses, lowCounters, highCounters } = this.at;
    const [i, step, halves, counter, before] = locals(this.base.code, "i32", 5);
    const countStep = () => {
      step.set(entries.addressOf(i));
      halves.set(lowAddresses.addressOf(i));
      for (let k = 0; k < STEP_LANES; k++) {
        counter.set(lowAddresses.from(halves, k).load());
        increment(lowCounters.from(counter), before);
        counter.set(upperHalf(entries.from(step, k)).load());
        increment(highCounters.from(counter), before);
      }
    };
    forEach(i, this.lanes, countStep, STEP_LANES);
  }

  /** Turns the counts of both digits into the places where their lanes start. */
  #addUp(): void {
    const { base } = this;
    const { lowCounters, highCounters } = this.at;
    const [offset, address, count, lowSum, highSum] = locals(base.code, "i32", 5);
    lowSum.set(0);
    highSum.set(0);
    const addUp = (counter: Pointer<"i32">, total: I32Local) => {
      count.set(counter.load());
      counter.store(total);
      total.set(total.add(count));
    };
    const addUpStep = () => {
      address.set(base.add(offset));
      for (let k = 0; k < COUNTER_STEP; k++) {
        addUp(lowCounters.from(address, k), lowSum);
        addUp(highCounters.from(address, k), highSum);
      }
    };
    forEach(offset, COUNTER_BYTES * 2 ** this.digitBits, addUpStep, COUNTER_STEP * COUNTER_BYTES);
    highCounters.from(base, 2 ** this.digitBits).store(this.lanes);
  }

  #sortByLowDigit(): void {
    const { entries, lowAddresses, lowCounters, halfSorted } = this.at;
    const [i, halves, step, counter, place] = locals(this.base.code, "i32", 5);
    const [entry] = locals(this.base.code, "i64", 1);
    const dealStep = () => {
      halves.set(lowAddresses.addressOf(i));
      step.set(entries.addressOf(i));
      COUNTER_ORDER.forEach((lane, k) => {
        counter.set(lowAddresses.from(halves, k).load());
        entry.set(entries.from(step, lane).load());
        increment(lowCounters.from(counter), place);
        halfSorted.at(place).store(entry);
      });
    };
    forEach(i, this.lanes, dealStep, STEP_LANES);
  }

  #sortByHighDigit(visitor: SortVisitor): void {
    const { base, at } = this;
    const [offset, address, counter, place, lane] = locals(base.code, "i32", 5);
    const dealStep = () => {
      address.set(base.add(offset));
      for (let k = 0; k < STEP_LANES; k++) {
        const entry = at.halfSorted.from(address, k);
        counter.set(upperHalf(entry).load());
        increment(at.highCounters.from(counter), place);
        at.sorted.at(place).store(lane.tee(lowerHalf(entry).load()));
        lane.set(this.laneOf(lane));
        visitor.place?.(lane, place);
      }
    };
    forEach(offset, ENTRY_BYTES * this.lanes, dealStep, ENTRY_BYTES * STEP_LANES);
  }
}

/** Increments a digit's counter; `place` becomes what it was: where the digit's next lane goes. */
function increment(counter: Pointer<"i32">, place: I32Local): void {
  counter.store(place.tee(counter.load()).add(1));
}
