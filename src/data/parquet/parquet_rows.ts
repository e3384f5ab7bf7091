import { open } from "node:fs/promises";
import { FILE } from "./parquet_splice.ts";
import { readThrift } from "./thrift_compact.ts";

/** Length of the footer, then the magic. */
const SUFFIX_BYTES = 8;

/** Rows of a Parquet file by its footer; null if it is not Parquet. @throws the system's error if it cannot be read. */
export async function parquetRowCount(path: string): Promise<number | null> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size < SUFFIX_BYTES) return null;
  const suffix = Buffer.alloc(SUFFIX_BYTES);
  await file.read(suffix, 0, SUFFIX_BYTES, size - SUFFIX_BYTES);
  const length = suffix.readUInt32LE(0);
  if (suffix.toString("latin1", 4) !== "PAR1" || length > size - SUFFIX_BYTES) return null;
  const footer = new Uint8Array(length);
  await file.read(footer, 0, length, size - SUFFIX_BYTES - length);
  return Number(readThrift(footer).find(({ id }) => id === FILE.rowCount)?.value);
}
