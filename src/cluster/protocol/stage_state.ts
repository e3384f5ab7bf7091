import { InternalError } from "../../errors.ts";
import type { KernelSet } from "../../kernel/memory/kernel_set.ts";
import type { Plan } from "../../plan/plan.ts";

/**
 * The state of a stage between slabs, as bytes: a header, then the columns that windows read, rings and the state of
 * operators, as in the arena.
 *
 *     bytes 0-3  "FLST"    bytes 4-7  generation    bytes 8-15  next row    bytes 16-23  length of all    bytes 24-31  0
 *
 * all little-endian, numbers of 8 bytes as Float64. The folder of the run identifies the plan.
 */
const MAGIC = 0x54534c46;
const STATE_HEADER_BYTES = 32;

/** The block with which a stage continues. */
export interface StagePosition {
  /** Row of the run, counted from 0. */
  readonly row: number;
  readonly generation: number;
}

/** Ranges `[first, end)` of bytes of the arena. */
export type StateRanges = readonly (readonly [first: number, end: number])[];

/** The parts of the arena that later rows read. */
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

/** Writes the state of an arena into `stateLength(ranges)` bytes. */
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

/** Copies a state into an arena. @throws InternalError, before any change, if the state is of another stage. */
export function unpackStageState(state: Uint8Array, arena: Uint8Array, ranges: StateRanges): StagePosition {
  const header = new DataView(state.buffer, state.byteOffset, state.length);
  const isWhole =
    state.length === stateLength(ranges) &&
    header.getUint32(0, true) === MAGIC &&
    header.getFloat64(16, true) === state.length;
  if (!isWhole) throw new InternalError("the state is of another stage");
  let position = STATE_HEADER_BYTES;
  for (const [first, end] of ranges) {
    arena.set(state.subarray(position, position + end - first), first);
    position += end - first;
  }
  return { row: header.getFloat64(8, true), generation: header.getUint32(4, true) };
}
