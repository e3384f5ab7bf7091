/** The sink for each output format. */
import type { Schema } from "apache-arrow";
import { ArrowSink } from "./arrow_sink.ts";
import { CopySink, type IdleWriters } from "./copy_sink.ts";
import type { OutputFormat } from "./output_format.ts";
import type { TableSink } from "./table_sink.ts";

/** Opens the file for a table with the columns of the schema. */
export function openSink(
  path: string,
  format: OutputFormat,
  schema: Schema,
  idle: IdleWriters | null = null,
): Promise<TableSink> {
  return format === "arrow" ? ArrowSink.open(path, schema) : CopySink.open(path, format, schema, idle);
}
