import type { Value } from "../../../operator/lowering.ts";
import {
  constant,
  type Expression,
  type F64,
  type I32Local,
  type I64,
  type LocalExpression,
  locals,
  Pointer,
} from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import { forEach } from "../../emit/loops.ts";
import { STEP_LANES, VECTOR_BYTES, VECTORS } from "../../memory/vectors.ts";
import { COUNTER_SHIFT, ENTRY_BYTES, LOWER_BITS, type SortFrame } from "./sort_frame.ts";

const STEP_BYTES = STEP_LANES * ENTRY_BYTES;
const HALF_STEP_BYTES = (VECTORS / 2) * VECTOR_BYTES;

/** Order of the counters of a step's lanes: the vectors of its two halves are joined. */
export const COUNTER_ORDER = [0, 4, 1, 5, 2, 6, 3, 7] as const;

/**
 * Base key of the smallest non-zero magnitude, padded so that it never shares a high digit with 0 or its negation;
 * unpadded when the range is too wide for 64-bit keys.
 */
const BASE_KEY = 2n ** 20n;
const SPARE_DIGITS = 3;
const WIDE_DISTANCE = 2n ** 62n;

/**
 * Emits the input of a counting sort of a row's values: every lane's head, which is two digits.
 *
 * A value's key is an integer of the same order: the bits of its magnitude, less about those of the smallest magnitude
 * of the row, inverted for negative values; 0 for 0. So keys of both signs are close to each other, and heads waste no
 * bits on the gap. Heads are the keys' distances from the smallest key, shifted to two digits; those of nulls have all
 * bits set.
 */
export class SortEntries {
  readonly #sort: SortFrame;
  /** Byte of the step, and the current address. */
  readonly #offset: I32Local;
  readonly #address: I32Local;
  /** What keys leave out: the bits of the smallest magnitude that is not 0, less its key. */
  readonly #gap: LocalExpression<"i64">;
  readonly #smallestKey: LocalExpression<"i64">;
  readonly #largestKey: LocalExpression<"i64">;

