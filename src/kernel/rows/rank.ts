import type { Code, Local } from "../wasm/code.ts";
import { element, forEach, forRest } from "./loops.ts";
import type { RowScratch } from "./row_scratch.ts";
import { LaneSort } from "./sort_lanes.ts";

/** Emits the average ranks of a row's values, divided by their number; nulls stay null. */
export function emitRank(code: Code, laneCount: number, scratch: RowScratch): void {
  const [input, output] = code.locals.parameters;
  const sort = new LaneSort(code, laneCount, input, scratch);
  sort.emit();
  const { base, count } = sort;
  const table = scratch.part("rank table", 8 * laneCount);
  const [start, lane] = [code.locals.add("i32"), code.locals.add("i32")];
  fillTable(code, laneCount, sort, table, scratch.part("rank table count", 4));
  code.i32(0).set(start);
  emitSharedRanks(code, { base, output, start, end: count, ...sort.at }, (i) => {
    element(code, base, i, 3).memory("f64.load", table);
  });
  // Nulls come last in the order.
  code.get(count).set(start);
  const end = code.locals.add("i32");
  code.i32(sort.lanes).set(end);
  forRest(code, start, end, () => {
    element(code, base, start, 2).memory("i32.load", sort.at.sorted).set(lane);
    element(code, output, lane, 3).f64(Number.NaN).memory("f64.store");
  });
}

/** `(i + 1) / count` for every i; the quotients are computed once for rows with equally many values. */
function fillTable(code: Code, laneCount: number, sort: LaneSort, table: number, tableCount: number): void {
  const { base, count } = sort;
  const i = code.locals.add("i32");
  code.get(base).memory("i32.load", tableCount).get(count).op("i32.ne");
  code.if(() => {
    code.get(base).get(count).memory("i32.store", tableCount);
    forEach(code, i, laneCount, () => {
      element(code, base, i, 3).get(i).i32(1).op("i32.add").op("f64.convert_i32_u");
      code.get(count).op("f64.convert_i32_u").op("f64.div").memory("f64.store", table);
    });
  });
}

/** Lanes in the order of their keys, from place `start` to `end`, and where the ranks of lane 0 go. */
export interface Ranked {
  readonly base: Local;
  readonly output: Local;
  readonly start: Local;
  readonly end: Local;
  /** Offsets of the lanes and of their keys in that order. */
  readonly sorted: number;
  readonly sortedKeys: number;
}

/**
 * Emits the average ranks, from 1 on, divided by their number; equal keys share the average of their ranks.
 *
 * @param pushRank puts the rank of a key that is alone on the stack, given its place
 */
export function emitSharedRanks(code: Code, ranked: Ranked, pushRank: (place: Local) => void): void {
  const { base, output, start, end, sorted, sortedKeys } = ranked;
  const { locals } = code;
  const [key, next, lane, i] = [locals.add("i64"), locals.add("i32"), locals.add("i32"), locals.add("i32")];
  const rank = locals.add("f64");
  const storeRank = (place: Local) => {
    element(code, base, place, 2).memory("i32.load", sorted).set(lane);
    element(code, output, lane, 3).get(rank).memory("f64.store");
  };
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
          // Ranks i - start + 1 .. next - start share their average.
          code.get(i).get(next).op("i32.add").get(start).i32(1).op("i32.shl").op("i32.sub");
          code.i32(1).op("i32.add").op("f64.convert_i32_u").f64(0.5).op("f64.mul");
          code.get(end).get(start).op("i32.sub").op("f64.convert_i32_u").op("f64.div").set(rank);
          code.loop((more) => {
            storeRank(i);
            code.get(i).i32(1).op("i32.add").tee(i).get(next).op("i32.lt_u").branchIf(more);
          });
          code.branch(again);
        });
      });
      pushRank(i);
      code.set(rank);
      storeRank(i);
      code.get(next).set(i).branch(again);
    });
  });
}
