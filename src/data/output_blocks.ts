/** The cells of the panel that go into the output, cut into the blocks that become record batches. */
import type { Panel } from "../panel.ts";

/** Rows of output per record batch, about: a batch holds whole rows of the panel. */
const BATCH_ROWS = 65_536;

/** The cells of one record batch: panel rows `first` to `end`, and the positions of those that are present. */
export interface OutputBlock {
  readonly first: number;
  readonly end: number;
  /** Positions relative to the block's first cell. */
  readonly offsets: Uint32Array;
}

export interface BlockValues {
  readonly values: Float64Array<ArrayBuffer>;
  /** One bit per value, least significant first, 1 for a value and 0 for null. */
  readonly validity: Uint8Array<ArrayBuffer>;
  readonly nullCount: number;
  readonly nonFiniteCount: number;
}

/** Cuts the rows with times `from` to `to` (inclusive) into blocks; blocks without a present cell are left out. */
export function splitBlocks(panel: Panel, from?: bigint, to?: bigint): OutputBlock[] {
  const { values } = panel.time;
  const firstRow = from === undefined ? 0 : countBelow(values, from);
  const endRow = to === undefined ? panel.rowCount : countBelow(values, to + 1n);
  const rowsPerBlock = Math.max(1, Math.floor(BATCH_ROWS / panel.laneCount));
  const blocks: OutputBlock[] = [];
  for (let first = firstRow; first < endRow; first += rowsPerBlock) {
    const end = Math.min(endRow, first + rowsPerBlock);
    const offsets = presentOffsets(panel, first, end);
    if (offsets.length > 0) blocks.push({ first, end, offsets });
  }
  return blocks;
}

/** How many of the ascending times are before the given one (binary search). */
function countBelow(times: BigInt64Array, time: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function presentOffsets(panel: Panel, first: number, end: number): Uint32Array {
  const present = panel.present.subarray(first * panel.laneCount, end * panel.laneCount);
  const offsets = new Uint32Array(present.length);
  let count = 0;
  for (let offset = 0; offset < present.length; offset += 1) {
    if (present[offset] === 1) offsets[count++] = offset;
  }
  return offsets.subarray(0, count);
}

/** Copies the present cells of a block; a null leaves 0 in the values, so that equal tables are equal in all bytes. */
export function gatherBlock(
  panel: Panel,
  source: Float64Array | null,
  block: OutputBlock,
  keepInfinite: boolean,
): BlockValues {
  const { offsets } = block;
  const values = new Float64Array(offsets.length);
  const validity = new Uint8Array((offsets.length + 7) >> 3);
  if (source === null) return { values, validity, nullCount: offsets.length, nonFiniteCount: 0 };
  const cells = source.subarray(block.first * panel.laneCount, block.end * panel.laneCount);
  let nullCount = 0;
  let nonFiniteCount = 0;
  for (let index = 0; index < offsets.length; index += 1) {
    const value = cells[offsets[index]!]!;
    const isInfinite = value === Infinity || value === -Infinity;
    if (isInfinite) nonFiniteCount += 1;
    if (Number.isNaN(value) || (isInfinite && !keepInfinite)) {
      nullCount += 1;
      continue;
    }
    values[index] = value;
    validity[index >> 3]! |= 1 << (index & 7);
  }
  return { values, validity, nullCount, nonFiniteCount };
}
