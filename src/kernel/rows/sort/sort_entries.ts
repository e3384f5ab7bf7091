import type { Value } from "../../../operator/lowering.ts";
import type { Code, Local } from "../../emit/code.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES, VECTOR_BYTES, VECTORS } from "../../emit/vectors.ts";
import { forEach } from "../loops.ts";
import type { RowScratch } from "../row_scratch.ts";

export const ENTRY_BYTES = 8;
export const COUNTER_BYTES = 4;
export const COUNTER_SHIFT = Math.log2(COUNTER_BYTES);

/** Bits of an entry's lower half: the lane, and above it as many bits of the head as fit, at least one digit. */
export const LOWER_BITS = 32;

/** Byte offset of an entry's upper half: the high digit's counter address, relative to the counter table. */
export const UPPER_BYTE = 4;

const STEP_BYTES = STEP_LANES * ENTRY_BYTES;

/** Order of the counters of a step's lanes: the vectors of its two halves are joined. */
export const COUNTER_ORDER = [0, 4, 1, 5, 2, 6, 3, 7] as const;

/**
 * Base key of the smallest non-zero magnitude, padded so that it never shares a high digit with 0 or its negation;
 * unpadded when the range is too wide for 64-bit keys.
 */
const LEAST_KEY = 2n ** 20n;
const SPARE_DIGITS = 3;
const WIDE_DISTANCE = 2n ** 62n;

/** Offsets of the parts of the scratch space, in bytes. */
export interface EntryScratch {
  /** For each lane the counter address of its high digit, the low bits of its head, and the lane, i64. */
  readonly entries: number;
  /** For each lane the counter address of its low digit, relative to the counter table, i32. */
  readonly lowCounters: number;
  /** Four numbers for each lane of one step, to be joined to those of the row. */
  readonly steps: number;
}

/**
 * Emits the input of a counting sort of a row's values: every lane's head, which is two digits.
 *
 * A value's key is an integer of the same order: the bits of its magnitude, less about those of the smallest magnitude
 * of the row, inverted for negative values; 0 for 0. So keys of both signs are close to each other, and heads waste no
 * bits on the gap. Heads are the keys' distances from the least key, shifted to two digits; those of nulls have all
 * bits set.
 */
export class SortEntries {
  readonly at: EntryScratch;
  /** Lanes with a value. */
  readonly count: Local;
  readonly #code: Code;
  readonly #library: Library;
  /** Address of the scratch space. */
  readonly #base: Local;
  /** Number of lanes in whole steps. */
  readonly #lanes: number;
  readonly #digitBits: number;
  readonly laneBits: number;
  /** Byte of the step, and the current address. */
  readonly #offset: Local;
  readonly #address: Local;
  /** The bits of the smallest magnitude that is not 0, less its key. */
  readonly #void: Local;
  readonly #leastKey: Local;
  readonly #mostKey: Local;

  constructor(
    code: Code,
    library: Library,
    base: Local,
    lanes: number,
    digitBits: number,
    scratch: RowScratch,
  ) {
    this.#code = code;
    this.#library = library;
    this.#base = base;
    this.#lanes = lanes;
    this.#digitBits = digitBits;
    this.laneBits = Math.ceil(Math.log2(lanes));
    this.at = {
      entries: scratch.part("sort entries", ENTRY_BYTES * lanes),
      lowCounters: scratch.part("low counters of lanes", COUNTER_BYTES * lanes),
      steps: scratch.part("sort steps", 4 * STEP_BYTES),
    };
    const { locals } = code;
    this.count = locals.add("i32");
    this.#offset = locals.add("i32");
    this.#address = locals.add("i32");
    this.#void = locals.add("i64");
    this.#leastKey = locals.add("i64");
    this.#mostKey = locals.add("i64");
  }

  /** @param input address of the row's values, padded with nulls to whole steps */
  emit(input: Local): void {
    this.#findRange(input);
    this.#makeEntries(input);
  }

  #forSteps(body: () => void): void {
    forEach(this.#code, this.#offset, this.#lanes * ENTRY_BYTES, body, STEP_BYTES);
  }

