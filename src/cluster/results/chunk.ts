/**
 * Rows of some factors as bytes: the columns `[rows x lanes]` one after the other, 8 bytes a value, then for each cell a
 * byte, 1 where the input has a row.
 */
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { ClusterJob, Cut } from "../protocol/protocol.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** What a chunk holds. */
export interface ChunkShape {
  readonly factors: readonly string[];
  readonly rowCount: number;
  readonly laneCount: number;
}

export function chunkBytes({ factors, rowCount, laneCount }: ChunkShape): number {
  return rowCount * laneCount * (VALUE_BYTES * factors.length + 1);
}

/** Views of a chunk, whose bytes are aligned for doubles. */
export function readChunk(bytes: Uint8Array, shape: ChunkShape): Pick<FactorBlock, "columns" | "present"> {
  const { factors, rowCount, laneCount } = shape;
  const cells = rowCount * laneCount;
  const columns = factors.map((name, index) => {
    const start = bytes.byteOffset + index * cells * VALUE_BYTES;
    return [name, new Float64Array(bytes.buffer, start, cells)] as const;
  });
  return { columns: new Map(columns), present: bytes.subarray(factors.length * cells * VALUE_BYTES) };
}

/** Rows of each chunk of a slab. */
export function chunkRowCounts({ slabRows, chunkRows }: Cut, slab: number): number[] {
  const rows = slabRows[slab + 1]! - slabRows[slab]!;
  const count = Math.ceil(rows / chunkRows);
  return Array.from({ length: count }, (_, chunk) => Math.min(chunkRows, rows - chunk * chunkRows));
}

/** The chunks of all shares, of the panel rows from `first` on, as one block with all factors of the output in order. */
export function joinChunks(
  { cut, factors, source }: Pick<ClusterJob, "cut" | "factors" | "source">,
  first: number,
  rowCount: number,
  chunks: readonly Uint8Array[],
): FactorBlock {
  const laneCount = source.symbols.length;
  const read = cut.shares.map((share, index) =>
    readChunk(chunks[index]!, { factors: share.factors, rowCount, laneCount }),
  );
  const columns = new Map(read.flatMap((each) => [...each.columns]));
  return {
    rowCount,
    times: source.time.values.subarray(first, first + rowCount),
    present: read[0]!.present,
    columns: new Map(factors.map((name) => [name, columns.get(name) ?? null])),
  };
}

/** Cuts blocks of any number of rows into chunks. */
export class ChunkFiller {
  readonly #shape: Omit<ChunkShape, "rowCount">;
  /** Rows of the chunks to come. */
  readonly #rowCounts: number[];
  readonly #isReused: boolean;
  #memory = new ArrayBuffer(0);
  #bytes: Uint8Array | null = null;
  #filled = 0;

  /** @param isReused whether a chunk is read before the next one is filled: each fresh page costs a page fault */
  constructor(shape: Omit<ChunkShape, "rowCount">, rowCounts: readonly number[], isReused: boolean) {
    this.#shape = shape;
    this.#rowCounts = [...rowCounts];
    this.#isReused = isReused;
  }

  /** Copies a block; yields the chunks that it completes. */
  *add(block: FactorBlock): Generator<Uint8Array> {
    const { laneCount } = this.#shape;
    for (let row = 0; row < block.rowCount; ) {
      const shape = { ...this.#shape, rowCount: this.#rowCounts[0]! };
      this.#bytes ??= this.#take(chunkBytes(shape));
      const { columns, present } = readChunk(this.#bytes, shape);
      const count = Math.min(block.rowCount - row, shape.rowCount - this.#filled);
      const [from, to] = [row * laneCount, (row + count) * laneCount];
      const at = this.#filled * laneCount;
      for (const [name, target] of columns) target!.set(block.columns.get(name)!.subarray(from, to), at);
      present.set(block.present.subarray(from, to), at);
      row += count;
      this.#filled += count;
      if (this.#filled < shape.rowCount) continue;
      yield this.#bytes;
      this.#rowCounts.shift();
      this.#bytes = null;
      this.#filled = 0;
    }
  }

  #take(bytes: number): Uint8Array {
    if (!this.#isReused || this.#memory.byteLength < bytes) this.#memory = new ArrayBuffer(bytes);
    return new Uint8Array(this.#memory, 0, bytes);
  }
}
