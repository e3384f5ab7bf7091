/**
 * V8 can join two vectors of two doubles to one of four, for which x64 processors have instructions (AVX2): kernels
 * then take two thirds of the time, and give the same bits. It is an experiment of V8's, off unless asked for by a flag,
 * and ends the process where it meets what it does not know; what kernels are made of it knows. So it is asked for
 * where the tests have run with it: by these versions of V8, and on processors of that kind. V8 leaves it alone where
 * the processor has no such instructions.
 *
 * The flag is set for as long as a module of ours is compiled (`compile_optimised.ts`).
 */
const TESTED_V8 = ["14.6"];

/** Set to 0, nothing is joined. */
const SWITCH = "FACTORLOOM_JOIN_VECTORS";

/** True if V8 is to join pairs of vectors. */
export function joinsVectors(): boolean {
  const version = process.versions.v8.split(".").slice(0, 2).join(".");
  return process.arch === "x64" && TESTED_V8.includes(version) && process.env[SWITCH] !== "0";
}
