import type { Value } from "../../../operator/lowering.ts";
import type { Code, Label, Local } from "../../emit/code.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import { asMask } from "../../emit/lane_values.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES, VECTORS } from "../../emit/vectors.ts";
import { element } from "../loops.ts";
import { emitSortByAllBits } from "./sort_all_bits.ts";
import { COUNTER_BYTES, COUNTER_SHIFT, ENTRY_BYTES, pushOrdered } from "./sort_entries.ts";
import type { LaneSort, SortVisitor } from "./sort_lanes.ts";

/** Bytes of the lower half of an entry. */
const SORTED_BYTES = 4;

/** Moves of the insertion sort per lane before the rows are sorted by all bits. */
const MOVES_PER_LANE = 4;

/**
 * Emits the rest of a sort by heads: lanes with equal heads are sorted by their values.
 *
 * First lists the places whose lane has the head of the next one, as far as entries show it, without a branch for each;
 * steps of lanes without such a place are skipped. In a usual row most of the listed places are pairs, which are sorted
 * without a branch; longer runs turn out to be ties, or are sorted by insertion. If that takes more than four moves per
 * lane, all lanes are sorted by all 64 bits instead.
 */
export class SortedRuns {
  readonly #code: Code;
  readonly #on: LaneCode;
  readonly #sort: LaneSort;
  /** Address of the list, and of its current element relative to that. */
  readonly #listed: Local;

  constructor(code: Code, library: Library, sort: LaneSort) {
    this.#code = code;
    this.#on = new LaneCode(code, library, VECTORS / 2);
    this.#sort = sort;
    this.#listed = code.locals.add("i32");
  }

  /** Nulls, which have the last places, are not visited. */
  emit(visitor: SortVisitor): void {
    this.#list();
    this.#visit(visitor);
  }

