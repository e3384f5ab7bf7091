import { clearBytes, type I32, type I32Local, locals, Pointer } from "../../emit/expressions.ts";
import { forEach } from "../../emit/loops.ts";
import { orderedBits } from "./sort_entries.ts";
import type { SortFrame } from "./sort_frame.ts";

const HIGHEST = 2n ** 63n - 1n;
const SIGN = 2n ** 63n;

/** Emits a sort of the lanes by their whole keys, some bits at a time. Afterwards `sorted` holds lanes only. */
export function emitSortByAllBits(sort: SortFrame): void {
  const { base, lanes, digitBits, at } = sort;
  const [pass, from, to, i, lane, address, place, sum, count] = locals(base.code, "i32", 9);
  emitKeys(sort, i);
  const digits = 2 ** digitBits;
  const counter = at.lowCounters.from(address);
  /** Stores what becomes of the counter of the lane's digit. */
  const setCounter = (value: I32) => {
    // The sign bit is flipped so that digits order keys as unsigned numbers.
    const bits = at.keys.at(lane).load().xor(SIGN).shiftRight(pass.to("i64.extend_i32_u"));
    const digit = bits.to("i32.wrap_i64").and(digits - 1);
    counter.from(address.tee(digit.shiftLeft(2).add(base))).store(value);
  };
  const sortByDigit = () => {
    clearBytes(base.add(counter.offset), counter.bytes * digits);
    forEach(i, lanes, () => {
      lane.set(i);
      setCounter(counter.load().add(1));
    });
    sum.set(0);
    forEach(i, digits, () => {
      count.set(counter.from(address.tee(at.lowCounters.addressOf(i))).load());
      counter.store(sum);
      sum.set(sum.add(count));
    });
    forEach(i, lanes, () => {
      lane.set(new Pointer(from, "i32").at(i).load());
      setCounter(place.tee(counter.load()).add(1));
      new Pointer(to, "i32").at(place).store(lane);
    });
    address.set(from);
    from.set(to);
    to.set(address);
  };
  from.set(base.add(at.sorted.offset));
  to.set(base.add(at.halfSorted.offset));
  forEach(pass, 64, sortByDigit, digitBits);
  emitSorted(sort, from, i, lane);
}

/** Emits the keys of all lanes, in their order. */
function emitKeys({ values, lanes, at }: SortFrame, i: I32Local): void {
  const [x] = locals(i.code, "f64", 1);
  const [key] = locals(i.code, "i64", 1);
  forEach(i, lanes, () => {
    at.sorted.at(i).store(i);
    key.set(orderedBits(x.tee(values.at(i).load().add(0)), key));
    at.keys.at(i).store(x.eq(x).select(key, HIGHEST));
  });
}

/** Emits the result, given the address of the lanes in order. */
function emitSorted({ lanes, at }: SortFrame, from: I32, i: I32Local, lane: I32Local): void {
  forEach(i, lanes, () => {
    lane.set(new Pointer(from, "i32").at(i).load());
    at.sorted.at(i).store(lane);
    at.sortedKeys.at(i).store(at.keys.at(lane).load());
  });
}
