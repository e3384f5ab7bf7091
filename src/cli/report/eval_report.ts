import { machine } from "../../bench/result.ts";
import { packageVersion } from "../../cluster/protocol/package_version.ts";
import type { Program } from "../../compile.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { CoverageTally } from "../../pages/report/coverage_tally.ts";
import { nodeCosts } from "../../pages/report/node_costs.ts";
import type { ValueData } from "../../pages/report/report_data.ts";
import { reportData } from "../../pages/report/report_model.ts";
import { reportPage } from "../../pages/report/report_page.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import type { StepSpan } from "../trace/steps.ts";
import { RunRecord } from "./run_record.ts";

/** A run after its results are written. */
interface FinishedRun {
  readonly program: Program;
  readonly source: PanelSource;
  readonly bars: string;
  readonly rowCount: number;
  readonly values: ReadonlyMap<string, ValueData | null>;
  readonly infiniteCounts: ReadonlyMap<string, number>;
  readonly nulls: NullReport;
  readonly steps: readonly StepSpan[];
}

/** The page about an evaluation, gathered while its blocks pass. */
export class EvalReport {
  /** Takes the events of the trace. */
  readonly record: RunRecord;
  readonly #coverage: CoverageTally;
  #planned: Pick<Evaluation, "plan" | "arenas"> | null = null;

  readonly #keepsInfinite: boolean;

  /** @param startMs start of the run, in ms since 1970 */
  constructor(keepsInfinite: boolean, startMs: number) {
    this.record = new RunRecord(startMs);
    this.#keepsInfinite = keepsInfinite;
    this.#coverage = new CoverageTally(keepsInfinite);
  }

  /** Null if no factor is wanted. */
  notePlan(evaluation: Pick<Evaluation, "plan" | "arenas"> | null): void {
    this.#planned = evaluation;
  }

  add(block: FactorBlock): void {
    this.#coverage.add(block);
  }

  /** Writes the page; no half of it is ever visible. @throws ResourceError E442. */
  async write(path: string, run: FinishedRun): Promise<void> {
    const names = run.nulls.factors.map(({ factor }) => factor);
    const { symbols, time } = run.source;
    this.record.addSteps(run.steps);
    const data = reportData({
      ...run,
      steps: run.steps.map(({ name, startMs, endMs }) => ({ name, ms: endMs - startMs })),
      date: new Date().toISOString(),
      machine: { version: packageVersion(), memoryBytes: machineMemoryBytes(), ...machine() },
      time,
      symbolCount: symbols.length,
      keepsInfinite: this.#keepsInfinite,
      coverage: this.#coverage,
      nodes: this.#planned
        ? nodeCosts(this.#planned.plan, this.#planned.arenas, this.record.nodes, names)
        : [],
      timeline: this.record.timeline(),
    });
    await writing(path, () => replaceFile(path, reportPage(data)));
  }
}
