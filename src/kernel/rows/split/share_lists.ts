import { THREADS_MAX } from "../../../limits.ts";
import type { Mask, Value } from "../../../operator/lowering.ts";
import type { Code } from "../../emit/code.ts";
import {
  copyBytes,
  Expression,
  type I32,
  type I32Local,
  locals,
  Pointer,
  when,
} from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { bisect, forEach, forRest, forSome, repeat } from "../../emit/loops.ts";
import { STEP_LANES, VALUE_BYTES, VECTORS } from "../../memory/vectors.ts";
import { paddedLanes, wholeSteps } from "../layout/padded_row.ts";
import { type RowScratch, scratchAddress } from "../layout/row_scratch.ts";
import { stepParameters } from "./step_function.ts";

/**
 * Shares by value: what a share makes is a list of lanes, ascending, with their results. The lists lie one behind the
 * other, since a share knows how many lanes those below it have.
 */

const LANE_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** For each choice of lanes of a step their places in it, as the code finds them in shared memory. */
export const CHOSEN_PLACES = Int32Array.from({ length: 2 ** STEP_LANES * STEP_LANES }, (_, i) => {
  const [choice, rank] = [Math.floor(i / STEP_LANES), i % STEP_LANES];
  const places = Array.from({ length: STEP_LANES }, (__, place) => place);
  return places.filter((place) => (choice >> place) & 1)[rank] ?? 0;
});
const PLACES_BYTES = STEP_LANES * LANE_BYTES;

/** Start and end of each list, as places. */
const BOUNDS_BYTES = THREADS_MAX * 2 * LANE_BYTES;

const LISTS_OFFSET = CHOSEN_PLACES.byteLength + BOUNDS_BYTES;

export function listsBytes(laneCount: number): number {
  return LISTS_OFFSET + paddedLanes(laneCount) * (LANE_BYTES + VALUE_BYTES);
}

function listsAt(shared: I32, laneCount: number) {
  const lanes = LISTS_OFFSET;
  return {
    bounds: new Pointer(shared, "i32", CHOSEN_PLACES.byteLength),
    lanes: new Pointer(shared, "i32", lanes),
    results: new Pointer(shared, "f64", lanes + paddedLanes(laneCount) * LANE_BYTES),
  };
}

/** The lanes of the share, side by side. */
export interface SelectedLanes {
  /** Addresses of their values and of their keys, which end with nulls at a whole step. */
  readonly values: I32;
  readonly keys: I32;
  /** Their number in whole steps. */
  readonly lanes: I32Local;
  /** Lanes of the row with a key, and those of the shares before. */
  readonly total: I32Local;
  readonly below: I32Local;
  /** Address where their results go, in whole steps. */
  readonly results: I32;
}

/** The end of a list that the code leaves to the reference. */
const UNDECIDED = -1;

/**
 * Emits the list of a share: the lanes with keys from `low` to below `high`. `emit` computes their results, if there is a
 * lane, and leaves them to the reference if it returns a number that is not 0.
 *
 * @param key address of the row of keys: that of the values, or of other numbers
 */
export function emitList(
  code: Code,
  library: Library,
  laneCount: number,
  scratch: RowScratch,
  key: I32,
  emit: (selected: SelectedLanes) => I32 | null,
): void {
  const { shared, share, input } = stepParameters(code);
  const [base, own, lanes, total, below, end] = locals(code, "i32", 6);
  const part = (name: string, bytes: number) =>
    scratch.part(`selected ${name}`, bytes * (paddedLanes(laneCount) + STEP_LANES));
  const values = new Pointer(base, "f64", part("values", VALUE_BYTES));
  const indices = new Pointer(base, "i32", part("lanes", LANE_BYTES));
  const keys = key === input ? values : new Pointer(base, "f64", part("keys", VALUE_BYTES));
  const results = new Pointer(base, "f64", part("results", VALUE_BYTES));
  base.set(scratchAddress(code));
  emitSelection(code, library, laneCount, key, indices, { own, total, below });
  emitGathered(input, values, indices, own);
  if (keys !== values) emitGathered(key, keys, indices, own);
  const lists = listsAt(shared, laneCount);
  end.set(below.add(own));
  when(own, () => {
    lanes.set(wholeSteps(own));
    const at = (pointer: Pointer<"f64">) => base.add(pointer.offset);
    const addresses = { values: at(values), keys: at(keys), results: at(results) };
    const isUndecided = emit({ ...addresses, lanes, total, below });
    if (isUndecided) when(isUndecided, () => end.set(UNDECIDED));
    const copy = (offset: number, bytes: number, from: number) => {
      copyBytes(shared.add(below.mul(bytes)).add(offset), base.add(from), own.mul(bytes));
    };
    copy(lists.lanes.offset, LANE_BYTES, indices.offset);
    copy(lists.results.offset, VALUE_BYTES, results.offset);
  });
  const bounds = shared.add(share.shiftLeft(Math.log2(2 * LANE_BYTES)));
  lists.bounds.from(bounds).store(below);
  lists.bounds.from(bounds, 1).store(end);
  code.i32(0);
}

