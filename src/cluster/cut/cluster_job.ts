import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Program } from "../../compile.ts";
import type { CallTask, Dag } from "../../dag/dag.ts";
import { pruneDag } from "../../dag/prune.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { type PreparedCall, prepareCall } from "../../evaluation/prepared_call.ts";
import type { Registry } from "../../operator/registry.ts";
import type { CostModel } from "../../plan/cost_model.ts";
import { divideOutputs } from "../../plan/divide_outputs.ts";
import { formPlan } from "../../plan/form.ts";
import { lookbackRows } from "../../plan/lookback.ts";
import { COLUMN_COST_NS, cellCostNs } from "../../plan/task_cost.ts";
import { executorMemory } from "../protocol/executor_memory.ts";
import { packProgram } from "../protocol/packed_program.ts";
import type { Cut, JobCall, Share } from "../protocol/protocol.ts";
import { type CutSpec, cutRun, type HeldBytes } from "./cut_run.ts";

/** The workers for which a run is cut. */
export interface WorkerSize {
  readonly threads: number;
  /** 0 for no limit. */
  readonly memoryLimitBytes: number;
}

export interface ClusterCall {
  readonly program: Program;
  readonly registry: Registry;
  /** The panel as the client opened it; only its keys are read. */
  readonly source: PanelSource;
  readonly options: EvaluateOptions;
  readonly costs: CostModel;
  readonly workers: readonly WorkerSize[];
  /** False if the results go back to the client. */
  readonly isDataset: boolean;
  /** Rows of a slab that the caller prescribes. */
  readonly slabRows?: number | undefined;
}

/** What a run computes, and how it is cut for these workers. */
export interface PreparedJob {
  readonly call: PreparedCall;
  readonly jobCall: JobCall;
  readonly cut: Cut;
  /** Estimated ns of a row of a share, also of another cut. */
  readonly rowNs: (share: Share) => number;
  /** Limits for results that go back to the client. */
  readonly held: HeldBytes;
}

/** Assumed memory of a worker without a limit. */
const LIMIT_DEFAULT = 4 * 2 ** 30;
/** Of a worker's memory, for one value; of all workers' memory, for what the client has requested and not taken. */
const VALUE_SHARE = 1 / 8;
const AHEAD_SHARE = 1 / 4;
/** Cost of reading a cell of a field. */
const READ_NS = 10;
/** Plans take blocks of so few rows where memory is short. */
const BLOCK_ROWS = 16;
/** Columns of a plan take at least about this share of its memories (`fitShares`), which are most of what it needs. */
const COLUMNS_SHARE = 0.5;

/**
 * Prepares a program for a cluster.
 *
 * @throws as `prepareCall` and `cutRun`.
 */
export async function prepareJob(request: ClusterCall): Promise<PreparedJob> {
  const { program, registry, source, options, costs } = request;
  const call = await prepareCall(registry, program, source, options);
  const { range, wanted } = call;
  const workers = request.workers.length > 0 ? request.workers : [{ threads: 1, memoryLimitBytes: 0 }];
  const held = heldBytes(workers);
  const graph = new OutputGraph(call, source.laneCount, costs);
  const planBytes = COLUMNS_SHARE * Math.min(...workers.map(engineBytes));
  const run = cutRun({
    ...range,
    laneCount: source.laneCount,
    threadCount: workers.reduce((sum, { threads }) => sum + threads, 0),
    lookbacks: graph.lookbacks,
    costNs: (outputs) => graph.costNs(outputs),
    divide: (outputs, groups) => graph.divide(outputs, groups, planBytes),
    held: request.isDataset ? null : held,
    slabRows: request.slabRows,
  } satisfies CutSpec);
  const cut: Cut = {
    ...run,
    shares: run.shares.map(({ outputs, warmUpRows }) => ({ factors: namesOf(call, outputs), warmUpRows })),
  };
  const {
    select,
    from,
    to,
    signal,
    onProgress,
    priority,
    paramsByTime,
    keepInfinite = false,
    ...own
  } = options;
  const jobCall: JobCall = {
    program: packProgram(program),
    options: own,
    paramsByTime:
      paramsByTime === undefined
        ? null
        : { name: basename(paramsByTime), bytes: await readFile(paramsByTime) },
    costs,
    factors: wanted.factors.map(({ name }) => name),
    outputRows: [range.first, range.end],
    keepInfinite,
  };
  const outputOf = new Map(wanted.factors.map(({ name, output }) => [name, output]));
  const rowNs = ({ factors }: Share) => graph.costNs(factors.map((name) => outputOf.get(name)!));
  return { call, jobCall, cut, rowNs, held };
}

