import { resolve } from "node:path";
import { compile, type Program } from "../../compile.ts";
import type { FactorBatches, FactorBlock, OutputColumns } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { FactorWriter } from "../../data/write/factor_writer.ts";
import type { StreamFormat } from "../../data/write/stream_formats.ts";
import type { Engine } from "../../engine.ts";
import type { FactorStream } from "../../evaluation/factor_stream.ts";
import type { KernelChoice } from "../../evaluation/options.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import { traceNowMs } from "../../execution/trace/trace_events.ts";
import type { ValueData } from "../../pages/report/report_data.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { counted } from "../../text/counted.ts";
import type { EvalReport } from "../report/eval_report.ts";
import { FactorStatistics, type Statistics } from "../statistics/factor_statistics.ts";
import { histogramOf } from "../statistics/histogram.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { disabledPasses } from "../terminal/repeated_options.ts";
import { dataFile, STANDARD } from "../terminal/standard_input.ts";
import { lineWidth, print, printNote } from "../terminal/terminal.ts";
import type { EvalTrace } from "../trace/eval_trace.ts";
import { Steps } from "../trace/steps.ts";
import {
  type CallOptions,
  compileOptions,
  pick,
  sourceOptions,
  typedParams,
  warnOfIdleUniverse,
} from "./call_options.ts";
import { type ClusterFlags, checkEngineOptions, isFolderName } from "./cluster_options.ts";
import { countNulls } from "./count_nulls.ts";
import { causesByFactor, type EvalResult, factorSummaries, summarise, summaryText } from "./eval_summary.ts";
import type { RowChoice } from "./row_choice.ts";
import type { RowOptions } from "./row_options.ts";
import { ShownRows } from "./shown_rows.ts";
import { checkStreams, type Formulas, formulasOf } from "./standard_streams.ts";

/** Of a histogram on the page about a run. */
const REPORT_INTERVALS = 32;

interface EvalOptions extends CallOptions, ClusterFlags, RowOptions {
  readonly expr?: string[];
  readonly out?: string;
  readonly format?: StreamFormat;
  readonly trace?: string;
  readonly report?: string;
  readonly blockRows?: number;
  readonly kernel: KernelChoice;
  readonly keepInf?: true;
  readonly all?: true;
  readonly causes?: true;
  readonly pass?: string[] | true;
  readonly json?: true;
}

/** With a name for the bars, which may lie in a temporary file. */
type NamedOptions = EvalOptions & { readonly bars: string };

/** Loads what only `eval` needs: without Arrow, DuckDB and the pool other commands start in half the time. */
async function loadEngine() {
  const [
    { default: ora },
    { checkOutputs },
    input,
    writer,
    batches,
    trace,
    { TraceFile },
    choice,
    { Engine },
  ] = await Promise.all([
    import("ora"),
    import("./outputs.ts"),
    import("../../data/source/open_panel_source.ts"),
    import("../../data/write/factor_writer.ts"),
    import("../../data/factors/factor_batches.ts"),
    import("../trace/eval_trace.ts"),
    import("../trace/trace_file.ts"),
    import("./row_choice.ts"),
    import("../../engine.ts"),
  ]);
  return {
    ora,
    checkOutputs,
    ...input,
    ...writer,
    ...batches,
    ...trace,
    TraceFile,
    ...choice,
    Engine,
  };
}

type Modules = Awaited<ReturnType<typeof loadEngine>>;

/** An evaluation after the formulas are compiled. */
interface EvalRun {
  readonly modules: Modules;
  readonly program: Program;
  readonly source: PanelSource;
  readonly choice: RowChoice;
  readonly options: NamedOptions;
  readonly steps: Steps;
  readonly signal: AbortSignal;
  readonly trace: EvalTrace | null;
  readonly report: EvalReport | null;
}

/** Evaluates formulas over a table of bars, writes the factors to `--out`, and prints a summary. */
export async function evaluateFile(file: string | undefined, options: EvalOptions): Promise<void> {
  const startMs = traceNowMs();
  checkEngineOptions(options);
  checkStreams(file, options);
  const formulas = await formulasOf(file, options);
  await using data = await dataFile(options.data);
  const bars = options.data === STANDARD ? "stdin" : options.data;
  await evaluateText(formulas, { ...options, data: data.path, bars }, startMs);
}

