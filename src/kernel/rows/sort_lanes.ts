import type { Value } from "../../operator/lowering.ts";
import { LaneCode } from "../lane_code.ts";
import { asMask } from "../lane_values.ts";
import type { Library } from "../library.ts";
import { STEP_LANES } from "../vectors.ts";
import type { Code, Label, Local } from "../wasm/code.ts";
import { SCRATCH_GLOBAL } from "../wasm/module.ts";
import { element, forEach } from "./loops.ts";
import { pushPaddedRow } from "./padded_row.ts";
import type { RowScratch } from "./row_scratch.ts";
import { emitSortByAllBits } from "./sort_all_bits.ts";
import {
  COUNTER_BYTES,
  COUNTER_ORDER,
  ENTRY_BYTES,
  type EntryScratch,
  HEAD_SHIFT,
  pushOrdered,
  SortEntries,
} from "./sort_entries.ts";

/** Digits of more bits than this have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Moves that the insertion sort may make per lane before the rows are sorted by all bits. */
const MOVES_PER_LANE = 4;

/** Counters that are added up in one turn of a loop. */
const COUNTER_STEP = 8;

/** Largest number of lanes that this sort takes. */
export const SORT_LANES_MAX = 2 ** 21;

/** Where the parts of the scratch space start, in bytes behind its address. */
export interface SortScratch extends EntryScratch {
  /** Entries in the order of their low digits, i64. */
  readonly halfSorted: number;
  /** Entries in order, i64; their lower halves are the lanes. They take the place of the first. */
  readonly sorted: number;
  /** Keys of runs in order, i64. */
  readonly sortedKeys: number;
  /** Keys of the lanes, i64, where all of their bits are asked for. */
  readonly keys: number;
  /** Counters of the low digit, and of the only one of a pass over all bits, i32. */
  readonly counters: number;
  /** Counters of the high digit, i32. */
  readonly moreCounters: number;
}

/** What is done with the lanes once they are in order; places count from 0. */
export interface SortVisitor {
  /** Before the first. */
  start(): void;
  /** A lane whose value no other lane has. */
  single(lane: Local, place: Local): void;
  /** Lanes of equal values, from one place to before another. */
  tie(start: Local, end: Local): void;
}

/**
 * Emits a sort of a row's lanes by their values, nulls last.
 *
 * Lanes are sorted by the two digits of their heads, at most 11 bits each, by counting (LSD radix sort). Few lanes agree
 * in their heads: those are put in order by insertion; if that takes more than four moves per lane, all lanes are sorted
 * by all 64 bits instead, and are one run.
 */
export class LaneSort {
  readonly at: SortScratch;
  /** Address of the scratch space. */
  readonly base: Local;
  /** Lanes with a value. */
  readonly count: Local;
  /** Address of the row's values. */
  readonly row: Local;
  /** Number of lanes, whole steps; those behind the row are null. */
  readonly lanes: number;
  readonly #code: Code;
  readonly #on: LaneCode;
  readonly #laneCount: number;
  readonly #digitBits: number;
  readonly #entries: SortEntries;
  readonly #scratch: RowScratch;

  constructor(code: Code, library: Library, laneCount: number, scratch: RowScratch) {
    this.#code = code;
    this.#on = new LaneCode(code, library);
    this.#laneCount = laneCount;
    this.#scratch = scratch;
    this.#digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
    this.lanes = STEP_LANES * Math.ceil(laneCount / STEP_LANES);
    this.base = code.locals.add("i32");
    this.row = code.locals.add("i32");
    this.#entries = new SortEntries(code, library, this.base, this.lanes, this.#digitBits, scratch);
    this.count = this.#entries.count;
    this.at = {
      ...this.#entries.at,
      halfSorted: scratch.part("half-sorted entries", ENTRY_BYTES * this.lanes),
      sorted: this.#entries.at.entries,
      sortedKeys: scratch.part("sorted keys", ENTRY_BYTES * this.lanes),
      keys: scratch.part("sort keys", ENTRY_BYTES * this.lanes),
      counters: scratch.part("sort counters", COUNTER_BYTES * 2 ** DIGIT_BITS_MAX),
      moreCounters: scratch.part("more sort counters", COUNTER_BYTES * 2 ** DIGIT_BITS_MAX),
    };
  }

