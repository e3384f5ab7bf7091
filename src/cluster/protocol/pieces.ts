import type { ColumnRows, LaneRange } from "./column_rows.ts";
import type { ClusterJob, Partition } from "./protocol.ts";
import { type Piece, type Rows, stageKind } from "./tiles.ts";

/** A series of a piece, and the column that it goes to. */
export interface SeriesRead {
  readonly series: number;
  readonly target: ColumnRows;
}

/** Where a task finds the pieces that it reads. */
export interface PieceInput {
  /** Bytes read so far. */
  readonly bytesRead: number;
  /**
   * Brings rows of a piece into lanes of columns, which have as many rows.
   *
   * @param rows counted from the first row of the piece
   * @param reads ascending by series
   */
  read(piece: Piece, rows: Rows, reads: readonly SeriesRead[], lanes: LaneRange): void;
  /** A byte per cell of a block `[rows x lanes]`: 1 where the input has a row. Holds until the next call. */
  presence(piece: Piece): Uint8Array;
  /** What `StageRunner.save` gave. Holds until the next call. */
  state(piece: Piece): Uint8Array;
}

/** A piece of values that is being written. */
export interface PieceOutput {
  /** Sets some rows, the first of which is `row`, from lanes of columns, one per series; lanes behind them are null. */
  write(row: number, columns: readonly ColumnRows[], lanes: LaneRange): void;
}

/** Takes a tile, piece by piece in order. Nobody sees it before `finish`. */
export interface TileOutput {
  /** Bytes written so far. */
  readonly bytesWritten: number;
  /** Adds a piece of values `[series][rows x lanes]`, of which every row has to be written. */
  addPiece(shape: PieceShape): PieceOutput;
  /** Adds a piece of presence. */
  addPresence(present: Uint8Array): void;
  addState(state: Uint8Array): void;
  /** The buffers that are the tile; none where it is a file. They hold until the next task. */
  finish(): readonly Uint8Array[];
  /** Leaves nothing behind. Does nothing after `finish`. */
  abort(): void;
}

export interface PieceShape {
  readonly seriesCount: number;
  readonly rowCount: number;
  readonly laneCount: number;
}

/** The piece of a stage (or the panel) that has the rows of a block and the lanes of a shard. */
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

/** Which lanes of the panel are those of a shard: fewer than `shardLanes` in the last one. */
export function lanesOfShard({ laneCount, shardLanes }: Partition, shard: number): LaneRange {
  const first = shard * shardLanes;
  return { first, count: Math.min(shardLanes, laneCount - first) };
}
