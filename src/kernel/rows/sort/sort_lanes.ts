import type { Code, Local } from "../../emit/code.ts";
import type { Library } from "../../emit/library.ts";
import { SCRATCH_GLOBAL } from "../../emit/module.ts";
import { STEP_LANES } from "../../emit/vectors.ts";
import { element, forEach } from "../loops.ts";
import { pushPaddedRow } from "../padded_row.ts";
import type { RowScratch } from "../row_scratch.ts";
import {
  COUNTER_BYTES,
  COUNTER_ORDER,
  ENTRY_BYTES,
  type EntryScratch,
  LOWER_BITS,
  SortEntries,
  UPPER_BYTE,
} from "./sort_entries.ts";
import { SortedRuns } from "./sorted_runs.ts";

/** Wider digits would have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Counters added up in one turn of a loop. */
const COUNTER_STEP = 8;

/** Largest number of lanes that this sort supports. */
export const SORT_LANES_MAX = 2 ** (LOWER_BITS - DIGIT_BITS_MAX);

/** Offsets of the parts of the scratch space, in bytes. */
export interface SortScratch extends EntryScratch {
  /** Entries in the order of their low digits, i64. */
  readonly halfSorted: number;
  /** Lower halves of entries in order, i32. They replace the first entries. */
  readonly sorted: number;
  /** Keys of runs in order, i64. */
  readonly sortedKeys: number;
  /** Keys of the lanes, i64, where all of their bits are needed. */
  readonly keys: number;
  /** Counters of the low digit, and of the only digit of a pass over all bits, i32. */
  readonly counters: number;
  /** Counters of the high digit, i32, followed by the number of lanes. */
  readonly moreCounters: number;
  /** Places whose lane may have the head of the next, i32. */
  readonly shared: number;
}

/** Receives the lanes as they are sorted; places count from 0. */
export interface SortVisitor {
  /**
   * A lane gets a place. If other lanes may have its head it may get another place later, or a share in a tie. Nulls
   * are last.
   */
  place(lane: Local, place: Local): void;
  /** Two lanes get a place and the next one, or tie there if `isTie` is 1 instead of 0. */
  pair(lanes: readonly [Local, Local], place: Local, isTie: Local): void;
  /** Lanes of equal values, from place `start` to before `end`. */
  tie(start: Local, end: Local): void;
}

/**
 * Emits a sort of a row's lanes by their values, nulls last.
 *
 * Lanes are sorted by the two digits of their heads, at most 11 bits each, by counting (LSD radix sort). Few lanes have
 * equal heads: those are sorted by their values (`SortedRuns`).
 */
export class LaneSort {
  readonly at: SortScratch;
  /** Address of the scratch space. */
  readonly base: Local;
  /** Lanes with a value. */
  readonly count: Local;
  /** Address of the row's values. */
  readonly row: Local;
  /** Number of lanes in whole steps; those beyond the row are null. */
  readonly lanes: number;
  readonly digitBits: number;
  /** Bits of a lane in the lower half of its entry; bits of its head are above them. */
  readonly laneBits: number;
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #entries: SortEntries;
  readonly #scratch: RowScratch;
  readonly #runs: SortedRuns;

  constructor(code: Code, library: Library, laneCount: number, scratch: RowScratch) {
    this.#code = code;
    this.#laneCount = laneCount;
    this.#scratch = scratch;
    this.digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
    this.lanes = STEP_LANES * Math.ceil(laneCount / STEP_LANES);
    this.base = code.locals.add("i32");
    this.row = code.locals.add("i32");
    this.#entries = new SortEntries(code, library, this.base, this.lanes, this.digitBits, scratch);
    this.count = this.#entries.count;
    this.laneBits = this.#entries.laneBits;
    this.at = {
      ...this.#entries.at,
      halfSorted: scratch.part("half-sorted entries", ENTRY_BYTES * this.lanes),
      sorted: this.#entries.at.entries,
      sortedKeys: scratch.part("sorted keys", ENTRY_BYTES * this.lanes),
      keys: scratch.part("sort keys", ENTRY_BYTES * this.lanes),
      counters: scratch.part("sort counters", COUNTER_BYTES * 2 ** DIGIT_BITS_MAX),
      moreCounters: scratch.part("more sort counters", COUNTER_BYTES * (2 ** DIGIT_BITS_MAX + 1)),
      shared: scratch.part("places of shared heads", COUNTER_BYTES * (this.lanes + 1)),
    };
    this.#runs = new SortedRuns(code, library, this);
  }

