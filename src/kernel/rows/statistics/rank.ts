import type { Value } from "../../../operator/lowering.ts";
import type { Code } from "../../emit/code.ts";
import { constant, type I32, locals, Pointer, times } from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { forEach, forSome } from "../../emit/loops.ts";
import { STEP_LANES } from "../../emit/vectors.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { emitLevelRanks } from "./level_ranks.ts";

/** Twice a rank, i32. */
const DOUBLED_BYTES = 4;

/**
 * Emits the average ranks of a row's values, divided by their number; nulls stay null. Lanes are scattered as integers,
 * twice their rank, with more than twice the number of values for nulls: results would be larger than the L1 cache.
 */
export function emitRank(code: Code, library: Library, laneCount: number, scratch: RowScratch): void {
  const { input, output } = rowParameters(code);
  const sort = new LaneSort(code, library, laneCount, scratch);
  const doubled = emitDoubledRanks(sort, input, scratch);
  emitQuotients(sort, doubled, output, { total: sort.count });
}

/** Emits twice the ranks of the lanes at an address; returns where they are. */
export function emitDoubledRanks(sort: LaneSort, input: I32, scratch: RowScratch): Pointer<"i32"> {
  const { base, lanesMax } = sort;
  const doubled = new Pointer(base, "i32", scratch.part("doubled ranks", DOUBLED_BYTES * lanesMax));
  sort.emitCounts(input);
  base.code.block((ranked) => {
    emitLevelRanks(sort, doubled, scratch, ranked);
    emitSortedRanks(sort, doubled);
  });
  return doubled;
}

/** Emits a sort of the lanes, which scatters twice their ranks. */
function emitSortedRanks(sort: LaneSort, doubled: Pointer<"i32">): void {
  sort.emitOrder({
    place: (lane, place) => doubled.at(lane).store(place.shiftLeft(1).add(2)),
    pair: ([lower, upper], place, isTie) => {
      doubled.at(lower).store(place.shiftLeft(1).add(2).add(isTie));
      doubled.at(upper).store(place.shiftLeft(1).add(4).sub(isTie));
    },
    tie: (start, end) => {
      const [i, lane, sum] = locals(start.code, "i32", 3);
      sum.set(i.tee(start).add(end).add(1));
      forSome(i, end, () => {
        lane.set(sort.laneAt(i));
        doubled.at(lane).store(sum);
      });
    },
  });
}

/** The number of values, and how many are below those of these lanes. */
interface RankedAmong {
  readonly total: I32;
  readonly below?: I32;
}

/** Emits the results: twice the ranks, divided by twice the number of values. */
export function emitQuotients(
  { base, lanes, library }: LaneSort,
  doubled: Pointer<"i32">,
  output: I32,
  { total, below }: RankedAmong,
): void {
  const { code } = base;
  const on = new LaneCode(code, library);
  const doubledCount = total.shiftLeft(1).to("f64.convert_i32_u");
  doubledCount.push().op("f64x2.splat");
  const divisor = on.takeSame();
  constant(code, "f64", 1).div(doubledCount).push().op("f64x2.splat");
  const inverse = on.takeSame();
  below?.shiftLeft(1).to("f64.convert_i32_u").push().op("f64x2.splat");
  const doubledBelow = below ? on.takeSame() : null;
  const [offset, from, to] = locals(code, "i32", 3);
  const storeStep = () => {
    on.scope(() => {
      from.set(base.add(offset));
      const own = on.loadIntegers(from, doubled.offset);
      const rank = doubledBelow ? on.add(own, doubledBelow) : own;
      to.set(output.add(offset.shiftLeft(1)));
      on.storeAt(to, 0, on.keep(on.le(rank, divisor), quotientOf(on, rank, divisor, inverse)));
    });
  };
  forEach(offset, times(lanes, DOUBLED_BYTES), storeStep, DOUBLED_BYTES * STEP_LANES);
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
