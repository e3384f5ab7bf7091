import type { CellBuilder, Mask, StepBuilder, Value } from "../../operator/lowering.ts";
import { VECTOR_BYTES } from "../memory/vectors.ts";
import type { Local } from "./code.ts";
import type { PlainName } from "./instructions.ts";
import { LaneValues, Vectors } from "./lane_values.ts";
import { takes } from "./module.ts";

/** The one NaN that represents null in memory. */
const NULL_BITS = 0x7ff8000000000000n;

const MAGNITUDE_BITS = 2n ** 63n - 1n;

/** From here on every double is whole. A sum with it has no fraction bits left, and IEEE rounds to even. */
const WHOLE_MIN = 2 ** 52;

/** An integer i below it, or'ed into its last bits, gives `INTEGER_CARRIER + i` as a double. */
const INTEGER_CARRIER = 2 ** 52;

const doubleBits = new BigUint64Array(1);
const doubleValue = new Float64Array(doubleBits.buffer);

function bitsOf(value: number): bigint {
  doubleValue[0] = value;
  return doubleBits[0] as bigint;
}

/**
 * Emits SIMD code for several lanes at a time. Every operation is emitted for each of the vectors side by side: exact
 * arithmetic is chains of dependent additions, and a single chain leaves most of the processor idle. Uses only
 * instructions that V8 supports for joined vectors.
 */
export class LaneCode extends LaneValues implements StepBuilder {
  number(value: number): Value {
    return this.bits(bitsOf(value));
  }

  bits(pattern: bigint): Vectors {
    return new Vectors([], pattern);
  }

  /** Unsigned 32-bit integers, side by side at an address; an even number of vectors. */
  loadIntegers(address: Local, offset: number): Value {
    const pairs = Array.from({ length: this.vectors / 2 }, (_, pair) => {
      this.code.get(address).memory("v128.load", offset + pair * VECTOR_BYTES);
      const [local] = this.takeParts(1);
      return local as Local;
    });
    const integers = this.take((part) => {
      this.code.get(pairs[part >> 1] as Local);
      this.code.op(part % 2 === 0 ? "i64x2.extend_low_i32x4_u" : "i64x2.extend_high_i32x4_u");
    });
    return this.doublesOf(integers);
  }

  /** 64-bit integers from 0 to below 2^52, as doubles. */
  doublesOf(integers: Value): Value {
    const carrier = this.number(INTEGER_CARRIER);
    return this.sub(this.orBits(integers, carrier), carrier);
  }

  get fusesMultiply(): boolean {
    return this.library.hasFusedMultiply;
  }

  bitsOf = (mask: Mask): Value => mask as Vectors;

  get null(): Value {
    return this.bits(NULL_BITS);
  }

  add = (a: Value, b: Value): Value => this.#arithmetic("f64x2.add", a, b, (x, y) => x + y);
  sub = (a: Value, b: Value): Value => this.#arithmetic("f64x2.sub", a, b, (x, y) => x - y);
  mul = (a: Value, b: Value): Value => this.#arithmetic("f64x2.mul", a, b, (x, y) => x * y);
  div = (a: Value, b: Value): Value => this.#arithmetic("f64x2.div", a, b, (x, y) => x / y);
  pmin = (a: Value, b: Value): Value => this.op("f64x2.pmin", a, b);
  pmax = (a: Value, b: Value): Value => this.op("f64x2.pmax", a, b);
  sqrt = (a: Value): Value => this.op("f64x2.sqrt", a);
  neg = (a: Value): Value => this.op("f64x2.neg", a);
  abs = (a: Value): Value => this.andBits(a, this.bits(MAGNITUDE_BITS));
  lt = (a: Value, b: Value): Mask => this.op("f64x2.lt", a, b);
  le = (a: Value, b: Value): Mask => this.op("f64x2.le", a, b);
  eq = (a: Value, b: Value): Mask => this.op("f64x2.eq", a, b);
  ne = (a: Value, b: Value): Mask => this.op("f64x2.ne", a, b);
  gt = (a: Value, b: Value): Mask => this.op("f64x2.gt", a, b);
  ge = (a: Value, b: Value): Mask => this.op("f64x2.ge", a, b);
  and = (a: Mask, b: Mask): Mask => this.op("v128.and", a, b);
  or = (a: Mask, b: Mask): Mask => this.op("v128.or", a, b);
  andNot = (a: Mask, b: Mask): Mask => this.op("v128.andnot", a, b);
  not = (a: Mask): Mask => this.op("v128.not", a);
  addBits = (a: Value, b: Value): Value => this.op("i64x2.add", a, b);
  subBits = (a: Value, b: Value): Value => this.op("i64x2.sub", a, b);
  andBits = (a: Value, b: Value): Value => this.op("v128.and", a, b);
  orBits = (a: Value, b: Value): Value => this.op("v128.or", a, b);
  xorBits = (a: Value, b: Value): Value => this.op("v128.xor", a, b);
  shiftLeft = (a: Value, count: number): Value => this.shift("i64x2.shl", a, count);
  shiftRight = (a: Value, count: number): Value => this.shift("i64x2.shr_u", a, count);

