import type { Code, Local } from "../../emit/code.ts";
import { SCRATCH_GLOBAL } from "../../emit/module.ts";
import { element, forEach } from "../loops.ts";
import { rowParameters } from "../row_parameters.ts";
import { type GroupLayout, laidOutLanes, SEGMENT_ENTRY_BYTES } from "./group_layout.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;
const INDEX_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** Lanes that the loops move at a time. */
const MOVED_LANES = 4;

/** Emits code that computes the statistic of each group's segment. */
export function emitGroups(code: Code, laneCount: number, layout: GroupLayout, statistic: number): void {
  const { input, output, node } = rowParameters(code);
  const { locals } = code;
  const [base, values, results] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
  const [segment, end, start] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
  code.getGlobal(SCRATCH_GLOBAL).tee(base).i32(layout.values).op("i32.add").set(values);
  code.get(base).i32(layout.results).op("i32.add").set(results);
  const moveLanes = (move: (i: Local, lane: number, pushPlace: (from: Local) => void) => void) => {
    const i = locals.add("i32");
    const moved = () => {
      for (let lane = 0; lane < MOVED_LANES; lane++) {
        move(i, lane, (from) => {
          code.get(from);
          element(code, base, i, 2)
            .memory("i32.load", layout.places + lane * INDEX_BYTES)
            .op("i32.add");
        });
      }
    };
    forEach(code, i, laidOutLanes(laneCount), moved, MOVED_LANES);
  };
  moveLanes((i, lane, pushPlace) => {
    pushPlace(values);
    element(code, input, i, 3)
      .memory("f64.load", lane * VALUE_BYTES)
      .memory("f64.store");
  });
  code.get(base).set(segment).get(base).get(base).memory("i32.load", layout.segmentCount);
  code.op("i32.add").set(end);
  code.block((done) => {
    code.loop((again) => {
      code.get(segment).get(end).op("i32.ge_u").branchIf(done);
      code.get(segment).memory("i32.load", layout.segments).set(start);
      code.get(values).get(start).op("i32.add").get(results).get(start).op("i32.add");
      code
        .get(segment)
        .memory("i32.load", layout.segments + INDEX_BYTES)
        .get(node)
        .call(statistic);
      code.get(segment).i32(SEGMENT_ENTRY_BYTES).op("i32.add").set(segment).branch(again);
    });
  });
  moveLanes((i, lane, pushPlace) => {
    element(code, output, i, 3);
    pushPlace(results);
    code.memory("f64.load").memory("f64.store", lane * VALUE_BYTES);
  });
}