async function evaluateText(
  { name: file, text, input }: Formulas,
  options: NamedOptions,
  startMs: number,
): Promise<void> {
  const modules = await loadEngine();
  const steps = new Steps(modules.ora);
  await modules.checkOutputs(input, options);
  const source = await steps.run("read", () => modules.openPanelSource(options.data, sourceOptions(options)));
  try {
    const program = await steps.run("compile", async () =>
      compile(text, {
        ...compileOptions(file, source, options),
        disabledPasses: disabledPasses(options.pass),
      }),
    );
    warnOfIdleUniverse(program, options.universe);
    const choice = await modules.rowChoice(source, options);
    // From here on an interruption must remove or complete files.
    const signal = interruptionSignal();
    const report = options.report === undefined ? null : await openReport(options, startMs);
    const sinks = [
      ...(options.trace === undefined ? [] : [await modules.TraceFile.open(options.trace)]),
      ...(report ? [report.record] : []),
    ];
    const trace = sinks.length > 0 ? new modules.EvalTrace(sinks, `factorloom eval ${file}`, startMs) : null;
    const run: EvalRun = { modules, program, source, choice, options, steps, signal, trace, report };
    await completing(trace, steps, () => evaluateProgram(run));
  } finally {
    await source.close();
  }
}

/** Completes the trace after the work, also if the work fails; an error of the work takes precedence. */
async function completing(trace: EvalTrace | null, steps: Steps, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await trace?.close(steps.spans).catch(() => {});
    throw error;
  }
  await trace?.close(steps.spans);
}

async function openReport({ keepInf }: EvalOptions, startMs: number): Promise<EvalReport> {
  const { EvalReport } = await import("../report/eval_report.ts");
  return new EvalReport(keepInf === true, startMs);
}

/** Writes the page about the run. */
async function writeReport(
  { program, source, options, steps }: EvalRun,
  report: EvalReport,
  result: EvalResult,
  nulls: NullReport,
): Promise<void> {
  await report.write(options.report!, {
    program,
    source,
    bars: options.bars,
    rowCount: result.rowCount,
    values: new Map([...(result.statistics ?? [])].map(([name, one]) => [name, one && reportValues(one)])),
    infiniteCounts: result.nonFiniteCounts,
    nulls,
    steps: steps.spans,
  });
}

function reportValues({ sample, min, max, median, mean, sd }: Statistics): ValueData {
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  return {
    min,
    max,
    median,
    mean: finite(mean),
    sd: finite(sd),
    sampleCount: sample.length,
    histogram: histogramOf(sample, REPORT_INTERVALS),
  };
}

async function evaluateProgram(run: EvalRun): Promise<void> {
  const { program, options, steps } = run;
  const counts = options.engine === "dask" ? await evaluateOnCluster(run) : await evaluateHere(run);
  const nulls =
    options.causes || run.report
      ? await countNulls(run.modules.Engine.start, program, run.source, options, steps)
      : null;
  if (run.report) await writeReport(run, run.report, counts, nulls!);
  const result = options.causes ? { ...counts, nullCauses: causesByFactor(nulls!) } : counts;
  const summary = summarise(program, result, steps.times, options);
  if (options.json) print(JSON.stringify(summary));
  else (options.out === STANDARD ? printNote : print)(await resultText(run, result, summary));
}

/** Rows of the result, a line per factor, the counts, and what may come next. */
async function resultText(
  { program, source, options }: EvalRun,
  result: EvalResult,
  summary: ReturnType<typeof summarise>,
): Promise<string> {
  const [{ valueTable }, { statisticsTable }, { nextCommands }] = await Promise.all([
    import("./value_table.ts"),
    import("../statistics/statistics_table.ts"),
    import("./next_commands.ts"),
  ]);
  const columns = outputColumns(source, result.wanted);
  const { rowCount, shownRows } = result;
  const factors = factorSummaries(result);
  const rows = shownRows ?? [];
  const next = nextCommands({ file: program.file, options, factors, rowCount, shownRows: rows, columns });
  return [
    ...(rows.length > 0 ? [valueTable(rows, columns, options.keepInf === true, lineWidth()), ""] : []),
    summaryText(summary, statisticsTable(factors, rowCount, options.all === true, lineWidth())),
    ...(next.length > 0 ? ["", ...next] : []),
  ].join("\n");
}

function outputColumns({ time, symbols }: PanelSource, { factors }: WantedFactors): OutputColumns {
  return { time, symbols, factors: factors.map(({ name }) => name) };
}

async function evaluateHere(run: EvalRun): Promise<EvalResult> {
  const { modules, options, steps, trace } = run;
  const engine = await steps.run("start threads", () =>
    modules.Engine.start({ ...pick(options, ["threads", "memoryLimit"]), trace: trace?.sink }),
  );
  try {
    trace?.sampleMemory(engine);
    return await steps.run("evaluate", async () => {
      const stream = await openStream(run, engine);
      return { wanted: stream.wanted, ...(await writeBlocks(run, stream.wanted, stream.blocks())) };
    });
  } finally {
    await engine.close();
  }
}