  /** Finds the address of the step's lanes in an array of 8-byte elements, or 4-byte ones with `halved`. */
  #find(base: Local, halved = false): Local {
    const code = this.#code;
    code.get(base).get(this.#offset);
    if (halved) code.i32(1).op("i32.shr_u");
    code.op("i32.add").set(this.#address);
    return this.#address;
  }

  /** Finds the least and the largest key, 0 if there is no value, and the number of values. */
  #findRange(input: Local): void {
    const code = this.#code;
    const on = new LaneCode(code, this.#library);
    const least = on.copy(on.number(Number.POSITIVE_INFINITY));
    const most = on.copy(on.number(Number.NEGATIVE_INFINITY));
    const smallest = on.copy(on.number(Number.POSITIVE_INFINITY));
    const counts = on.copy(on.bits(0n));
    this.#forSteps(() => {
      on.scope(() => {
        const x = on.loadAt(this.#find(input), 0);
        on.assign(least, on.pmin(least, x));
        on.assign(most, on.pmax(most, x));
        const magnitude = on.abs(x);
        const orNone = on.select(
          on.gt(magnitude, on.number(0)),
          magnitude,
          on.number(Number.POSITIVE_INFINITY),
        );
        on.assign(smallest, on.pmin(smallest, orNone));
        on.assign(counts, on.subBits(counts, on.eq(x, x) as unknown as Value));
        return [];
      });
    });
    [counts, smallest, least, most].forEach((x, place) => {
      on.storeAt(this.#base, this.at.steps + place * STEP_BYTES, x);
    });
    this.#join(0, "i64", () => code.op("i64.add"));
    code.op("i32.wrap_i64").set(this.count);
    const { locals } = code;
    const [extent, x, y] = [locals.add("i64"), locals.add("f64"), locals.add("f64")];
    this.#join(1, "f64", () => code.op("f64.min"));
    code.op("i64.reinterpret_f64").set(this.#void);
    this.#join(2, "f64", () => code.op("f64.min"));
    code.set(x);
    this.#join(3, "f64", () => code.op("f64.max"));
    code.tee(y).op("f64.abs").get(x).op("f64.abs").op("f64.max");
    code.op("i64.reinterpret_f64").get(this.#void).op("i64.sub").set(extent);
    code.i64(0n).get(extent).get(extent).i64(WIDE_DISTANCE).op("i64.ge_u").op("select");
    code.i64(BigInt(this.#digitBits - SPARE_DIGITS)).op("i64.shr_u");
    code.i64(LEAST_KEY).op("i64.add").set(extent);
    code.get(this.#void).get(extent).op("i64.sub").set(this.#void);
    this.#setKey(x, this.#leastKey);
    this.#setKey(y, this.#mostKey);
  }

  /** Sets a local to the key of a double, or to 0 if the row has no value. */
  #setKey(x: Local, key: Local): void {
    const code = this.#code;
    code.get(x).op("f64.abs").op("i64.reinterpret_f64").get(this.#void).op("i64.sub");
    code.i64(0n).get(x).f64(0).op("f64.ne").op("select");
    code.i64(-1n).i64(0n).get(x).f64(0).op("f64.lt").op("select").op("i64.xor");
    code.i64(0n).get(this.count).op("select").set(key);
  }

  /** Pushes a number of the row, joined from those of the lanes of a step. */
  #join(place: number, type: "i64" | "f64", join: () => void): void {
    for (let lane = 0; lane < STEP_LANES; lane++) {
      const offset = this.at.steps + place * STEP_BYTES + lane * ENTRY_BYTES;
      this.#code.get(this.#base).memory(`${type}.load`, offset);
      if (lane > 0) join();
    }
  }

  #makeEntries(input: Local): void {
    const code = this.#code;
    // Half a step at a time: the digits of two halves are joined.
    const on = new LaneCode(code, this.#library, VECTORS / 2);
    const shift = this.#findShift();
    const [gap, least] = [this.#void, this.#leastKey].map((key) => {
      code.get(key).op("i64x2.splat");
      return on.takeSame();
    }) as [Value, Value];
    const digitBits = this.#digitBits;
    const ofNull = on.bits(2n ** BigInt(2 * digitBits) - 1n);
    const lowBits = 2n ** BigInt(digitBits) - 1n;
    code.get(this.#base).op("i32x4.splat");
    const base = on.takeSame();
    const upper = on.shiftLeft(base, LOWER_BITS);
    const lanes = on.take((part) => {
      on.push(upper, part)
        .code.v128(BigInt(2 * part), BigInt(2 * part + 1))
        .op("v128.or");
    });
    const halfStep = on.bits(BigInt(STEP_LANES / 2));
    const halfBytes = (VECTORS / 2) * VECTOR_BYTES;
    const highShift = LOWER_BITS + COUNTER_SHIFT;
    this.#forSteps(() => {
      on.scope(() => {
        const xs = [0, 1].map((half) => on.loadAt(this.#find(input), half * halfBytes));
        const heads = xs.map((x) => {
          const distance = on.subBits(keyOf(on, x, gap), least);
          const head = on.take((part) => on.push(distance, part).code.get(shift).op("i64x2.shr_u"));
          return on.select(on.eq(x, x), head, ofNull);
        });
        this.#find(this.#base);
        heads.forEach((head, half) => {
          const high = on.andBits(
            on.shiftLeft(head, highShift - digitBits),
            on.bits(lowBits << BigInt(highShift)),
          );
          const lower = on.andBits(on.shiftLeft(head, this.laneBits), on.bits(2n ** BigInt(LOWER_BITS) - 1n));
          const entries = on.addBits(on.orBits(high, lower), lanes);
          on.storeAt(this.#address, this.at.entries + half * halfBytes, entries);
          on.assign(lanes, on.addBits(lanes, halfStep));
        });
        const digits = on.orBits(heads[0] as Value, on.shiftLeft(heads[1] as Value, 32));
        const low = on.andBits(digits, on.bits((lowBits << 32n) | lowBits));
        this.#find(this.#base, true);
        const counters = on.binary("i32x4.add", on.shift("i32x4.shl", low, COUNTER_SHIFT), base);
        on.storeAt(this.#address, this.at.lowCounters, counters);
        return [];
      });
    });
  }

  /**
   * Bits by which distances are shifted, such that the largest head, of d bits in two digits, is below that of nulls,
   * whose bits are all set. The shift is that of the largest distance plus its 2^(d-1)th part and 1: for a distance from
   * (2^d - 1) * 2^shift on this sum has more than d + shift bits, and it never has more than 64.
   */
  #findShift(): Local {
    const code = this.#code;
    const { locals } = code;
    const [range, zeros, shift] = [0, 1, 2].map(() => locals.add("i64")) as [Local, Local, Local];
    const headBits = BigInt(2 * this.#digitBits);
    code.get(this.#mostKey).get(this.#leastKey).op("i64.sub").tee(range);
    code
      .get(range)
      .i64(headBits - 1n)
      .op("i64.shr_u")
      .op("i64.add")
      .i64(1n)
      .op("i64.add")
      .op("i64.clz")
      .set(zeros);
    code
      .i64(64n - headBits)
      .get(zeros)
      .op("i64.sub")
      .i64(0n);
    code
      .get(zeros)
      .i64(64n - headBits)
      .op("i64.lt_u")
      .op("select")
      .set(shift);
    const places = locals.add("i32");
    code.get(shift).op("i32.wrap_i64").set(places);
    return places;
  }
}

/** The key of a value; undefined for nulls. */
function keyOf(on: LaneCode, x: Value, gap: Value): Value {
  const magnitude = on.subBits(on.abs(x), gap);
  const orZero = on.keepOrZero(on.ne(x, on.number(0)), magnitude);
  return on.xorBits(orZero, on.lt(x, on.number(0)) as unknown as Value);
}

/** Turns the double on the stack into an integer of the same order: bits below the sign are flipped if it is set. */
export function pushOrdered(code: Code, local: Local): void {
  code.op("i64.reinterpret_f64").tee(local).get(local);
  code.i64(63n).op("i64.shr_s").i64(1n).op("i64.shr_u").op("i64.xor");
}