  nearest(a: Value): Value {
    const magnitude = this.abs(a);
    const wholeMin = this.number(WHOLE_MIN);
    const rounded = this.sub(this.add(magnitude, wholeMin), wholeMin);
    return this.#signed(this.select(this.lt(magnitude, wholeMin), rounded, magnitude), a);
  }

  floor(a: Value): Value {
    const rounded = this.nearest(a);
    return this.sub(rounded, this.keepOrZero(this.gt(rounded, a), this.number(1)));
  }

  ceil(a: Value): Value {
    const rounded = this.nearest(a);
    return this.#signed(this.add(rounded, this.keepOrZero(this.lt(rounded, a), this.number(1))), a);
  }

  trunc(a: Value): Value {
    return this.#signed(this.floor(this.abs(a)), a);
  }

  // Masks have all bits of a lane set or none, for which the relaxed instruction is exact.
  select = (mask: Mask, a: Value, b: Value): Value => this.op("i64x2.relaxed_laneselect", a, b, mask);

  min(a: Value, b: Value): Value {
    // For equal values the bits are joined, so that the sign of a zero survives; a null contributes its bits in both
    // orders.
    return this.orBits(this.pmin(a, b), this.pmin(b, a));
  }

  max(a: Value, b: Value): Value {
    return this.neg(this.min(this.neg(a), this.neg(b)));
  }

  isNull(x: Value): Mask {
    return this.ne(x, x);
  }

  constantOf(x: Value): number | null {
    const { pattern } = x as Vectors;
    if (pattern === null) return null;
    doubleBits[0] = BigInt.asUintN(64, pattern);
    return doubleValue[0] as number;
  }

  condition(mask: Mask, ...values: readonly Value[]): Value {
    const oneOrZero = this.keepOrZero(mask, this.number(1));
    if (values.length === 0) return oneOrZero;
    // All bits set are a NaN too; storing normalises every null to the one NaN.
    return values.reduce((result, x) => this.orBits(result, this.bitsOf(this.isNull(x))), oneOrZero);
  }

  holds(condition: Value): Mask {
    return this.and(this.ne(condition, this.number(0)), this.eq(condition, condition));
  }

  keep(mask: Mask, x: Value): Value {
    return this.select(mask, x, this.null);
  }

  keepOrZero(mask: Mask, x: Value): Value {
    return this.op("v128.and", mask, x);
  }

  repeat(
    values: readonly Value[],
    holds: (...values: Value[]) => Mask,
    step: (...values: Value[]) => readonly Value[],
  ): readonly Value[] {
    const kept = values.map((value) => this.copy(value));
    this.code.loop((again) => {
      const mask = holds(...kept);
      const next = step(...kept).map((value, i) => this.select(mask, value, kept[i] as Value));
      next.forEach((value, i) => {
        this.assign(kept[i] as Value, value);
      });
      this.pushAny(mask);
      this.code.branchIf(again);
    });
    return kept;
  }

  outline(
    name: string,
    emit: (on: CellBuilder, ...values: Value[]) => Value,
    ...values: readonly Value[]
  ): Value {
    // Two operators may give different functions the same name.
    const key = `${name} ${this.library.idOf(emit)} ${this.vectors}`;
    const index = this.library.helper(key, takes(0), (code) => {
      const on = new LaneCode(code, this.library, this.vectors);
      on.storeScratch(0, emit(on, ...values.map((_, i) => on.loadScratch(i))));
    });
    this.storeScratch(0, ...values);
    this.code.call(index);
    return this.loadScratch(0);
  }

  /**
   * `a * b + c` with one or two roundings, depending on the machine: for error-free transformations, and for terms
   * whose rounding changes no result.
   */
  fusedMultiplyAdd(a: Value, b: Value, c: Value): Value {
    return this.op("f64x2.relaxed_madd", a, b, c);
  }

  /** `c - a * b`, with one or two roundings. */
  fusedMultiplySubtract(a: Value, b: Value, c: Value): Value {
    return this.op("f64x2.relaxed_nmadd", a, b, c);
  }

  /** `x` with the sign of `a`; `x` must be NaN, 0 or of that sign. */
  #signed(x: Value, a: Value): Value {
    return this.orBits(x, this.andBits(a, this.number(-0)));
  }

  /** Emits an instruction for each vector. */
  op(name: PlainName, ...values: readonly (Value | Mask)[]): Vectors {
    return this.take((part) => {
      for (const value of values) this.push(value, part);
      this.code.op(name);
    });
  }

  #arithmetic(name: PlainName, a: Value, b: Value, fold: (a: number, b: number) => number): Value {
    const [x, y] = [this.constantOf(a), this.constantOf(b)];
    return x === null || y === null ? this.op(name, a, b) : this.number(fold(x, y));
  }

  /** Emits a shift without a method of its own. */
  shift(name: PlainName, a: Value, count: number): Value {
    return this.take((part) => {
      this.push(a, part);
      this.code.i32(count).op(name);
    });
  }
}
