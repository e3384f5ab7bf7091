import type { ExecutorPool, OpenPlan, PlanData } from "../execution/executor_pool.ts";
import type { BlockRows } from "../execution/open_plan.ts";
import type { PlanArena } from "../kernel/memory/plan_arena.ts";
import { type FinishedRow, finishedRow } from "../kernel/run/finished_rows.ts";
import { initializeArena } from "../kernel/run/initialize_arena.ts";
import {
  type RecurrenceValues,
  type RecurrentPlan,
  readRecurrences,
  writeRecurrences,
} from "../kernel/run/recurrences.ts";
import { kernelOperators, type Operator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import { packOperator } from "../operator/transfer.ts";
import type { CostModel } from "../plan/cost_model.ts";
import { mayRest, type Plan } from "../plan/plan.ts";
import type { PlanOrder } from "../schedule/call_order.ts";
import type { Recurrences } from "../state/stream_history.ts";
import { inSteps } from "../steps.ts";
import { suppressUnhandled } from "./awaiting.ts";
import { type FitSpec, type FittedPlan, fitPlan } from "./fit_plan.ts";
import type { MemoryBudget } from "./memory/memory_budget.ts";

/** Threads and memory of an engine, shared by its evaluations. */
export interface EngineHost {
  readonly pool: ExecutorPool;
  readonly budget: MemoryBudget;
  readonly threads: number;
  /** Costs for splitting and weighing plans; they change no bit of the results. */
  readonly costs: CostModel;
}

/** What to evaluate, for panels of one width. */
export interface EvaluationSpec<Buffers extends PlanBuffers> extends FitSpec {
  /** Operators beyond the built-in ones. */
  readonly operators: readonly Operator[];
  /** Whose parts go first where calls overlap (`ExecutorPool.open`). Default: one call, after all others. */
  readonly order?: PlanOrder | undefined;
  /** Whether it waits for room until other calls have ended. Default true. */
  readonly waits?: boolean | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Allocates results and missing input columns, by block size. */
  readonly allocate: (blockRows: number) => Buffers;
}

/** Input columns, params and result columns of an open plan. */
export type PlanBuffers = Pick<PlanData, "fields" | "groups" | "params" | "results">;

/** Parts last at most about this long while a plan of higher priority is open. */
const URGENT_PART_NS = 2_000_000;

/** A graph open for evaluation block by block: its plan, its kernels and its arenas. */
export class Evaluation<Buffers extends PlanBuffers = PlanBuffers> {
  readonly plan: Plan;
  /** More than one where the program does not fit into one memory. */
  readonly arenas: readonly PlanArena[];
  /** The result of `EvaluationSpec.allocate`. */
  readonly buffers: Buffers;
  /** Wall time of compiling the kernels; the arenas are prepared meanwhile. */
  readonly kernelMs: number;
  /** For what `run` does not offer: running the newest rows again. */
  readonly openPlan: OpenPlan;
  readonly #pool: ExecutorPool;
  readonly #budget: MemoryBudget;
  readonly #order: PlanOrder;
  /** Resolves when all blocks so far are submitted. */
  #submitted: Promise<void> = Promise.resolve();
  /** The last block since the last restart. */
  #last: BlockRows | null = null;
  /** Rows that ran before the last restart. */
  #earlierRows = 0;
  readonly #releaseMemory: () => void;

  /** @throws ResourceError E401, with need and limit, if memory is short; E403, E404 as the pool. */
  static async open<Buffers extends PlanBuffers>(
    host: EngineHost,
    spec: EvaluationSpec<Buffers>,
  ): Promise<Evaluation<Buffers>> {
    const attempt = () => fitPlan(host, spec);
    const fitted = await (spec.waits === false ? attempt() : host.budget.admit(attempt, spec.signal));
    const { plan, arenas, release } = fitted;
    try {
      const buffers = spec.allocate(plan.blockRows);
      const { fields, groups, params, results } = buffers;
      const operators = kernelOperators(spec.operators).map(packOperator);
      const data = { plan, arenas, operators, fields, groups, params, results };
      const order = spec.order ?? host.pool.nextCall();
      return new Evaluation(host, order, fitted, buffers, await host.pool.open(data, order));
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(
    { pool, budget }: EngineHost,
    order: PlanOrder,
    { plan, arenas, kernelMs, release }: FittedPlan,
    buffers: Buffers,
    openPlan: OpenPlan,
  ) {
    this.#pool = pool;
    this.#budget = budget;
    this.#order = order;
    this.plan = plan;
    this.arenas = arenas;
    this.kernelMs = kernelMs;
    this.buffers = buffers;
    this.openPlan = openPlan;
    this.#releaseMemory = release;
  }

  /**
   * Runs the rows after the last block; blocks may overlap (`runBlocks`). While a plan of higher priority is open, parts
   * are short: the block is run in several of fewer rows.
   *
   * @param conditions for each condition of the program whether it holds; default: every node runs
   * @throws as `OpenPlan.run`
   */
  async run(block: BlockRows, signal?: AbortSignal, conditions?: readonly boolean[]): Promise<void> {
    const before = this.#submitted;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#submitted = promise;
    await before;
    try {
      await this.#budget.admitBlock(this, signal);
      try {
        const running = await this.#submit(block, signal, conditions);
        resolve();
        await Promise.all(running);
      } finally {
        this.#budget.endBlock(this);
      }
    } finally {
      resolve();
    }
  }

  async #submit(
    block: BlockRows,
    signal: AbortSignal | undefined,
    conditions: readonly boolean[] | undefined,
  ): Promise<Promise<void>[]> {
    const running: Promise<void>[] = [];
    for (let done = 0; done < block.rowCount; ) {
      signal?.throwIfAborted();
      const rowCount = Math.min(block.rowCount - done, this.#rowsAtOnce());
      await this.openPlan.room();
      const rows = { rowCount, inputRow: block.inputRow + done, outputRow: block.outputRow + done };
      running.push(suppressUnhandled(this.openPlan.run(rows, { signal, conditions })));
      this.#last = rows;
      done += rowCount;
    }
    return running;
  }

  /** Rows of a block whose longest part is short enough for what is more urgent to wait for it. */
  #rowsAtOnce(): number {
    const { blockRows, nodes } = this.plan;
    if (!this.#pool.hasMoreUrgent(this.#order)) return blockRows;
    const { nodeNs, nextRow } = this.openPlan;
    const measuredRows = Math.max(1, this.#earlierRows + nextRow);
    let rowNs = 1;
    for (const { id, costNs, partCount } of nodes) {
      const ns = nodeNs[id]! > 0 ? nodeNs[id]! / measuredRows : costNs / blockRows;
      rowNs = Math.max(rowNs, ns / partCount);
    }
    return Math.max(1, Math.min(blockRows, Math.floor(URGENT_PART_NS / rowNs)));
  }

  /** Goes back to the row before any history behind the blocks that are under way; blocks that are run later wait for it. */
  async restart(): Promise<void> {
    await this.between(async () => {
      // The arenas are as they were opened.
      if (this.openPlan.nextRow === 0) return;
      this.#earlierRows += this.openPlan.nextRow;
      this.#last = null;
      this.openPlan.restart();
      for (const { plan, kernels, memory } of this.arenas)
        await inSteps(initializeArena(plan, kernels, memory));
    });
  }

  /** Acts once the blocks under way have ended; blocks that are run later wait for it. */
  async between(act: () => Promise<void>): Promise<void> {
    const before = this.#submitted;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#submitted = promise;
    await before;
    try {
      await this.openPlan.idle();
      await act();
    } finally {
      resolve();
    }
  }

  /** The recurrences before the next row, with all rows that conditions left out. No run is under way. */
  recurrences(registry: Registry): Recurrences {
    const recurrent = this.recurrentPlan(registry);
    const generationOf = (node: number) => this.openPlan.generationBefore(node);
    return {
      read: async () => {
        await this.#endRest();
        return readRecurrences(recurrent, generationOf);
      },
      write: async (values: RecurrenceValues) => {
        await this.#endRest();
        writeRecurrences(recurrent, generationOf, values);
      },
    };
  }

  /** Runs recursions over the rows that they have missed: the last block again, for those that it left out. */
  async #endRest(): Promise<void> {
    if (this.#last === null || !this.plan.nodes.some(mayRest)) return;
    const options = { block: "rest", endsRest: true } as const;
    if (this.openPlan.preview(options)?.isRun.includes(1)) await this.openPlan.run(this.#last, options);
  }

  /** Bytes of all arenas, and those of operator state. */
  get arenaBytes(): number {
    return this.arenas.reduce((sum, { kernels }) => sum + kernels.arenaBytes, 0);
  }

  get stateBytes(): number {
    return this.arenas.reduce((sum, { kernels }) => sum + kernels.stateBytes, 0);
  }

  /** The state of recursive operators, for `readRecurrences` and `writeRecurrences`. */
  recurrentPlan(registry: Registry): RecurrentPlan {
    return { plan: this.plan, arenas: this.arenas, registry };
  }

  /** Every output of the block that was run with this `outputRow`; for evaluations with `finishedRows`. */
  finishedRow(outputRow: number): FinishedRow[] {
    const rows: FinishedRow[] = [];
    for (const { plan, kernels, memory, outputs } of this.arenas)
      finishedRow(plan, kernels, memory, outputRow).forEach((row, output) => {
        rows[outputs[output]!] = row;
      });
    return rows;
  }

  /** Ends pending runs, waits for running parts, and releases the memory. May be called twice. */
  async close(reason?: Error): Promise<void> {
    await this.openPlan.close(reason);
    this.#releaseMemory();
  }
}
