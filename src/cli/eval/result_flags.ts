import { type Command, Option } from "commander";
import { STREAM_FORMATS, type StreamFormat } from "../../data/write/stream_formats.ts";
import type { Flags } from "../opening/option_flags.ts";
import { collect, countTo, someNames } from "../terminal/option_values.ts";

/** The flags of `eval` and `cluster eval` beside those of the table of options. */
export interface ResultFlags extends Flags {
  readonly data: string;
  readonly tail?: number;
  readonly head?: number;
  readonly symbols?: string[];
  readonly at?: string;
  readonly expr?: readonly string[];
  readonly out?: string;
  readonly format?: StreamFormat;
  readonly trace?: string;
  readonly report?: string;
  readonly all?: true;
  readonly json?: true;
}

/** Rows that are printed at most. */
export const SHOWN_ROWS_MAX = 10_000;

/** Adds the flags that `eval` and `cluster eval` have for their results. */
export function addResultFlags(command: Command, out: string): Command {
  const printed = (flags: string, text: string, parse?: (text: string) => unknown) => {
    const option = new Option(flags, text).conflicts("json");
    return parse ? option.argParser(parse) : option;
  };
  const rows = countTo(SHOWN_ROWS_MAX, 0);
  return command
    .addOption(printed("--tail <count>", "print the last rows (default: 5)", rows))
    .addOption(printed("--head <count>", "print the first rows instead", rows).conflicts("tail"))
    .addOption(
      printed("--symbols <names>", "print rows of these symbols only, e.g. AAPL,BA", someNames("symbol")),
    )
    .addOption(printed("--at <time>", "print the rows of this time only, e.g. 2018-02-07"))
    .option("--expr <formula>", "a formula instead of a file, e.g. 'rank(close)' (may be repeated)", collect)
    .option("--out <path>", out)
    .addOption(new Option("--format <name>", "what --out - writes (default: csv)").choices(STREAM_FORMATS))
    .option("--trace <path>", "write what every thread did, for ui.perfetto.dev")
    .option("--all", "print a line for every factor, not only for those with most nulls")
    .option("--json", "print the summary as JSON");
}
