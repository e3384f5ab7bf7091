import type { Code } from "../../emit/code.ts";
import { type I32, locals, Pointer } from "../../emit/expressions.ts";
import { forEach, forRest } from "../../emit/loops.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import { type GroupLayout, laidOutLanes, MOVED_LANES, SEGMENT_ENTRY_BYTES } from "./group_layout.ts";

/** Emits code that computes the statistic of each group's segment. */
export function emitGroups(code: Code, laneCount: number, layout: GroupLayout, statistic: number): void {
  const { input, output, node } = rowParameters(code);
  const { base, places, segments } = layout;
  const [values, results, segment, end, start] = locals(code, "i32", 5);
  type F64Pointer = Pointer<"f64">;
  /** Runs the body for every lane, with its value in the row and that in its place. */
  const forLanes = (row: I32, placed: I32, move: (ofRow: F64Pointer, inPlace: F64Pointer) => void) => {
    const [i] = locals(code, "i32", 1);
    const moveStep = () => {
      for (let lane = 0; lane < MOVED_LANES; lane++) {
        move(new Pointer(row, "f64").at(i, lane), new Pointer(placed.add(places.at(i, lane).load()), "f64"));
      }
    };
    forEach(i, laidOutLanes(laneCount), moveStep, MOVED_LANES);
  };
  values.set(base.add(layout.values.offset));
  results.set(base.add(layout.results.offset));
  forLanes(input, values, (ofRow, inPlace) => inPlace.store(ofRow.load()));
  segment.set(base);
  end.set(base.add(layout.segmentBytes.load()));
  const callStatistic = () => {
    start.set(segments.from(segment).load());
    values.add(start).push();
    results.add(start).push();
    segments.from(segment, 1).load().push().get(node).call(statistic);
  };
  forRest(segment, end, callStatistic, SEGMENT_ENTRY_BYTES);
  forLanes(output, results, (ofRow, inPlace) => ofRow.store(inPlace.load()));
}
