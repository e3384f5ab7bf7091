import { DOUBLE, DuckDBDataChunk } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { setColumn } from "../../../src/data/duckdb/raw_values.ts";

const chunkOf = (rowCount: number) => DuckDBDataChunk.create([DOUBLE], rowCount);

test("values may lie beyond 4 GiB of their buffer", () => {
  const far = 2 ** 32;
  // Only the pages that are touched take memory.
  const values = new Float64Array(new ArrayBuffer(far + 64), far, 2);
  values.set([5, 6]);
  const chunk = chunkOf(2);
  setColumn(chunk, 0, values);
  expect(chunk.getColumnValues(0)).toEqual([5, 6]);
});
