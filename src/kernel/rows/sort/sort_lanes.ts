import type { Code } from "../../emit/code.ts";
import { clearBytes, type I32, type I32Local, locals, Pointer } from "../../emit/expressions.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES } from "../../emit/vectors.ts";
import { forEach } from "../loops.ts";
import { emitPaddedRow, paddedLanes } from "../padded_row.ts";
import { type RowScratch, scratchAddress } from "../row_scratch.ts";
import {
  COUNTER_BYTES,
  COUNTER_ORDER,
  ENTRY_BYTES,
  LOWER_BITS,
  lowerHalf,
  SortEntries,
  upperHalf,
} from "./sort_entries.ts";
import { SortedRuns } from "./sorted_runs.ts";

/** Wider digits would have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Counters added up in one turn of a loop. */
const COUNTER_STEP = 8;

/** Largest number of lanes that this sort supports. */
export const SORT_LANES_MAX = 2 ** (LOWER_BITS - DIGIT_BITS_MAX);

/** Parts of the scratch space. */
export interface SortScratch {
  /** For each lane the counter address of its high digit, the low bits of its head, and the lane. */
  readonly entries: Pointer<"i64">;
  /** For each lane the counter address of its low digit, relative to the counter table. */
  readonly lowAddresses: Pointer<"i32">;
  /** Four numbers for each lane of one step, to be joined to those of the row. */
  readonly steps: Pointer<"i64">;
  /** Entries in the order of their low digits. */
  readonly halfSorted: Pointer<"i64">;
  /** Lower halves of entries in order. They replace the first entries. */
  readonly sorted: Pointer<"i32">;
  /** Keys of runs in order. */
  readonly sortedKeys: Pointer<"i64">;
  /** Keys of the lanes, where all of their bits are needed. */
  readonly keys: Pointer<"i64">;
  /** Counters of the low digit, and of the only digit of a pass over all bits. */
  readonly lowCounters: Pointer<"i32">;
  /** Counters of the high digit, followed by the number of lanes. */
  readonly highCounters: Pointer<"i32">;
  /** Places whose lane may have the head of the next: each starts or continues a run. */
  readonly candidates: Pointer<"i32">;
}

/** Receives the lanes as they are sorted; places count from 0. */
export interface SortVisitor {
  /**
   * A lane gets a place. If other lanes may have its head it may get another place later, or a share in a tie. Nulls
   * are last.
   */
  place(lane: I32, place: I32): void;
  /** Two lanes get a place and the next one, or tie there if `isTie` is 1 instead of 0. */
  pair(lanes: readonly [I32, I32], place: I32, isTie: I32): void;
  /** Lanes of equal values, from place `start` to before `end`. */
  tie(start: I32, end: I32): void;
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
  readonly base: I32Local;
  /** Lanes with a value. */
  readonly count: I32Local;
  /** The row's values, padded with nulls to whole steps, and their address. */
  readonly values: Pointer<"f64">;
  readonly row: I32Local;
  /** Number of lanes in whole steps; those beyond the row are null. */
  readonly lanes: number;
  readonly digitBits: number;
  /** Bits of a lane in the lower half of its entry; bits of its head are above them. */
  readonly laneBits: number;
  readonly library: Library;
  readonly #laneCount: number;
  readonly #entries: SortEntries;
  readonly #scratch: RowScratch;
  readonly #runs: SortedRuns;

  constructor(code: Code, library: Library, laneCount: number, scratch: RowScratch) {
    this.library = library;
    this.#laneCount = laneCount;
    this.#scratch = scratch;
    this.digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
    this.lanes = paddedLanes(laneCount);
    [this.base, this.row] = locals(code, "i32", 2);
    this.values = new Pointer(this.row, "f64");
    this.laneBits = Math.ceil(Math.log2(this.lanes));
    const part = <T extends "i32" | "i64">(name: string, type: T, bytes: number) =>
      new Pointer(this.base, type, scratch.part(name, bytes));
    const entries = part("sort entries", "i64", ENTRY_BYTES * this.lanes);
    this.at = {
      entries,
      lowAddresses: part("low counter addresses", "i32", COUNTER_BYTES * this.lanes),
      steps: part("sort steps", "i64", 4 * ENTRY_BYTES * STEP_LANES),
      halfSorted: part("half-sorted entries", "i64", ENTRY_BYTES * this.lanes),
      sorted: new Pointer(this.base, "i32", entries.offset),
      sortedKeys: part("sorted keys", "i64", ENTRY_BYTES * this.lanes),
      keys: part("sort keys", "i64", ENTRY_BYTES * this.lanes),
      lowCounters: part("low counters", "i32", COUNTER_BYTES * 2 ** DIGIT_BITS_MAX),
      highCounters: part("high counters", "i32", COUNTER_BYTES * (2 ** DIGIT_BITS_MAX + 1)),
      candidates: part("candidates of runs", "i32", COUNTER_BYTES * (this.lanes + 1)),
    };
    this.#entries = new SortEntries(this);
    this.count = this.#entries.count;
    this.#runs = new SortedRuns(this);
  }

  /** Counts values and digits, and finds the places where the lanes of each digit start. */
  emitCounts(input: I32): void {
    this.base.set(scratchAddress(this.base.code));
    for (const { offset } of [this.at.lowCounters, this.at.highCounters]) {
      clearBytes(this.base.add(offset), COUNTER_BYTES * 2 ** this.digitBits);
    }
    this.row.set(emitPaddedRow(input, this.#laneCount, this.#scratch));
    this.#entries.emit();
    this.#countDigits();
    this.#addUp();
  }

  /** Sorts the lanes; the order of equal values is undefined. */
  emitOrder(visitor: SortVisitor): void {
    this.#sortByLowDigit();
    this.#sortByHighDigit(visitor);
    this.#runs.emit(visitor);
  }

  /** The lane at a place, once all are in order. */
  laneAt(place: I32): I32 {
    return this.laneOf(this.at.sorted.at(place).load());
  }

  /** The lane in the lower half of an entry. */
  laneOf(lower: I32): I32 {
    return lower.and(2 ** this.laneBits - 1);
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
        visitor.place(lane, place);
      }
    };
    forEach(offset, ENTRY_BYTES * this.lanes, dealStep, ENTRY_BYTES * STEP_LANES);
  }
}

/** Increments a digit's counter; `place` becomes what it was: where the digit's next lane goes. */
function increment(counter: Pointer<"i32">, place: I32Local): void {
  counter.store(place.tee(counter.load()).add(1));
}
