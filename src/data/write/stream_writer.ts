/** Writes a result to a stream, such as stdout, as it comes. */
import type { Writable } from "node:stream";
import type { Schema } from "apache-arrow";
import { arrowStreamEncoder } from "../encoders/arrow_encoders.ts";
import type { TableEncoder } from "../encoders/table_encoder.ts";
import { csvEncoder, jsonLinesEncoder } from "../encoders/text_encoder.ts";
import { FactorBatches, type OutputColumns, type OutputOptions } from "../factors/factor_batches.ts";
import { batchWriter, type FactorWriter, type TableOutput } from "./batch_writer.ts";
import { namedSchema } from "./named_schema.ts";
import type { StreamFormat } from "./stream_formats.ts";

const ENCODERS: Readonly<Record<StreamFormat, (schema: Schema) => TableEncoder>> = {
  arrow: arrowStreamEncoder,
  csv: csvEncoder,
  jsonl: jsonLinesEncoder,
};

/**
 * Opens a stream for a result, which gets the bytes of the file of that format. A stream that its reader has closed, or whose
 * disk is full, takes no more: the values are still counted.
 *
 * @throws DataError E314 when a factor has the name of a key column.
 */
export function openStreamWriter(
  stream: Writable,
  format: StreamFormat,
  columns: OutputColumns,
  options: OutputOptions = {},
): FactorWriter {
  const batches = new FactorBatches(columns, options);
  const encoder = ENCODERS[format](namedSchema(batches.schema(), columns.origin?.()));
  let hasBegun = false;
  // After a failure nothing is written: on a disk that was full for a moment the result would have a hole.
  let hasFailed = false;
  const send = async (parts: ReturnType<TableEncoder["encode"]>) => {
    for await (const part of parts) {
      if (hasFailed) return;
      hasFailed = await new Promise<boolean>((resolve) => {
        stream.write(part, (failure) => resolve(Boolean(failure)));
      });
    }
  };
  const output: TableOutput = {
    write: async (written, onWritten) => {
      if (!hasBegun) await send(encoder.begin());
      hasBegun = true;
      for await (const batch of written) {
        await send(encoder.encode([batch]));
        onWritten?.(batch);
      }
    },
    commit: (schema) => send(encoder.finish(schema)),
    abort: async () => {},
  };
  return batchWriter(output, batches);
}
