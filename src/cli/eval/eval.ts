import type { Command } from "commander";
import { onlyOnCluster } from "../../cluster/protocol/errors.ts";
import { traceNowMs } from "../../execution/trace/trace_events.ts";
import type { ValueData } from "../../pages/report/report_data.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { addFlags, refuseFlag } from "../opening/option_flags.ts";
import { countNulls, type Opened } from "../opening/with_program.ts";
import type { EvalReport } from "../report/eval_report.ts";
import type { Statistics } from "../statistics/factor_statistics.ts";
import { histogramOf } from "../statistics/histogram.ts";
import { causesByFactor, type EvalResult } from "./eval_summary.ts";
import { isFolderName } from "./outputs.ts";
import { type EvalRun, printResult, withEvaluation, writeBlocks } from "./result.ts";
import { addResultFlags, type ResultFlags } from "./result_flags.ts";

/** Of a histogram on the page about a run. */
const REPORT_INTERVALS = 32;

/** Flags of earlier versions, for clusters. */
const CLUSTER_FLAGS = [
  "--engine <kind>",
  "--scheduler <url>",
  "--scatter",
  "--slab-rows <count>",
  "--workers <addresses>",
  "--resources <name=number>",
  "--task-timeout <seconds>",
  "--timeout <seconds>",
  "--tls-ca <path>",
  "--tls-cert <path>",
  "--tls-key <path>",
  "--python <path>",
  "--node <path>",
];

interface EvalFlags extends ResultFlags {
  readonly causes?: true;
}

export function addEval(program: Command): void {
  const command = program
    .command("eval")
    .description("evaluate a formula file (- for stdin) over a table of bars; print rows and a summary")
    .argument("[file]")
    .requiredOption("--data <path>", "bars: .csv, .csv.gz, .parquet, .arrow, a folder of these, - for stdin");
  addFlags(command, "factorloom eval");
  addResultFlags(command, "write .arrow, .parquet, .csv or .csv.gz; - for stdout")
    .option("--report <path>", "write a page: values, coverage, causes of nulls, time (a second pass)")
    .option("--causes", "say why each factor is null (a second pass)")
    .action(evaluateFile);
  for (const flags of CLUSTER_FLAGS)
    refuseFlag(
      command,
      flags,
      `eval takes no ${flags.split(" ")[0]}`,
      "on a Dask cluster: factorloom cluster eval FORMULAS --data BARS --scheduler ADDRESS",
    );
}

/** Evaluates formulas over a table of bars, writes the factors to `--out`, and prints a summary. */
export async function evaluateFile(file: string | undefined, flags: EvalFlags): Promise<void> {
  if (flags.out !== undefined && isFolderName(flags.out))
    throw onlyOnCluster(`--out ${flags.out}, a folder,`);
  const openReport = flags.report === undefined ? async () => null : newReport;
  await withEvaluation("factorloom eval", file, flags, openReport, async (run) => {
    const { opened, report } = run;
    const counts = await evaluate(run);
    const nulls = flags.causes || report ? await countNulls(opened) : null;
    if (report) await writeReport(run, report, counts, nulls!);
    await printResult(run, flags.causes ? { ...counts, nullCauses: causesByFactor(nulls!) } : counts);
  });
}

async function evaluate(run: EvalRun): Promise<EvalResult> {
  const { opened, trace, report } = run;
  const { program, source, specs, steps } = opened;
  const { Engine } = await import("../../engine.ts");
  const engine = await steps.run("start threads", () =>
    Engine.start({ ...specs.engine, trace: trace?.sink }),
  );
  try {
    trace?.sampleMemory(engine);
    return await steps.run("evaluate", async () => {
      const startMs = traceNowMs();
      const input = trace?.reading(source) ?? source;
      const stream = await engine.openStream(program, input, opened.callOf(program));
      trace?.span("plan and compile kernels", startMs, { kernelMs: stream.evaluation?.kernelMs ?? 0 });
      report?.notePlan(stream.evaluation);
      return { wanted: stream.wanted, ...(await writeBlocks(run, stream.wanted, stream.blocks())) };
    });
  } finally {
    await engine.close();
  }
}

async function newReport({ specs }: Opened, startMs: number): Promise<EvalReport> {
  const { EvalReport } = await import("../report/eval_report.ts");
  return new EvalReport(specs.call.keepInfinite === true, startMs);
}

/** Writes the page about the run. */
async function writeReport(
  { opened: { program, source, bars, steps }, flags }: EvalRun,
  report: EvalReport,
  result: EvalResult,
  nulls: NullReport,
): Promise<void> {
  const { rowCount, nonFiniteCounts: infiniteCounts } = result;
  const values = new Map([...result.statistics!].map(([name, one]) => [name, one && reportValues(one)]));
  const { time, symbols } = source;
  const symbolCount = symbols.length;
  const run = { program, time, symbolCount, bars, rowCount, values, infiniteCounts, nulls };
  await report.write(flags.report!, run, steps.spans);
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
