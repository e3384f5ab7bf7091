import { InternalError } from "../../errors.ts";
import type { Code, Label, Local } from "./code.ts";
import { PLAIN, type PlainName } from "./instructions.ts";

/**
 * Code of single numbers, written as expressions. An expression emits its instructions where it is used, every time: what
 * is needed twice goes to a local. Integers are unsigned unless the name says otherwise.
 */

type NumberType = "i32" | "i64" | "f64";
type Operand<T extends NumberType> = Expression<T> | (T extends "i64" ? bigint : number);

export type I32 = Expression<"i32">;
export type I64 = Expression<"i64">;
export type F64 = Expression<"f64">;

export class Expression<T extends NumberType> {
  readonly code: Code;
  readonly type: T;
  readonly #emit: () => void;

  constructor(code: Code, type: T, emit: () => void) {
    this.code = code;
    this.type = type;
    this.#emit = emit;
  }

  push(): Code {
    this.#emit();
    return this.code;
  }

  add = (b: Operand<T>) => this.#binary(this.type, "add", b);
  sub = (b: Operand<T>) => this.#binary(this.type, "sub", b);
  mul = (b: Operand<T>) => this.#binary(this.type, "mul", b);
  div = (b: Operand<T>) => this.#binary(this.type, "div", b);
  remainder = (b: Operand<T>) => this.#binary(this.type, "rem_u", b);
  and = (b: Operand<T>) => this.#binary(this.type, "and", b);
  or = (b: Operand<T>) => this.#binary(this.type, "or", b);
  xor = (b: Operand<T>) => this.#binary(this.type, "xor", b);
  shiftLeft = (b: Operand<T>) => this.#binary(this.type, "shl", b);
  shiftRight = (b: Operand<T>) => this.#binary(this.type, "shr_u", b);
  shiftRightSigned = (b: Operand<T>) => this.#binary(this.type, "shr_s", b);
  min = (b: Operand<T>) => this.#binary(this.type, "min", b);
  max = (b: Operand<T>) => this.#binary(this.type, "max", b);
  eq = (b: Operand<T>) => this.#binary("i32", "eq", b);
  ne = (b: Operand<T>) => this.#binary("i32", "ne", b);
  lt = (b: Operand<T>) => this.#binary("i32", this.type === "f64" ? "lt" : "lt_u", b);
  le = (b: Operand<T>) => this.#binary("i32", this.type === "f64" ? "le" : "le_u", b);
  gt = (b: Operand<T>) => this.#binary("i32", this.type === "f64" ? "gt" : "gt_u", b);
  ge = (b: Operand<T>) => this.#binary("i32", this.type === "f64" ? "ge" : "ge_u", b);
  leSigned = (b: Operand<T>) => this.#binary("i32", "le_s", b);
  /** Goes to the label if this is not 0. */
  branchTo = (label: Label) => this.push().branchIf(label);

  /** The result of an instruction with one operand, which is named after the type of its result. */
  to<U extends NumberType>(name: PlainName & `${U}.${string}`): Expression<U> {
    return new Expression(this.code, name.slice(0, 3) as U, () => this.push().op(name));
  }

  /** `a` if this is not 0, else `b`. */
  select<U extends NumberType>(a: Expression<U>, b: Operand<U>): Expression<U> {
    return new Expression(this.code, a.type, () => {
      pushOperand(a.push(), a.type, b);
      this.push().op("select");
    });
  }

  #binary<U extends NumberType>(type: U, name: string, b: Operand<T>): Expression<U> {
    const instruction = `${this.type}.${name}` as PlainName;
    if (!(instruction in PLAIN)) throw new InternalError(`no instruction ${instruction}`);
    return new Expression(this.code, type, () => {
      pushOperand(this.push(), this.type, b);
      this.code.op(instruction);
    });
  }
}

