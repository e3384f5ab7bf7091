import type { ColumnRows, LaneRange } from "./column_rows.ts";
import type { ClusterJob, Partition } from "./protocol.ts";
import { type Piece, type Rows, stageKind } from "./tiles.ts";

/** A series of a piece, and the column to fill from it. */
export interface SeriesRead {
  readonly series: number;
  readonly target: ColumnRows;
}

/** The pieces that a task reads. */
export interface PieceInput {
  /** Bytes read so far. */
  readonly bytesRead: number;
  /**
   * Copies rows of a piece into lanes of columns, which have as many rows.
   *
   * @param rows counted from the first row of the piece
   * @param reads ascending by series
   */
  read(piece: Piece, rows: Rows, reads: readonly SeriesRead[], lanes: LaneRange): void;
  /** A byte per cell of a block `[rows x lanes]`: 1 where the input has a row. Valid until the next call. */
  presence(piece: Piece): Uint8Array;
  /** The state that `StageRunner.save` returned. Valid until the next call. */
  state(piece: Piece): Uint8Array;
}

export interface PieceOutput {
  /** Sets rows from `row` on from lanes of columns, one per series; the remaining lanes become null. */
  write(row: number, columns: readonly ColumnRows[], lanes: LaneRange): void;
}

/** Takes the pieces of a tile in order. The tile is not visible before `finish`. */
export interface TileOutput {
  /** Bytes written so far. */
  readonly bytesWritten: number;
  /** Adds a piece of values `[series][rows x lanes]`; the caller must write every row. */
  addPiece(shape: PieceShape): PieceOutput;
  addPresence(present: Uint8Array): void;
  addState(state: Uint8Array): void;
  /** The buffers of the tile, valid until the next task; none if it is a file. */
  finish(): readonly Uint8Array[];
  /** Removes what was written. Does nothing after `finish`. */
  abort(): void;
}

export interface PieceShape {
  readonly seriesCount: number;
  readonly rowCount: number;
  readonly laneCount: number;
}

/** The piece of a stage or the panel with the rows of a block and the lanes of a shard. */
export function pieceAt(
  job: Pick<ClusterJob, "stages">,
  stage: number,
  slab: number,
  block: number,
  shard: number,
): Piece {
  return stageKind(job, stage) === "lanes"
    ? { stage, slab, part: shard, index: block }
    : { stage, slab, part: block, index: shard };
}

/** The lanes of the panel in a shard: fewer than `shardLanes` in the last one. */
export function lanesOfShard({ laneCount, shardLanes }: Partition, shard: number): LaneRange {
  const first = shard * shardLanes;
  return { first, count: Math.min(shardLanes, laneCount - first) };
}