  /** Counts values and digits, and finds the places where the lanes of each digit start. */
  emitCounts(input: Local): void {
    const code = this.#code;
    code.getGlobal(SCRATCH_GLOBAL).set(this.base);
    for (const counters of [this.at.counters, this.at.moreCounters]) {
      code.get(this.base).i32(counters).op("i32.add").i32(0);
      code.i32(COUNTER_BYTES * 2 ** this.digitBits).memoryFill();
    }
    pushPaddedRow(code, input, this.#laneCount, STEP_LANES, this.#scratch);
    code.set(this.row);
    this.#entries.emit(this.row);
    this.#countDigits();
    this.#addUp();
  }

  /** Sorts the lanes; the order of equal values is undefined. */
  emitOrder(visitor: SortVisitor): void {
    this.#sortByLowDigit();
    this.#sortByHighDigit(visitor);
    this.#runs.emit(visitor);
  }

  /** Pushes the lane at a place, once all are in order. */
  pushLaneAt(place: Local): Code {
    element(this.#code, this.base, place, 2).memory("i32.load", this.at.sorted);
    return this.keepLane();
  }

  /** Reduces the lower half of an entry on the stack to the lane. */
  keepLane(): Code {
    return this.#code.i32(2 ** this.laneBits - 1).op("i32.and");
  }

  #counters(isHigh: boolean): number {
    return isHigh ? this.at.moreCounters : this.at.counters;
  }

  /** Counts both digits, in a separate loop: it would have to wait for values that the same turn has just stored. */
  #countDigits(): void {
    const code = this.#code;
    const [i, step, halves, counter, before] = [0, 1, 2, 3, 4].map(() => code.locals.add("i32")) as [
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const countStep = () => {
      element(code, this.base, i, 3).set(step);
      element(code, this.base, i, 2).set(halves);
      for (let k = 0; k < STEP_LANES; k++) {
        code
          .get(halves)
          .memory("i32.load", this.at.lowCounters + COUNTER_BYTES * k)
          .set(counter);
        this.#raise(counter, false, before);
        code
          .get(step)
          .memory("i32.load", this.at.entries + ENTRY_BYTES * k + UPPER_BYTE)
          .set(counter);
        this.#raise(counter, true, before);
      }
    };
    forEach(code, i, this.lanes, countStep, STEP_LANES);
  }

  /** Turns the counts of both digits into the places where their lanes start. */
  #addUp(): void {
    const code = this.#code;
    const [offset, address, count] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
    const sums = [false, true].map((isHigh) => ({ isHigh, sum: code.locals.add("i32") }));
    for (const { sum } of sums) code.i32(0).set(sum);
    const addUpStep = () => {
      code.get(this.base).get(offset).op("i32.add").set(address);
      for (let k = 0; k < COUNTER_STEP; k++) {
        for (const { isHigh, sum } of sums) {
          const at = this.#counters(isHigh) + COUNTER_BYTES * k;
          code.get(address).memory("i32.load", at).set(count);
          code.get(address).get(sum).memory("i32.store", at);
          code.get(sum).get(count).op("i32.add").set(sum);
        }
      }
    };
    forEach(code, offset, COUNTER_BYTES * 2 ** this.digitBits, addUpStep, COUNTER_STEP * COUNTER_BYTES);
    code
      .get(this.base)
      .i32(this.lanes)
      .memory("i32.store", this.at.moreCounters + COUNTER_BYTES * 2 ** this.digitBits);
  }

  /** Increments a digit's counter, given its address, which holds the place of its next lane. */
  #raise(counter: Local, isHigh: boolean, place: Local): void {
    const code = this.#code;
    code.get(counter).get(counter).memory("i32.load", this.#counters(isHigh)).tee(place).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(isHigh));
  }

  #sortByLowDigit(): void {
    const code = this.#code;
    const [i, halves, step, counter, place] = [0, 1, 2, 3, 4].map(() => code.locals.add("i32")) as [
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const entry = code.locals.add("i64");
    const dealStep = () => {
      element(code, this.base, i, 2).set(halves);
      element(code, this.base, i, 3).set(step);
      COUNTER_ORDER.forEach((lane, k) => {
        code
          .get(halves)
          .memory("i32.load", this.at.lowCounters + COUNTER_BYTES * k)
          .set(counter);
        code
          .get(step)
          .memory("i64.load", this.at.entries + ENTRY_BYTES * lane)
          .set(entry);
        this.#raise(counter, false, place);
        element(code, this.base, place, 3).get(entry).memory("i64.store", this.at.halfSorted);
      });
    };
    forEach(code, i, this.lanes, dealStep, STEP_LANES);
  }

  #sortByHighDigit(visitor: SortVisitor): void {
    const code = this.#code;
    const [offset, address, counter, place, lane] = [0, 1, 2, 3, 4].map(() => code.locals.add("i32")) as [
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const dealStep = () => {
      code.get(this.base).get(offset).op("i32.add").set(address);
      for (let k = 0; k < STEP_LANES; k++) {
        const entry = this.at.halfSorted + ENTRY_BYTES * k;
        code
          .get(address)
          .memory("i32.load", entry + UPPER_BYTE)
          .set(counter);
        this.#raise(counter, true, place);
        element(code, this.base, place, 2);
        code.get(address).memory("i32.load", entry).tee(lane).memory("i32.store", this.at.sorted);
        code.get(lane);
        this.keepLane().set(lane);
        visitor.place(lane, place);
      }
    };
    forEach(code, offset, ENTRY_BYTES * this.lanes, dealStep, ENTRY_BYTES * STEP_LANES);
  }
}
