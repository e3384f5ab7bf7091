import { MeasuredLatency } from "../../live/latency.ts";
import type { NodeKind } from "../../plan/plan.ts";
import { FactorDigests } from "../factor_digests.ts";
import { openDag, openHost } from "../open_formulas.ts";
import { digestOf, type MsPerRow, msPerRow, roundedMs, sum } from "../result.ts";
import { runRow, sizesOf } from "../run_blocks.ts";
import { syntheticPanel } from "../synthetic_panel.ts";
import { formulaSet, graphOf } from "./formula_sets.ts";
import { type PredictionErrors, predictionErrors } from "./prediction.ts";

/** The time that a live call may take, in ms. */
export const BUDGET_MS = 100;

/** Share of bars that are missing. */
export const NULL_SHARE = 0.01;

/** Rows of the panel; after the last one calls start from the first again. */
export const PANEL_ROWS = 512;

/** Fewer rows would leave the code around the kernels cold. */
const WARM_UP_ROWS_MIN = 64;

/** One place of the grid. */
export interface CellShape {
  readonly lanes: number;
  /** Name of a formula set. */
  readonly formulas: string;
  readonly threads: number;
  /** Calls that are measured. */
  readonly calls: number;
}

/** Where the wall time of a mean call goes, in ms; `rest` is handing work out, waiting for it, and idle threads. */
export interface StageMs {
  readonly input: number;
  readonly lanes: number;
  readonly rows: number;
  readonly rest: number;
}

/** What was measured in one place of the grid. */
export interface BudgetCell extends CellShape {
  /** How many formulas were evaluated. */
  readonly factors: number;
  readonly nodes: number;
  /** Calls before the first one that was measured. */
  readonly warmUpRows: number;
  readonly ms: MsPerRow;
  /** True if 99 of 100 calls are done within the budget. */
  readonly isInside: boolean;
  readonly prediction: PredictionErrors;
  readonly stageMs: StageMs;
  /** From the text of the formulas to the first call done, with threads that have started. */
  readonly readyMs: number;
  readonly arenaBytes: number;
  readonly stateBytes: number;
  /** Largest resident size of the process, which measured nothing else; the panel is in it. */
  readonly rssBytes: number;
  /** Of all outputs over all calls: the same for any threads. */
  readonly digest: string;
  /** Of every measured call, in their order. */
  readonly callMs: readonly number[];
}

type OnProgress = (done: number, total: number) => void;

/**
 * Measures one-row calls of a formula set: first until every window is full, then those that count. Each is predicted from
 * those before it, as sessions do.
 *
 * @throws UsageError E506; ResourceError as `Evaluation.open`.
 */
export async function measureCell(shape: CellShape, onProgress: OnProgress = () => {}): Promise<BudgetCell> {
  const { lanes, threads, calls } = shape;
  const panel = syntheticPanel({ lanes, rows: PANEL_ROWS, nullShare: NULL_SHARE });
  await using host = await openHost({ threads });
  const opening = performance.now();
  const dag = graphOf(formulaSet(shape.formulas));
  await using opened = await openDag(host, dag, panel, { blockRows: 1, keepsResults: true });
  const { evaluation, lookbackRows } = opened;
  const { plan, openPlan, buffers } = evaluation;
  await runRow(evaluation, panel, 0);
  const readyMs = performance.now() - opening;
  const digests = new FactorDigests(plan);
  digests.add(buffers.results, 0, 1);
  const warmUpRows = Math.max(lookbackRows + 1, WARM_UP_ROWS_MIN);
  const latency = new MeasuredLatency(plan.nodes, threads, openPlan.nodeNs);
  const [callMs, predictedMs]: [number[], number[]] = [[], []];
  let warmNs = Float64Array.from(openPlan.nodeNs);
  for (let row = 1; row < warmUpRows + calls; row++) {
    if (row === warmUpRows) warmNs = Float64Array.from(openPlan.nodeNs);
    const predicted = latency.predictMs(null, row);
    const ms = await runRow(evaluation, panel, row);
    digests.add(buffers.results, row, 1);
    latency.note(null, row, ms);
    if (row >= warmUpRows) {
      callMs.push(ms);
      predictedMs.push(predicted);
    }
    onProgress(row + 1, warmUpRows + calls);
  }
  const { factors, arenaBytes, stateBytes, peakRssBytes } = sizesOf(evaluation);
  const ms = msPerRow(sum(callMs), calls, callMs);
  const msOf = (kind: NodeKind) => {
    const nodes = plan.nodes.filter((node) => node.kind === kind);
    return sum(nodes.map(({ id }) => openPlan.nodeNs[id]! - warmNs[id]!)) / 1e6 / calls / threads;
  };
  const busy = { input: msOf("input"), lanes: msOf("lanes"), rows: msOf("rows") };
  return {
    ...shape,
    factors,
    nodes: plan.nodes.length,
    ms,
    isInside: ms.p99 <= BUDGET_MS,
    prediction: predictionErrors(predictedMs, callMs),
    stageMs: { ...busy, rest: ms.mean - busy.input - busy.lanes - busy.rows },
    arenaBytes,
    stateBytes,
    rssBytes: peakRssBytes,
    digest: digestOf(digests.byName()),
    callMs: roundedMs(callMs),
    warmUpRows,
    readyMs,
  };
}
