import { finalDag, type Program } from "../compile.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import { broughtFields } from "../evaluation/has_row.ts";
import type { KernelChoice } from "../evaluation/options.ts";
import { type ColumnsRead, checkSelect, columnsOf } from "../evaluation/wanted_factors.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import type { Registry } from "../operator/registry.ts";
import { mayRest } from "../plan/plan.ts";
import type { BlockChoice, NodeSelection, SelectionOptions } from "../plan/progress.ts";
import { LiveInput } from "./input/live_input.ts";
import { type LatencyModel, MeasuredLatency } from "./latency.ts";
import { type FactorGate, type LiveDag, type LiveFactor, liveDag } from "./live_dag.ts";

export interface LivePlanSpec {
  readonly laneCount: number;
  /** Of its rows among calls: each is a call of its own. */
  readonly priority: number;
  /** Fields that hold values where symbols have no row. */
  readonly series: readonly string[];
  readonly isRevisable: boolean;
  /** Whether factors that a budget leaves out may miss the row; else they are run before the next row. */
  readonly skipsRows: boolean;
  readonly select?: readonly string[] | undefined;
  readonly priorities: Readonly<Record<string, number>>;
  readonly kernel?: KernelChoice | undefined;
}

/** Rows under way at a time, and one more, whose results are read. */
export const ROW_SLOTS = OVERLAPPING_BLOCKS_MAX + 1;

/** What a session's plan has beyond that of a history. */
export const SESSION_SHAPE = {
  finishedRows: ROW_SLOTS,
  keptBlocks: OVERLAPPING_BLOCKS_MAX,
} as const;

interface LiveBuffers extends PlanBuffers {
  readonly input: LiveInput;
}

export interface LiveRunOptions {
  /** For each gate whether its factors are wanted. */
  readonly gates: readonly boolean[];
  /** Where the row is staged, and where its results are finished: below `ROW_SLOTS`. */
  readonly slot: number;
  readonly signal?: AbortSignal | undefined;
  readonly row: BlockChoice;
  /** Only recursions run, those that have missed rows, with what they read. */
  readonly endsRest?: boolean;
  /** Only a piece runs: the first nodes that take about this many ms one after the other, at least one. */
  readonly pieceMs?: number | undefined;
  /** Nodes that may run: see `SelectionOptions.mayRun`. */
  readonly mayRun?: Uint8Array | undefined;
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
  #begunRuns = 0;
  #endedRuns = 0;

  /**
   * @param signal ends waiting for room
   * @throws UsageError E506 for unknown factors; ResourceError E401 if it does not fit in memory.
   */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: Program,
    spec: LivePlanSpec,
    latency?: LatencyModel,
    signal?: AbortSignal,
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
      order: { priority: spec.priority },
      signal,
      kernel: spec.kernel,
      disabledPasses: program.disabledPasses,
      snapshots: spec.isRevisable,
      skipsRows: spec.skipsRows,
      ...SESSION_SHAPE,
      memoryNeed: () => ({
        bytes: {
          input: LiveInput.bytesOf(read, laneCount, ROW_SLOTS),
          // Two tables: one is filled while the caller takes the other.
          results: 2 * 8 * laneCount * dag.outputs.length,
        },
        held: [],
        remedy: REMEDY,
        lasts: true,
      }),
      allocate: () => {
        const input = new LiveInput(read, laneCount, ROW_SLOTS);
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
    return this.evaluation.openPlan.nextRow;
  }

  /** Predicted wall time of a run in ms. */
  predictMs(gates: readonly boolean[], row: LiveRunOptions["row"]): number {
    const { openPlan } = this.evaluation;
    const selection = openPlan.preview({ conditions: gates, block: row, mayLose: true });
    return this.latency.predictMs(selection, this.#firstRowOf(row));
  }

  /** Whether some recursions may miss rows and run them later. */
  get mayRest(): boolean {
    return this.evaluation.plan.nodes.some(mayRest);
  }

  /**
   * Runs a staged row, and begins at once if fewer than `OVERLAPPING_BLOCKS_MAX` are under way. Recursions that are not
   * wanted are left out, even if they lose rows: end their rest before (`OpenPlan.isRestDue`). @throws as `OpenPlan.run`.
   */
  async run({ gates, slot, signal, row, endsRest, pieceMs, mayRun }: LiveRunOptions): Promise<RunAccount> {
    const { openPlan } = this.evaluation;
    let options: SelectionOptions = { conditions: gates, block: row, endsRest, mayLose: true, mayRun };
    const firstRow = this.#firstRowOf(row);
    let selection = openPlan.preview(options);
    if (selection && pieceMs !== undefined) {
      options = { ...options, nodesMax: this.#nodesWithin(pieceMs, selection, firstRow) };
      selection = openPlan.preview(options);
    }
    const nodesRun = selection ? countOnes(selection) : row === "rest" ? 0 : this.nodeCount;
    if (nodesRun === 0) return { runMs: 0, criticalPathMs: 0, nodesRun };
    const criticalPathMs = this.latency.criticalPathMs(selection, firstRow);
    const before = this.#endedRuns;
    const number = ++this.#begunRuns;
    const started = performance.now();
    try {
      await openPlan.run({ rowCount: 1, inputRow: slot, outputRow: slot }, { signal, ...options });
    } catch (error) {
      this.latency.ignore();
      throw error;
    } finally {
      this.#endedRuns++;
    }
    const runMs = performance.now() - started;
    // The costs of rows that overlap cannot be separated.
    const wasAlone = before === number - 1 && this.#begunRuns === number;
    if (wasAlone) this.latency.note(selection, firstRow, runMs);
    else this.latency.ignore();
    return { runMs, criticalPathMs, nodesRun };
  }

  #firstRowOf(row: BlockChoice): number {
    return row === "next" ? this.rowCount : this.rowCount - 1;
  }

  /** How many of the nodes that would run take that time together, at least one. */
  #nodesWithin(ms: number, selection: NodeSelection, firstRow: number): number {
    let [count, leftMs] = [0, ms];
    for (let node = 0; node < this.nodeCount; node++) {
      if (selection.isRun[node] === 0) continue;
      leftMs -= this.latency.partMs(selection, node, firstRow);
      if (count > 0 && leftMs < 0) break;
      count++;
    }
    return count;
  }

  async close(reason?: Error): Promise<void> {
    await this.evaluation.close(reason);
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