/** A constant: needed only where it comes first, other operands may be numbers. */
export function constant<T extends NumberType>(code: Code, type: T, value: Operand<T>): Expression<T> {
  return new Expression(code, type, () => pushOperand(code, type, value));
}

function pushOperand<T extends NumberType>(code: Code, type: T, operand: Operand<T>): void {
  if (operand instanceof Expression) operand.push();
  else if (typeof operand === "bigint") code.i64(operand);
  else if (type === "i32") code.i32(operand);
  else code.f64(operand);
}

/** Runs `then` if the condition is not 0. */
export function when(condition: I32, then: () => void, otherwise?: () => void): void {
  condition.push().if(then, otherwise);
}

export class LocalExpression<T extends NumberType> extends Expression<T> implements Local {
  readonly index: number;

  constructor(code: Code, type: T, { index }: Local) {
    super(code, type, () => code.get(this));
    this.index = index;
  }

  set(value: Operand<T>): void {
    pushOperand(this.code, this.type, value);
    this.code.set(this);
  }

  /** Sets the local as well where the value is used. */
  tee(value: Operand<T>): Expression<T> {
    return new Expression(this.code, this.type, () => {
      pushOperand(this.code, this.type, value);
      this.code.tee(this);
    });
  }
}

export type I32Local = LocalExpression<"i32">;

type Tuple<T, N extends number, Start extends T[] = []> = Start["length"] extends N
  ? Start
  : Tuple<T, N, [...Start, T]>;

/** New locals of a function. */
export function locals<T extends NumberType, N extends number>(code: Code, type: T, count: N) {
  const made = Array.from({ length: count }, () => new LocalExpression(code, type, code.locals.add(type)));
  return made as Tuple<LocalExpression<T>, N>;
}

/** A parameter of type i32; places below 0 count from the last one, which is -1. */
export function parameter(code: Code, place: number): I32Local {
  const local = code.locals.parameters.at(place);
  if (local?.type !== "i32") throw new InternalError(`parameter ${place} is no i32`);
  return new LocalExpression(code, "i32", local);
}

/** The first parameters, of type i32. */
export function parameters<N extends number>(code: Code, count: N) {
  return Array.from({ length: count }, (_, place) => parameter(code, place)) as Tuple<I32Local, N>;
}

/** A number in memory, `offset` bytes after an address; others of its type may lie side by side with it. */
export class Pointer<T extends NumberType> {
  readonly base: I32;
  readonly type: T;
  readonly offset: number;
  readonly bytes: number;

  constructor(base: I32, type: T, offset = 0) {
    this.base = base;
    this.type = type;
    this.offset = offset;
    this.bytes = type === "i32" ? 4 : 8;
  }

  load(): Expression<T> {
    const { base, type, offset } = this;
    return new Expression(base.code, type, () => base.push().memory(`${type}.load`, offset));
  }

  store(value: Operand<T>): void {
    pushOperand(this.base.push(), this.type, value);
    this.base.code.memory(`${this.type}.store`, this.offset);
  }

  /** The number `ahead` places after that of an index, which is 0 for this one. */
  at(index: I32, ahead = 0): Pointer<T> {
    return this.from(this.addressOf(index), ahead);
  }

  /** The same as `at`, given what `addressOf` returns for the index. */
  from(address: I32, ahead = 0): Pointer<T> {
    return new Pointer(address, this.type, this.offset + ahead * this.bytes);
  }

  /** The address of the number of an index, without the offset. */
  addressOf(index: I32): I32 {
    return this.base.add(index.shiftLeft(Math.log2(this.bytes)));
  }
}

export function copyBytes(to: I32, from: I32, bytes: Operand<"i32">): void {
  to.push();
  pushOperand(from.push(), "i32", bytes);
  to.code.memoryCopy();
}

export function clearBytes(to: I32, bytes: Operand<"i32">): void {
  pushOperand(to.push().i32(0), "i32", bytes);
  to.code.memoryFill();
}