async function evaluateOnCluster(run: EvalRun): Promise<EvalResult> {
  const { source, options, steps, signal, trace } = run;
  const cluster = await import("./eval_cluster.ts");
  const connected = await steps.run("connect", () => cluster.connectCluster(options, signal));
  try {
    return await steps.run("evaluate", async () => {
      const panel = await cluster.clusterPanel(
        source,
        options.data,
        sourceOptions(options),
        options.scatter === true,
      );
      const { out } = options;
      const dataset = out !== undefined && isFolderName(out) ? resolve(out) : null;
      const opened = await connected.openRun(
        run.program,
        panel,
        {
          ...callOptions(run),
          ...pick(options, ["slabRows", "priority"]),
          trace: trace !== null,
          onTasks: ({ done, total }) => steps.show(done / Math.max(1, total), counted(total, "task")),
        },
        dataset,
      );
      try {
        const counts =
          dataset === null
            ? await writeBlocks(run, opened.wanted, opened.blocks())
            : await cluster.writtenByWorkers(opened);
        trace?.workers(opened.report);
        return cluster.clusterResult(connected, opened, counts);
      } finally {
        await opened.close();
      }
    });
  } finally {
    // After an interruption the cluster's work is cancelled, and errors of that are ignored.
    await (signal.aborted ? connected.close().catch(() => {}) : connected.close());
  }
}

async function writeBlocks(
  run: EvalRun,
  wanted: WantedFactors,
  blocks: AsyncGenerator<FactorBlock, void, void>,
): Promise<Omit<EvalResult, "wanted">> {
  const { modules, source, choice, options, trace, report } = run;
  const keepInfinite = options.keepInf === true;
  const columns = outputColumns(source, wanted);
  const shown = new ShownRows(columns.factors, choice);
  const statistics = new FactorStatistics(columns.factors);
  const { out } = options;
  const writer =
    out === undefined
      ? countingWriter(new modules.FactorBatches(columns, { keepInfinite }))
      : out === STANDARD
        ? await openStandardOutput(options, columns)
        : await modules.openFactorWriter(out, columns, { keepInfinite });
  try {
    for await (const block of trace?.waited(blocks) ?? blocks) {
      shown.add(block);
      statistics.add(block);
      report?.add(block);
      const startMs = traceNowMs();
      await writer.append(block);
      trace?.span("write a block", startMs, { rows: block.rowCount });
    }
    const startMs = traceNowMs();
    await writer.commit();
    trace?.span("complete the output", startMs);
  } catch (error) {
    await writer.abort();
    throw error;
  }
  const { nullCounts, nonFiniteCounts } = writer;
  return {
    rowCount: statistics.rowCount,
    nullCounts,
    nonFiniteCounts,
    shownRows: shown.rows,
    statistics: statistics.results(),
  };
}

async function openStandardOutput(
  { format = "csv", keepInf }: EvalOptions,
  columns: OutputColumns,
): Promise<FactorWriter> {
  const { openStreamWriter } = await import("../../data/write/stream_writer.ts");
  return openStreamWriter(process.stdout, format, columns, { keepInfinite: keepInf === true });
}

async function openStream(run: EvalRun, engine: Engine): Promise<FactorStream> {
  const { program, source, steps, trace, report } = run;
  const startMs = traceNowMs();
  const stream = await engine.openStream(program, trace?.reading(source) ?? source, {
    ...callOptions(run),
    onProgress: (rowsDone, rowCount) => {
      steps.show(rowsDone / rowCount, counted(rowCount, "time"));
    },
  });
  trace?.span("plan and compile kernels", startMs, { kernelMs: stream.evaluation?.kernelMs ?? 0 });
  report?.notePlan(stream.evaluation);
  return stream;
}

/** Options of a call, local or on a cluster. */
function callOptions({ program, options, signal }: EvalRun) {
  return {
    ...pick(options, ["select", "from", "to", "paramsByTime", "blockRows", "kernel"]),
    params: typedParams(program, options.param ?? {}),
    keepInfinite: options.keepInf === true,
    signal,
  };
}

/** A writer that only counts. */
function countingWriter(batches: FactorBatches): FactorWriter {
  return {
    append: async (block) => {
      for await (const batch of batches.append(block)) batches.reuse(batch);
    },
    commit: async () => {
      for await (const batch of batches.finish()) batches.reuse(batch);
    },
    abort: async () => {},
    get nullCounts() {
      return batches.nullCounts();
    },
    get nonFiniteCounts() {
      return batches.nonFiniteCounts();
    },
  };
}
