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
  const sort = new LaneSort(code, library, laneCount, scratch);
  sort.emitCounts(input);
  sort.emitOrder();
  const dealt = layOut(layout, laneCount, scratch);
  emitDealing(sort, layout, dealt);
  const results = new Pointer(output, "f64");
  const [i, entry, last, start, end] = locals(code, "i32", 5);
  const clearPair = () => {
    results.addressOf(i).push().f64(Number.NaN).op("f64x2.splat").memory("v128.store");
  };
  forEach(i, laneCount + (laneCount % 2), clearPair, 2);
  entry.set(layout.base);
  last.set(layout.base.add(layout.segmentBytes.load()));
  const rankGroup = () => {
    start.set(layout.segments.from(entry).load().shiftRight(3));
    end.set(dealt.ends.from(entry).load().shiftRight(3));
    emitSharedRanks(dealt, results, start, end);
  };
  forRest(entry, last, rankGroup, SEGMENT_ENTRY_BYTES);
}

type DealtLanes = ReturnType<typeof layOut>;

/**
 * The lanes of every group in key order. Those of a group occupy the places of its segment; lanes without a group come
 * after all others.
 */
function layOut({ base, nowhere }: GroupLayout, laneCount: number, scratch: RowScratch) {
  const bytes = nowhere + VALUE_BYTES * laneCount;
  return {
    keys: new Pointer(base, "i64", scratch.part("dealt keys", bytes)),
    /** The lanes are in the lower halves. */
    lanes: new Pointer(base, "i64", scratch.part("dealt lanes", bytes)),
    /** For each group's segment, in bytes, where its next lane goes; at last its end. */
    ends: new Pointer(base, "i32", scratch.part("dealt ends", (laneCount + 1) * SEGMENT_ENTRY_BYTES)),
  };
}

/** Emits code that deals the sorted lanes out to their groups. */
function emitDealing(sort: LaneSort, layout: GroupLayout, { keys, lanes, ends }: DealtLanes): void {
  const { base, segments, segmentBytes, entries } = layout;
  const [i, lane, entry, place] = locals(base.code, "i32", 4);
  copyBytes(base.add(ends.offset), base.add(segments.offset), segmentBytes.load());
  ends.from(base.add(segmentBytes.load())).store(layout.nowhere);
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
}

/**
 * Emits the average ranks of the lanes at the places of a group, from 1 on, divided by their number; equal keys share the
 * average of their ranks.
 */
function emitSharedRanks({ keys, lanes }: DealtLanes, results: Pointer<"f64">, start: I32, end: I32): void {
  const { code } = start;
  const [key] = locals(code, "i64", 1);
  const [count, rank] = locals(code, "f64", 2);
  const [first, next, place] = locals(code, "i32", 3);
  const toDouble = (x: I32) => x.to("f64.convert_i32_u");
  const resultAt = (at: I32) => results.at(lowerHalf(lanes.at(at)).load());
  const isEqual = keys.at(next).load().eq(key);
  count.set(toDouble(end.sub(start)));
  first.set(start);
  repeat(code, (done, again) => {
    const rankEqual = () => {
      code.loop((more) => {
        when(next.tee(next.add(1)).lt(end), () => isEqual.branchTo(more));
      });
      // Ranks first - start + 1 .. next - start share their average.
      rank.set(
        toDouble(first.add(next).sub(start.shiftLeft(1)).add(1))
          .mul(0.5)
          .div(count),
      );
      place.set(first);
      forSome(place, next, () => resultAt(place).store(rank));
      first.set(next);
      code.branch(again);
    };
    first.ge(end).branchTo(done);
    key.set(keys.at(first).load());
    when(next.tee(first.add(1)).lt(end), () => when(isEqual, rankEqual));
    resultAt(first).store(toDouble(first.sub(start).add(1)).div(count));
    first.set(next);
  });
}
