/**
 * V8 can join two vectors of two doubles to one of four, for which x64 processors have instructions (AVX2): kernels
 * then take two thirds of the time and give the same bits. It is an experiment of V8, off by default, and crashes the
 * process on code that it does not support; kernels use only code that it supports. So it is switched on only for
 * tested versions of V8, on x64. V8 ignores it where the processor has no such instructions.
 *
 * The flag is set only while one of these modules is compiled (`compile_optimised.ts`).
 */
const TESTED_V8 = ["14.6"];

/** The value 0 of this variable switches joining off. */
const SWITCH = "FACTORLOOM_JOIN_VECTORS";

/** True if V8 is to join pairs of vectors. */
export function joinsVectors(): boolean {
  const version = process.versions.v8.split(".").slice(0, 2).join(".");
  return process.arch === "x64" && TESTED_V8.includes(version) && process.env[SWITCH] !== "0";
}
