import { availableParallelism, totalmem } from "node:os";
import { builtInRegistry } from "../operators/index.ts";
import { CallParams, type ParamOptions } from "./call_params.ts";
import { finalDag, type Program } from "./compile.ts";
import type { Dag } from "./dag/dag.ts";
import { type FactorColumn, type FactorTable, factorTable } from "./data/factor_table.ts";
import { parseTimeText } from "./data/time_text.ts";
import { DataError, UsageError } from "./errors.ts";
import { ExecutorPool } from "./execution/executor_pool.ts";
import type { CallResult } from "./execution/pending_call.ts";
import { kernelOperators } from "./operator/definition.ts";
import { packOperator } from "./operator/transfer.ts";
import type { Panel } from "./panel.ts";
import { formPlan, wantedNodes } from "./plan/form.ts";
import type { Operand, Plan, PlanOutput } from "./plan/plan.ts";
import { parseByteSize } from "./text/byte_size.ts";
import { nearestName } from "./text/suggest.ts";

/** Share of the machine's memory that an engine may use for its columns if no limit is given. */
const MEMORY_SHARE_DEFAULT = 0.6;

export interface EngineOptions {
  /** Executor threads; default: one per available core. */
  readonly threads?: number;
  /** Memory for columns, e.g. `"4GiB"` or a number of bytes; default: 60 % of the machine's. */
  readonly memoryLimit?: string | number;
}

export interface EvaluateOptions extends ParamOptions {
  /** Only these factors. */
  readonly select?: readonly string[];
  /** First and last time of the output, inclusive, e.g. `"2017-01-01"`; the history before still counts. */
  readonly from?: string;
  readonly to?: string;
  /** Keep infinities in the output instead of turning them into nulls. */
  readonly keepInfinite?: boolean;
  /** Ends the call when aborted; the engine stays usable. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (partsDone: number, partCount: number) => void;
}

/** What an evaluation did. */
export interface EvaluationReport {
  /** Wall time of each step, in ms. */
  readonly planMs: number;
  readonly computeMs: number;
  readonly tableMs: number;
  readonly nodeCount: number;
  /** Nodes left out because no wanted factor needs them. */
  readonly prunedNodeCount: number;
  readonly unwantedFactors: readonly string[];
  readonly nullCounts: ReadonlyMap<string, number>;
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

/** Evaluates programs over panels on a pool of threads. Calls may overlap. */
export class Engine {
  readonly #pool: ExecutorPool;
  readonly #threads: number;

  /**
   * Starts the threads.
   *
   * @throws UsageError for options that make no sense; ResourceError if the threads do not start.
   * @example
   * await using engine = await Engine.start({ threads: 2, memoryLimit: "4GiB" });
   */
  static async start(options: EngineOptions = {}): Promise<Engine> {
    const { threads = availableParallelism(), memoryLimit = MEMORY_SHARE_DEFAULT * totalmem() } = options;
    const arenaBytesMax = typeof memoryLimit === "number" ? memoryLimit : parseByteSize(memoryLimit);
    if (!(arenaBytesMax > 0)) {
      throw new UsageError(
        "E507",
        `a memory limit of ${arenaBytesMax} bytes`,
        "give a positive number, or e.g. 4GiB",
      );
    }
    return new Engine(await ExecutorPool.start({ threads, arenaBytesMax }), threads);
  }

  private constructor(pool: ExecutorPool, threads: number) {
    this.#pool = pool;
    this.#threads = threads;
  }

  /**
   * Evaluates every factor that is wanted in this call over the whole panel.
   *
   * @returns Arrow table: the time column under its own name and type, `symbol`, then one Float64 column per factor,
   *   sorted by time then symbol, with the rows of the input only. Null: not enough history, a null among what the
   *   value depends on, an infinity (unless `keepInfinite`), or a factor whose condition does not hold.
   * @throws DataError if the panel lacks a column; UsageError for wrong options; ResourceError if memory or threads do
   *   not suffice; the signal's reason when aborted.
   * @example
   * const table = await engine.evaluate(program, panel, { params: { session: "close" } });
   */
  async evaluate(
    program: Program,
    panel: Panel,
    options: EvaluateOptions = {},
  ): Promise<FactorTable["table"]> {
    return (await this.evaluateWithReport(program, panel, options)).table;
  }

