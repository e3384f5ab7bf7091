import type { Value } from "../../../operator/lowering.ts";
import type { Code, Local } from "../../emit/code.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES } from "../../emit/vectors.ts";
import { element, forEach } from "../loops.ts";
import { rowParameters } from "../row_parameters.ts";
import type { RowScratch } from "../row_scratch.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { DOUBLED_BYTES, emitLevelRanks } from "./level_ranks.ts";

/**
 * Emits the average ranks of a row's values, divided by their number; nulls stay null. Lanes are scattered as integers,
 * twice their rank, with more than twice the number of values for nulls: results would be larger than the L1 cache.
 */
export function emitRank(code: Code, library: Library, laneCount: number, scratch: RowScratch): void {
  const { input, output } = rowParameters(code);
  const sort = new LaneSort(code, library, laneCount, scratch);
  const { base, count } = sort;
  const doubled = scratch.part("doubled ranks", DOUBLED_BYTES * sort.lanes);
  sort.emitCounts(input);
  const store = (lane: Local, pushDoubled: () => void) => {
    element(code, base, lane, 2);
    pushDoubled();
    code.memory("i32.store", doubled);
  };
  code.block((ranked) => {
    emitLevelRanks(code, library, sort, doubled, scratch, ranked);
    sort.emitOrder({
      place: (lane, place) => store(lane, () => code.get(place).i32(1).op("i32.shl").i32(2).op("i32.add")),
      pair: ([lower, upper], place, isTie) => {
        store(lower, () =>
          code.get(place).i32(1).op("i32.shl").i32(2).op("i32.add").get(isTie).op("i32.add"),
        );
        store(upper, () =>
          code.get(place).i32(1).op("i32.shl").i32(4).op("i32.add").get(isTie).op("i32.sub"),
        );
      },
      tie: (start, end) => {
        const [i, lane, sum] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
        code.get(start).tee(i).get(end).op("i32.add").i32(1).op("i32.add").set(sum);
        code.loop((more) => {
          sort.pushLaneAt(i).set(lane);
          store(lane, () => code.get(sum));
          code.get(i).i32(1).op("i32.add").tee(i).get(end).op("i32.lt_u").branchIf(more);
        });
      },
    });
  });
  const on = new LaneCode(code, library);
  code.get(count).i32(1).op("i32.shl").op("f64.convert_i32_u").op("f64x2.splat");
  const divisor = on.takeSame();
  code.f64(1).get(count).i32(1).op("i32.shl").op("f64.convert_i32_u").op("f64.div").op("f64x2.splat");
  const inverse = on.takeSame();
  const [offset, from, to] = [0, 1, 2].map(() => code.locals.add("i32")) as [Local, Local, Local];
  forEach(
    code,
    offset,
    DOUBLED_BYTES * sort.lanes,
    () => {
      on.scope(() => {
        code.get(base).get(offset).op("i32.add").set(from);
        const rank = on.loadIntegers(from, doubled);
        code.get(output).get(offset).i32(1).op("i32.shl").op("i32.add").set(to);
        on.storeAt(to, 0, on.keep(on.le(rank, divisor), quotientOf(on, rank, divisor, inverse)));
        return [];
      });
    },
    DOUBLED_BYTES * STEP_LANES,
  );
}

/**
 * The quotient of whole numbers, rounded once. With the nearest double to the divisor's inverse one step of Newton's
 * method does what a division does, in a third of its time (Markstein, 1990, Computation of elementary functions on the
 * IBM RISC System/6000 processor).
 */
function quotientOf(on: LaneCode, x: Value, divisor: Value, inverse: Value): Value {
  if (!on.library.hasFusedMultiply) return on.div(x, divisor);
  const quotient = on.mul(x, inverse);
  return on.fusedMultiplyAdd(on.fusedMultiplySubtract(quotient, divisor, x), inverse, quotient);
}
