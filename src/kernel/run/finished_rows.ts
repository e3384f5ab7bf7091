import type { Mask } from "../../operator/lowering.ts";
import { wholeLines } from "../../plan/cache_lines.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Code } from "../emit/code.ts";
import { type I32, locals, parameters } from "../emit/expressions.ts";
import { LaneCode } from "../emit/lane_code.ts";
import type { Library } from "../emit/library.ts";
import { forEach } from "../emit/loops.ts";
import { takes } from "../emit/module.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { STEP_BYTES } from "../memory/vectors.ts";

/**
 * A row of an output as Arrow has it: one NaN for every null, with one validity bit per lane, least significant first.
 * Lanes beyond the panel are undefined.
 */
export interface FinishedRow {
  readonly values: Float64Array<SharedArrayBuffer>;
  /** 1 for a value, infinities included, 0 for null. */
  readonly valid: Uint32Array<SharedArrayBuffer>;
  readonly infinite: Uint32Array<SharedArrayBuffer>;
}

/**
 * Address of values, their target, targets of the validity bits and of the infinity bits, bytes of the values (whole
 * steps).
 */
export const FINISH = takes(5);

export const FINISH_NAME = "finish";

/** Emits code that copies a row, with one NaN for every null, and writes its bits: one byte per step of lanes. */
export function emitFinish(code: Code, library: Library): void {
  const [values, target, valid, infinite, bytes] = parameters(code, 5);
  const [offset, address] = locals(code, "i32", 2);
  const on = new LaneCode(code, library);
  const storeBits = (bits: I32, mask: Mask) => {
    bits.add(offset.shiftRight(Math.log2(STEP_BYTES))).push();
    on.pushBits(mask);
    code.memory("i32.store8");
  };
  const finishStep = () => {
    on.scope(() => {
      address.set(values.add(offset));
      const x = on.loadAt(address, 0);
      const isValue = on.eq(x, x);
      address.set(target.add(offset));
      on.storeAt(address, 0, on.keep(isValue, x));
      storeBits(valid, isValue);
      storeBits(infinite, on.eq(on.abs(x), on.number(Number.POSITIVE_INFINITY)));
    });
  };
  forEach(offset, bytes, finishStep, STEP_BYTES);
}

/** Offsets of a finished row in the arena, relative to row 0 of output 0. */
export interface FinishedPlaces {
  readonly values: number;
  readonly valid: number;
  readonly infinite: number;
}

export function finishedPlaces(plan: Plan, row: number, output: number): FinishedPlaces {
  const bitBytes = bytesOfBits(plan);
  const values = (row * plan.outputs.length + output) * (plan.rowBytes + 2 * bitBytes);
  return { values, valid: values + plan.rowBytes, infinite: values + plan.rowBytes + bitBytes };
}

/** Bytes of `rowCount` finished rows of all outputs. */
export function finishedBytes(plan: Plan, rowCount: number): number {
  return finishedPlaces(plan, rowCount, 0).values;
}

/**
 * A finished row of every output: of the last block whose `outputRow` is this one, or a multiple of `finishedRows` away.
 *
 * @param row below `finishedRows`
 */
export function finishedRow(
  plan: Plan,
  kernels: KernelSet,
  memory: WebAssembly.Memory,
  row: number,
): FinishedRow[] {
  const words = bytesOfBits(plan) / Uint32Array.BYTES_PER_ELEMENT;
  return plan.outputs.map((_, output) => {
    const { values, valid, infinite } = finishedPlaces(plan, row, output);
    const at = kernels.finishedByteOffset;
    return {
      values: new Float64Array(memory.buffer as SharedArrayBuffer, at + values, plan.laneCount),
      valid: new Uint32Array(memory.buffer as SharedArrayBuffer, at + valid, words),
      infinite: new Uint32Array(memory.buffer as SharedArrayBuffer, at + infinite, words),
    };
  });
}

/** Bytes of the bits of a row, one per step of lanes, in whole cache lines. */
function bytesOfBits({ rowBytes }: Plan): number {
  return wholeLines(rowBytes / STEP_BYTES);
}
