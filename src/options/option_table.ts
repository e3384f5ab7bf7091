/** The one table of what users say of bars, formulas and their evaluation: every door takes its options from here. */
import { COMPILE_OPTIONS, type CompileOptions } from "../compile.ts";
import { PANEL_SOURCE_OPTIONS, type ReadPanelOptions } from "../data/source/source_options.ts";
import { EVALUATE_OPTIONS, type EvaluateOptions, THREADS } from "../evaluation/options.ts";
import { MEMORY_LIMIT } from "../text/byte_size.ts";
import { checkedOptions, type OptionKinds, type Refusal } from "../text/option_kinds.ts";
import { DOORS, type Door, type OptionRow } from "./doors.ts";

type Rows<Options> = Readonly<Record<keyof Options, Omit<OptionRow, "spec" | "kind">>>;

/** How the bars are read. */
const SOURCE: Rows<ReadPanelOptions> = {
  groups: {
    written: "path",
    flag: "--groups <path>",
    yaml: "groups",
    help: "table with symbol and group columns, e.g. sector",
  },
  series: {
    written: "path",
    flag: "--series <path>",
    yaml: "series",
    help: "table with times and numbers for all symbols alike, e.g. an index",
  },
  renames: {
    written: "path",
    flag: "--renames <path>",
    yaml: "renames",
    help: "table old,new,from of symbols that changed",
  },
  rename: {
    written: "pairs",
    flag: "--field <name=column>",
    yaml: "source.fields",
    help: "a field by another name, e.g. close=px_last (may be repeated)",
  },
  timeColumn: {
    written: "text",
    flag: "--time-column <name>",
    yaml: "source.time_column",
    help: "column of times, if it is not time, date, datetime or timestamp",
  },
  symbolColumn: {
    written: "text",
    flag: "--symbol-column <name>",
    yaml: "source.symbol_column",
    help: "column of symbols, if it is not called symbol",
  },
};

/** What the formulas are compiled to. */
const PROGRAM: Rows<Pick<CompileOptions, "dialect" | "universe" | "operators" | "disabledPasses">> = {
  dialect: {
    written: "text",
    flag: "--dialect <name>",
    yaml: "formulas.dialect",
    help: "native, alpha101, qlib, gtja191 (default: what the file states)",
  },
  universe: {
    written: "text",
    flag: "--universe <name>",
    yaml: "formulas.universe",
    help: "operators across the row see only symbols where this definition is not 0",
  },
  operators: {
    written: "list",
    flag: "--operators <path>",
    yaml: "formulas.operators",
    help: "module that exports operators (may be repeated)",
  },
  disabledPasses: {
    written: "list",
    flag: "--no-pass <name>",
    yaml: "formulas.disabled_passes",
    help: "leave a compiler pass out (may be repeated)",
    refused: {
      "factorloom verify": {
        problem: "verify takes no --no-pass",
        remedy: "leave it out: it tries the program without each pass",
      },
    },
  },
};

const inEachCall = (name: string): Refusal => ({
  problem: `many calls at once take no ${name}`,
  remedy:
    name === "params"
      ? "give each call its own: [{ params: { ... } }, ...]"
      : "give each call its params, or evaluate the table of params by itself",
});
const inSession = (name: string, remedy: string): Refusal => ({
  problem: `a session takes no ${name}`,
  remedy,
});
const oneFactor: Refusal = { problem: "why explains one factor", remedy: "name it: factor, --factor" };
const notVerified = (what: string, remedy: string): Refusal => ({
  problem: `verify takes no ${what}`,
  remedy,
});
const cellHasTime: Refusal = { problem: "a cell has one time", remedy: "give time, or use whyRows" };

