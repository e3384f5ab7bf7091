import { machine } from "../../bench/result.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import { packageVersion } from "../../files/package_version.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { CoverageTally } from "../../pages/report/coverage_tally.ts";
import { nodeCosts } from "../../pages/report/node_costs.ts";
import { type GatheredRun, reportData } from "../../pages/report/report_model.ts";
import { reportPage } from "../../pages/report/report_page.ts";
import type { StepSpan } from "../terminal/progress.ts";
import { RunRecord } from "../trace/run_record.ts";

/** A run after its results are written, but for what the report has gathered. */
type FinishedRun = Omit<
  GatheredRun,
  "steps" | "date" | "machine" | "keepsInfinite" | "coverage" | "nodes" | "timeline"
>;

/** The page about an evaluation, gathered while its blocks pass. */
export class EvalReport {
  /** Takes the events of the trace. */
  readonly record: RunRecord;
  readonly #coverage: CoverageTally;
  readonly #keepsInfinite: boolean;
  #planned: Pick<Evaluation, "plan" | "arenas"> | null = null;

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
  async write(path: string, run: FinishedRun, steps: readonly StepSpan[]): Promise<void> {
    const names = run.nulls.factors.map(({ factor }) => factor);
    this.record.addSteps(steps);
    const data = reportData({
      ...run,
      steps: steps.map(({ name, startMs, endMs }) => ({ name, ms: endMs - startMs })),
      date: new Date().toISOString(),
      machine: { version: packageVersion(), memoryBytes: machineMemoryBytes(), ...machine() },
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
