/** Operations on vectors of doubles; V is a value, M a mask. Each is one WebAssembly SIMD instruction or a few. */
export interface Arithmetic<V, M> {
  number(value: number): V;
  bits(pattern: bigint): V;
  add(a: V, b: V): V;
  sub(a: V, b: V): V;
  mul(a: V, b: V): V;
  div(a: V, b: V): V;
  sqrt(a: V): V;
  neg(a: V): V;
  abs(a: V): V;
  nearest(a: V): V;
  floor(a: V): V;
  trunc(a: V): V;
  ceil(a: V): V;
  lt(a: V, b: V): M;
  le(a: V, b: V): M;
  eq(a: V, b: V): M;
  ne(a: V, b: V): M;
  gt(a: V, b: V): M;
  ge(a: V, b: V): M;
  and(a: M, b: M): M;
  or(a: M, b: M): M;
  not(a: M): M;
  /** `a && !b`. */
  andNot(a: M, b: M): M;
  /** `mask ? a : b`; both are evaluated. */
  select(mask: M, a: V, b: V): V;
  addBits(a: V, b: V): V;
  subBits(a: V, b: V): V;
  andBits(a: V, b: V): V;
  orBits(a: V, b: V): V;
  xorBits(a: V, b: V): V;
  shiftLeft(a: V, count: number): V;
  shiftRight(a: V, count: number): V;
}
