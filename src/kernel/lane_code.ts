import type { CellBuilder, Mask, Value } from "../operator/lowering.ts";
import type { Code, Local } from "./wasm/code.ts";
import type { PlainName } from "./wasm/instructions.ts";
import type { ModuleBuilder } from "./wasm/module.ts";

/** The one NaN that stands for null in memory. */
export const NULL_BITS = 0x7ff8000000000000n;

const doubleBits = new BigUint64Array(1);
const doubleValue = new Float64Array(doubleBits.buffer);

export function bitsOf(value: number): bigint {
  doubleValue[0] = value;
  return doubleBits[0] as bigint;
}

/** A vector in a local, or a constant that is written where it is used. */
type Vector = { readonly local: Local } | { readonly pattern: bigint };

/**
 * Emits SIMD code for two lanes at a time. Results live in locals; a local is used again once the scope in which it
 * was made has ended, which keeps functions of thousands of operations at a few hundred locals.
 */
export class LaneCode implements CellBuilder {
  readonly code: Code;
  readonly library: Library;
  readonly #free: Local[] = [];
  #made: Local[] = [];

  constructor(code: Code, library: Library) {
    this.code = code;
    this.library = library;
  }

  /** Runs `emit`; of the locals that it made only those of its results stay in use. */
  scope<T extends Value | readonly Value[]>(emit: () => T): T {
    const outer = this.#made;
    this.#made = [];
    const result = emit();
    const kept = new Set((Array.isArray(result) ? result : [result]).map((value) => localOf(value as Value)));
    for (const local of this.#made) {
      if (kept.has(local)) outer.push(local);
      else this.#free.push(local);
    }
    this.#made = outer;
    return result;
  }

  /** Runs `emit`; its result stays in use to the end of the function, whatever scope it is made in. */
  persist(emit: () => Value): Value {
    const outer = this.#made;
    this.#made = [];
    const result = emit();
    const kept = localOf(result);
    this.#free.push(...this.#made.filter((local) => local !== kept));
    this.#made = outer;
    return result;
  }

  /** A value of its own that `assign` may change. */
  copy(x: Value): Value {
    this.push(x);
    return this.take();
  }

  copyMask(mask: Mask): Mask {
    return asMask(this.copy(mask as unknown as Value));
  }

  assign<T extends Value | Mask>(target: T, x: T): void {
    this.push(x);
    this.code.set(localOf(target as Value) as Local);
  }

  /** A local that holds the vector on the stack. */
  take(): Value {
    const local = this.#fresh();
    this.code.set(local);
    return asValue({ local });
  }

  /** Puts a vector on the stack. */
  push(value: Value | Mask): this {
    const vector = value as unknown as Vector;
    if ("local" in vector) this.code.get(vector.local);
    else this.code.v128(vector.pattern);
    return this;
  }

  number(value: number): Value {
    return this.bits(bitsOf(value));
  }

  bits(pattern: bigint): Value {
    return asValue({ pattern });
  }

  /** A parameter of the function as a value. */
  parameter(index: number): Value {
    return asValue({ local: this.code.locals.parameters[index] as Local });
  }

  get null(): Value {
    return this.bits(NULL_BITS);
  }

