/** Writes an Arrow table to a file. */
import type { Table } from "apache-arrow";
import { type ArgumentKind, checkArgument, hasAll, PATH } from "../../text/argument_kinds.ts";
import { NAMED_PROGRAM, type NamedProgram } from "./named_schema.ts";
import { OutputFile } from "./output_file.ts";

const TABLE: ArgumentKind = {
  what: "an Arrow table",
  fits: (given) => hasAll(given, ["schema", "batches"]),
  remedy: "a table is what (await engine.evaluate(program, panel)).table is",
};

/**
 * Writes a table of times, text and numbers (such as `factorTable` gives) in the format of the path's extension:
 * .arrow or .feather (IPC file), .parquet (ZSTD), .csv or .csv.gz. All hold the same values: null is an empty cell in
 * CSV, numbers have their shortest exact digits, infinities are `inf` and `-inf`, dates YYYY-MM-DD, times with zone
 * are in UTC. Parquet and Arrow also keep the types; CSV has none, so that whole numbers come back as 64-bit integers
 * and timestamps as microseconds. The file appears under its name when it is complete.
 *
 * @param program whose factors the table has: an Arrow or Parquet file then says the formulas (docs/data.md)
 * @throws UsageError E528 for other arguments and columns, E544, DataError E314 for names that differ only by case;
 *   ResourceError E442 when writing fails.
 */
export async function writeTable(table: Table, path: string, program?: NamedProgram): Promise<void> {
  checkArgument("writeTable", table, TABLE);
  checkArgument("writeTable", path, PATH);
  if (program !== undefined) checkArgument("writeTable", program, NAMED_PROGRAM);
  const file = await OutputFile.open(path);
  await file.begin(table.schema, program?.origin());
  await file.write(table.batches);
  await file.commit(table.schema);
}
