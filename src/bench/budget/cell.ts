import type { Evaluation } from "../../evaluation/evaluation.ts";
import { MeasuredLatency } from "../../live/latency.ts";
import type { Panel } from "../../panel.ts";
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
 * Measures one-row calls of a formula set: first until every window is full, then those that count.
 *
 * @throws UsageError E506; ResourceError as `Evaluation.open`.
 */
export async function measureCell(shape: CellShape, onProgress: OnProgress = () => {}): Promise<BudgetCell> {
  const { lanes, threads } = shape;
  const panel = syntheticPanel({ lanes, rows: PANEL_ROWS, nullShare: NULL_SHARE });
  await using host = await openHost({ threads });
  const opening = performance.now();
  const dag = graphOf(formulaSet(shape.formulas));
  await using opened = await openDag(host, dag, panel, { blockRows: 1, keepsResults: true });
  const { evaluation, lookbackRows } = opened;
  await runRow(evaluation, panel, 0);
  const readyMs = performance.now() - opening;
  const digests = new FactorDigests(evaluation.plan);
  digests.add(evaluation.buffers.results, 0, 1);
  const warmUpRows = Math.max(lookbackRows + 1, WARM_UP_ROWS_MIN);
  const calls = await runCalls(evaluation, panel, digests, shape, warmUpRows, onProgress);
  return { ...shape, ...cellOf(evaluation, digests, threads, calls), warmUpRows, readyMs };
}

/** What is known of the measured calls. */
interface Calls {
  readonly callMs: number[];
  readonly predictedMs: number[];
  /** ns of each node, summed over the calls. */
  readonly nodeNs: Float64Array;
}

/** All calls but the first; each is predicted from those before it, as sessions do. */
async function runCalls(
  evaluation: Evaluation,
  panel: Panel,
  digests: FactorDigests,
  { calls, threads }: CellShape,
  warmUpRows: number,
  onProgress: OnProgress,
): Promise<Calls> {
  const { nodeNs: totalNs } = evaluation.openPlan;
  const latency = new MeasuredLatency(evaluation.plan.nodes, threads, totalNs);
  const measured: Calls = { callMs: [], predictedMs: [], nodeNs: new Float64Array(totalNs.length) };
  for (let row = 1; row < warmUpRows + calls; row++) {
    const before = Float64Array.from(totalNs);
    const predictedMs = latency.predictMs(null, row);
    const ms = await runRow(evaluation, panel, row);
    digests.add(evaluation.buffers.results, row, 1);
    latency.note(null, row, ms);
    if (row >= warmUpRows) {
      measured.callMs.push(ms);
      measured.predictedMs.push(predictedMs);
      for (const [node, ns] of before.entries()) measured.nodeNs[node]! += totalNs[node]! - ns;
    }
    onProgress(row + 1, warmUpRows + calls);
  }
  return measured;
}

function cellOf(
  evaluation: Evaluation,
  digests: FactorDigests,
  threads: number,
  { callMs, predictedMs, nodeNs }: Calls,
) {
  const { plan } = evaluation;
  const { factors, arenaBytes, stateBytes, peakRssBytes: rssBytes } = sizesOf(evaluation);
  const wallMs = sum(callMs);
  const ms = msPerRow(wallMs, callMs.length, callMs);
  const ofKind = (kind: string) => {
    const ns = sum(plan.nodes.filter((node) => node.kind === kind).map(({ id }) => nodeNs[id]!));
    return ns / 1e6 / callMs.length / threads;
  };
  const busy = { input: ofKind("input"), lanes: ofKind("lanes"), rows: ofKind("rows") };
  return {
    factors,
    nodes: plan.nodes.length,
    ms,
    isInside: ms.p99 <= BUDGET_MS,
    prediction: predictionErrors(predictedMs, callMs),
    stageMs: { ...busy, rest: ms.mean - busy.input - busy.lanes - busy.rows },
    arenaBytes,
    stateBytes,
    rssBytes,
    digest: digestOf(digests.byName()),
    callMs: roundedMs(callMs),
  };
}
