import { checkpointDamaged, checkpointForeign } from "../checkpoint/errors.ts";
import { digestOf } from "../files/large_bytes.ts";
import { writeConstants } from "../kernel/emit/library.ts";
import type { PlanArena } from "../kernel/memory/plan_arena.ts";
import { POSITIONS } from "../plan/catch_up.ts";
import type { PlanData } from "./protocol.ts";

/** How far an open plan has run. */
export interface Position {
  /** First row of the next block. */
  readonly row: number;
  /** The generation of operator state that the next block reads. */
  readonly generation: number;
  /** First row of the last block that was begun, which may run again. Null before the first block. */
  readonly lastBlockRow: number | null;
}

export const START: Position = { row: 0, generation: 0, lastBlockRow: null };

/**
 * A checkpoint is a header, the bytes of columns and operator state as they lie in the arenas, one after the other, and
 * the positions of conditional nodes:
 *
 *     bytes  0-3   "FLCP"           bytes  8-15  next row                bytes 32-63  digest of the plan
 *     bytes  4-7   format version   bytes 16-23  row of the last block   bytes 64-95  digest of the code
 *                                   bytes 24-27  generation              bytes 96-    columns, state, positions
 *
 * All little-endian, rows as Float64; the last 32 bytes are the SHA-256 digest of everything before.
 */
const MAGIC = 0x50434c46;
const VERSION = 4;
const PLAN_DIGEST_OFFSET = 32;
const DIGEST_BYTES = 32;
const CODE_DIGEST_OFFSET = PLAN_DIGEST_OFFSET + DIGEST_BYTES;
const HEADER_BYTES = CODE_DIGEST_OFFSET + DIGEST_BYTES;
/** The row of the last block where there is none. */
const NO_BLOCK = -1;

/**
 * Serialises the state of an open plan between two blocks, in pieces that follow each other: views of the arenas, which
 * the next block changes.
 */
export function packCheckpoint(
  data: PlanData,
  next: Position,
  positions: Float64Array = new Float64Array(0),
): Uint8Array[] {
  const bytes = new Uint8Array(HEADER_BYTES);
  const header = new DataView(bytes.buffer);
  header.setUint32(0, MAGIC, true);
  header.setUint32(4, VERSION, true);
  header.setFloat64(8, next.row, true);
  header.setFloat64(16, next.lastBlockRow ?? NO_BLOCK, true);
  header.setUint32(24, next.generation, true);
  bytes.set(planDigest(data), PLAN_DIGEST_OFFSET);
  bytes.set(codeDigest(data), CODE_DIGEST_OFFSET);
  const pieces = [bytes, ...data.arenas.map(arenaState), new Uint8Array(positions.buffer)];
  return [...pieces, digestOf(...pieces)];
}

/** The contents of a checkpoint besides the state. */
export interface Unpacked {
  readonly next: Position;
  /** `CatchUp.positions`; empty for plans without conditions. */
  readonly positions: Float64Array;
}

/**
 * Writes the state of a checkpoint into the arenas and returns its position.
 *
 * @throws DataError E351 if the checkpoint is damaged, E352 if it belongs to another plan or other code; the arenas are
 *   unchanged then.
 */
export function unpackCheckpoint(bytes: Uint8Array, data: PlanData): Unpacked {
  const end = bytes.length - DIGEST_BYTES;
  if (end < HEADER_BYTES) throw checkpointDamaged("it is too short");
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (header.getUint32(0, true) !== MAGIC) throw checkpointDamaged("it does not start with its signature");
  if (!areEqual(digestOf(bytes.subarray(0, end)), bytes.subarray(end)))
    throw checkpointDamaged("its digest does not match");
  if (header.getUint32(4, true) !== VERSION) throw checkpointForeign("it was written by another version");
  const states = data.arenas.map(arenaState);
  const isOfPlan = areEqual(planDigest(data), bytes.subarray(PLAN_DIGEST_OFFSET, CODE_DIGEST_OFFSET));
  const isOfCode = areEqual(codeDigest(data), bytes.subarray(CODE_DIGEST_OFFSET, HEADER_BYTES));
  const stateEnd = HEADER_BYTES + lengthOf(states);
  const isOfSize = end === stateEnd + 8 * positionCount(data);
  const reasons: string[] = [];
  if (!isOfPlan || !isOfSize) reasons.push("the formulas, the number of symbols or the block size differ");
  // Other code may lay out its state differently; other formulas may apply other operators.
  if (!isOfCode) reasons.push("the engine or an operator has changed");
  if (reasons.length > 0) throw checkpointForeign(reasons.join(", or "));
  let at = HEADER_BYTES;
  for (const state of states) {
    state.set(bytes.subarray(at, at + state.length));
    at += state.length;
  }
  const lastBlockRow = header.getFloat64(16, true);
  for (const arena of data.arenas) {
    // Those of the checkpoint are of its own kernels: a processor without fused multiplication has others.
    writeConstants(arena.memory, arena.kernels.constants);
    stampParts(arena, lastBlockRow);
  }
  const next: Position = {
    row: header.getFloat64(8, true),
    generation: header.getUint32(24, true),
    lastBlockRow: lastBlockRow === NO_BLOCK ? null : lastBlockRow,
  };
  return { next, positions: new Float64Array(new Uint8Array(bytes.subarray(stateEnd, end)).buffer) };
}

/** Goes back to row 0: no part counts as having begun a block any more. */
export function rewind(data: PlanData): Unpacked {
  for (const arena of data.arenas) stampParts(arena, NO_BLOCK);
  return { next: START, positions: new Float64Array(positionCount(data)) };
}

/** What `CatchUp` keeps of a plan that has conditions. */
function positionCount({ plan: { nodes } }: PlanData): number {
  return nodes.some(({ conditions }) => conditions !== null) ? POSITIONS * nodes.length : 0;
}

/** Constants, columns, rings and operator state: everything before the stamps and the scratch space. */
function arenaState({ kernels, memory }: PlanArena): Uint8Array {
  return new Uint8Array(memory.buffer, 0, kernels.stateByteOffset + kernels.stateBytes);
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Marks every part as having begun the last block, so that a repeated run of it is detected; there are no snapshots of
 * it. See `KernelSet.stampByteOffset`.
 */
function stampParts({ plan, kernels, memory }: PlanArena, lastBlockRow: number): void {
  const partCount = plan.nodes.reduce((sum, node) => sum + node.partCount, 0);
  const stampCount = kernels.snapshots ? 2 * partCount : partCount;
  const stamps = new Int32Array(memory.buffer, kernels.stampByteOffset, stampCount);
  stamps.fill(lastBlockRow + 1, 0, partCount).fill(0, partCount);
}

function codeDigest({ codeDigest: digits }: PlanData): Uint8Array {
  return Buffer.from(digits, "hex");
}

/** Equal for plans that lay out columns and state alike, however their nodes are split. */
function planDigest({ arenas }: PlanData): Uint8Array {
  const layouts = arenas.map(({ plan, kernels, outputs: indices }) => {
    const { laneCount, blockRows, rowBytes, tasks, columns, outputs } = plan;
    const { stateByteOffset, stateBytes } = kernels;
    const clusters = plan.nodes.map((node) => node.tasks);
    return {
      laneCount,
      blockRows,
      rowBytes,
      tasks,
      columns,
      outputs,
      indices,
      clusters,
      stateByteOffset,
      stateBytes,
    };
  });
  return digestOf(Buffer.from(JSON.stringify(layouts, exactNumbers)));
}

/** JSON has no infinities, and would write -0 as 0. */
function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
    ? `number ${Object.is(value, -0) ? "-0" : value}`
    : value;
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
