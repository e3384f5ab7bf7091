import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { ParamValue } from "../ast/program.ts";
import { compile, finalDag, type Program } from "../compile.ts";
import { countCalls, countUnsharedCalls } from "../dag/print.ts";
import type { EvaluationReport } from "../engine.ts";
import { UsageError } from "../errors.ts";
import { THREADS_MAX } from "../limits.ts";
import { parseByteSize } from "../text/byte_size.ts";
import { collect, disabledPasses } from "./explain.ts";
import { parseNames, readFormulaFile } from "./formula_file.ts";
import { formatTable } from "./text_table.ts";

interface EvalOptions {
  readonly data: string;
  readonly groups?: string;
  readonly series?: string;
  readonly field?: Readonly<Record<string, string>>;
  readonly timeColumn?: string;
  readonly symbolColumn?: string;
  readonly universe?: string;
  readonly paramsByTime?: string;
  readonly dialect?: string;
  readonly out?: string;
  readonly select?: string[];
  readonly param?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
  readonly threads?: number;
  readonly memoryLimit?: number;
  readonly keepInf?: true;
  readonly pass?: string[] | true;
  readonly json?: true;
}

export function addEval(program: Command): void {
  program
    .command("eval")
    .description("evaluate a formula file over a table of bars")
    .argument("<file>", "formula file")
    .requiredOption(
      "--data <path>",
      "bars: .csv, .csv.gz, .parquet, .arrow with time|date, symbol and fields",
    )
    .option("--groups <path>", "table with symbol and group columns, e.g. sector")
    .option("--series <path>", "table with a time column and numbers for all symbols alike, e.g. an index")
    .option(
      "--field <name=column>",
      "a field by another name, e.g. close=px_last (may be repeated)",
      parseAssignment,
    )
    .option("--time-column <name>", "column of times, if it is not called time, date, datetime or timestamp")
    .option("--symbol-column <name>", "column of symbols, if it is not called symbol")
    .option("--universe <field>", "operators across the row see only lanes where this field is not 0")
    .option(
      "--dialect <name>",
      "dialect of the file: native, alpha101, qlib, gtja191 (default: what it states)",
    )
    .option("--out <path>", "write the factors to .arrow, .parquet, .csv or .csv.gz")
    .option("--select <names>", "only these factors, e.g. alpha001,alpha002", parseSelection)
    .option("--param <name=value>", "value of a param (may be repeated)", parseAssignment)
    .option("--params-by-time <path>", "table with a time column and params: replays history with them")
    .option("--from <time>", "first time of the output; the history before it still counts")
    .option("--to <time>", "last time of the output")
    .option("--threads <count>", "executor threads (default: one per core)", parseThreads)
    .option(
      "--memory-limit <size>",
      "memory for columns, e.g. 4GiB (default: 60 % of the machine's)",
      parseByteSize,
    )
    .option("--keep-inf", "keep infinities instead of turning them into nulls")
    .option("--no-pass <name>", "leave a compiler pass out (may be repeated)", collect)
    .option("--json", "print the summary as JSON")
    .action(evaluate);
}

function parseAssignment(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Write it as name=value.");
  return { ...earlier, [text.slice(0, equals).trim()]: text.slice(equals + 1).trim() };
}

/** The values of params as the file declares them: for a param with a text as default `600519` is a text. */
function typedParams(program: Program, given: Readonly<Record<string, string>>): Record<string, ParamValue> {
  const typed = Object.entries(given).map(([name, text]) => {
    const isText = typeof program.params.get(name) === "string";
    return [name, isText ? withoutQuotes(text) : parseValue(text)] as const;
  });
  return Object.fromEntries(typed);
}

function parseValue(text: string): ParamValue {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : withoutQuotes(text);
}

function withoutQuotes(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}

function parseSelection(text: string): string[] {
  const names = parseNames(text);
  if (names.length === 0) throw new InvalidArgumentError("Name at least one factor.");
  return names;
}

function parseThreads(text: string): number {
  const threads = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (threads < 1 || threads > THREADS_MAX)
    throw new InvalidArgumentError(`A whole number from 1 to ${THREADS_MAX}.`);
  return threads;
}

/** Wall time of each step in ms, in the order of the steps. */
type StageTimes = Record<string, number>;

/** What only this command needs: without Arrow, DuckDB and the pool the others start in half the time. */
async function loadEngine() {
  const [{ default: ora }, output, input, table, { Engine }] = await Promise.all([
    import("ora"),
    import("../data/output_path.ts"),
    import("../data/read_panel.ts"),
    import("../data/write_table.ts"),
    import("../engine.ts"),
  ]);
  return { ora, ...output, ...input, ...table, Engine };
}

