import type { Code } from "../../emit/code.ts";
import { copyBytes, type I32, locals, Pointer, when } from "../../emit/expressions.ts";
import type { Library } from "../../emit/library.ts";
import { forEach, forRest, forSome, repeat } from "../../emit/loops.ts";
import { VALUE_BYTES } from "../../memory/vectors.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { lowerHalf } from "../sort/sort_frame.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { type GroupLayout, SEGMENT_ENTRY_BYTES } from "./group_layout.ts";

/**
 * The lanes of every group in key order. Those of a group occupy the places of its segment; lanes without a group come
 * after all others.
 */
interface DealtLanes {
  readonly keys: Pointer<"i64">;
  /** The lanes are in the lower halves. */
  readonly lanes: Pointer<"i64">;
  /** For each group's segment, in bytes, where its next lane goes; at last its end. */
  readonly ends: Pointer<"i32">;
}

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
  someLanes?: I32,
): void {
  const { input, output } = rowParameters(code);
  const sort = new LaneSort(code, library, laneCount, scratch, someLanes);
  sort.emitCounts(input);
  sort.emitOrder();
  const { base } = sort;
  const placeBytes = layout.nowhere + VALUE_BYTES * laneCount;
  const dealt = {
    keys: new Pointer(base, "i64", scratch.part("dealt keys", placeBytes)),
    lanes: new Pointer(base, "i64", scratch.part("dealt lanes", placeBytes)),
    ends: new Pointer(base, "i32", scratch.part("dealt ends", (laneCount + 1) * SEGMENT_ENTRY_BYTES)),
  };
  const { i, entry, place: last } = emitDealing(sort, layout, dealt);
  const results = new Pointer(output, "f64");
  const clearPair = () => {
    results.addressOf(i).push().f64(Number.NaN).op("f64x2.splat").memory("v128.store");
  };
  forEach(i, someLanes ?? laneCount + (laneCount % 2), clearPair, 2);
  const [start, end, count] = locals(code, "i32", 3);
  entry.set(base);
  last.set(base.add(new Pointer(base, "i32", layout.segmentBytes).load()));
  const rankGroup = () => {
    start.set(new Pointer(entry, "i32", layout.segments).load().shiftRight(3));
    end.set(dealt.ends.from(entry).load().shiftRight(3));
    count.set(end.sub(start));
    emitSharedRanks({ dealt, results, start, end, count });
  };
  forRest(entry, last, rankGroup, SEGMENT_ENTRY_BYTES);
}

/** Emits code that deals the sorted lanes out to their groups; returns locals that are free again. */
function emitDealing(sort: LaneSort, layout: GroupLayout, { keys, lanes, ends }: DealtLanes) {
  const { base } = sort;
  const [i, lane, entry, place] = locals(base.code, "i32", 4);
  const entries = new Pointer(base, "i32", layout.entries);
  const segmentBytes = new Pointer(base, "i32", layout.segmentBytes).load();
  copyBytes(base.add(ends.offset), base.add(layout.segments), segmentBytes);
  ends.from(base.add(segmentBytes)).store(layout.nowhere);
  i.set(0);
  forRest(i, sort.count, () => {
    lane.set(sort.laneAt(i));
    const next = ends.from(entry.tee(entries.at(lane).load().add(base)));
    next.store(place.tee(ends.from(entry).load()).add(VALUE_BYTES));
    // Equal values have equal bits once -0 is 0.
    const key = new Pointer(place.tee(base.add(place)), "f64", keys.offset);
    key.store(sort.values.at(lane).load().add(0));
    lowerHalf(lanes.from(place)).store(lane);
  });
  return { i, entry, place };
}

/** A group whose lanes are ranked: its places, of which the first has rank 1. */
interface RankedGroup {
  readonly dealt: DealtLanes;
  /** The ranks of all lanes. */
  readonly results: Pointer<"f64">;
  readonly start: I32;
  readonly end: I32;
  /** Number of places. */
  readonly count: I32;
}

const toDouble = (x: I32) => x.to("f64.convert_i32_u");

/** The result of the lane at a place. */
function resultAt({ results, dealt }: RankedGroup, place: I32): Pointer<"f64"> {
  return results.at(lowerHalf(dealt.lanes.at(place)).load());
}

/** Emits the shared rank of at least one place. */
function storeShared(group: RankedGroup, from: I32, to: I32): void {
  const [i] = locals(from.code, "i32", 1);
  const [rank] = locals(from.code, "f64", 1);
  // Ranks from - start + 1 .. to - start share their average.
  const doubled = from.add(to).sub(group.start.shiftLeft(1)).add(1);
  rank.set(toDouble(doubled).mul(0.5).div(toDouble(group.count)));
  i.set(from);
  forSome(i, to, () => resultAt(group, i).store(rank));
}

/** Emits the average ranks, from 1 on, divided by their number; equal keys share the average of their ranks. */
function emitSharedRanks(group: RankedGroup): void {
  const { start, end, count } = group;
  const { keys } = group.dealt;
  const { code } = start;
  const [key] = locals(code, "i64", 1);
  const [next, i] = locals(code, "i32", 2);
  const isEqual = keys.at(next).load().eq(key);
  i.set(start);
  repeat(code, (done, again) => {
    const rankEqual = () => {
      code.loop((more) => {
        when(next.tee(next.add(1)).lt(end), () => isEqual.branchTo(more));
      });
      storeShared(group, i, next);
      i.set(next);
      code.branch(again);
    };
    i.ge(end).branchTo(done);
    key.set(keys.at(i).load());
    when(next.tee(i.add(1)).lt(end), () => when(isEqual, rankEqual));
    resultAt(group, i).store(toDouble(i.sub(start).add(1)).div(toDouble(count)));
    i.set(next);
  });
}
