/** Writes a result to a file, block by block. */
import { FactorBatches, type OutputColumns, type OutputOptions } from "../factors/factor_batches.ts";
import { batchWriter, type FactorWriter } from "./batch_writer.ts";
import { OutputFile } from "./output_file.ts";
import type { OutputFormat } from "./output_format.ts";

/**
 * Opens a file for a result. It holds the same bytes as `writeTable` writes for the `factorTable` of the same values,
 * whatever the sizes of the blocks. A failure leaves no file.
 *
 * @param givenFormat for a path whose extension does not tell the format
 * @throws UsageError E544, DataError E314; ResourceError E442 when writing fails, here or later.
 */
export async function openFactorWriter(
  path: string,
  columns: OutputColumns,
  options: OutputOptions = {},
  givenFormat?: OutputFormat,
): Promise<FactorWriter> {
  const batches = new FactorBatches(columns, options);
  const file = await OutputFile.open(path, givenFormat);
  await file.begin(batches.schema(), columns.origin?.());
  return batchWriter(file, batches);
}
