import type { Value } from "../../../operator/lowering.ts";
import type { Code, Label, Local } from "../../emit/code.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES, VECTOR_BYTES, VECTORS } from "../../emit/vectors.ts";
import { element, forEach } from "../loops.ts";
import type { RowScratch } from "../row_scratch.ts";
import { COUNTER_BYTES, COUNTER_SHIFT, ENTRY_BYTES, UPPER_BYTE } from "../sort/sort_entries.ts";
import type { LaneSort } from "../sort/sort_lanes.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** Twice a rank, i32. */
export const DOUBLED_BYTES = 4;

/** A row counts as one of few values if at most one in this many high digits occurs. */
const DIGITS_PER_LEVEL = 8;

/**
 * Emits the ranks of rows of few values, such as places in a window, signs or conditions: if no two values share a high
 * digit, the places of its lanes are the ranks, and nothing is sorted. Twice the rank of every lane goes to `doubled`;
 * nulls get more than twice their number. Otherwise the code falls through and leaves the sort's input unchanged.
 */
export function emitLevelRanks(
  code: Code,
  library: Library,
  sort: LaneSort,
  doubled: number,
  scratch: RowScratch,
  ranked: Label,
): void {
  const { locals } = code;
  const { base, row, at, count, lanes, digitBits } = sort;
  const levels = scratch.part("values of high digits", VALUE_BYTES * 2 ** digitBits);
  const [i, address, values, halves] = [0, 1, 2, 3].map(() => locals.add("i32")) as [
    Local,
    Local,
    Local,
    Local,
  ];
  const [digit, differs] = [locals.add("i32"), locals.add("i32")];
  const [value, level] = [locals.add("f64"), locals.add("f64")];
  const forSteps = (body: (k: number) => void, end: () => void) => {
    const step = () => {
      element(code, base, i, 3).set(address);
      element(code, row, i, 3).set(values);
      element(code, base, i, 2).set(halves);
      for (let k = 0; k < STEP_LANES; k++) {
        code
          .get(values)
          .memory("f64.load", k * VALUE_BYTES)
          .set(value);
        code
          .get(address)
          .memory("i32.load", at.entries + k * ENTRY_BYTES + UPPER_BYTE)
          .get(base)
          .op("i32.sub")
          .i32(COUNTER_SHIFT)
          .op("i32.shr_u")
          .set(digit);
        body(k);
      }
      end();
    };
    forEach(code, i, lanes, step, STEP_LANES);
  };
  pushDigits(code, library, sort);
  code.i32(2 ** digitBits / DIGITS_PER_LEVEL).op("i32.le_u");
  // Nulls have the last digit, which values may not share.
  code
    .get(base)
    .memory("i32.load", at.moreCounters + COUNTER_BYTES * (2 ** digitBits - 1))
    .get(count)
    .op("i32.ge_u");
  code.get(count).i32(lanes).op("i32.eq").op("i32.or").op("i32.and");
  code.if(() => {
    forSteps(
      () => {
        element(code, base, digit, 3).get(value).memory("f64.store", levels);
      },
      () => {},
    );
    code.block((failed) => {
      code.i32(0).set(differs);
      forSteps(
        (k) => {
          element(code, base, digit, 3).memory("f64.load", levels).set(level);
          code.get(value).get(level).op("f64.ne").get(value).get(value).op("f64.eq").op("i32.and");
          code.get(differs).op("i32.or").set(differs);
          element(code, base, digit, 2).set(digit);
          code.get(halves);
          code.get(digit).memory("i32.load", at.moreCounters);
          code.get(digit).memory("i32.load", at.moreCounters + COUNTER_BYTES);
          code.op("i32.add").i32(1).op("i32.add");
          code.memory("i32.store", doubled + k * DOUBLED_BYTES);
        },
        () => code.get(differs).branchIf(failed),
      );
      code.branch(ranked);
    });
  });
}

/** Pushes the number of high digits that occur. */
function pushDigits(code: Code, library: Library, { base, at, digitBits }: LaneSort): void {
  const on = new LaneCode(code, library);
  const [offset, address] = [0, 1].map(() => code.locals.add("i32")) as [Local, Local];
  const counters = 2 ** digitBits;
  const perTurn = (VECTORS * VECTOR_BYTES) / COUNTER_BYTES;
  const sum = on.copy(on.bits(0n));
  const countTurn = () => {
    on.scope(() => {
      code.get(base).get(offset).op("i32.add").set(address);
      const [own, next] = [0, COUNTER_BYTES].map((ahead) => on.loadAt(address, at.moreCounters + ahead)) as [
        Value,
        Value,
      ];
      // -1 where no lane lies between the places of a digit and the next one.
      const isEmpty = on.binary("i32x4.eq", own, next);
      on.assign(sum, on.binary("i32x4.add", sum, isEmpty));
      return [];
    });
  };
  forEach(code, offset, COUNTER_BYTES * counters, countTurn, COUNTER_BYTES * perTurn);
  on.storeAt(base, at.steps, sum);
  code.i32(counters);
  for (let k = 0; k < perTurn; k++) {
    code
      .get(base)
      .memory("i32.load", at.steps + k * COUNTER_BYTES)
      .op("i32.add");
  }
}
