import { type Command, Option } from "commander";
import { STREAM_FORMATS } from "../../data/write/stream_formats.ts";
import { BLOCK_ROWS_MAX, THREADS_MAX } from "../../limits.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { parseSomeNames } from "../terminal/formula_file.ts";
import { collect, collectAssignment } from "../terminal/repeated_options.ts";
import { parseCountTo } from "../terminal/whole_number.ts";
import { addClusterOptions } from "./cluster_options.ts";
import { evaluateFile } from "./eval_run.ts";
import { addRowOptions } from "./row_options.ts";

/** Adds the options of an evaluation: bars, dialect, factors, params, times, threads, memory. */
export function addCallOptions(command: Command): Command {
  return addOptionsBesideData(addData(command));
}

export function addData(command: Command): Command {
  return command.requiredOption(
    "--data <path>",
    "bars: .csv, .csv.gz, .parquet, .arrow, or a folder of .parquet or .arrow, with time|date, symbol and fields; eval reads - from stdin",
  );
}

/** The same without `--data`, for commands that may do without bars. */
export function addOptionsBesideData(command: Command): Command {
  return addRunOptions(command).option(
    "--select <names>",
    "only these factors, e.g. alpha001,alpha002",
    (text) => parseSomeNames(text, "factor"),
  );
}

/** The same for all factors of a file. */
export function addRunOptions(command: Command): Command {
  command.option("--groups <path>", "table with symbol and group columns, e.g. sector");
  return addPanelOptions(command)
    .option("--param <name=value>", "value of a param (may be repeated)", collectAssignment)
    .option("--params-by-time <path>", "table with a time column and params: replays history with them")
    .option("--from <time>", "first time of the output; the history before it still counts")
    .option("--to <time>", "last time of the output")
    .option(
      "--threads <count>",
      "executor threads (default: one per core, less one from 4 on)",
      parseCountTo(THREADS_MAX),
    )
    .option(
      "--memory-limit <size>",
      "memory for columns, e.g. 4GiB (default: 60 % of the machine's)",
      parseByteSize,
    );
}

/** Adds the options that define columns of a panel besides bars and groups, and the dialect of formulas. */
export function addPanelOptions(command: Command): Command {
  return command
    .option("--series <path>", "table with a time column and numbers for all symbols alike, e.g. an index")
    .option(
      "--field <name=column>",
      "a field by another name, e.g. close=px_last (may be repeated)",
      collectAssignment,
    )
    .option("--time-column <name>", "column of times, if it is not called time, date, datetime or timestamp")
    .option("--symbol-column <name>", "column of symbols, if it is not called symbol")
    .option(
      "--universe <name>",
      "operators across the row see only symbols where this definition or field is not 0",
    )
    .option(
      "--dialect <name>",
      "dialect of the file: native, alpha101, qlib, gtja191 (default: what it states)",
    );
}

export function addEval(program: Command): void {
  const command = program
    .command("eval")
    .description("evaluate a formula file over a table of bars; print its last rows and a summary")
    .argument("[file]", "formula file, - for stdin");
  addRowOptions(addClusterOptions(addCallOptions(command)))
    .option("--expr <formula>", "a formula instead of a file, e.g. 'rank(close)' (may be repeated)", collect)
    .option(
      "--out <path>",
      "write the factors to .arrow, .parquet, .csv or .csv.gz; with dask also to a folder/ of Parquet files; - for stdout",
    )
    .addOption(new Option("--format <name>", "what --out - writes (default: csv)").choices(STREAM_FORMATS))
    .option(
      "--trace <path>",
      "write what every thread did, when: JSON for ui.perfetto.dev or chrome://tracing",
    )
    .option(
      "--report <path>",
      "write a page about the run: values, coverage, nulls by cause, time by node, threads (a second pass)",
    )
    .option(
      "--block-rows <count>",
      "times that are computed together (default: what suits memory)",
      parseCountTo(BLOCK_ROWS_MAX),
    )
    .addOption(
      new Option("--kernel <kind>", "compiled, or reference: slow, to check the others by")
        .choices(["compiled", "reference"])
        .default("compiled"),
    )
    .option("--keep-inf", "keep infinities instead of turning them into nulls")
    .option("--no-pass <name>", "leave a compiler pass out (may be repeated)", collect)
    .option("--all", "print a line for every factor, not only for those with most nulls")
    .option("--causes", "say by which first causes each factor is null (a second pass)")
    .option("--json", "print the summary as JSON")
    .action(evaluateFile);
}