  /** Lists the places whose lane may have the head of the next, followed by the largest number. */
  #list(): void {
    const code = this.#code;
    const on = this.#on;
    const { base, count, at } = this.#sort;
    const [i, address] = [0, 1].map(() => code.locals.add("i32")) as [Local, Local];
    // The last value has no next one.
    element(code, base, count, 2);
    element(code, base, count, 2)
      .memory("i32.load", at.sorted - SORTED_BYTES)
      .i32(-1)
      .op("i32.xor");
    code.memory("i32.store", at.sorted).get(base).set(this.#listed).i32(0).set(i);
    code.loop((again) => {
      on.scope(() => {
        element(code, base, i, 2).set(address);
        const [own, next] = [0, 1].map((k) => on.loadAt(address, at.sorted + k * SORTED_BYTES)) as [
          Value,
          Value,
        ];
        // Heads may differ in bits that did not fit: such lanes are already in order, which is found out later.
        const difference = on.shift("i32x4.shr_u", on.xorBits(own, next), this.#sort.laneBits);
        on.pushAny(asMask(on.binary("i32x4.eq", difference, on.bits(0n))));
        return [];
      });
      code.if(() => this.#listStep(i, address));
      code.get(i).i32(STEP_LANES).op("i32.add").tee(i).get(count).op("i32.lt_u").branchIf(again);
    });
    code.get(this.#listed).i32(-1).memory("i32.store", at.shared);
  }

  /** Writes every place to the next element of the list; the list only grows if the place counts. */
  #listStep(i: Local, address: Local): void {
    const code = this.#code;
    const { sorted, shared } = this.#sort.at;
    const pushSorted = (k: number) => code.get(address).memory("i32.load", sorted + k * SORTED_BYTES);
    for (let k = 0; k < STEP_LANES; k++) {
      code.get(this.#listed).get(i).i32(k).op("i32.add").memory("i32.store", shared);
      code.get(this.#listed);
      pushSorted(k);
      pushSorted(k + 1)
        .op("i32.xor")
        .i32(2 ** this.#sort.laneBits)
        .op("i32.lt_u")
        .i32(COUNTER_SHIFT)
        .op("i32.shl")
        .op("i32.add")
        .set(this.#listed);
    }
  }

  #visit(visitor: SortVisitor): void {
    const code = this.#code;
    const { base, count, at } = this.#sort;
    const [place, end, moves] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
    const pushListed = () => code.get(this.#listed).memory("i32.load", at.shared);
    const goOn = () => code.get(this.#listed).i32(COUNTER_BYTES).op("i32.add").set(this.#listed);
    code.get(base).set(this.#listed).i32(0).set(moves);
    code.block((done) => {
      code.get(count).i32(2).op("i32.lt_u").branchIf(done);
      code.loop((again) => {
        pushListed().tee(place).get(count).i32(1).op("i32.sub").op("i32.ge_u").branchIf(done);
        code.get(place).i32(1).op("i32.add").set(end);
        goOn();
        pushListed().get(end).op("i32.ne");
        code.if(() => {
          this.#visitPair(place, visitor);
          code.branch(again);
        });
        code.loop((more) => {
          code.get(end).i32(1).op("i32.add").set(end);
          goOn();
          pushListed().get(end).op("i32.eq").branchIf(more);
        });
        code.get(end).i32(1).op("i32.add").set(end);
        this.#visitRun(place, end, moves, visitor, done);
        code.branch(again);
      });
    });
  }

  /** Sorts two lanes. */
  #visitPair(place: Local, visitor: SortVisitor): void {
    const code = this.#code;
    const { locals } = code;
    const { base, row, at } = this.#sort;
    const [address, isTie, isFalling] = [0, 1, 2].map(() => locals.add("i32")) as [Local, Local, Local];
    const values = [0, 1].map(() => locals.add("f64")) as [Local, Local];
    const sorted = [0, 1].map(() => locals.add("i32")) as [Local, Local];
    const lanes = [0, 1].map(() => locals.add("i32")) as [Local, Local];
    element(code, base, place, 2).set(address);
    sorted.forEach((one, k) => {
      code
        .get(row)
        .get(address)
        .memory("i32.load", at.sorted + k * SORTED_BYTES)
        .tee(one);
      this.#sort.keepLane().i32(3).op("i32.shl").op("i32.add").memory("f64.load");
      code.set(values[k] as Local);
    });
    code.get(values[0]).get(values[1]).op("f64.eq").set(isTie);
    code.get(values[0]).get(values[1]).op("f64.gt").set(isFalling);
    [sorted.toReversed(), sorted].forEach(([first, second], k) => {
      code.get(address);
      code
        .get(first)
        .get(second)
        .get(isFalling)
        .op("select")
        .tee(lanes[k] as Local);
      code.memory("i32.store", at.sorted + k * SORTED_BYTES);
      code.get(lanes[k]);
      this.#sort.keepLane().set(lanes[k] as Local);
    });
    visitor.pair(lanes, place, isTie);
  }

  /** Visits a run of listed lanes; leaves the block after all lanes. */
  #visitRun(start: Local, end: Local, moves: Local, visitor: SortVisitor, done: Label): void {
    const code = this.#code;
    const { base, row, at, lanes, digitBits, count } = this.#sort;
    this.#pushAreEqual(start, end);
    code.if(
      () => visitor.tie(start, end),
      () => {
        this.#sortRun(start, end, moves);
        code
          .get(moves)
          .i32(MOVES_PER_LANE * lanes)
          .op("i32.gt_u");
        code.if(() => {
          emitSortByAllBits(code, base, row, at, lanes, digitBits);
          code.i32(0).set(start);
          this.#visitKeys(start, count, visitor);
          code.branch(done);
        });
        this.#visitKeys(start, end, visitor);
      },
    );
  }

  /** Visits the lanes of a run, at least one, in key order; changes `start`. */
  #visitKeys(start: Local, end: Local, visitor: SortVisitor): void {
    const code = this.#code;
    const { locals } = code;
    const [key, next, lane] = [locals.add("i64"), locals.add("i32"), locals.add("i32")];
    const { base, at } = this.#sort;
    const pushKeyOf = (place: Local) => element(code, base, place, 3).memory("i64.load", at.sortedKeys);
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
          this.#sort.pushLaneAt(start).set(lane);
          visitor.place(lane, start);
        },
        () => visitor.tie(start, next),
      );
      code.get(next).tee(start).get(end).op("i32.ne").branchIf(again);
    });
  }

  /** Pushes the value of the lane at a place. */
  #pushValue(place: Local): Code {
    const code = this.#code;
    code.get(this.#sort.row);
    this.#sort.pushLaneAt(place);
    return code.i32(3).op("i32.shl").op("i32.add").memory("f64.load");
  }

  /** Pushes 1 if the values of a run are all equal, else 0. */
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
    const key = locals.add("i64");
    const [i, at, moved] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
    const { base, lanes } = this.#sort;
    const { sorted, sortedKeys } = this.#sort.at;
    const pushKeyBelow = () => element(code, base, at, 3).memory("i64.load", sortedKeys - ENTRY_BYTES);
    code.get(start).set(i);
    code.loop((next) => {
      element(code, base, i, 2).memory("i32.load", sorted).set(moved);
      // -0 becomes 0.
      this.#pushValue(i).f64(0).op("f64.add");
      pushOrdered(code, key);
      code.set(key).get(i).set(at);
      code.block((found) => {
        code.loop((again) => {
          code.get(at).get(start).op("i32.eq").branchIf(found);
          pushKeyBelow().get(key).op("i64.le_s").branchIf(found);
          // Moves the neighbour below up by one place.
          element(code, base, at, 3);
          pushKeyBelow().memory("i64.store", sortedKeys);
          element(code, base, at, 2);
          element(code, base, at, 2)
            .memory("i32.load", sorted - SORTED_BYTES)
            .memory("i32.store", sorted);
          code.get(moves).i32(1).op("i32.add").set(moves);
          code.get(at).i32(1).op("i32.sub").set(at).branch(again);
        });
      });
      element(code, base, at, 3).get(key).memory("i64.store", sortedKeys);
      element(code, base, at, 2).get(moved).memory("i32.store", sorted);
      code.get(i).i32(1).op("i32.add").tee(i).get(end).op("i32.lt_u");
      code
        .get(moves)
        .i32(MOVES_PER_LANE * lanes)
        .op("i32.le_u")
        .op("i32.and")
        .branchIf(next);
    });
  }
}