async function evaluate(file: string, options: EvalOptions): Promise<void> {
  const text = await readFormulaFile(file);
  const { ora, checkOutputPath, readPanel, writeTable, Engine } = await loadEngine();
  // A terminal of 0 columns (a script's pseudo-terminal) would have the spinner redraw without end.
  const isEnabled = process.stderr.isTTY === true && process.stderr.columns > 0;
  const spinner = ora({ stream: process.stderr, discardStdin: false, isEnabled });
  const times: StageTimes = {};
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    if (spinner.isEnabled) spinner.start(name);
    try {
      return await work();
    } finally {
      times[name] = performance.now() - started;
      spinner.stop();
    }
  };
  if (options.out !== undefined) {
    refuseOverwriting(options.out, [
      file,
      options.data,
      options.groups,
      options.series,
      options.paramsByTime,
    ]);
    await checkOutputPath(options.out);
  }
  const { data, field: rename = {} } = options;
  const panel = await step("read", () =>
    readPanel(data, { ...pick(options, ["groups", "series", "timeColumn", "symbolColumn"]), rename }),
  );
  const program = await step("compile", async () =>
    compile(text, {
      file,
      fields: [...panel.fields.keys()],
      groups: [...panel.groups.keys()],
      disabledPasses: disabledPasses(options.pass),
      ...pick(options, ["dialect", "universe"]),
    }),
  );
  const engine = await step("start threads", () => Engine.start(pick(options, ["threads", "memoryLimit"])));
  try {
    const onProgress = (done: number, count: number) => {
      spinner.text = `evaluate: ${Math.floor((100 * done) / Math.max(1, count))} % of ${count} parts`;
    };
    const { table, report } = await step("evaluate", () =>
      engine.evaluateWithReport(program, panel, {
        ...pick(options, ["select", "from", "to", "paramsByTime"]),
        params: typedParams(program, options.param ?? {}),
        keepInfinite: options.keepInf === true,
        onProgress,
      }),
    );
    const { out } = options;
    if (out !== undefined) await step("write", () => writeTable(table, out));
    const summary = summarise(program, report, table.numRows, times, out);
    process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : `${summaryText(summary)}\n`);
  } finally {
    await engine.close();
  }
}

/** @throws UsageError if the result would replace one of the files that it is made from. */
function refuseOverwriting(out: string, inputs: readonly (string | undefined)[]): void {
  if (!inputs.some((input) => input !== undefined && resolve(input) === resolve(out))) return;
  throw new UsageError("E514", `--out ${out} would overwrite an input`, "give the result a name of its own");
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]),
  ) as Pick<T, K>;
}

function summarise(
  program: Program,
  report: EvaluationReport,
  rowCount: number,
  times: StageTimes,
  out?: string,
) {
  const dag = finalDag(program);
  return {
    file: program.file,
    dialect: program.dialect,
    factorCount: report.nullCounts.size,
    rowCount,
    tasksBeforeSharing: countUnsharedCalls(dag),
    tasks: countCalls(dag),
    nodesPruned: report.prunedNodeCount,
    factorsNotWanted: report.unwantedFactors,
    stagesMs: Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms * 10) / 10])),
    factors: [...report.nullCounts].map(([name, nullCount]) => {
      return { name, nullCount, nonFiniteCount: report.nonFiniteCounts.get(name) ?? 0 };
    }),
    out: out ?? null,
  };
}

function summaryText(summary: ReturnType<typeof summarise>): string {
  const { factors, stagesMs, rowCount } = summary;
  const rows = factors.map(({ name, nullCount, nonFiniteCount }) => {
    const share = rowCount === 0 ? "" : `${((100 * nullCount) / rowCount).toFixed(1)} %`;
    return [name, nullCount, share, nonFiniteCount] as const;
  });
  const pruned = summary.nodesPruned > 0 ? `, ${summary.nodesPruned} not needed in this call` : "";
  const unwanted = summary.factorsNotWanted;
  return [
    formatTable(["factor", "nulls", "share", "infinities"], rows),
    "",
    `${summary.file}: ${factors.length} factors x ${rowCount.toLocaleString("en")} rows`,
    `tasks: ${summary.tasks} unique of ${summary.tasksBeforeSharing} before sharing${pruned}`,
    ...(unwanted.length > 0 ? [`not wanted by their conditions: ${unwanted.join(", ")}`] : []),
    `time: ${Object.entries(stagesMs)
      .map(([name, ms]) => `${name} ${formatMs(ms)}`)
      .join(", ")}`,
    summary.out === null ? "no --out given: nothing was written" : `result: ${summary.out}`,
  ].join("\n");
}

function formatMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
