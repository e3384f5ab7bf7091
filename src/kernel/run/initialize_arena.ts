import { ARENA_HEAD_BYTES, type Plan } from "../../plan/plan.ts";
import { writeConstants } from "../emit/library.ts";
import { Arena } from "../memory/arena.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { GROUP_LANES } from "../memory/state_layout.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";

/** Doubles that are filled in one step: of memory that nobody touched before half a ms. */
const STEP_DOUBLES = 2 ** 16;

/** Prepares an arena for row 0, in steps: earlier rows are null, recurrences and windows are empty, no part has begun. */
export function* initializeArena(
  plan: Plan,
  kernels: Pick<KernelSet, "constants" | "rings" | "states" | "stampByteOffset" | "finishedByteOffset">,
  memory: WebAssembly.Memory,
): Generator<void, void> {
  const { values } = new Arena(plan, memory);
  const rowLength = plan.rowBytes / VALUE_BYTES;
  const head = ARENA_HEAD_BYTES / VALUE_BYTES;
  writeConstants(memory, kernels.constants);
  const { stampByteOffset, finishedByteOffset } = kernels;
  new Uint8Array(memory.buffer, stampByteOffset, finishedByteOffset - stampByteOffset).fill(0);
  yield* fill(values, Number.NaN, head, plan.columnBytes / VALUE_BYTES);
  for (const { byteOffset, ringRows, initial } of kernels.rings) {
    const start = byteOffset / VALUE_BYTES;
    yield* fill(values, initial, start, start + ringRows * rowLength);
  }
  for (const { recurrences, recurrenceByteOffsets, windows, windowByteOffset } of kernels.states.values()) {
    for (const start of recurrenceByteOffsets) fillVectors(values, start, recurrences, rowLength);
    fillVectors(values, windowByteOffset, windows, rowLength);
    yield;
  }
}

function* fill(values: Float64Array, value: number, start: number, end: number): Generator<void, void> {
  for (let at = start; at < end; at += STEP_DOUBLES) {
    values.fill(value, at, Math.min(end, at + STEP_DOUBLES));
    yield;
  }
}

function fillVectors(
  values: Float64Array,
  byteOffset: number,
  vectors: readonly number[],
  rowLength: number,
): void {
  const start = byteOffset / VALUE_BYTES;
  vectors.forEach((value, i) => {
    values.fill(value, start + i * GROUP_LANES, start + (i + 1) * GROUP_LANES);
  });
  // The first group is copied to the second, both to the next two, and so on.
  const length = vectors.length * rowLength;
  for (let done = vectors.length * GROUP_LANES; done > 0 && done < length; done *= 2) {
    values.copyWithin(start + done, start, start + Math.min(done, length - done));
  }
}