  /** Counts values and digits. */
  emitCounts(input: Local): void {
    const code = this.#code;
    code.getGlobal(SCRATCH_GLOBAL).set(this.base);
    for (const counters of [this.at.counters, this.at.moreCounters]) {
      code.get(this.base).i32(counters).op("i32.add").i32(0);
      code.i32(COUNTER_BYTES * 2 ** this.#digitBits).memoryFill();
    }
    pushPaddedRow(code, input, this.#laneCount, STEP_LANES, this.#scratch);
    code.set(this.row);
    this.#entries.emit(this.row, (counter, isHigh) => {
      code.get(counter).get(counter).memory("i32.load", this.#counters(isHigh)).i32(1).op("i32.add");
      code.memory("i32.store", this.#counters(isHigh));
    });
  }

  /** Puts the lanes in order, equal values in the order of the lanes or not. */
  emitOrder(visitor: SortVisitor): void {
    this.#addUp();
    this.#sortByLowDigit();
    this.#sortByHighDigit();
    visitor.start();
    this.#visit(visitor);
  }

  #counters(isHigh: boolean): number {
    return isHigh ? this.at.moreCounters : this.at.counters;
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
    forEach(code, offset, COUNTER_BYTES * 2 ** this.#digitBits, addUpStep, COUNTER_STEP * COUNTER_BYTES);
  }

  /** Stores the entry in the next place of a digit, whose counter's address is given. */
  #deal(entry: Local, counter: Local, isHigh: boolean, target: number): void {
    const code = this.#code;
    const place = code.locals.add("i32");
    code.get(counter).get(counter).memory("i32.load", this.#counters(isHigh)).tee(place).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(isHigh));
    element(code, this.base, place, 3).get(entry).memory("i64.store", target);
  }

  #sortByLowDigit(): void {
    const code = this.#code;
    const [i, halves, step, counter] = [0, 1, 2, 3].map(() => code.locals.add("i32")) as [
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
        this.#deal(entry, counter, false, this.at.halfSorted);
      });
    };
    forEach(code, i, this.lanes, dealStep, STEP_LANES);
  }

  #sortByHighDigit(): void {
    const code = this.#code;
    const [offset, address, counter] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
    const entry = code.locals.add("i64");
    const dealStep = () => {
      code.get(this.base).get(offset).op("i32.add").set(address);
      for (let k = 0; k < STEP_LANES; k++) {
        code
          .get(address)
          .memory("i64.load", this.at.halfSorted + ENTRY_BYTES * k)
          .set(entry);
        code
          .get(this.base)
          .get(entry)
          .i64(BigInt(HEAD_SHIFT + this.#digitBits))
          .op("i64.shr_u");
        code.op("i32.wrap_i64").i32(2).op("i32.shl").op("i32.add").set(counter);
        this.#deal(entry, counter, true, this.at.sorted);
      }
    };
    forEach(code, offset, ENTRY_BYTES * this.lanes, dealStep, ENTRY_BYTES * STEP_LANES);
    // Behind the last entry stands one of a head that no value has.
    code
      .get(this.base)
      .i64(-1n)
      .memory("i64.store", this.at.sorted + ENTRY_BYTES * this.lanes);
  }

  /** Looks at a step of lanes at a time: where none has the head of its neighbour, all are single. */
  #visit(visitor: SortVisitor): void {
    const code = this.#code;
    const [i, lookAt, moves] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
    for (const local of [i, lookAt, moves]) code.i32(0).set(local);
    code.block((done) => {
      code.loop((again) => {
        code.get(i).get(lookAt).op("i32.ge_u");
        code.if(() => {
          code.get(i).i32(STEP_LANES).op("i32.add").tee(lookAt).get(this.count).op("i32.le_u");
          code.if(() => this.#visitStep(i, visitor, again));
        });
        this.#visitFirst(i, moves, visitor, done);
        code.branch(again);
      });
    });
  }

  /** Visits a step of lanes that are all single, and goes on behind it. */
  #visitStep(i: Local, visitor: SortVisitor, again: Label): void {
    const code = this.#code;
    const [address, lane, place] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
    element(code, this.base, i, 3).set(address);
    const [own, next] = [0, 1].map((k) => this.#on.loadAt(address, this.at.sorted + k * ENTRY_BYTES)) as [
      Value,
      Value,
    ];
    // The lower halves are lanes, and no two are equal.
    this.#on.pushAny(asMask(this.#on.binary("i32x4.eq", own, next)));
    code.op("i32.eqz");
    code.if(() => {
      for (let k = 0; k < STEP_LANES; k++) {
        code
          .get(address)
          .memory("i32.load", this.at.sorted + k * ENTRY_BYTES)
          .set(lane);
        code.get(i).i32(k).op("i32.add").set(place);
        visitor.single(lane, place);
      }
      code.get(i).i32(STEP_LANES).op("i32.add").set(i).branch(again);
    });
  }

  /** Visits a lane, or a run of lanes with one head, and moves `i` behind it; leaves the block where all are done. */
  #visitFirst(i: Local, moves: Local, visitor: SortVisitor, done: Label): void {
    const code = this.#code;
    const [lane, start] = [0, 1].map(() => code.locals.add("i32")) as [Local, Local];
    const entry = code.locals.add("i64");
    const pushEntry = () => element(code, this.base, i, 3).memory("i64.load", this.at.sorted);
    const pushIsSameHead = () =>
      pushEntry().get(entry).op("i64.xor").i64(BigInt(HEAD_SHIFT)).op("i64.shr_u").op("i64.eqz");
    code.get(i).tee(start).get(this.count).op("i32.ge_u").branchIf(done);
    pushEntry().tee(entry).op("i32.wrap_i64").set(lane);
    code.get(i).i32(1).op("i32.add").set(i);
    pushIsSameHead();
    code.if(
      () => {
        code.loop((more) => {
          code.get(i).i32(1).op("i32.add").set(i);
          pushIsSameHead();
          code.branchIf(more);
        });
        this.#pushAreEqual(start, i);
        code.if(
          () => visitor.tie(start, i),
          () => {
            this.#sortRun(start, i, moves);
            code
              .get(moves)
              .i32(MOVES_PER_LANE * this.lanes)
              .op("i32.gt_u");
            code.if(() => {
              emitSortByAllBits(code, this.base, this.row, this.at, this.lanes, this.#digitBits);
              code.i32(0).set(start);
              this.#visitRun(start, this.count, visitor);
              code.branch(done);
            });
            this.#visitRun(start, i, visitor);
          },
        );
      },
      () => visitor.single(lane, start),
    );
  }

  /** Visits the lanes of a run, at least one, by their keys in order; the start is moved. */
  #visitRun(start: Local, end: Local, visitor: SortVisitor): void {
    const code = this.#code;
    const { locals } = code;
    const [key, next, lane] = [locals.add("i64"), locals.add("i32"), locals.add("i32")];
    const pushKeyOf = (place: Local) =>
      element(code, this.base, place, 3).memory("i64.load", this.at.sortedKeys);
    code.loop((again) => {
      pushKeyOf(start);
      code.set(key).get(start).set(next);
      code.block((found) => {
        code.loop((more) => {
          code.get(next).i32(1).op("i32.add").tee(next).get(end).op("i32.eq").branchIf(found);
          pushKeyOf(next).get(key).op("i64.eq").branchIf(more);
        });
      });
      code.get(next).get(start).op("i32.sub").i32(1).op("i32.eq");
      code.if(
        () => {
          element(code, this.base, start, 3).memory("i32.load", this.at.sorted).set(lane);
          visitor.single(lane, start);
        },
        () => visitor.tie(start, next),
      );
      code.get(next).tee(start).get(end).op("i32.ne").branchIf(again);
    });
  }

  /** Puts the value of the lane in a place on the stack. */
  #pushValue(place: Local): Code {
    const code = this.#code;
    code.get(this.row);
    element(code, this.base, place, 3).memory("i32.load", this.at.sorted);
    return code.i32(3).op("i32.shl").op("i32.add").memory("f64.load");
  }

  /** Puts 1 on the stack if the values of a run are all equal, else 0. */
  #pushAreEqual(start: Local, end: Local): void {
    const code = this.#code;
    const [first, i] = [code.locals.add("f64"), code.locals.add("i32")];
    this.#pushValue(start);
    code.set(first).get(start).set(i);
    code.loop((next) => {
      code.get(i).i32(1).op("i32.add").tee(i).get(end).op("i32.lt_u");
      code.if(() => {
        this.#pushValue(i).get(first).op("f64.eq").branchIf(next);
      });
    });
    code.get(i).get(end).op("i32.eq");
  }

  /** Sorts a run by insertion, finds its keys, and counts moves: beyond the limit it gives up. */
  #sortRun(start: Local, end: Local, moves: Local): void {
    const code = this.#code;
    const { locals } = code;
    const [key, entry] = [locals.add("i64"), locals.add("i64")];
    const [i, at] = [locals.add("i32"), locals.add("i32")];
    const { sorted, sortedKeys } = this.at;
    const pushKeyBelow = () => element(code, this.base, at, 3).memory("i64.load", sortedKeys - ENTRY_BYTES);
    code.get(start).set(i);
    code.loop((next) => {
      element(code, this.base, i, 3).memory("i64.load", sorted).set(entry);
      // -0 becomes 0.
      this.#pushValue(i).f64(0).op("f64.add");
      pushOrdered(code, key);
      code.set(key).get(i).set(at);
      code.block((found) => {
        code.loop((again) => {
          code.get(at).get(start).op("i32.eq").branchIf(found);
          pushKeyBelow().get(key).op("i64.le_s").branchIf(found);
          // One place up for the neighbour below.
          element(code, this.base, at, 3);
          pushKeyBelow().memory("i64.store", sortedKeys);
          element(code, this.base, at, 3);
          element(code, this.base, at, 3)
            .memory("i64.load", sorted - ENTRY_BYTES)
            .memory("i64.store", sorted);
          code.get(moves).i32(1).op("i32.add").set(moves);
          code.get(at).i32(1).op("i32.sub").set(at).branch(again);
        });
      });
      element(code, this.base, at, 3).get(key).memory("i64.store", sortedKeys);
      element(code, this.base, at, 3).get(entry).memory("i64.store", sorted);
      code.get(i).i32(1).op("i32.add").tee(i).get(end).op("i32.lt_u");
      code
        .get(moves)
        .i32(MOVES_PER_LANE * this.lanes)
        .op("i32.le_u")
        .op("i32.and")
        .branchIf(next);
    });
  }
}
