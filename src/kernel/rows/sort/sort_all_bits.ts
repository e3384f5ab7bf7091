import type { Code, Local } from "../../emit/code.ts";
import { element, forEach } from "../loops.ts";
import { pushOrdered } from "./sort_entries.ts";
import type { SortScratch } from "./sort_lanes.ts";

const HIGHEST = 2n ** 63n - 1n;

/** Emits a sort of the lanes by their whole keys, some bits at a time. Afterwards `sorted` holds lanes only. */
export function emitSortByAllBits(
  code: Code,
  base: Local,
  row: Local,
  at: SortScratch,
  laneCount: number,
  digitBits: number,
): void {
  const { locals } = code;
  const [pass, from, to, i, lane, address, place, sum, count] = Array.from({ length: 9 }, () =>
    locals.add("i32"),
  ) as [Local, Local, Local, Local, Local, Local, Local, Local, Local];
  const [x, key] = [locals.add("f64"), locals.add("i64")];
  const { keys } = at;
  forEach(code, i, laneCount, () => {
    element(code, base, i, 2).get(i).memory("i32.store", at.sorted);
    element(code, row, i, 3).memory("f64.load").f64(0).op("f64.add").tee(x);
    pushOrdered(code, key);
    code.set(key);
    element(code, base, i, 3).get(key).i64(HIGHEST).get(x).get(x).op("f64.eq").op("select");
    code.memory("i64.store", keys);
  });
  // The sign bit is flipped so that digits order keys as unsigned numbers.
  const pushCounter = () => {
    code.get(base).get(lane).i32(3).op("i32.shl").op("i32.add").memory("i64.load", keys);
    code
      .i64(-(2n ** 63n))
      .op("i64.xor")
      .get(pass)
      .op("i64.extend_i32_u")
      .op("i64.shr_u");
    code
      .op("i32.wrap_i64")
      .i32(2 ** digitBits - 1)
      .op("i32.and")
      .i32(2)
      .op("i32.shl");
    code.get(base).op("i32.add").tee(address);
  };
  code.get(base).i32(at.sorted).op("i32.add").set(from);
  code.get(base).i32(at.halfSorted).op("i32.add").set(to);
  code.i32(0).set(pass);
  code.loop((nextPass) => {
    code
      .get(base)
      .i32(at.counters)
      .op("i32.add")
      .i32(0)
      .i32(4 * 2 ** digitBits)
      .memoryFill();
    forEach(code, i, laneCount, () => {
      code.get(i).set(lane);
      pushCounter();
      code.get(address).memory("i32.load", at.counters).i32(1).op("i32.add").memory("i32.store", at.counters);
    });
    code.i32(0).set(sum);
    forEach(code, i, 2 ** digitBits, () => {
      element(code, base, i, 2).tee(address).memory("i32.load", at.counters).set(count);
      code.get(address).get(sum).memory("i32.store", at.counters);
      code.get(sum).get(count).op("i32.add").set(sum);
    });
    forEach(code, i, laneCount, () => {
      element(code, from, i, 2).memory("i32.load").set(lane);
      pushCounter();
      code.get(address).memory("i32.load", at.counters).tee(place).i32(1).op("i32.add");
      code.memory("i32.store", at.counters);
      element(code, to, place, 2).get(lane).memory("i32.store");
    });
    code.get(from).set(address).get(to).set(from).get(address).set(to);
    code.get(pass).i32(digitBits).op("i32.add").tee(pass).i32(64).op("i32.lt_u").branchIf(nextPass);
  });
  forEach(code, i, laneCount, () => {
    element(code, from, i, 2).memory("i32.load").set(lane);
    element(code, base, i, 2).get(lane).memory("i32.store", at.sorted);
    element(code, base, i, 3);
    element(code, base, lane, 3).memory("i64.load", keys).memory("i64.store", at.sortedKeys);
  });
}