/** One evaluation. */
const CALL: Rows<EvaluateOptions> = {
  params: {
    written: "pairs",
    flag: "--param <name=value>",
    yaml: "params",
    help: "value of a param (may be repeated)",
    refused: { evaluateMany: inEachCall("params") },
  },
  paramsByTime: {
    written: "path",
    flag: "--params-by-time <path>",
    yaml: "params_by_time",
    help: "table with a time column and params: replays history with them",
    refused: {
      evaluateMany: inEachCall("paramsByTime"),
      openSession: inSession("paramsByTime", "give each push the params of its time"),
    },
  },
  select: {
    written: "names",
    flag: "--select <names>",
    yaml: "select",
    help: "only these factors, e.g. alpha001,alpha002",
    refused: { why: oneFactor, whyRows: oneFactor, "factorloom why": oneFactor },
  },
  from: {
    written: "text",
    flag: "--from <time>",
    yaml: "from",
    help: "first time of the output; the history before it still counts",
    refused: { why: cellHasTime, openSession: inSession("from", "its output begins with the first push") },
  },
  to: {
    written: "text",
    flag: "--to <time>",
    yaml: "to",
    help: "last time of the output",
    refused: { why: cellHasTime, openSession: inSession("to", "its output ends with the last push") },
  },
  restarts: {
    written: "restarts",
    flag: "--restarts <times>",
    yaml: "restarts",
    help: "windows restart at these times, or at sessions: 09:30-16:00@Europe/Paris",
  },
  keepInfinite: {
    written: "switch",
    flag: "--keep-inf",
    yaml: "keep_infinite",
    help: "keep infinities instead of turning them into nulls",
    refused: {
      "factorloom verify": notVerified("--keep-inf", "leave it out: it compares infinities as they are"),
    },
  },
  priority: {
    written: "count",
    flag: "--priority <number>",
    yaml: "priority",
    help: "among calls under way, larger ones first (default: 0)",
    refused: {
      "factorloom verify": notVerified("--priority", "leave it out: its runs come one after the other"),
    },
  },
  blockRows: {
    written: "count",
    flag: "--block-rows <count>",
    yaml: "block_rows",
    help: "times that are computed together (default: what suits memory)",
    refused: {
      openSession: inSession("blockRows", "leave it out: its blocks are single rows"),
      "factorloom verify": notVerified("--block-rows", "leave it out: it tries blocks of several sizes"),
    },
  },
  kernel: {
    written: "choice",
    flag: "--kernel <kind>",
    yaml: "kernel",
    help: "compiled code, or slow references",
    refused: { "factorloom verify": notVerified("--kernel", "leave it out: it compares both") },
  },
  signal: {
    written: null,
    flag: null,
    yaml: null,
    help: "ends the call; at a command line Ctrl-C, for jobs SIGTERM",
  },
  onProgress: {
    written: null,
    flag: null,
    yaml: null,
    help: "tells what is done; at a command line a line on stderr, for jobs the log",
    refused: { openSession: inSession("onProgress", "leave it out: each push is done when it resolves") },
  },
};

/** What runs it. */
const ENGINE: Rows<{ threads: number; memoryLimit: string }> = {
  threads: {
    written: "count",
    flag: "--threads <count>",
    yaml: null,
    help: "executor threads (default: one per core, less one from 4 on)",
    refused: {
      "factorloom cluster eval": {
        problem: "--threads is not possible on a cluster",
        remedy: "leave it out: tasks run on the threads of its workers",
      },
    },
  },
  memoryLimit: {
    written: "size",
    flag: "--memory-limit <size>",
    yaml: null,
    help: "memory for columns, e.g. 4GiB (default: 60 % of the machine's)",
  },
};

function withKinds<Options>(
  spec: OptionRow["spec"],
  rows: Rows<Options>,
  kinds: OptionKinds<Options>,
): Readonly<Record<keyof Options, OptionRow>> {
  const names = Object.keys(rows as object) as (keyof Options)[];
  return Object.fromEntries(
    names.map((name) => [name, { ...rows[name], spec, kind: kinds[name] }]),
  ) as Record<keyof Options, OptionRow>;
}

export const OPTION_TABLE = {
  ...withKinds("source", SOURCE, PANEL_SOURCE_OPTIONS),
  ...withKinds("program", PROGRAM, COMPILE_OPTIONS),
  ...withKinds("call", CALL, EVALUATE_OPTIONS),
  ...withKinds("engine", ENGINE, { threads: THREADS, memoryLimit: MEMORY_LIMIT }),
};

export type OptionName = keyof typeof OPTION_TABLE;

/** What a door takes and what it refuses, of the specs that belong to it. */
export function optionsAt(door: Door): {
  readonly taken: readonly (OptionRow & { readonly name: OptionName })[];
  readonly refused: readonly (OptionRow & { readonly name: OptionName; readonly refusal: Refusal })[];
} {
  const specs: readonly string[] = DOORS[door];
  const rows = Object.entries<OptionRow>(OPTION_TABLE)
    .filter(([, { spec }]) => specs.includes(spec))
    .map(([name, row]) => ({ ...row, name: name as OptionName }));
  return {
    taken: rows.filter(({ refused }) => refused?.[door] === undefined),
    refused: rows.flatMap((row) => {
      const refusal = row.refused?.[door];
      return refusal === undefined ? [] : [{ ...row, refusal }];
    }),
  };
}

/**
 * The options that are given at a door of the library: those of the table, and its own.
 *
 * @throws UsageError as `checkedOptions`.
 */
export function checkedAt<Options extends object>(
  door: Door,
  given: Options,
  own: OptionKinds<Omit<Options, OptionName>>,
  alsoRefused: ReadonlyMap<string, Refusal> = new Map(),
): Options {
  const { taken, refused } = optionsAt(door);
  const kinds = { ...Object.fromEntries(taken.map(({ name, kind }) => [name, kind])), ...own };
  const refusals = new Map([...refused.map((row) => [row.name, row.refusal] as const), ...alsoRefused]);
  return checkedOptions(door, given, kinds as OptionKinds<Options>, "option", refusals);
}
