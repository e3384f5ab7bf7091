/** What becomes of the blocks of an evaluation, here or on a cluster: files, rows on the terminal, statistics. */
import type { FactorBlock, OutputColumns } from "../../data/factors/factor_batches.ts";
import { formatTime } from "../../data/time/time_text.ts";
import type { FactorWriter, TableOutput } from "../../data/write/batch_writer.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import { traceNowMs } from "../../execution/trace/trace_events.ts";
import type { CommandDoor } from "../../options/doors.ts";
import { type Opened, withProgram } from "../opening/with_program.ts";
import type { EvalReport } from "../report/eval_report.ts";
import { FactorStatistics } from "../statistics/factor_statistics.ts";
import { STANDARD } from "../terminal/standard_input.ts";
import { lineWidth, print, printNote } from "../terminal/terminal.ts";
import type { EvalTrace } from "../trace/eval_trace.ts";
import { type EvalResult, factorSummaries, summarise, summaryText } from "./eval_summary.ts";
import { checkOutputs } from "./outputs.ts";
import type { ResultFlags } from "./result_flags.ts";
import type { RowChoice } from "./row_choice.ts";
import { ShownRows } from "./shown_rows.ts";
import { checkStreams, formulasOf } from "./standard_streams.ts";

/** An evaluation after the formulas are compiled. */
export interface EvalRun {
  readonly opened: Opened;
  readonly flags: ResultFlags;
  readonly choice: RowChoice;
  readonly trace: EvalTrace | null;
  readonly report: EvalReport | null;
}

/** Checks the flags, opens bars, formulas, report and trace, does the work, and completes the trace however it ends. */
export async function withEvaluation(
  door: CommandDoor,
  file: string | undefined,
  flags: ResultFlags,
  openReport: (opened: Opened, startMs: number) => Promise<EvalReport | null>,
  work: (run: EvalRun) => Promise<void>,
): Promise<void> {
  const startMs = traceNowMs();
  checkStreams(file, flags);
  const formulas = await formulasOf(file, flags);
  await checkOutputs(formulas.input, flags);
  await withProgram(door, formulas, flags, async (opened) => {
    const [{ EvalTrace }, { TraceFile }, { rowChoice }] = await Promise.all([
      import("../trace/eval_trace.ts"),
      import("../trace/trace_file.ts"),
      import("./row_choice.ts"),
    ]);
    const { from, to } = opened.specs.call;
    const choice = await rowChoice(opened.source, flags, { ...(from && { from }), ...(to && { to }) });
    const report = await openReport(opened, startMs);
    const traceFile = flags.trace === undefined ? null : await TraceFile.open(flags.trace);
    const title = `${door} ${opened.program.file}`;
    const trace =
      traceFile || report ? new EvalTrace(traceFile, report?.record ?? null, title, startMs) : null;
    try {
      await work({ opened, flags, choice, trace, report });
    } catch (error) {
      await trace?.close(opened.steps.spans).catch(() => {});
      throw error;
    }
    await trace?.close(opened.steps.spans);
  });
}

/** Writes the blocks where `--out` says, and keeps what the summary shows. */
export async function writeBlocks(
  { opened, flags, choice, trace, report }: EvalRun,
  wanted: WantedFactors,
  blocks: AsyncGenerator<FactorBlock, void, void>,
): Promise<Omit<EvalResult, "wanted">> {
  const { outputColumns } = await import("../../data/factors/factor_batches.ts");
  const columns = outputColumns(opened.source, wanted);
  const shown = new ShownRows(columns.factors, choice);
  const statistics = new FactorStatistics(columns.factors);
  const writer = await openWriter(flags, columns, opened.specs.call.keepInfinite === true);
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
  const { time } = opened.source;
  if (statistics.rowCount === 0 && time.values.length > 0) {
    const [first, last] = [time.values[0]!, time.values.at(-1)!].map((at) => formatTime(at, time.type));
    process.emitWarning(
      `no row lies between --from and --to: the bars run from ${first} to ${last}`,
      "FactorloomWarning",
    );
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

async function openWriter(
  { out, format = "csv" }: ResultFlags,
  columns: OutputColumns,
  keepInfinite: boolean,
): Promise<FactorWriter> {
  if (out === undefined) {
    const { FactorBatches } = await import("../../data/factors/factor_batches.ts");
    const { batchWriter } = await import("../../data/write/batch_writer.ts");
    return batchWriter(NO_OUTPUT, new FactorBatches(columns, { keepInfinite }));
  }
  if (out === STANDARD) {
    const { openStreamWriter } = await import("../../data/write/stream_writer.ts");
    return openStreamWriter(process.stdout, format, columns, { keepInfinite });
  }
  const { openFactorWriter } = await import("../../data/write/factor_writer.ts");
  return await openFactorWriter(out, columns, { keepInfinite });
}

/** Takes batches that are only counted. */
const NO_OUTPUT: TableOutput = {
  write: async (batches, onWritten) => {
    for await (const batch of batches) onWritten?.(batch);
  },
  commit: async () => {},
  abort: async () => {},
};

/** Prints rows of the result, a line per factor, the counts, and what may come next. */
export async function printResult({ opened, flags }: EvalRun, result: EvalResult): Promise<void> {
  const { program, source, specs, steps } = opened;
  const summary = summarise(program, result, steps.times, flags);
  if (flags.json) {
    print(JSON.stringify(summary));
    return;
  }
  const [{ outputColumns }, { valueTable }, { statisticsTable }, { nextCommands }] = await Promise.all([
    import("../../data/factors/factor_batches.ts"),
    import("./value_table.ts"),
    import("../statistics/statistics_table.ts"),
    import("./next_commands.ts"),
  ]);
  const columns = outputColumns(source, result.wanted);
  const { rowCount, shownRows } = result;
  const factors = factorSummaries(result);
  const rows = shownRows ?? [];
  const next = nextCommands({ file: program.file, flags, factors, rowCount, shownRows: rows, columns });
  const text = [
    ...(rows.length > 0
      ? [valueTable(rows, columns, specs.call.keepInfinite === true, lineWidth()), ""]
      : []),
    summaryText(summary, statisticsTable(factors, rowCount, flags.all === true, lineWidth())),
    ...(next.length > 0 ? ["", ...next] : []),
  ];
  (flags.out === STANDARD ? printNote : print)(text.join("\n"));
}
