import { type Command, Option } from "commander";
import { STREAM_FORMATS, type StreamFormat } from "../../data/write/stream_formats.ts";
import type { Flags } from "../opening/option_flags.ts";
import { collect } from "../terminal/repeated_options.ts";
import { addRowOptions, type RowOptions } from "./row_options.ts";

/** The flags of `eval` and `cluster eval` beside those of the table of options. */
export interface ResultFlags extends Flags, RowOptions {
  readonly data: string;
  readonly expr?: readonly string[];
  readonly out?: string;
  readonly format?: StreamFormat;
  readonly trace?: string;
  readonly report?: string;
  readonly all?: true;
  readonly json?: true;
}

/** Adds the flags that `eval` and `cluster eval` have for their results. */
export function addResultFlags(command: Command, out: string): Command {
  return addRowOptions(command)
    .option("--expr <formula>", "a formula instead of a file, e.g. 'rank(close)' (may be repeated)", collect)
    .option("--out <path>", out)
    .addOption(new Option("--format <name>", "what --out - writes (default: csv)").choices(STREAM_FORMATS))
    .option("--trace <path>", "write what every thread did, for ui.perfetto.dev")
    .option("--all", "print a line for every factor, not only for those with most nulls")
    .option("--json", "print the summary as JSON");
}
