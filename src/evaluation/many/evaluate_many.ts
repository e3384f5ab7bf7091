import type { Table } from "apache-arrow";
import type { Program } from "../../compile.ts";
import { type Instantiated, instantiate } from "../../dag/instantiate.ts";
import { SHARING } from "../../dag/passes/order.ts";
import { countCalls } from "../../dag/print.ts";
import { factorTableOfBlocks } from "../../data/factors/factor_table.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { Registry } from "../../operator/registry.ts";
import { buffersOf } from "../block_input.ts";
import { factorBytes } from "../evaluate_table.ts";
import type { EngineHost } from "../evaluation.ts";
import { FactorStream } from "../factor_stream.ts";
import { isMemoryShort, type MemoryNeed } from "../memory/memory_need.ts";
import type { WantedFactors } from "../wanted_factors.ts";
import { KeptBlocks } from "./kept_blocks.ts";
import {
  type CallOfMany,
  type EvaluateManyOptions,
  mergedCall,
  type PreparedCalls,
  type PreparedInstance,
  prepareCalls,
} from "./many_calls.ts";

/** What `Engine.evaluateMany` has done so far. */
export interface EvaluateManyReport {
  /** Tables returned. */
  readonly tableCount: number;
  /** Passes over the rows: more than one where not all calls fit into memory together. */
  readonly passCount: number;
  /** Operator applications evaluated, over all passes. */
  readonly taskCount: number;
  /** Operator applications if each call were evaluated separately. */
  readonly separateTaskCount: number;
}

export const NOTHING_DONE: EvaluateManyReport = {
  tableCount: 0,
  passCount: 0,
  taskCount: 0,
  separateTaskCount: 0,
};

const REMEDY = "raise the memory limit, or take the results of one call block by block: engine.stream";

/** One program over the same rows with many sets of params; see `Engine.evaluateMany`. */
export class ManyEvaluation {
  readonly #host: EngineHost;
  readonly #registry: Registry;
  readonly #program: Program;
  readonly #source: PanelSource;
  readonly #options: EvaluateManyOptions;
  readonly #calls: PreparedCalls;
  #report = NOTHING_DONE;

  /** @throws as `Engine.evaluateMany`, for wrong arguments. @internal */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: Program,
    source: PanelSource,
    calls: readonly CallOfMany[],
    options: EvaluateManyOptions,
  ): Promise<ManyEvaluation> {
    const order = host.pool.nextCall(options.priority);
    const prepared = await prepareCalls(registry, program, source, order, calls, options);
    return new ManyEvaluation(host, registry, program, source, prepared, options);
  }

  private constructor(
    host: EngineHost,
    registry: Registry,
    program: Program,
    source: PanelSource,
    calls: PreparedCalls,
    options: EvaluateManyOptions,
  ) {
    this.#host = host;
    this.#registry = registry;
    this.#program = program;
    this.#source = source;
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
    let stream: FactorStream;
    try {
      stream = await this.#open(graph, instances);
    } catch (error) {
      if (instances.length === 1 || !isMemoryShort(error)) throw error;
      const middle = instances.length >> 1;
      yield* this.#tablesOf(instances.slice(0, middle));
      yield* this.#tablesOf(instances.slice(middle));
      return;
    }
    this.#note({ passCount: 1, taskCount: countCalls(graph.dag) });
    yield* this.#computeAndGive(instances, graph, stream);
  }

  async #open({ dag }: Instantiated, instances: readonly PreparedInstance[]): Promise<FactorStream> {
    const { onProgress } = this.#options;
    const { range, instances: all } = this.#calls;
    const call = { ...mergedCall(dag, this.#source, this.#calls, instances), waits: instances.length === 1 };
    return await FactorStream.openCall(this.#host, this.#registry, this.#program, this.#source, call, {
      ...this.#options,
      reader: () => this.#tableNeed(instances),
      // Several passes count as one: each contributes its share of the calls over all rows.
      onProgress: (rowsDone) => {
        const done = this.#report.tableCount * range.end + instances.length * rowsDone;
        onProgress?.(Math.floor(done / all.length), range.end);
      },
    });
  }

  async *#computeAndGive(
    instances: readonly PreparedInstance[],
    { outputs }: Instantiated,
    stream: FactorStream,
  ): AsyncGenerator<Table, void, void> {
    const { signal } = this.#options;
    const { budget } = this.#host;
    const kept = new KeptBlocks(budget, this.#source, this.#calls.range.first);
    let release = () => {};
    // A caller that aborts may never request another table.
    const close = () => {
      release();
      void kept.close();
    };
    signal?.addEventListener("abort", close);
    try {
      await budget.whileBusy(async () => {
        for await (const block of stream.blocks()) await kept.append(block);
      });
      const lastUse = new Map(outputs.flatMap((used, call) => used.map((output) => [output, call] as const)));
      for (const [call, { wanted }] of instances.entries()) {
        signal?.throwIfAborted();
        const used = outputs[call] as readonly number[];
        release = await budget.admit(() => budget.reserve(this.#tableNeed([instances[call]!])), signal);
        const table = await this.#table(wanted, used, kept);
        for (const output of used) if (lastUse.get(output) === call) kept.discard(output);
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
      await kept.close();
    }
  }

  async #table({ factors }: WantedFactors, outputs: readonly number[], kept: KeptBlocks): Promise<Table> {
    const { time, symbols } = this.#source;
    const { keepInfinite = false } = this.#options;
    const { first, end } = this.#calls.range;
    const placed = new Map(
      factors.map(({ name, output }) => [name, output === null ? null : outputs[output]!] as const),
    );
    const columns = { time, symbols, factors: [...placed.keys()] };
    const options = { keepInfinite, rowCount: end - first };
    return (await factorTableOfBlocks(columns, kept.read(placed), options)).table;
  }

  /** The largest table of some calls. */
  #tableNeed(instances: readonly PreparedInstance[]): MemoryNeed {
    const factorsMax = instances.reduce((most, { wanted }) => Math.max(most, wanted.factors.length), 0);
    const bytes = { table: factorsMax * factorBytes(this.#source, this.#calls.range) };
    return { bytes, held: buffersOf(this.#source), remedy: REMEDY };
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
