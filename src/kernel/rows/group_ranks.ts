import type { Code, Local } from "../wasm/code.ts";
import { type GroupLayout, SEGMENT_ENTRY_BYTES } from "./group_layout.ts";
import { element, forEach, forRest } from "./loops.ts";
import { emitSharedRanks } from "./rank.ts";
import type { RowScratch } from "./row_scratch.ts";
import { LaneSort } from "./sort_lanes.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/**
 * Emits the average ranks of a row's values within their groups, divided by the number of the group's values. The lanes
 * of the row are sorted by their values and dealt out to their groups in that order.
 */
export function emitGroupRanks(
  code: Code,
  laneCount: number,
  layout: GroupLayout,
  scratch: RowScratch,
): void {
  const [input, output] = [code.locals.parameters[0] as Local, code.locals.parameters.at(-1) as Local];
  const { locals } = code;
  const sort = new LaneSort(code, laneCount, input, scratch);
  sort.emit();
  const { base, count } = sort;
  const placeBytes = layout.nowhere + VALUE_BYTES * laneCount;
  // Lanes of a group stand at the places of its segment, one after the other; those without one behind all others.
  const sortedKeys = scratch.part("dealt keys", placeBytes);
  const sorted = scratch.part("dealt lanes", placeBytes / 2);
  const ends = scratch.part("dealt ends", (laneCount + 1) * SEGMENT_ENTRY_BYTES);
  const [i, lane, entry, place] = [0, 1, 2, 3].map(() => locals.add("i32"));
  const pushCount = () => code.get(base).memory("i32.load", layout.segmentCount);
  code.get(base).i32(ends).op("i32.add").get(base).i32(layout.segments).op("i32.add");
  pushCount().memoryCopy();
  code.get(base);
  pushCount().op("i32.add").i32(layout.nowhere).memory("i32.store", ends);
  code.i32(0).set(i);
  forRest(code, i, count, () => {
    element(code, base, i, 2).memory("i32.load", sort.at.sorted).set(lane);
    element(code, base, lane, 2).memory("i32.load", layout.entries).get(base).op("i32.add").tee(entry);
    code.get(entry).memory("i32.load", ends).tee(place).i32(VALUE_BYTES).op("i32.add");
    code.memory("i32.store", ends);
    code.get(base).get(place).op("i32.add");
    element(code, base, i, 3).memory("i64.load", sort.at.sortedKeys).memory("i64.store", sortedKeys);
    code.get(base).get(place).i32(1).op("i32.shr_u").op("i32.add");
    code.get(lane).memory("i32.store", sorted);
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
  const [start, end] = [locals.add("i32"), locals.add("i32")];
  code.get(base).set(entry).get(base);
  pushCount().op("i32.add").set(place);
  code.block((done) => {
    code.loop((again) => {
      code.get(entry).get(place).op("i32.ge_u").branchIf(done);
      code.get(entry).memory("i32.load", layout.segments).i32(3).op("i32.shr_u").set(start);
      code.get(entry).memory("i32.load", ends).i32(3).op("i32.shr_u").set(end);
      emitSharedRanks(code, { base, output, start, end, sorted, sortedKeys }, (at) => {
        code.get(at).get(start).op("i32.sub").i32(1).op("i32.add").op("f64.convert_i32_u");
        code.get(end).get(start).op("i32.sub").op("f64.convert_i32_u").op("f64.div");
      });
      code.get(entry).i32(SEGMENT_ENTRY_BYTES).op("i32.add").set(entry).branch(again);
    });
  });
}
