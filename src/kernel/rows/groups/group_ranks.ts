import type { Code, Local } from "../../emit/code.ts";
import type { Library } from "../../emit/library.ts";
import { element, forEach, forRest } from "../loops.ts";
import { rowParameters } from "../row_parameters.ts";
import type { RowScratch } from "../row_scratch.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { type GroupLayout, SEGMENT_ENTRY_BYTES } from "./group_layout.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/**
 * Emits the average ranks of a row's values within their groups, divided by the number of the group's values. The lanes
 * of the row are sorted by value and dealt out to their groups in that order.
 */
export function emitGroupRanks(
  code: Code,
  library: Library,
  laneCount: number,
  layout: GroupLayout,
  scratch: RowScratch,
): void {
  const { input, output } = rowParameters(code);
  const { locals } = code;
  const sort = new LaneSort(code, library, laneCount, scratch);
  sort.emitCounts(input);
  sort.emitOrder({ place: () => {}, pair: () => {}, tie: () => {} });
  const { base } = sort;
  const placeBytes = layout.nowhere + VALUE_BYTES * laneCount;
  // Lanes of a group occupy the places of its segment in order; lanes without a group come after all others.
  const sortedKeys = scratch.part("dealt keys", placeBytes);
  const sorted = scratch.part("dealt lanes", placeBytes);
  const ends = scratch.part("dealt ends", (laneCount + 1) * SEGMENT_ENTRY_BYTES);
  const [i, lane, entry, place] = [0, 1, 2, 3].map(() => locals.add("i32"));
  const pushCount = () => code.get(base).memory("i32.load", layout.segmentCount);
  code.get(base).i32(ends).op("i32.add").get(base).i32(layout.segments).op("i32.add");
  pushCount().memoryCopy();
  code.get(base);
  pushCount().op("i32.add").i32(layout.nowhere).memory("i32.store", ends);
  code.i32(0).set(i);
  forRest(code, i, sort.count, () => {
    sort.pushLaneAt(i).set(lane);
    element(code, base, lane, 2).memory("i32.load", layout.entries).get(base).op("i32.add").tee(entry);
    code.get(entry).memory("i32.load", ends).tee(place).i32(VALUE_BYTES).op("i32.add");
    code.memory("i32.store", ends);
    code.get(base).get(place).op("i32.add").tee(place);
    // Equal values have equal bits once -0 is 0.
    element(code, sort.row, lane, 3).memory("f64.load").f64(0).op("f64.add").memory("f64.store", sortedKeys);
    code.get(place).get(lane).memory("i32.store", sorted);
  });
  forEach(
    code,
    i,
    laneCount + (laneCount % 2),
    () => {
      element(code, output, i, 3).f64(Number.NaN).op("f64x2.splat").memory("v128.store");
    },
    2,
  );
  const [start, end, count] = [0, 1, 2].map(() => locals.add("i32")) as [Local, Local, Local];
  code.get(base).set(entry).get(base);
  pushCount().op("i32.add").set(place);
  code.block((done) => {
    code.loop((again) => {
      code.get(entry).get(place).op("i32.ge_u").branchIf(done);
      code.get(entry).memory("i32.load", layout.segments).i32(3).op("i32.shr_u").set(start);
      code.get(entry).memory("i32.load", ends).i32(3).op("i32.shr_u").set(end);
      code.get(end).get(start).op("i32.sub").set(count);
      const ranked = { base, output, start, end, count, sorted, sortedKeys };
      emitSharedRanks(code, ranked, (at) => {
        code.get(at).get(start).op("i32.sub").i32(1).op("i32.add").op("f64.convert_i32_u");
        code.get(count).op("f64.convert_i32_u").op("f64.div");
      });
      code.get(entry).i32(SEGMENT_ENTRY_BYTES).op("i32.add").set(entry).branch(again);
    });
  });
}

/** Lanes of a group in key order, from place `start`, which has rank 1, to `end`. */
interface Ranked {
  readonly base: Local;
  /** Target of lane 0's rank. */
  readonly output: Local;
  readonly start: Local;
  readonly end: Local;
  /** Number of places. */
  readonly count: Local;
  /** Offsets of the lanes, 8 bytes each, and of their keys in that order. */
  readonly sorted: number;
  readonly sortedKeys: number;
}

/** Pushes the address of the result of the lane at a place. */
function pushLaneOf(code: Code, { base, output, sorted }: Ranked, place: Local): void {
  code.get(output);
  element(code, base, place, 3).memory("i32.load", sorted).i32(3).op("i32.shl").op("i32.add");
}

/** Emits the shared rank of at least one place. */
function storeShared(code: Code, ranked: Ranked, from: Local, to: Local): void {
  const [i, rank] = [code.locals.add("i32"), code.locals.add("f64")];
  // Ranks from - start + 1 .. to - start share their average.
  code.get(from).get(to).op("i32.add").get(ranked.start).i32(1).op("i32.shl").op("i32.sub");
  code.i32(1).op("i32.add").op("f64.convert_i32_u").f64(0.5).op("f64.mul");
  code.get(ranked.count).op("f64.convert_i32_u").op("f64.div").set(rank);
  code.get(from).set(i);
  code.loop((more) => {
    pushLaneOf(code, ranked, i);
    code.get(rank).memory("f64.store");
    code.get(i).i32(1).op("i32.add").tee(i).get(to).op("i32.lt_u").branchIf(more);
  });
}

/**
 * Emits the average ranks, from 1 on, divided by their number; equal keys share the average of their ranks.
 *
 * @param pushRank pushes the rank of a unique key, given its place
 */
function emitSharedRanks(code: Code, ranked: Ranked, pushRank: (place: Local) => void): void {
  const { base, start, end, sortedKeys } = ranked;
  const { locals } = code;
  const [key, next, i] = [locals.add("i64"), locals.add("i32"), locals.add("i32")];
  const pushIsEqual = () => {
    element(code, base, next, 3).memory("i64.load", sortedKeys).get(key).op("i64.eq");
  };
  code.get(start).set(i);
  code.block((done) => {
    code.loop((again) => {
      code.get(i).get(end).op("i32.ge_u").branchIf(done);
      element(code, base, i, 3).memory("i64.load", sortedKeys).set(key);
      code.get(i).i32(1).op("i32.add").tee(next).get(end).op("i32.lt_u");
      code.if(() => {
        pushIsEqual();
        code.if(() => {
          code.loop((more) => {
            code.get(next).i32(1).op("i32.add").tee(next).get(end).op("i32.lt_u");
            code.if(() => {
              pushIsEqual();
              code.branchIf(more);
            });
          });
          storeShared(code, ranked, i, next);
          code.get(next).set(i).branch(again);
        });
      });
      pushLaneOf(code, ranked, i);
      pushRank(i);
      code.memory("f64.store").get(next).set(i).branch(again);
    });
  });
}
