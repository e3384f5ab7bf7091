import { readFileSync } from "node:fs";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import { columnsOfPanel } from "../evaluation/block_input.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import { joinPrograms } from "../evaluation/joined_programs.ts";
import { prepareCall } from "../evaluation/prepared_call.ts";
import { sharedColumn } from "../evaluation/shared_columns.ts";
import { type HostOptions, startHost } from "../evaluation/start_host.ts";
import { columnsRead } from "../evaluation/wanted_factors.ts";
import { machineMemoryBytes } from "../limits.ts";
import type { Panel } from "../panel.ts";
import { lookbackRows } from "../plan/lookback.ts";

/** A formula file and which of its factors are meant. */
export interface Formulas {
  readonly name: string;
  readonly text: string;
  /** Default: all. */
  readonly select?: readonly string[] | undefined;
  /** Compiler passes to leave out. */
  readonly disabledPasses?: readonly string[] | undefined;
}

/** An open evaluation; disposing of it closes it. */
export interface OpenedFormulas extends AsyncDisposable {
  readonly evaluation: Evaluation;
  /** Rows of history before the current one that the factors depend on, those of recursive operators left aside. */
  readonly lookbackRows: number;
  /** From the text to the graph of what is wanted. */
  readonly compileMs: number;
}

export interface OpenFormulasOptions {
  readonly blockRows?: number | undefined;
  /** Keeps the results of one block, so that the next one overwrites them. */
  readonly keepsResults: boolean;
}

/** Threads that may take all memory of the machine, unless options say otherwise; disposing of them ends them. */
export async function openHost(options: HostOptions): Promise<EngineHost & AsyncDisposable> {
  const host = await startHost({ memoryLimitBytes: machineMemoryBytes(), ...options });
  return { ...host, [Symbol.asyncDispose]: () => host.pool.close() };
}

/** The text of one of the published sets. */
export function publishedText(set: string): string {
  // The build lies one folder deeper than the source.
  const examples = import.meta.url.endsWith(".ts") ? "../../examples" : "../../../examples";
  return readFileSync(new URL(`${examples}/${set}.factors`, import.meta.url), "utf8");
}

/** Published sets in one graph: equal tasks are one task, also across sets. */
export function publishedDag(sets: readonly string[]): Dag {
  const parts = sets.map((set) => ({
    program: compile(publishedText(set), { file: set }),
    called: set,
    // Two sets have factors of one name.
    outputName: (name: string) => `${set}.${name}`,
  }));
  return finalDag(joinPrograms(parts, {}));
}

/**
 * Opens formulas as the engine does, but keeps the results of no more than a block.
 *
 * @throws FormulaError, UsageError, ResourceError as `Engine.evaluate`.
 */
export async function openFormulas(
  host: EngineHost,
  { name, text, select, disabledPasses = [] }: Formulas,
  panel: Panel,
  { blockRows, keepsResults }: OpenFormulasOptions,
): Promise<OpenedFormulas> {
  const started = performance.now();
  const [fields, groups] = [[...panel.fields.keys()], [...panel.groups.keys()]];
  const program = compile(text, { file: name, fields, groups, disabledPasses });
  const shape = { time: panel.time, fieldNames: fields, groupNames: groups };
  const { wanted } = await prepareCall(builtInRegistry, program, shape, select ? { select } : {});
  const compileMs = performance.now() - started;
  const options = { blockRows, keepsResults, disabledPasses: program.disabledPasses };
  return { ...(await openDag(host, wanted.dag, panel, options)), compileMs };
}

export interface OpenDagOptions extends OpenFormulasOptions {
  readonly disabledPasses?: ReadonlySet<string> | undefined;
}

/**
 * Opens a graph over the columns of a panel, but keeps the results of no more than a block.
 *
 * @throws DataError if the panel lacks a column; ResourceError as `Evaluation.open`.
 */
export async function openDag(
  host: EngineHost,
  dag: Dag,
  panel: Panel,
  { blockRows, keepsResults, disabledPasses }: OpenDagOptions,
): Promise<Omit<OpenedFormulas, "compileMs">> {
  const inputs = inputsOf(panel, dag);
  const columns = [...inputs.fields.values(), ...[...inputs.groups.values()].map(({ codes }) => codes)];
  const rowBytes = panel.laneCount * Float64Array.BYTES_PER_ELEMENT;
  const evaluation = await Evaluation.open<PlanBuffers>(host, {
    dag,
    laneCount: panel.laneCount,
    rowCount: panel.rowCount,
    registry: builtInRegistry,
    operators: [],
    blockRows,
    disabledPasses,
    memoryNeed: (rows) => ({
      bytes: { results: keepsResults ? dag.outputs.length * rows * rowBytes : 0 },
      held: columns.map(({ buffer }) => buffer),
      remedy: "give fewer --lanes or --rows",
    }),
    allocate: (rows) => ({
      ...inputs,
      results: dag.outputs.map(() => (keepsResults ? sharedColumn(rows * panel.laneCount) : null)),
    }),
  });
  const rows = lookbackRows(dag);
  const finite = dag.outputs.map(({ task }) => rows[task]!).filter(Number.isFinite);
  const lookback = Math.max(0, ...finite);
  return { evaluation, lookbackRows: lookback, [Symbol.asyncDispose]: () => evaluation.close() };
}

function inputsOf(panel: Panel, dag: Dag): Omit<PlanBuffers, "results"> {
  const { fields, groups } = panel;
  const read = columnsRead(dag, { fieldNames: [...fields.keys()], groupNames: [...groups.keys()] });
  return { ...columnsOfPanel(panel, read), params: {} };
}
