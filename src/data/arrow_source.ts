/** Arrow IPC, file or stream, into a relation: a table of DuckDB, filled from the record batches. */
import { open } from "node:fs/promises";
import { zstdDecompressSync } from "node:zlib";
import {
  CompressionType,
  compressionRegistry,
  type Field,
  type RecordBatch,
  RecordBatchReader,
  type Schema,
} from "apache-arrow";
import { isText } from "./arrow_columns.ts";
import { registerArrowScan } from "./arrow_scan.ts";
import { timeTypeOf, valuesPerUnit } from "./arrow_time.ts";
import type { Database } from "./database.ts";
import { noRows } from "./errors.ts";
import { decodeLz4Frame } from "./lz4_frame.ts";
import { columnId, type InputColumn, type KeyFinder, parsing, type Relation } from "./relation.ts";

/** Loads an Arrow IPC file (.arrow, .feather, .ipc; plain, LZ4 or ZSTD) into the table `raw`. */
export async function openArrow(
  database: Database,
  file: string,
  path: string,
  findKeys: KeyFinder,
): Promise<Relation> {
  const format = "Arrow IPC";
  return parsing(file, format, async () => {
    const { schema, batches } = await readBatches(path);
    const keys = findKeys(schema.fields.map((field) => field.name));
    if (batches.length === 0) throw noRows(file);
    const isScanned = registerArrowScan(database, schema, batches);
    await database.connection.run("CREATE TEMP TABLE raw AS FROM arrow_rows()");
    const columns = schema.fields.map((field, index) =>
      describeColumn(field, index, isScanned[index] === true),
    );
    return { database, file, format, keys, columns, lineOfRow: null };
  });
}

async function readBatches(path: string): Promise<{ schema: Schema; batches: RecordBatch[] }> {
  registerCodecs();
  const handle = await open(path);
  try {
    const reader = await RecordBatchReader.from(handle);
    await reader.open();
    const { schema } = reader; // gone at the end of the batches
    if (schema === undefined) throw new Error("it has no schema");
    const batches: RecordBatch[] = [];
    for await (const batch of reader) batches.push(batch);
    return { schema, batches };
  } finally {
    await handle.close();
  }
}

/** Arrow leaves decompression to its users; a decoder that somebody has registered before us stays. */
function registerCodecs(): void {
  const decoders = [
    [CompressionType.ZSTD, (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes))],
    [CompressionType.LZ4_FRAME, decodeLz4Frame],
  ] as const;
  for (const [type, decode] of decoders) {
    const codec = compressionRegistry.get(type);
    if (codec?.decode === undefined) compressionRegistry.set(type, { ...codec, decode });
  }
}

function describeColumn(field: Field, index: number, isScanned: boolean): InputColumn {
  const id = columnId(index);
  const type = timeTypeOf(field.type);
  const isMoment = type !== null && type.kind !== "integer";
  const isUsable = isScanned && !isMoment && field.name !== "";
  const kind = !isUsable ? "ignored" : isText(field.type) ? "text" : "number";
  const perUnit = valuesPerUnit(field.type);
  const sql = perUnit === 1 ? `CAST(${id} AS BIGINT)` : `${id} // ${perUnit}`;
  return {
    name: field.name,
    id,
    kind,
    typeName: String(field.type),
    time: type === null ? null : { type, sql },
  };
}