  constructor(sort: SortFrame) {
    this.#sort = sort;
    [this.#offset, this.#address] = locals(sort.base.code, "i32", 2);
    [this.#gap, this.#smallestKey, this.#largestKey] = locals(sort.base.code, "i64", 3);
  }

  emit(): void {
    this.#findRange();
    this.#makeEntries();
  }

  #forSteps(body: () => void): void {
    forEach(this.#offset, this.#sort.lanes * ENTRY_BYTES, body, STEP_BYTES);
  }

  /** Finds the address of the step's lanes in an array of 8-byte elements, or 4-byte ones with `halved`. */
  #find(base: I32Local, halved = false): I32Local {
    this.#address.set(base.add(halved ? this.#offset.shiftRight(1) : this.#offset));
    return this.#address;
  }

  /** Finds the smallest and the largest key, 0 if there is no value, and the number of values. */
  #findRange(): void {
    this.#summarizeSteps();
    const { code } = this.#sort.base;
    this.#sort.count.set(this.#join(0, "i64", (a, b) => a.add(b)).to("i32.wrap_i64"));
    const [extent] = locals(code, "i64", 1);
    const [x, y] = locals(code, "f64", 2);
    this.#gap.set(bitsOf(this.#join(1, "f64", (a, b) => a.min(b))));
    x.set(this.#join(2, "f64", (a, b) => a.min(b)));
    const largest = magnitude(y.tee(this.#join(3, "f64", (a, b) => a.max(b)))).max(magnitude(x));
    extent.set(bitsOf(largest).sub(this.#gap));
    const orNone = extent.ge(WIDE_DISTANCE).select(constant(code, "i64", 0n), extent);
    extent.set(orNone.shiftRight(BigInt(this.#sort.digitBits - SPARE_DIGITS)).add(BASE_KEY));
    this.#gap.set(this.#gap.sub(extent));
    this.#smallestKey.set(this.#keyOf(x));
    this.#largestKey.set(this.#keyOf(y));
  }

  /** The key of a double, or 0 if the row has no value. */
  #keyOf(x: F64): I64 {
    const key = x.ne(0).select(bitsOf(magnitude(x)).sub(this.#gap), 0n);
    const inverted = x.lt(0).select(constant(x.code, "i64", -1n), 0n);
    return this.#sort.count.select(key.xor(inverted), 0n);
  }

  /** A number of the row, joined from those of the lanes of a step. */
  #join<T extends "i64" | "f64">(
    place: number,
    type: T,
    join: (a: Expression<T>, b: Expression<T>) => Expression<T>,
  ): Expression<T> {
    const numbers = new Pointer(this.#sort.base, type, this.#sort.at.steps.offset + place * STEP_BYTES);
    const ofLanes = Array.from({ length: STEP_LANES }, (_, lane) =>
      numbers.from(this.#sort.base, lane).load(),
    );
    return ofLanes.reduce(join);
  }

  /** Stores for each lane of a step the number, smallest magnitude, least and largest of its values in all steps. */
  #summarizeSteps(): void {
    const on = new LaneCode(this.#sort.base.code, this.#sort.library);
    const infinity = on.number(Number.POSITIVE_INFINITY);
    const least = on.copy(infinity);
    const largest = on.copy(on.number(Number.NEGATIVE_INFINITY));
    const smallest = on.copy(infinity);
    const counts = on.copy(on.bits(0n));
    this.#forSteps(() => {
      on.scope(() => {
        const x = on.loadAt(this.#find(this.#sort.row), 0);
        on.assign(least, on.pmin(least, x));
        on.assign(largest, on.pmax(largest, x));
        const size = on.abs(x);
        const orNone = on.select(on.gt(size, on.number(0)), size, infinity);
        on.assign(smallest, on.pmin(smallest, orNone));
        on.assign(counts, on.op("i64x2.sub", counts, on.eq(x, x)));
      });
    });
    [counts, smallest, least, largest].forEach((x, place) => {
      on.storeAt(this.#sort.base, this.#sort.at.steps.offset + place * STEP_BYTES, x);
    });
  }

  #makeEntries(): void {
    const { code } = this.#sort.base;
    // Half a step at a time: the digits of two halves are joined.
    const on = new LaneCode(code, this.#sort.library, VECTORS / 2);
    const shift = this.#findShift();
    this.#gap.push().op("i64x2.splat");
    const gap = on.takeSame();
    this.#smallestKey.push().op("i64x2.splat");
    const least = on.takeSame();
    const ofNull = on.bits(2n ** BigInt(2 * this.#sort.digitBits) - 1n);
    code.get(this.#sort.base).op("i32x4.splat");
    const base = on.takeSame();
    const upper = on.shiftLeft(base, LOWER_BITS);
    const lanes = on.take((part) => {
      on.push(upper, part)
        .code.v128(BigInt(2 * part), BigInt(2 * part + 1))
        .op("v128.or");
    });
    const headOf = (x: Value) => {
      const distance = on.subBits(keyOf(on, x, gap), least);
      const head = on.take((part) => on.push(distance, part).code.get(shift).op("i64x2.shr_u"));
      return on.select(on.eq(x, x), head, ofNull);
    };
    this.#forSteps(() => {
      on.scope(() => {
        const [x, y] = [
          on.loadAt(this.#find(this.#sort.row), 0),
          on.loadAt(this.#find(this.#sort.row), HALF_STEP_BYTES),
        ];
        const [first, second] = [headOf(x), headOf(y)];
        this.#find(this.#sort.base);
        this.#storeEntries(on, first, lanes, 0);
        this.#storeEntries(on, second, lanes, HALF_STEP_BYTES);
        this.#storeLowAddresses(on, on.orBits(first, on.shiftLeft(second, 32)), base);
      });
    });
  }

  /** Stores the entries of half a step; afterwards `lanes` are those of the next half. */
  #storeEntries(on: LaneCode, head: Value, lanes: Value, halfBytes: number): void {
    const highShift = LOWER_BITS + COUNTER_SHIFT;
    const highBits = this.#digitMask << BigInt(highShift);
    const high = on.andBits(on.shiftLeft(head, highShift - this.#sort.digitBits), on.bits(highBits));
    const lower = on.andBits(on.shiftLeft(head, this.#sort.laneBits), on.bits(2n ** BigInt(LOWER_BITS) - 1n));
    const entries = on.addBits(on.orBits(high, lower), lanes);
    on.storeAt(this.#address, this.#sort.at.entries.offset + halfBytes, entries);
    on.assign(lanes, on.addBits(lanes, on.bits(BigInt(STEP_LANES / 2))));
  }

  /** Stores the counter addresses of the low digits of a step, given its heads, those of its second half shifted. */
  #storeLowAddresses(on: LaneCode, heads: Value, base: Value): void {
    const low = on.andBits(heads, on.bits((this.#digitMask << 32n) | this.#digitMask));
    this.#find(this.#sort.base, true);
    const counters = on.op("i32x4.add", on.shift("i32x4.shl", low, COUNTER_SHIFT), base);
    on.storeAt(this.#address, this.#sort.at.lowAddresses.offset, counters);
  }

  get #digitMask(): bigint {
    return 2n ** BigInt(this.#sort.digitBits) - 1n;
  }

  /**
   * Bits by which distances are shifted, such that the largest head, of d bits in two digits, is below that of nulls,
   * whose bits are all set. The shift is that of the largest distance plus its 2^(d-1)th part and 1: for a distance from
   * (2^d - 1) * 2^shift on this sum has more than d + shift bits, and it never has more than 64.
   */
  #findShift(): I32Local {
    const { code } = this.#sort.base;
    const [range, zeros, shift] = locals(code, "i64", 3);
    const headBits = BigInt(2 * this.#sort.digitBits);
    const distance = range.tee(this.#largestKey.sub(this.#smallestKey));
    const sum = distance.add(range.shiftRight(headBits - 1n)).add(1n);
    zeros.set(sum.to("i64.clz"));
    const spare = constant(code, "i64", 64n - headBits);
    shift.set(zeros.lt(spare).select(spare.sub(zeros), 0n));
    const [places] = locals(code, "i32", 1);
    places.set(shift.to("i32.wrap_i64"));
    return places;
  }
}

/** The key of a value; undefined for nulls. */
function keyOf(on: LaneCode, x: Value, gap: Value): Value {
  const magnitude = on.subBits(on.abs(x), gap);
  const orZero = on.keepOrZero(on.ne(x, on.number(0)), magnitude);
  return on.op("v128.xor", orZero, on.lt(x, on.number(0)));
}

const magnitude = (x: F64) => x.to("f64.abs");
const bitsOf = (x: F64) => x.to("i64.reinterpret_f64");

/** An integer of the same order as a double: bits below the sign are flipped if it is set. Changes the local. */
export function orderedBits(x: F64, bits: LocalExpression<"i64">): I64 {
  return bits.tee(bitsOf(x)).xor(bits.shiftRightSigned(63n).shiftRight(1n));
}
