import { finalDag, type Program } from "../compile.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import type { KernelChoice } from "../evaluation/options.ts";
import { type ColumnsRead, checkSelect, columnsOf } from "../evaluation/wanted_factors.ts";
import type { Registry } from "../operator/registry.ts";
import type { NodeSelection } from "../plan/catch_up.ts";
import { lookbackRows } from "../plan/lookback.ts";
import { type LatencyModel, MeasuredLatency } from "./latency.ts";
import { type LiveFactor, liveDag, type Switch, SYMBOLS_IN_USE } from "./live_dag.ts";
import { LiveInput } from "./live_input.ts";

export interface LivePlanSpec {
  readonly laneCount: number;
  readonly hasSpareLanes: boolean;
  readonly isRevisable: boolean;
  readonly select?: readonly string[] | undefined;
  readonly priorities: Readonly<Record<string, number>>;
  readonly kernel?: KernelChoice | undefined;
}

interface LiveBuffers extends PlanBuffers {
  readonly input: LiveInput;
}

export interface LiveRunOptions {
  /** For each switch whether its factors are wanted. */
  readonly switches: readonly boolean[];
  readonly signal?: AbortSignal | undefined;
  /** `next`: the row after the last one; `again`: that one, over other input; `rest`: what it left out. */
  readonly row: "next" | "again" | "rest";
}

/** What a run was made of. */
export interface RunAccount {
  readonly runMs: number;
  readonly criticalPathMs: number;
  readonly nodesRun: number;
}

const REMEDY = "raise the memory limit, or open the session for fewer symbols or factors";

/** A program that is open for one row at a time, with all conditions. */
export class LivePlan {
  readonly program: Program;
  readonly factors: readonly LiveFactor[];
  readonly switches: readonly Switch[];
  /** What bars must bring. */
  readonly read: ColumnsRead;
  readonly latency: LatencyModel;
  /** Rows before the newest one that its values depend on, where they are bounded. */
  readonly lookbackRows: number;
  readonly evaluation: Evaluation<LiveBuffers>;

  /** @throws UsageError E506 for unknown factors; ResourceError E401 if the memory does not suffice. */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: Program,
    spec: LivePlanSpec,
    latency?: LatencyModel,
  ): Promise<LivePlan> {
    checkSelect(program, spec.select);
    checkSelect(program, Object.keys(spec.priorities));
    const { laneCount } = spec;
    const { dag, factors, switches } = liveDag(finalDag(program), registry, {
      ...spec,
      disabledPasses: program.disabledPasses,
    });
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
      finishes: true,
      memoryNeed: () => ({
        bytes: {
          input: LiveInput.bytesOf(read, laneCount),
          // Two tables, where rows cannot stay where executors write them.
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
    const bounded = lookbackRows(dag).filter(Number.isFinite);
    const lookback = bounded.reduce((most, rows) => Math.max(most, rows), 0);
    return new LivePlan(program, factors, switches, read, evaluation, model, lookback);
  }

  private constructor(
    program: Program,
    factors: readonly LiveFactor[],
    switches: readonly Switch[],
    read: ColumnsRead,
    evaluation: Evaluation<LiveBuffers>,
    latency: LatencyModel,
    lookback: number,
  ) {
    this.program = program;
    this.factors = factors;
    this.switches = switches;
    this.read = { ...read, fields: read.fields.filter((name) => name !== SYMBOLS_IN_USE) };
    this.evaluation = evaluation;
    this.latency = latency;
    this.lookbackRows = lookback;
  }

  get input(): LiveInput {
    return this.evaluation.buffers.input;
  }

  get nodeCount(): number {
    return this.evaluation.plan.nodes.length;
  }

  /** Rows that stand. */
  get rowCount(): number {
    return this.evaluation.openPlan.next.row;
  }

  /** The wall time in ms that a run of the next row is foretold to take. */
  predictMs(switches: readonly boolean[], row: "next" | "again"): number {
    const { openPlan } = this.evaluation;
    const firstRow = row === "next" ? openPlan.next.row : openPlan.next.row - 1;
    return this.latency.predictMs(openPlan.preview(firstRow, { conditions: switches }), firstRow);
  }

  /** Runs the row that is staged. @throws as `OpenPlan.run`. */
  async run({ switches, signal, row }: LiveRunOptions): Promise<RunAccount> {
    const { openPlan } = this.evaluation;
    const { next } = openPlan;
    const options = { conditions: switches, isContinued: row === "rest" };
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

  async close(): Promise<void> {
    await this.evaluation.close();
  }
}

function countOnes({ isRun }: NodeSelection): number {
  let count = 0;
  for (const one of isRun) count += one;
  return count;
}
