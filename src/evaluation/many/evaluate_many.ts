import type { Table } from "apache-arrow";
import type { Program } from "../../compile.ts";
import { type Instantiated, instantiate } from "../../dag/instantiate.ts";
import { SHARING } from "../../dag/passes/order.ts";
import { countCalls } from "../../dag/print.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../data/factors/factor_table.ts";
import type { RowRange } from "../../data/panel/panel_source.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../execution/executor_pool.ts";
import type { Registry } from "../../operator/registry.ts";
import type { Panel } from "../../panel.ts";
import type { CallOrder } from "../../schedule/call_order.ts";
import { buffersOf, columnsOfPanel, madeBytes, shapeOf } from "../evaluate_panel.ts";
import { type EngineHost, Evaluation } from "../evaluation.ts";
import { isMemoryShort, type MemoryNeed } from "../memory/memory_need.ts";
import { sharedColumn } from "../shared_columns.ts";
import { columnsRead, type WantedFactors } from "../wanted_factors.ts";
import {
  type CallOfMany,
  type EvaluateManyOptions,
  type PreparedCalls,
  type PreparedInstance,
  prepareCalls,
} from "./many_calls.ts";
import { retainResults } from "./retain_results.ts";
import { RetainedResults } from "./retained_results.ts";

/** What a `ManyEvaluation` has done so far. */
export interface EvaluateManyReport {
  /** Tables returned. */
  readonly tableCount: number;
  /** Passes over the panel: more than one where not all calls fit into memory together. */
  readonly passCount: number;
  /** Operator applications evaluated, over all passes. */
  readonly taskCount: number;
  /** Operator applications if each call were evaluated separately. */
  readonly separateTaskCount: number;
}

const NOTHING_DONE: EvaluateManyReport = { tableCount: 0, passCount: 0, taskCount: 0, separateTaskCount: 0 };

const REMEDY = "raise the memory limit, or take the results of one call block by block: engine.stream";

/** Least number of result blocks in memory: those under way and one that is retained. */
const BLOCKS_HELD = OVERLAPPING_BLOCKS_MAX + 1;

/** Calls with the order that they share: among overlapping calls they count as one. */
type NumberedCalls = PreparedCalls & { readonly order: CallOrder };

/** One program over one panel with many sets of params; see `Engine.evaluateMany`. */
export class ManyEvaluation {
  readonly #host: EngineHost;
  readonly #registry: Registry;
  readonly #program: Program;
  readonly #panel: Panel;
  readonly #options: EvaluateManyOptions;
  readonly #calls: NumberedCalls;
  #report = NOTHING_DONE;

