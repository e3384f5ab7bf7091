import { expect, test } from "vitest";
import { ChunkFiller, chunkBytes, chunkRowCounts, readChunk } from "../../../src/cluster/results/chunk.ts";
import type { FactorBlock } from "../../../src/data/factors/factor_batches.ts";
import { Seeded } from "../../support/seeded.ts";

const FACTORS = ["a", "b"];
const LANES = 3;

/** Rows `[first, first + count)` of series that any row and lane has other values in. */
function blockOf(first: number, count: number): FactorBlock {
  const cells = Array.from({ length: count * LANES }, (_, cell) => first * LANES + cell);
  return {
    rowCount: count,
    times: BigInt64Array.from({ length: count }, (_, row) => BigInt(first + row)),
    present: Uint8Array.from(cells, (cell) => Number(cell % 5 !== 2)),
    columns: new Map(
      FACTORS.map((name, index) => [name, Float64Array.from(cells, (cell) => cell + index / 2)]),
    ),
  };
}

test("the last chunk of a slab may be shorter", () => {
  expect(chunkRowCounts({ slabRows: [0, 10], chunkRows: 4, shares: [] }, 0)).toEqual([4, 4, 2]);
  expect(chunkRowCounts({ slabRows: [0, 8], chunkRows: 4, shares: [] }, 0)).toEqual([4, 4]);
  expect(chunkRowCounts({ slabRows: [0, 0], chunkRows: 4, shares: [] }, 0)).toEqual([]);
});

test("blocks of any size are cut into chunks of other sizes", () => {
  const random = new Seeded();
  for (let trial = 0; trial < 50; trial++) {
    const counts = Array.from({ length: 1 + random.below(6) }, () => 1 + random.below(9));
    const rowCount = counts.reduce((sum, count) => sum + count, 0);
    const filler = new ChunkFiller({ factors: FACTORS, laneCount: LANES }, counts, false);
    const chunks: Uint8Array[] = [];
    for (let first = 0; first < rowCount; ) {
      const count = Math.min(rowCount - first, 1 + random.below(12));
      chunks.push(...filler.add(blockOf(first, count)));
      first += count;
    }
    expect(chunks).toHaveLength(counts.length);
    let first = 0;
    for (const [index, count] of counts.entries()) {
      const shape = { factors: FACTORS, rowCount: count, laneCount: LANES };
      expect(chunks[index]!.length).toBe(chunkBytes(shape));
      const { columns, present } = blockOf(first, count);
      expect(readChunk(chunks[index]!, shape)).toEqual({ columns, present });
      first += count;
    }
  }
});

test("a chunk without factors says where the input has rows", () => {
  const filler = new ChunkFiller({ factors: [], laneCount: LANES }, [2], true);
  const [bytes] = filler.add({ ...blockOf(0, 2), columns: new Map() });
  expect([...bytes!]).toEqual([...blockOf(0, 2).present]);
});