/** The factors of some outputs: several may have one output. */
function namesOf({ wanted }: PreparedCall, outputs: readonly number[]): string[] {
  const some = new Set(outputs);
  return wanted.factors.flatMap(({ name, output }) => (output !== null && some.has(output) ? [name] : []));
}

const limitOf = ({ memoryLimitBytes }: WorkerSize) => memoryLimitBytes || LIMIT_DEFAULT;
const engineBytes = (worker: WorkerSize) => executorMemory(limitOf(worker) / worker.threads).engineBytes;

function heldBytes(workers: readonly WorkerSize[]): HeldBytes {
  const limits = workers.map(limitOf);
  return {
    valueBytes: VALUE_SHARE * Math.min(...limits),
    aheadBytes: AHEAD_SHARE * limits.reduce((sum, limit) => sum + limit, 0),
  };
}

/** What outputs of a graph cost, alone and together. */
class OutputGraph {
  readonly lookbacks: readonly number[];
  readonly #dag: Dag;
  readonly #laneCount: number;
  readonly #costs: CostModel;
  /** Of each task, per row. */
  readonly #taskNs: readonly number[];

  constructor({ wanted: { dag } }: PreparedCall, laneCount: number, costs: CostModel) {
    this.#dag = dag;
    this.#laneCount = laneCount;
    this.#costs = costs;
    const rows = lookbackRows(dag);
    this.lookbacks = dag.outputs.map(({ task }) => rows[task]!);
    this.#taskNs = dag.tasks.map((task) => {
      if (task.kind === "field") return laneCount * READ_NS;
      return task.kind === "call" ? laneCount * (COLUMN_COST_NS + cellCostNs(task as CallTask, costs)) : 0;
    });
  }

  /** Ns of a row of these outputs: what they share counts once. */
  costNs(outputs: readonly number[]): number {
    const { tasks, outputs: all } = this.#dag;
    const seen = new Uint8Array(tasks.length);
    const waiting: number[] = [];
    const visit = (id: number) => {
      if (seen[id] === 1) return;
      seen[id] = 1;
      waiting.push(id);
    };
    let ns = 0;
    for (const output of outputs) visit(all[output]!.task);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      ns += this.#taskNs[id]!;
      const task = tasks[id]!;
      if (task.kind === "call") for (const input of task.inputs) visit(input);
    }
    return ns;
  }

  /** Divides outputs that share columns together until each group's columns take at most `bytesMax`. */
  divide(outputs: readonly number[], groups: number, bytesMax: number): number[][] {
    if (outputs.length === 0) return [];
    const wanted = new Set(outputs);
    const plan = formPlan(
      pruneDag(this.#dag, (_, output) => wanted.has(output)),
      { laneCount: this.#laneCount, blockRows: BLOCK_ROWS, executorCount: 1, costs: this.#costs },
    );
    const share = Math.min(1 / groups, bytesMax / plan.columnBytes);
    if (share >= 1 || outputs.length === 1) return [[...outputs]];
    return divideOutputs(plan, share).flatMap((group) =>
      this.divide(
        group.map((index) => outputs[index]!),
        1,
        bytesMax,
      ),
    );
  }
}