  /** @throws as `Engine.evaluateMany`, for wrong arguments. @internal */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: Program,
    panel: Panel,
    calls: readonly CallOfMany[],
    options: EvaluateManyOptions,
  ): Promise<ManyEvaluation> {
    const order = host.pool.nextCall(options.priority);
    const prepared = await prepareCalls(registry, program, shapeOf(panel), calls, options);
    return new ManyEvaluation(host, registry, program, panel, { ...prepared, order }, options);
  }

  private constructor(
    host: EngineHost,
    registry: Registry,
    program: Program,
    panel: Panel,
    calls: NumberedCalls,
    options: EvaluateManyOptions,
  ) {
    this.#host = host;
    this.#registry = registry;
    this.#program = program;
    this.#panel = panel;
    this.#calls = calls;
    this.#options = options;
  }

  /** What was done since `tables` was called. */
  get report(): EvaluateManyReport {
    return this.#report;
  }

  /** The table of each call, in order. Computes nothing before the first one is requested. */
  async *tables(): AsyncGenerator<Table, void, void> {
    this.#report = NOTHING_DONE;
    yield* this.#tablesOf(this.#calls.instances);
  }

  /** The tables of some calls: together, or in halves where memory does not suffice. */
  async *#tablesOf(instances: readonly PreparedInstance[]): AsyncGenerator<Table, void, void> {
    if (instances.length === 0) return;
    const isSharing = !this.#program.disabledPasses.has(SHARING);
    const graph = instantiate(instances, isSharing);
    let evaluation: Evaluation | null;
    try {
      evaluation = await this.#open(graph, instances);
    } catch (error) {
      if (instances.length === 1 || !isMemoryShort(error)) throw error;
      const middle = instances.length >> 1;
      yield* this.#tablesOf(instances.slice(0, middle));
      yield* this.#tablesOf(instances.slice(middle));
      return;
    }
    this.#note({ passCount: 1, taskCount: countCalls(graph.dag) });
    yield* this.#computeAndGive(instances, graph, evaluation);
  }

  /** Null if no factor is wanted or there is no cell. */
  async #open({ dag }: Instantiated, instances: readonly PreparedInstance[]): Promise<Evaluation | null> {
    const panel = this.#panel;
    const { laneCount } = panel;
    const { end } = this.#calls.range;
    const outputCount = dag.outputs.length;
    if (outputCount === 0 || end === 0 || laneCount === 0) return null;
    const read = columnsRead(dag, shapeOf(panel));
    return await Evaluation.open(this.#host, {
      dag,
      laneCount,
      rowCount: end,
      registry: this.#registry,
      operators: this.#program.operators,
      blockRows: this.#options.blockRows,
      kernel: this.#options.kernel,
      disabledPasses: this.#program.disabledPasses,
      order: this.#calls.order,
      waits: instances.length === 1,
      signal: this.#options.signal,
      memoryNeed: (rows) => ({
        bytes: {
          ...this.#tableNeed(instances).bytes,
          input: madeBytes(panel, read),
          results: BLOCKS_HELD * rows * laneCount * Float64Array.BYTES_PER_ELEMENT * outputCount,
        },
        held: buffersOf(panel),
        remedy: REMEDY,
      }),
      allocate: (rows) => {
        const results = dag.outputs.map(() => sharedColumn(OVERLAPPING_BLOCKS_MAX * rows * laneCount));
        return { ...columnsOfPanel(panel, read), params: {}, results };
      },
    });
  }

  async *#computeAndGive(
    instances: readonly PreparedInstance[],
    { dag, outputs }: Instantiated,
    evaluation: Evaluation | null,
  ): AsyncGenerator<Table, void, void> {
    const { signal } = this.#options;
    const { budget } = this.#host;
    const retained = new RetainedResults(budget, dag.outputs.length);
    let release = () => {};
    // A caller that aborts may never request another table.
    const close = () => {
      release();
      void retained.close();
    };
    signal?.addEventListener("abort", close);
    try {
      const blocks = await this.#compute(evaluation, retained, instances.length);
      const lastUse = new Map(outputs.flatMap((used, call) => used.map((output) => [output, call] as const)));
      for (const [call, { wanted }] of instances.entries()) {
        signal?.throwIfAborted();
        const used = evaluation ? (outputs[call] as readonly number[]) : [];
        release = await budget.admit(() => budget.reserve(this.#tableNeed([instances[call]!])), signal);
        const table = await this.#table(wanted, used, blocks, retained);
        for (const output of used) if (lastUse.get(output) === call) retained.discard(output);
        this.#note({ tableCount: 1, separateTaskCount: countCalls(wanted.dag) });
        yield table;
        release();
      }
    } catch (error) {
      signal?.throwIfAborted(); // it closed what was being read
      throw error;
    } finally {
      signal?.removeEventListener("abort", close);
      release();
      await retained.close();
    }
  }

  /** Returns the rows of each retained block; without an evaluation those of the whole range. */
  async #compute(
    evaluation: Evaluation | null,
    retained: RetainedResults,
    callCount: number,
  ): Promise<readonly RowRange[]> {
    const { range, restartRows, instances } = this.#calls;
    if (!evaluation) return [range];
    const { signal, onProgress } = this.#options;
    const run = {
      evaluation,
      range,
      restartRows,
      laneCount: this.#panel.laneCount,
      signal,
      // Several passes count as one: each contributes its share of the calls over all rows.
      onProgress: (rowsDone: number) => {
        const done = this.#report.tableCount * range.end + callCount * rowsDone;
        onProgress?.(Math.floor(done / instances.length), range.end);
      },
    };
    try {
      return await retainResults(run, retained);
    } finally {
      await evaluation.close();
    }
  }

  async #table(
    { factors }: WantedFactors,
    outputs: readonly number[],
    blocks: readonly RowRange[],
    retained: RetainedResults,
  ): Promise<Table> {
    const { time, symbols, laneCount, present } = this.#panel;
    const { signal, keepInfinite = false } = this.#options;
    const placed = factors.map(({ name, output }) => {
      return [name, output === null ? null : (outputs[output] ?? null)] as const;
    });
    const taken = async function* (): AsyncGenerator<FactorBlock> {
      for (const [index, { first, end }] of blocks.entries()) {
        const columns = new Map<string, Float64Array | null>();
        for (const [name, output] of placed) {
          signal?.throwIfAborted();
          columns.set(name, output === null ? null : await retained.read(output, index));
        }
        yield {
          rowCount: end - first,
          times: time.values.subarray(first, end),
          present: present.subarray(first * laneCount, end * laneCount),
          columns,
        };
      }
    };
    const names = factors.map(({ name }) => name);
    const { first, end } = this.#calls.range;
    const options = { keepInfinite, rowCount: end - first };
    return (await factorTableOfBlocks({ time, symbols, factors: names }, taken(), options)).table;
  }

  /** The largest table of some calls. */
  #tableNeed(instances: readonly PreparedInstance[]): MemoryNeed {
    const factorsMax = instances.reduce((most, { wanted }) => Math.max(most, wanted.factors.length), 0);
    const { first, end } = this.#calls.range;
    const cellCount = (end - first) * this.#panel.laneCount;
    const bytes = { table: factorsMax * cellCount * Float64Array.BYTES_PER_ELEMENT };
    return { bytes, held: buffersOf(this.#panel), remedy: REMEDY };
  }

  #note(added: Partial<EvaluateManyReport>): void {
    const { tableCount = 0, passCount = 0, taskCount = 0, separateTaskCount = 0 } = added;
    this.#report = {
      tableCount: this.#report.tableCount + tableCount,
      passCount: this.#report.passCount + passCount,
      taskCount: this.#report.taskCount + taskCount,
      separateTaskCount: this.#report.separateTaskCount + separateTaskCount,
    };
  }
}
