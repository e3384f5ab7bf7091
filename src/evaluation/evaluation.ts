import { createHash } from "node:crypto";
import type { Dag } from "../dag/dag.ts";
import type { ResourceError } from "../errors.ts";
import type { ExecutorPool, OpenPlan, PlanData } from "../execution/executor_pool.ts";
import { emitKernels } from "../kernel/compile/compile_kernels.ts";
import type { KernelSet } from "../kernel/memory/kernel_set.ts";
import { type FinishedRow, finishedRow } from "../kernel/run/finished_rows.ts";
import { initializeArena } from "../kernel/run/initialize_arena.ts";
import type { RecurrentPlan } from "../kernel/run/recurrences.ts";
import { kernelOperators, type Operator } from "../operator/definition.ts";
import { operatorDigest } from "../operator/operator_digest.ts";
import type { Registry } from "../operator/registry.ts";
import { packOperator } from "../operator/transfer.ts";
import type { CostModel } from "../plan/cost_model.ts";
import { formPlan } from "../plan/form.ts";
import type { Plan } from "../plan/plan.ts";
import type { CallOrder } from "../schedule/call_order.ts";
import { inSteps, Pauses } from "../steps.ts";
import { suppressUnhandled } from "./awaiting.ts";
import { blockRowsToTry } from "./block_rows.ts";
import { formatBytes, type MemoryBudget, type MemoryNeed, memoryShort } from "./memory_budget.ts";
import type { KernelChoice } from "./options.ts";

/** Threads and memory of an engine, shared by its evaluations. */
export interface EngineHost {
  readonly pool: ExecutorPool;
  readonly budget: MemoryBudget;
  readonly threads: number;
  /** Costs for splitting and weighing plans; they change no bit of the results. */
  readonly costs: CostModel;
  /** Digest of the running code (`engineDigest`): state of other code is refused. */
  readonly engineDigest: string;
}

/** What to evaluate, for panels of one width. */
export interface EvaluationSpec<Buffers extends PlanBuffers> {
  readonly dag: Dag;
  readonly laneCount: number;
  /** Number of rows; blocks need not be larger. */
  readonly rowCount: number;
  readonly registry: Registry;
  /** Operators beyond the built-in ones. */
  readonly operators: readonly Operator[];
  readonly blockRows?: number | undefined;
  readonly kernel?: KernelChoice | undefined;
  /** Passes to leave out (`Program.disabledPasses`). */
  readonly disabledPasses?: ReadonlySet<string> | undefined;
  /** Whose parts go first where calls overlap (`ExecutorPool.nextCall`). Default: after all others. */
  readonly order?: CallOrder | undefined;
  /** Keeps window state as it was before the newest block, which often runs again. Default false. */
  readonly snapshots?: boolean;
  /** Runs may skip rows of nodes for good (`PlanShape.skipsRows`). Default false. */
  readonly skipsRows?: boolean | undefined;
  /** Rows of every output that are provided as Arrow columns (`finishedRow`). Default 0. */
  readonly finishedRows?: number;
  /** `Plan.undoBlocks`. Default 0. */
  readonly undoBlocks?: number;
  /** Memory beside the arena, by block size. */
  readonly memoryNeed: (blockRows: number) => MemoryNeed;
  /** Allocates results and missing input columns, by block size. */
  readonly allocate: (blockRows: number) => Buffers | Promise<Buffers>;
}

/** Input columns, params and result columns of an open plan. */
export type PlanBuffers = Pick<PlanData, "fields" | "groups" | "params" | "results">;

/** The position of a block in input and results. */
export interface BlockRows {
  readonly rowCount: number;
  readonly inputRow: number;
  readonly outputRow: number;
}

const WASM_PAGE_BYTES = 65_536;
/** A WebAssembly memory with 32-bit addresses is limited to this. */
const ARENA_BYTES_MAX = 4 * 2 ** 30;

/** Parts last at most about this long while a plan of higher priority is open. */
const URGENT_PART_NS = 2_000_000;