  /** The same as `evaluate`, with an account of what was done. */
  async evaluateWithReport(
    program: Program,
    panel: Panel,
    options: EvaluateOptions = {},
  ): Promise<{ table: FactorTable["table"]; report: EvaluationReport }> {
    const started = performance.now();
    const trim = await parseTrim(panel, options);
    const dag = finalDag(program);
    const registry = builtInRegistry.with(program.operators);
    const params = await CallParams.of(program, panel, options, registry);
    const selected = selectOutputs(dag, options.select);
    const isWanted = dag.outputs.map(
      ({ condition }, i) => selected[i] === true && params.isEverWanted(condition),
    );
    const plan = formPlan(dag, panel, this.#threads);
    const wanted = wantedNodes(plan, isWanted);
    const read = requireColumns(plan, wanted, isWanted, panel);
    const values = Object.fromEntries([...read.params].map((name) => [name, params.numeric(name)]));
    const planned = performance.now();
    const { fields, groups } = panel;
    const { signal, onProgress } = options;
    const operators = kernelOperators(program.operators).map(packOperator);
    const result = await this.#pool.run({
      plan,
      wanted,
      params: values,
      operators,
      fields,
      groups,
      signal,
      onProgress,
    });
    const computed = performance.now();
    const columns = dag.outputs.flatMap(({ name, condition }, i): FactorColumn[] => {
      if (!selected[i]) return [];
      if (!isWanted[i]) return [{ name, values: null }];
      const column = outputColumn((plan.outputs[i] as PlanOutput).operand, panel, values, result);
      return [{ name, values: params.maskUnwanted(column, condition) }];
    });
    const { table, nullCounts, nonFiniteCounts } = factorTable(panel, columns, trim);
    const wantedCount = wanted.reduce((sum, isOne) => sum + isOne, 0);
    const report: EvaluationReport = {
      planMs: planned - started,
      computeMs: computed - planned,
      tableMs: performance.now() - computed,
      nodeCount: plan.nodes.length,
      prunedNodeCount: plan.nodes.length - wantedCount,
      unwantedFactors: columns.filter(({ values: column }) => column === null).map(({ name }) => name),
      nullCounts,
      nonFiniteCounts,
    };
    return { table, report };
  }

  /** Ends all threads; calls under way are rejected. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function parseTrim(panel: Panel, { from, to, keepInfinite = false }: EvaluateOptions) {
  const { type } = panel.time;
  return {
    keepInfinite,
    ...(from === undefined ? {} : { from: await parseTimeText(from, type, "from") }),
    ...(to === undefined ? {} : { to: await parseTimeText(to, type, "to") }),
  };
}

/** For each output whether it was asked for. */
function selectOutputs(dag: Dag, select: readonly string[] | undefined): boolean[] {
  const names = dag.outputs.map(({ name }) => name);
  for (const wanted of select ?? []) {
    if (names.includes(wanted)) continue;
    const nearest = nearestName(wanted, names);
    const remedy = nearest ? `did you mean ${nearest}?` : `factors: ${names.slice(0, 12).join(", ")}`;
    throw new UsageError("E506", `no factor ${wanted} to select`, remedy);
  }
  return names.map((name) => select?.includes(name) ?? true);
}

/** The params that are read; throws if a wanted column is not in the panel. */
function requireColumns(
  plan: Plan,
  wanted: Uint8Array,
  isOutputWanted: readonly boolean[],
  panel: Panel,
): { params: Set<string> } {
  const params = new Set<string>();
  const require = (operand: Operand) => {
    if (operand.kind === "param") params.add(operand.name);
    if (operand.kind === "field" && !panel.fields.has(operand.name))
      throw missingColumn("field", operand.name, panel);
  };
  for (const { id, task } of plan.nodes) {
    if (!wanted[id]) continue;
    task.operands.forEach(require);
    if (task.group !== null && !panel.groups.has(task.group))
      throw missingColumn("group column", task.group, panel);
  }
  plan.outputs.forEach(({ operand }, i) => {
    if (isOutputWanted[i]) require(operand);
  });
  return { params };
}

function missingColumn(kind: "field" | "group column", name: string, panel: Panel): DataError {
  const known = [...(kind === "field" ? panel.fields : panel.groups).keys()];
  const remedy = `it has ${known.join(", ") || "none"}; define ${name} in the formula file with let, or add the column`;
  return new DataError("E350", `the panel has no ${kind} ${name}`, remedy);
}

/** The values of an output `[rows x lanes]`. */
function outputColumn(
  operand: Operand,
  panel: Panel,
  params: Readonly<Record<string, number | Float64Array>>,
  result: CallResult,
): Float64Array {
  const constant = (value: number) => new Float64Array(panel.rowCount * panel.laneCount).fill(value);
  switch (operand.kind) {
    case "node":
      return result.column(operand.node);
    case "field":
      return panel.fields.get(operand.name) as Float64Array;
    case "number":
      return constant(operand.value);
    case "param": {
      const value = params[operand.name] as number | Float64Array;
      return typeof value === "number" ? constant(value) : value;
    }
  }
}
