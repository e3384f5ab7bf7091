import type { ClusterJob, Partition } from "./protocol.ts";
import { kindOf, type Piece } from "./tiles.ts";

/** Where a task finds the pieces that it reads. What is given holds until the next is asked for. */
export interface PieceInput {
  /** Bytes read so far. */
  readonly bytesRead: number;
  /** `[rows of the piece x shardLanes]` of each of these series, in their order. */
  values(piece: Piece, series: readonly number[]): Float64Array[];
  /** A byte per cell of a block `[rows x lanes]`: 1 where the input has a row. */
  presence(piece: Piece): Uint8Array;
  /** What `StageRunner.save` gave. */
  state(piece: Piece): Uint8Array;
  /** Gives back files. May be called twice. */
  close(): void;
}

/** Takes a tile, piece by piece in order. Nobody sees it before `finish`. */
export interface TileOutput {
  /** Bytes written so far. */
  readonly bytesWritten: number;
  /** Adds a piece of so many values, all of which `fill` sets. */
  addValues(count: number, fill: (values: Float64Array) => void): void;
  /** Adds a piece of presence. */
  addPresence(present: Uint8Array): void;
  addState(state: Uint8Array): void;
  /** The buffers that are the tile; none where it is a file. They hold until the next task. */
  finish(): readonly Uint8Array[];
  /** Leaves nothing behind. Does nothing after `finish`. */
  abort(): void;
}

/** The piece of a stage (or the panel) that has the rows of a block and the lanes of a shard. */
export function pieceAt(
  job: Pick<ClusterJob, "stages">,
  stage: number,
  slab: number,
  block: number,
  shard: number,
): Piece {
  return kindOf(job, stage) === "lanes"
    ? { stage, slab, part: shard, index: block }
    : { stage, slab, part: block, index: shard };
}

/** Lanes of a shard that are lanes of the panel: fewer than `shardLanes` in the last one. */
export function lanesOfShard({ laneCount, shardLanes }: Partition, shard: number): number {
  return Math.min(shardLanes, laneCount - shard * shardLanes);
}

/** Some lanes of a column: those from `lane` on, of `width` in a row. */
export interface LanesOf {
  readonly values: Float64Array;
  readonly width: number;
  readonly lane: number;
}

/** Copies so many lanes of the first rows of one column into another. */
export function copyLanes(from: LanesOf, to: LanesOf, rowCount: number, laneCount: number): void {
  if (from.width === laneCount && to.width === laneCount) {
    to.values.set(from.values.subarray(0, rowCount * laneCount));
    return;
  }
  for (let row = 0; row < rowCount; row++) {
    const start = row * from.width + from.lane;
    to.values.set(from.values.subarray(start, start + laneCount), row * to.width + to.lane);
  }
}
