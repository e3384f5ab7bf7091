/** Tiles as values: buffers that arrive with a task and leave with its answer. */
import { InternalError } from "../../errors.ts";
import { type ColumnRows, fillLanes, type LaneRange, rowsIn, takeLanes } from "../protocol/column_rows.ts";
import type { PieceInput, PieceOutput, PieceShape, SeriesRead, TileOutput } from "../protocol/pieces.ts";
import type { ClusterJob, ClusterTask } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { type Piece, pieceBytes, piecesRead, type Rows, seriesCount } from "../protocol/tiles.ts";

/** The pieces of a task as its buffers, in the order of `piecesRead`. */
export class HeldPieces implements PieceInput {
  bytesRead = 0;
  readonly #job: ClusterJob;
  readonly #buffers = new Map<string, Uint8Array>();

  /** @throws InternalError if there are not as many buffers as pieces. */
  constructor(job: ClusterJob, task: ClusterTask, buffers: readonly Uint8Array[]) {
    this.#job = job;
    const pieces = piecesRead(job, task);
    if (pieces.length !== buffers.length) {
      throw new InternalError(
        `a task that reads ${pieces.length} pieces came with ${buffers.length} buffers`,
      );
    }
    pieces.forEach((piece, index) => {
      this.#buffers.set(keyOf(piece), buffers[index]!);
    });
  }

  /** @throws InternalError if the buffer is not as long as the piece. */
  read(piece: Piece, rows: Rows, reads: readonly SeriesRead[], lanes: LaneRange): void {
    const { buffer, byteOffset, byteLength } = this.#buffer(piece);
    const expected = pieceBytes(this.#job, piece);
    if (byteLength !== expected)
      throw new InternalError(`piece ${keyOf(piece)} is ${byteLength}, not ${expected} bytes`);
    const values = new Float64Array(buffer, byteOffset, expected / Float64Array.BYTES_PER_ELEMENT);
    const length = values.length / seriesCount(this.#job, piece.stage);
    const width = this.#job.partition.shardLanes;
    for (const { series, target } of reads) {
      const first = series * length + rows.first * width;
      const source = values.subarray(first, first + (rows.end - rows.first) * width);
      fillLanes(target, lanes, { values: source, width });
      this.bytesRead += source.byteLength;
    }
  }

  presence(piece: Piece): Uint8Array {
    return this.#bytes(piece);
  }

  state(piece: Piece): Uint8Array {
    return this.#bytes(piece);
  }

  #bytes(piece: Piece): Uint8Array {
    const bytes = this.#buffer(piece);
    this.bytesRead += bytes.byteLength;
    return bytes;
  }

  #buffer(piece: Piece): Uint8Array {
    const buffer = this.#buffers.get(keyOf(piece));
    if (buffer === undefined) throw new InternalError(`a task came without the piece ${keyOf(piece)}`);
    return buffer;
  }
}

/** A tile in memory that the next task reuses. */
export class HeldTile implements TileOutput {
  bytesWritten = 0;
  readonly #pieceBuffers: ReusedBuffer[];
  readonly #pieces: Uint8Array[] = [];

  /** @param pieceBuffers one per piece, added as needed */
  constructor(pieceBuffers: ReusedBuffer[]) {
    this.#pieceBuffers = pieceBuffers;
  }

  addPiece({ seriesCount, rowCount, laneCount }: PieceShape): PieceOutput {
    const length = rowCount * laneCount;
    const values = this.#nextBuffer().doubles(seriesCount * length);
    this.#add(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return {
      write: (row: number, columns: readonly ColumnRows[], lanes: LaneRange) => {
        columns.forEach((column, series) => {
          const first = series * length + row * laneCount;
          const target = values.subarray(first, first + rowsIn(column) * laneCount);
          takeLanes(column, lanes, { values: target, width: laneCount });
        });
      },
    };
  }

  addPresence(present: Uint8Array): void {
    this.#addCopy(present);
  }

  addState(state: Uint8Array): void {
    this.#addCopy(state);
  }

  finish(): readonly Uint8Array[] {
    return this.#pieces;
  }

  abort(): void {}

  #addCopy(bytes: Uint8Array): void {
    const copy = this.#nextBuffer().bytes(bytes.length);
    copy.set(bytes);
    this.#add(copy);
  }

  #add(piece: Uint8Array): void {
    this.bytesWritten += piece.byteLength;
    this.#pieces.push(piece);
  }

  #nextBuffer(): ReusedBuffer {
    const index = this.#pieces.length;
    this.#pieceBuffers[index] ??= new ReusedBuffer();
    return this.#pieceBuffers[index];
  }
}

const keyOf = ({ stage, slab, part, index }: Piece) => `${stage}/${slab}/${part}/${index}`;
