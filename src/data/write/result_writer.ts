/** A result that is written batch by batch, so that it may be larger than memory. */
import type { RecordBatch, Schema } from "apache-arrow";
import { type ArgumentKind, checkArgument, hasAll, PATH } from "../../text/argument_kinds.ts";
import { NAMED_PROGRAM, type NamedProgram } from "./named_schema.ts";
import { OutputFile, writerMisused } from "./output_file.ts";

/** Writes the batches of a stream into a file, which has its name once it is complete. */
export interface ResultWriter extends AsyncDisposable {
  /**
   * Adds the next batch of the stream. One call at a time.
   *
   * @throws UsageError E528 for what is no batch, E548 after the end; ResourceError E442 when writing fails.
   */
  write(batch: RecordBatch): Promise<void>;
  /** Writes the end and gives the file its name. @throws UsageError E548 without a batch; ResourceError E442. */
  commit(): Promise<void>;
  /** Gives up: no file stays, and one that was there before is as it was. Does nothing after `commit`. */
  abort(): Promise<void>;
}

const BATCH: ArgumentKind = {
  what: "a record batch",
  fits: (given) => hasAll(given, ["schema", "data", "numRows"]) && !hasAll(given, ["batches"]),
  remedy: "give the batches of engine.stream(program, source)",
};

/**
 * Opens a file for the batches of `engine.stream` or `cluster.stream`, in the format of the path's extension. It holds the
 * bytes that `writeTable` writes for the table of the same batches and the same program. A failure, and leaving the block of `await using` before
 * `commit`, leave no file.
 *
 * @param program whose factors the batches have: an Arrow or Parquet file then says the formulas (docs/data.md)
 * @throws UsageError E528, E544.
 * @example
 * const source = await openPanelSource("bars.parquet");
 * await using writer = await openResultWriter("factors.parquet", program);
 * for await (const batch of engine.stream(program, source)) await writer.write(batch);
 * await writer.commit();
 * await source.close();
 */
export async function openResultWriter(path: string, program?: NamedProgram): Promise<ResultWriter> {
  checkArgument("openResultWriter", path, PATH);
  if (program !== undefined) checkArgument("openResultWriter", program, NAMED_PROGRAM);
  const file = await OutputFile.open(path);
  // Of the newest batch: its metadata count what all so far hold.
  let schema: Schema | null = null;
  return {
    write: async (batch) => {
      checkArgument("write", batch, BATCH);
      if (schema === null) await file.begin(batch.schema, program?.origin());
      schema = batch.schema;
      // A stream without rows has a batch for its columns.
      await file.write(batch.numRows === 0 ? [] : [batch]);
    },
    commit: async () => {
      if (schema === null) throw writerMisused(path, "has no columns: no batch was written");
      await file.commit(schema);
    },
    abort: () => file.abort(),
    [Symbol.asyncDispose]: () => file.abort(),
  };
}
