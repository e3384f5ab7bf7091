import { type Command, Option } from "commander";
import { parseSomeNames } from "../terminal/formula_file.ts";
import { parseCount } from "../terminal/whole_number.ts";

/** The options that `addRowOptions` adds. */
export interface RowOptions {
  readonly tail?: number;
  readonly head?: number;
  readonly symbols?: string[];
  readonly at?: string;
}

/** Rows that are printed at most. */
export const SHOWN_ROWS_MAX = 10_000;

/** Adds the options that choose the rows to be printed. */
export function addRowOptions(command: Command): Command {
  const option = (flags: string, text: string) => new Option(flags, text).conflicts("json");
  const parseRows = (text: string) => parseCount(text, 0, SHOWN_ROWS_MAX);
  return command
    .addOption(option("--tail <count>", "print the last rows (default: 5)").argParser(parseRows))
    .addOption(
      option("--head <count>", "print the first rows instead").conflicts("tail").argParser(parseRows),
    )
    .addOption(
      option("--symbols <names>", "print rows of these symbols only, e.g. AAPL,BA").argParser((text) =>
        parseSomeNames(text, "symbol"),
      ),
    )
    .addOption(option("--at <time>", "print the rows of this time only, e.g. 2018-02-07"));
}