/** Lists the lanes of the share, a step at a time without a branch, and counts lanes. */
function emitSelection(
  code: Code,
  library: Library,
  laneCount: number,
  key: I32,
  indices: Pointer<"i32">,
  { own, total, below }: Readonly<Record<"own" | "total" | "below", I32Local>>,
): void {
  const { shared, low, high } = stepParameters(code);
  const on = new LaneCode(code, library);
  const half = new LaneCode(code, library, VECTORS / 2);
  const [lane, address, to, bits] = locals(code, "i32", 4);
  const bitsOf = (mask: Mask) => new Expression(code, "i32", () => on.pushBits(mask));
  const bounds = [low, high].map((bound) => {
    bound.push().op("f64x2.splat");
    return on.takeSame();
  }) as [Value, Value];
  const selectStep = () => {
    on.scope(() => {
      address.set(new Pointer(key, "f64").addressOf(lane));
      const x = on.loadAt(address, 0);
      total.set(total.add(bitsOf(on.eq(x, x)).to("i32.popcnt")));
      below.set(below.add(bitsOf(on.lt(x, bounds[0])).to("i32.popcnt")));
      bits.set(bitsOf(on.andNot(on.ge(x, bounds[0]), on.ge(x, bounds[1]))));
    });
    half.scope(() => {
      lane.push().op("i32x4.splat");
      const first = half.takeSame();
      address.set(shared.add(bits.shiftLeft(Math.log2(PLACES_BYTES))));
      to.set(indices.addressOf(own));
      half.storeAt(to, indices.offset, half.op("i32x4.add", half.loadAt(address, 0), first));
    });
    own.set(own.add(bits.to("i32.popcnt")));
  };
  for (const count of [own, total, below]) count.set(0);
  forEach(lane, paddedLanes(laneCount), selectStep, STEP_LANES);
}

/** Puts the numbers of these lanes side by side, and nulls behind them. */
function emitGathered(row: I32, values: Pointer<"f64">, indices: Pointer<"i32">, count: I32): void {
  const [place, end] = locals(row.code, "i32", 2);
  const inRow = new Pointer(row, "f64");
  place.set(0);
  forRest(place, count, () => values.at(place).store(inRow.at(indices.at(place).load()).load()));
  end.set(count.add(STEP_LANES));
  forSome(place, end, () => values.at(place).store(Number.NaN));
}

/** Emits the results of the lanes of a part from the lists of all shares; lanes in none are null. */
export function emitFromLists(code: Code, laneCount: number): void {
  const { output, shared, shareCount, laneStart, laneEnd } = stepParameters(code);
  const lists = listsAt(shared, laneCount);
  const [i, share, bounds, place, end, last] = locals(code, "i32", 6);
  const ofLane = new Pointer(output, "f64");
  const copyShare = () => {
    bounds.set(shared.add(share.shiftLeft(Math.log2(2 * LANE_BYTES))));
    place.set(lists.bounds.from(bounds).load());
    end.set(lists.bounds.from(bounds, 1).load());
    when(end.eq(UNDECIDED), () => code.i32(1).op("return"));
    last.set(end);
    bisect(place, last, (middle) => lists.lanes.at(middle).load().lt(laneStart).push());
    repeat(code, (done) => {
      place.ge(end).branchTo(done);
      i.tee(lists.lanes.at(place).load()).ge(laneEnd).branchTo(done);
      ofLane.at(i).store(lists.results.at(place).load());
      place.set(place.add(1));
    });
  };
  when(laneStart.lt(laneEnd), () => {
    i.set(laneStart);
    forSome(i, laneEnd, () => ofLane.at(i).store(Number.NaN));
    share.set(0);
    forSome(share, shareCount, copyShare);
  });
  code.i32(0);
}