  add = (a: Value, b: Value): Value => this.#binary("f64x2.add", a, b);
  sub = (a: Value, b: Value): Value => this.#binary("f64x2.sub", a, b);
  mul = (a: Value, b: Value): Value => this.#binary("f64x2.mul", a, b);
  div = (a: Value, b: Value): Value => this.#binary("f64x2.div", a, b);
  pmin = (a: Value, b: Value): Value => this.#binary("f64x2.pmin", a, b);
  pmax = (a: Value, b: Value): Value => this.#binary("f64x2.pmax", a, b);
  sqrt = (a: Value): Value => this.#unary("f64x2.sqrt", a);
  neg = (a: Value): Value => this.#unary("f64x2.neg", a);
  abs = (a: Value): Value => this.#unary("f64x2.abs", a);
  nearest = (a: Value): Value => this.#unary("f64x2.nearest", a);
  floor = (a: Value): Value => this.#unary("f64x2.floor", a);
  trunc = (a: Value): Value => this.#unary("f64x2.trunc", a);
  ceil = (a: Value): Value => this.#unary("f64x2.ceil", a);
  lt = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.lt", a, b));
  le = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.le", a, b));
  eq = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.eq", a, b));
  ne = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.ne", a, b));
  gt = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.gt", a, b));
  ge = (a: Value, b: Value): Mask => asMask(this.#binary("f64x2.ge", a, b));
  and = (a: Mask, b: Mask): Mask => asMask(this.#binary("v128.and", a, b));
  or = (a: Mask, b: Mask): Mask => asMask(this.#binary("v128.or", a, b));
  andNot = (a: Mask, b: Mask): Mask => asMask(this.#binary("v128.andnot", a, b));
  not = (a: Mask): Mask => asMask(this.#unary("v128.not", a));
  addBits = (a: Value, b: Value): Value => this.#binary("i64x2.add", a, b);
  subBits = (a: Value, b: Value): Value => this.#binary("i64x2.sub", a, b);
  andBits = (a: Value, b: Value): Value => this.#binary("v128.and", a, b);
  orBits = (a: Value, b: Value): Value => this.#binary("v128.or", a, b);
  xorBits = (a: Value, b: Value): Value => this.#binary("v128.xor", a, b);
  shiftLeft = (a: Value, count: number): Value => this.#shift("i64x2.shl", a, count);
  shiftRight = (a: Value, count: number): Value => this.#shift("i64x2.shr_u", a, count);
  shiftRightSigned = (a: Value, count: number): Value => this.#shift("i64x2.shr_s", a, count);

  select = (mask: Mask, a: Value, b: Value): Value => {
    this.push(a).push(b).push(mask);
    this.code.op("v128.bitselect");
    return this.take();
  };

  min(a: Value, b: Value): Value {
    // Of equal values the bits are joined, so that the sign of a zero survives; a null has its bits in either.
    return this.orBits(this.pmin(a, b), this.pmin(b, a));
  }

  max(a: Value, b: Value): Value {
    return this.neg(this.min(this.neg(a), this.neg(b)));
  }

  isNull(x: Value): Mask {
    return this.ne(x, x);
  }

  constantOf(x: Value): number | null {
    const vector = x as unknown as Vector;
    if ("local" in vector) return null;
    doubleBits[0] = BigInt.asUintN(64, vector.pattern);
    return doubleValue[0] as number;
  }

  condition(mask: Mask, ...values: readonly Value[]): Value {
    const oneOrZero = this.keepOrZero(mask, this.number(1));
    if (values.length === 0) return oneOrZero;
    // All bits set are a NaN too; null is made the one NaN when it is stored.
    return values.reduce((result, x) => this.orBits(result, this.isNull(x) as unknown as Value), oneOrZero);
  }

  holds(condition: Value): Mask {
    return this.and(this.ne(condition, this.number(0)), this.eq(condition, condition));
  }

  keep(mask: Mask, x: Value): Value {
    return this.select(mask, x, this.null);
  }

  keepOrZero(mask: Mask, x: Value): Value {
    return this.#binary("v128.and", mask, x);
  }

  repeat(
    values: readonly Value[],
    holds: (...values: Value[]) => Mask,
    step: (...values: Value[]) => readonly Value[],
  ): readonly Value[] {
    const kept = values.map((value) => this.push(value).take());
    this.code.loop((again) => {
      const mask = holds(...kept);
      const next = step(...kept).map((value, i) => this.select(mask, value, kept[i] as Value));
      next.forEach((value, i) => {
        this.push(value).code.set(localOf(kept[i] as Value) as Local);
      });
      this.push(mask).code.op("v128.any_true").branchIf(again);
    });
    return kept;
  }

  outline(
    name: string,
    emit: (on: CellBuilder, ...values: Value[]) => Value,
    ...values: readonly Value[]
  ): Value {
    const index = this.library.functionOf(name, values.length, emit);
    for (const value of values) this.push(value);
    this.code.call(index);
    return this.take();
  }

  /** `a * b + c` with one rounding or two, whichever this machine does: for error-free transformations only. */
  fusedMultiplyAdd(a: Value, b: Value, c: Value): Value {
    this.push(a).push(b).push(c);
    this.code.op("f64x2.relaxed_madd");
    return this.take();
  }

  /** `c - a * b`, on the same terms. */
  fusedMultiplySubtract(a: Value, b: Value, c: Value): Value {
    this.push(a).push(b).push(c);
    this.code.op("f64x2.relaxed_nmadd");
    return this.take();
  }

  #unary(name: PlainName, a: Value | Mask): Value {
    this.push(a);
    this.code.op(name);
    return this.take();
  }

  #binary(name: PlainName, a: Value | Mask, b: Value | Mask): Value {
    this.push(a).push(b);
    this.code.op(name);
    return this.take();
  }

  #shift(name: PlainName, a: Value, count: number): Value {
    this.push(a);
    this.code.i32(count).op(name);
    return this.take();
  }

  #fresh(): Local {
    const local = this.#free.pop() ?? this.code.locals.add("v128");
    this.#made.push(local);
    return local;
  }
}

/** Functions that several kernels of one module call, each emitted once. */
export class Library {
  readonly module: ModuleBuilder;
  /** True where `relaxed_madd` rounds once on this machine. */
  readonly hasFusedMultiply: boolean;
  readonly #indices = new Map<string, number>();

  constructor(module: ModuleBuilder, hasFusedMultiply: boolean) {
    this.module = module;
    this.hasFusedMultiply = hasFusedMultiply;
  }

  /** The index of a function of any kind, added when it is first asked for. */
  helper(name: string, add: (module: ModuleBuilder) => number): number {
    const index = this.#indices.get(name) ?? add(this.module);
    this.#indices.set(name, index);
    return index;
  }

  functionOf(
    name: string,
    parameterCount: number,
    emit: (on: CellBuilder, ...values: Value[]) => Value,
  ): number {
    return this.helper(name, (module) => {
      const parameters = Array.from({ length: parameterCount }, () => "v128" as const);
      return module.function({ parameters, results: ["v128"] }, (code) => {
        const on = new LaneCode(code, this);
        on.push(emit(on, ...parameters.map((_, i) => on.parameter(i))));
      });
    });
  }
}

function asValue(vector: Vector): Value {
  return vector as unknown as Value;
}

function asMask(value: Value): Mask {
  return value as unknown as Mask;
}

function localOf(value: Value): Local | null {
  const vector = value as unknown as Vector;
  return "local" in vector ? vector.local : null;
}
