import { InternalError } from "../../errors.ts";
import type { KernelSet } from "../../kernel/kernel_set.ts";
import type { Plan } from "../../plan/plan.ts";

/**
 * What a stage carries from slab to slab, as bytes: a header, then the columns that are looked back to, rings and the
 * state of operators as they lie in the arena.
 *
 *     bytes 0-3  "FLST"    bytes 4-7  generation    bytes 8-15  next row    bytes 16-23  length of all    bytes 24-31  0
 *
 * all little-endian, numbers of 8 bytes as Float64. Whose plan it is stands in the name of the run.
 */
const MAGIC = 0x54534c46;
const STATE_HEADER_BYTES = 32;

/** With which block a stage goes on. */
export interface StagePosition {
  /** Row of the run, counted from 0. */
  readonly row: number;
  readonly generation: 0 | 1;
}

/** Bytes `[first, end)` of the arena, pairwise, that are carried from row to row. */
export type StateRanges = readonly (readonly [first: number, end: number])[];

/** What is carried: not columns that are read only in the row in which they are written. */
export function stateRanges({ columns, columnBytes, rowBytes }: Plan, kernels: KernelSet): StateRanges {
  const ranges: [number, number][] = [];
  const add = (first: number, end: number) => {
    const last = ranges.at(-1);
    if (last?.[1] === first) last[1] = end;
    else if (end > first) ranges.push([first, end]);
  };
  for (const { byteOffset, historyRows, ringRows } of columns) {
    if (historyRows > 0) add(byteOffset, byteOffset + ringRows * rowBytes);
  }
  add(columnBytes, kernels.stateByteOffset + kernels.stateBytes);
  return ranges;
}

export function stateLength(ranges: StateRanges): number {
  return ranges.reduce((sum, [first, end]) => sum + end - first, STATE_HEADER_BYTES);
}

/** Writes the state of an arena into as many bytes as `stateLength` says. */
export function packStageState(
  target: Uint8Array,
  arena: Uint8Array,
  ranges: StateRanges,
  next: StagePosition,
): void {
  const header = new DataView(target.buffer, target.byteOffset, STATE_HEADER_BYTES);
  header.setUint32(0, MAGIC, true);
  header.setUint32(4, next.generation, true);
  header.setFloat64(8, next.row, true);
  header.setFloat64(16, target.length, true);
  header.setFloat64(24, 0, true);
  let position = STATE_HEADER_BYTES;
  for (const [first, end] of ranges) {
    target.set(arena.subarray(first, end), position);
    position += end - first;
  }
}

/** Puts a state into an arena. @throws InternalError if it is none of this stage; the arena is as it was then. */
export function unpackStageState(state: Uint8Array, arena: Uint8Array, ranges: StateRanges): StagePosition {
  if (state.length !== stateLength(ranges) || !isWholeState(state, state.length))
    throw new InternalError("a state that is none of this stage");
  let position = STATE_HEADER_BYTES;
  for (const [first, end] of ranges) {
    arena.set(state.subarray(position, position + end - first), first);
    position += end - first;
  }
  const header = new DataView(state.buffer, state.byteOffset, STATE_HEADER_BYTES);
  return { row: header.getFloat64(8, true), generation: header.getUint32(4, true) === 0 ? 0 : 1 };
}

/** True if bytes that begin so and are so many are a state. */
function isWholeState(begin: Uint8Array, length: number): boolean {
  if (begin.length < STATE_HEADER_BYTES) return false;
  const header = new DataView(begin.buffer, begin.byteOffset, STATE_HEADER_BYTES);
  return header.getUint32(0, true) === MAGIC && header.getFloat64(16, true) === length;
}
