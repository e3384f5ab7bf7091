/** The memory of DuckDB's vectors: a call per value would cost several times what DuckDB needs to produce it. */
import {
  DuckDBBigIntVector,
  type DuckDBDataChunk,
  DuckDBDoubleVector,
  DuckDBIntegerVector,
  DuckDBUBigIntVector,
  type DuckDBVector,
} from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { InternalError } from "../../errors.ts";

const OFFSET_MAX = 2 ** 32 - 1;

export type RawValues = Float64Array | Int32Array | BigInt64Array | BigUint64Array;

/**
 * The values of a vector of numbers, undefined for nulls; writes take effect when the vector is flushed. The library declares
 * the array private, but has no other access to more than one value at a time.
 */
export function rawValues(vector: DuckDBVector): RawValues {
  if (vector instanceof DuckDBDoubleVector) return vector["items"];
  if (vector instanceof DuckDBIntegerVector) return vector["items"];
  if (vector instanceof DuckDBBigIntVector) return vector["items"];
  if (vector instanceof DuckDBUBigIntVector) return vector["items"];
  throw new InternalError(`no raw values in a vector of ${vector.type}`);
}

/**
 * Sets a column of numbers without nulls: values of the column's type for all rows of the chunk. The library's vectors would
 * copy the column twice and leave garbage of its size.
 */
export function setColumn({ chunk }: DuckDBDataChunk, column: number, values: RawValues): void {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  // The bindings take an offset of 32 bits.
  const isFar = values.byteOffset + values.byteLength > OFFSET_MAX;
  const { buffer, byteOffset, byteLength } = isFar ? values.slice() : values;
  duckdb.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, byteLength);
}

/** A column of DOUBLE without nulls. */
export function doublesOf(chunk: DuckDBDataChunk, column: number): Float64Array {
  return rawValues(chunk.getColumnVector(column)) as Float64Array;
}

/** A column of INTEGER without nulls. */
export function integersOf(chunk: DuckDBDataChunk, column: number): Int32Array {
  return rawValues(chunk.getColumnVector(column)) as Int32Array;
}

/** A column of BIGINT without nulls, each value as its low and its high word. */
export function bigintWordsOf(chunk: DuckDBDataChunk, column: number): Int32Array {
  const { buffer, byteOffset, length } = rawValues(chunk.getColumnVector(column)) as BigInt64Array;
  return new Int32Array(buffer, byteOffset, length * 2);
}
