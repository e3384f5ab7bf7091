import { wholeLines } from "../../plan/cache_lines.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Code, Local } from "../emit/code.ts";
import { LaneCode } from "../emit/lane_code.ts";
import type { Library } from "../emit/library.ts";
import type { Signature } from "../emit/module.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { STEP_BYTES } from "../rows/layout/segment.ts";

/**
 * A row of an output as Arrow has it: 0 for null, with one validity bit per lane, least significant first. Lanes beyond
 * the panel are undefined.
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
export const FINISH: Signature = { parameters: ["i32", "i32", "i32", "i32", "i32"], results: [] };

export const FINISH_NAME = "finish";

/** Emits code that copies a row, 0 for null, and writes its bits: one byte per step of lanes. */
export function emitFinish(code: Code, library: Library): void {
  const [values, target, valid, infinite, bytes] = code.locals.parameters as [
    Local,
    Local,
    Local,
    Local,
    Local,
  ];
  const [offset, address] = [code.locals.add("i32"), code.locals.add("i32")];
  const on = new LaneCode(code, library);
  const pushBitAddress = (bits: Local) =>
    code.get(bits).get(offset).i32(Math.log2(STEP_BYTES)).op("i32.shr_u").op("i32.add");
  code.i32(0).set(offset);
  code.loop((again) => {
    on.scope(() => {
      code.get(values).get(offset).op("i32.add").set(address);
      const x = on.loadAt(address, 0);
      const isValue = on.eq(x, x);
      code.get(target).get(offset).op("i32.add").set(address);
      on.storeAt(address, 0, on.keepOrZero(isValue, x));
      pushBitAddress(valid);
      on.pushBits(isValue);
      code.memory("i32.store8", 0);
      const isInfinite = on.eq(on.abs(x), on.number(Number.POSITIVE_INFINITY));
      pushBitAddress(infinite);
      on.pushBits(isInfinite);
      code.memory("i32.store8", 0);
      return [];
    });
    code.get(offset).i32(STEP_BYTES).op("i32.add").tee(offset).get(bytes).op("i32.lt_u").branchIf(again);
  });
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
