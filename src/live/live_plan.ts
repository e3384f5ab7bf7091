import { isDeepStrictEqual } from "node:util";
import { finalDag, type Program } from "../compile.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import { broughtFields } from "../evaluation/has_row.ts";
import type { KernelChoice } from "../evaluation/options.ts";
import { type ColumnsRead, checkSelect, columnsOf } from "../evaluation/wanted_factors.ts";
import type { Registry } from "../operator/registry.ts";
import type { NodeSelection } from "../plan/catch_up.ts";
import { LiveInput } from "./input/live_input.ts";
import { type LatencyModel, MeasuredLatency } from "./latency.ts";
import { type FactorGate, type LiveDag, type LiveFactor, liveDag } from "./live_dag.ts";

export interface LivePlanSpec {
  readonly laneCount: number;
  /** Fields that hold values where symbols have no row. */
  readonly series: readonly string[];
  readonly isRevisable: boolean;
  /** Whether factors that a budget leaves out may miss the row; else they are run before the next row. */
  readonly skipsRows: boolean;
  readonly select?: readonly string[] | undefined;
  readonly priorities: Readonly<Record<string, number>>;
  readonly kernel?: KernelChoice | undefined;
}

interface LiveBuffers extends PlanBuffers {
  readonly input: LiveInput;
}

export interface LiveRunOptions {
  /** For each gate whether its factors are wanted. */
  readonly gates: readonly boolean[];
  readonly signal?: AbortSignal | undefined;
  /** `next`: the row after the last one; `again`: the last row over other input; `rest`: what the last run left out. */
  readonly row: "next" | "again" | "rest";
}

/** Times and node count of a run. */
export interface RunAccount {
  readonly runMs: number;
  readonly criticalPathMs: number;
  readonly nodesRun: number;
}

const REMEDY = "raise the memory limit, or open the session for fewer symbols or factors";

/** A program that is open for one row at a time. */
export class LivePlan {
  readonly graph: LiveDag;
  readonly factors: readonly LiveFactor[];
  readonly gates: readonly FactorGate[];
  /** Columns that bars must have. */
  readonly read: ColumnsRead;
  readonly latency: LatencyModel;
  readonly evaluation: Evaluation<LiveBuffers>;

  /** @throws UsageError E506 for unknown factors; ResourceError E401 if it does not fit in memory. */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: Program,
    spec: LivePlanSpec,
    latency?: LatencyModel,
  ): Promise<LivePlan> {
    const graph = graphOf(program, spec);
    const { laneCount } = spec;
    const { dag } = graph;
    const read = columnsOf(dag);
    const evaluation = await Evaluation.open<LiveBuffers>(host, {
      dag,
      laneCount,
      rowCount: 1,
      registry,
      operators: program.operators,
      blockRows: 1,
      kernel: spec.kernel,
      disabledPasses: program.disabledPasses,
      snapshots: spec.isRevisable,
      skipsRows: spec.skipsRows,
      finishes: true,
      memoryNeed: () => ({
        bytes: {
          input: LiveInput.bytesOf(read, laneCount),
          // Two tables, for rows that are copied out of the executors' buffers.
          results: 2 * 8 * laneCount * dag.outputs.length,
        },
        held: [],
        remedy: REMEDY,
      }),
      allocate: () => {
        const input = new LiveInput(read, laneCount);
        return { ...input.buffers, input, results: dag.outputs.map(() => null) };
      },
    });
    const { plan, openPlan } = evaluation;
    const model = latency ?? new MeasuredLatency(plan.nodes, host.threads, openPlan.nodeNs);
    return new LivePlan(graph, read, evaluation, model);
  }

  private constructor(
    graph: LiveDag,
    read: ColumnsRead,
    evaluation: Evaluation<LiveBuffers>,
    latency: LatencyModel,
  ) {
    this.graph = graph;
    this.factors = graph.factors;
    this.gates = graph.gates;
    this.read = { ...read, fields: broughtFields(read.fields) };
    this.evaluation = evaluation;
    this.latency = latency;
  }

  get input(): LiveInput {
    return this.evaluation.buffers.input;
  }

  get nodeCount(): number {
    return this.evaluation.plan.nodes.length;
  }

  /** Rows run so far. */
  get rowCount(): number {
    return this.evaluation.openPlan.next.row;
  }

  /** Predicted wall time of a run in ms. */
  predictMs(gates: readonly boolean[], row: "next" | "again"): number {
    const { openPlan } = this.evaluation;
    const firstRow = row === "next" ? openPlan.next.row : openPlan.next.row - 1;
    return this.latency.predictMs(openPlan.preview(firstRow, { conditions: gates }), firstRow);
  }

  /** Runs the staged row. @throws as `OpenPlan.run`. */
  async run({ gates, signal, row }: LiveRunOptions): Promise<RunAccount> {
    const { openPlan } = this.evaluation;
    const { next } = openPlan;
    const options = { conditions: gates, addsRemainingNodes: row === "rest" };
    const firstRow = row === "next" ? next.row : next.row - 1;
    const isAgain = row !== "next";
    const generation = isAgain ? (next.generation === 0 ? 1 : 0) : next.generation;
    const selection = openPlan.preview(firstRow, options);
    const nodesRun = selection ? countOnes(selection) : row === "rest" ? 0 : this.nodeCount;
    if (nodesRun === 0) return { runMs: 0, criticalPathMs: 0, nodesRun };
    const started = performance.now();
    await openPlan.run(
      { firstRow, rowCount: 1, generation, inputRow: 0, outputRow: 0 },
      { signal, ...options },
    );
    const runMs = performance.now() - started;
    this.latency.note(selection, firstRow, runMs);
    return { runMs, criticalPathMs: this.latency.criticalPathMs(selection, firstRow), nodesRun };
  }

  /** Whether the program has the same plan, apart from values of params. */
  isOf(program: Program, spec: LivePlanSpec): boolean {
    const { dag, ...other } = graphOf(program, spec);
    const { dag: own, ...rest } = this.graph;
    return isDeepStrictEqual({ ...other, ...dag, params: null }, { ...rest, ...own, params: null });
  }

  async close(): Promise<void> {
    await this.evaluation.close();
  }
}

/** @throws UsageError E506 for unknown factors. */
function graphOf(program: Program, spec: LivePlanSpec): LiveDag {
  checkSelect(program, spec.select);
  checkSelect(program, Object.keys(spec.priorities));
  return liveDag(finalDag(program), { ...spec, disabledPasses: program.disabledPasses });
}

function countOnes({ isRun }: NodeSelection): number {
  let count = 0;
  for (const one of isRun) count += one;
  return count;
}