/** A graph open for evaluation block by block: its plan, its kernels and its arena. */
export class Evaluation<Buffers extends PlanBuffers = PlanBuffers> {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  /** The result of `EvaluationSpec.allocate`. */
  readonly buffers: Buffers;
  /** Wall time of compiling the kernels; the arena is prepared meanwhile. */
  readonly kernelMs: number;
  /** For what `run` does not offer: running the newest rows again, checkpoints. */
  readonly openPlan: OpenPlan;
  readonly #pool: ExecutorPool;
  readonly #order: CallOrder;
  readonly #arena: WebAssembly.Memory;
  /** Resolves when all blocks so far are submitted. */
  #submitted: Promise<void> = Promise.resolve();
  readonly #releaseMemory: () => void;

  /** @throws ResourceError E401, with need and limit, if memory is short; E403, E404 as the pool. */
  static async open<Buffers extends PlanBuffers>(
    host: EngineHost,
    spec: EvaluationSpec<Buffers>,
  ): Promise<Evaluation<Buffers>> {
    const fitted = await fitPlan(host, spec);
    const { plan, kernels, arena: memory, release } = fitted;
    try {
      const buffers = await spec.allocate(plan.blockRows);
      const { fields, groups, params, results } = buffers;
      const operators = kernelOperators(spec.operators).map(packOperator);
      const codeDigest = codeDigestOf(host, plan, spec.operators);
      const data = { plan, kernels, memory, operators, codeDigest, fields, groups, params, results };
      const order = spec.order ?? host.pool.nextCall();
      return new Evaluation(host.pool, order, fitted, buffers, await host.pool.open(data, order));
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(
    pool: ExecutorPool,
    order: CallOrder,
    { plan, kernels, kernelMs, arena, release }: FittedPlan,
    buffers: Buffers,
    openPlan: OpenPlan,
  ) {
    this.#pool = pool;
    this.#order = order;
    this.plan = plan;
    this.kernels = kernels;
    this.kernelMs = kernelMs;
    this.buffers = buffers;
    this.openPlan = openPlan;
    this.#arena = arena;
    this.#releaseMemory = release;
  }

  /**
   * Runs the rows after the last block; blocks may overlap (`runBlocks`). While a plan of higher priority is open, parts
   * are short: the block is run in several of fewer rows.
   *
   * @param conditions for each condition of the program whether it holds; default: every node runs
   * @throws as `OpenPlan.run`; the block may then run again.
   */
  async run(block: BlockRows, signal?: AbortSignal, conditions?: readonly boolean[]): Promise<void> {
    const before = this.#submitted;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#submitted = promise;
    await before;
    const running: Promise<void>[] = [];
    try {
      for (let done = 0; done < block.rowCount && !signal?.aborted; ) {
        const rowCount = Math.min(block.rowCount - done, this.#rowsAtOnce());
        await this.openPlan.room();
        const { row, generation } = this.openPlan.next;
        const [inputRow, outputRow] = [block.inputRow + done, block.outputRow + done];
        const rows = { firstRow: row, rowCount, generation, inputRow, outputRow };
        running.push(suppressUnhandled(this.openPlan.run(rows, { signal, conditions })));
        done += rowCount;
      }
    } finally {
      resolve();
    }
    await Promise.all(running);
  }

  /** Rows of a block whose longest part is short enough for what is more urgent to wait for it. */
  #rowsAtOnce(): number {
    const { blockRows, nodes } = this.plan;
    if (!this.#pool.hasMoreUrgent(this.#order)) return blockRows;
    const { nodeNs, next } = this.openPlan;
    const measuredRows = Math.max(1, next.row);
    let rowNs = 1;
    for (const { id, costNs, partCount } of nodes) {
      const ns = nodeNs[id]! > 0 ? nodeNs[id]! / measuredRows : costNs / blockRows;
      rowNs = Math.max(rowNs, ns / partCount);
    }
    return Math.max(1, Math.min(blockRows, Math.floor(URGENT_PART_NS / rowNs)));
  }

  /** The state of recursive operators, for `readRecurrences` and `writeRecurrences`. */
  recurrentPlan(registry: Registry): RecurrentPlan {
    return { plan: this.plan, kernels: this.kernels, memory: this.#arena, registry };
  }

  /** Every output of the block that was run with this `outputRow`; for evaluations with `finishedRows`. */
  finishedRow(outputRow: number): FinishedRow[] {
    return finishedRow(this.plan, this.kernels, this.#arena, outputRow);
  }

  /** Ends pending runs, waits for running parts, and releases the memory. May be called twice. */
  async close(): Promise<void> {
    await this.openPlan.close();
    this.#releaseMemory();
  }
}

/** Digest of the engine and of the user's operators in the plan. */
function codeDigestOf({ engineDigest }: EngineHost, { tasks }: Plan, operators: readonly Operator[]): string {
  const applied = new Set(tasks.map(({ operator }) => operator));
  const digests = operators.filter(({ name }) => applied.has(name)).map(operatorDigest);
  return createHash("sha256")
    .update([engineDigest, ...digests.sort()].join("\n"))
    .digest("hex");
}

interface FittedPlan {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  /** Wall time of compiling the kernels; the arena is prepared meanwhile. */
  readonly kernelMs: number;
  /** Ready for row 0. */
  readonly arena: WebAssembly.Memory;
  /** Releases its reserved memory. */
  readonly release: () => void;
}

/** Forms and compiles the plan with the largest block size that memory allows, and reserves what it needs. */
async function fitPlan(
  { pool, budget, threads, costs }: EngineHost,
  spec: EvaluationSpec<PlanBuffers>,
): Promise<FittedPlan> {
  const { dag, laneCount, rowCount, registry } = spec;
  const options = {
    reference: spec.kernel === "reference",
    executorCount: threads,
    snapshots: spec.snapshots === true,
    finishedRows: spec.finishedRows ?? 0,
  };
  let refusal: ResourceError | null = null;
  const pauses = new Pauses();
  const wanted = spec.blockRows && Math.min(spec.blockRows, Math.max(1, rowCount));
  for (const blockRows of wanted === undefined ? blockRowsToTry(spec) : [wanted]) {
    await pauses.afterStep();
    const plan = formPlan(dag, {
      laneCount,
      blockRows,
      undoBlocks: spec.undoBlocks,
      executorCount: threads,
      costs,
      disabledPasses: spec.disabledPasses,
      skipsRows: spec.skipsRows,
    });
    await pauses.afterStep();
    // The columns alone may be too large: kernels are emitted only if they may fit.
    refusal = refusalOf(budget, needOf(spec, plan, plan.columnBytes));
    if (refusal) continue;
    const started = performance.now();
    const emitted = await inSteps(emitKernels(plan, registry, options));
    const need = needOf(spec, plan, emitted.arenaBytes);
    refusal = refusalOf(budget, need);
    if (refusal) continue;
    const giveBack = budget.reserve(need);
    let isReserved = true;
    const release = () => {
      giveBack();
      if (isReserved) budget.noteClosed(emitted.arenaBytes);
      isReserved = false;
    };
    if (budget.takeCollection(emitted.arenaBytes)) pool.collectGarbage();
    try {
      const arena = allocateArena(emitted.arenaBytes);
      // V8's threads compile, while this one prepares the arena.
      const compiling = suppressUnhandled(emitted.compile());
      await inSteps(initializeArena(plan, emitted, arena));
      const kernels = await compiling;
      return { plan, kernels, kernelMs: performance.now() - started, arena, release };
    } catch (error) {
      release();
      throw error;
    }
  }
  throw refusal;
}

function needOf(spec: EvaluationSpec<PlanBuffers>, { blockRows }: Plan, arenaBytes: number): MemoryNeed {
  const need = spec.memoryNeed(blockRows);
  return { ...need, bytes: { "columns and state": arenaBytes, ...need.bytes } };
}

function refusalOf(budget: MemoryBudget, need: MemoryNeed): ResourceError | null {
  const arenaBytes = need.bytes["columns and state"] as number;
  if (arenaBytes <= ARENA_BYTES_MAX) return budget.refusal(need);
  const message = `the evaluation needs ${formatBytes(arenaBytes)} of columns and state, one memory holds 4.0 GiB`;
  return memoryShort(message, "evaluate fewer symbols or factors at once");
}

/** @throws ResourceError E401 if the system refuses the memory. */
function allocateArena(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  } catch (cause) {
    const message = `the system refused ${formatBytes(bytes)} for columns and state`;
    throw memoryShort(message, "evaluate fewer symbols or factors at once", cause);
  }
}
