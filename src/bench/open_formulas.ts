import { readFileSync } from "node:fs";
import { builtInRegistry } from "../../operators/index.ts";
import { compile } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import { columnsOfPanel } from "../evaluation/block_input.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import { prepareCall } from "../evaluation/prepared_call.ts";
import { sharedColumn } from "../evaluation/shared_columns.ts";
import { columnsRead } from "../evaluation/wanted_factors.ts";
import type { Operator } from "../operator/definition.ts";
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

export interface OpenedFormulas {
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

/** The text of one of the published sets. */
export function publishedText(set: string): string {
  // The build lies one folder deeper than the source.
  const examples = import.meta.url.endsWith(".ts") ? "../../examples" : "../../../examples";
  return readFileSync(new URL(`${examples}/${set}.factors`, import.meta.url), "utf8");
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
  const shape = {
    time: panel.time,
    fieldNames: [...panel.fields.keys()],
    groupNames: [...panel.groups.keys()],
  };
  const program = compile(text, {
    file: name,
    fields: shape.fieldNames,
    groups: shape.groupNames,
    disabledPasses,
  });
  const call = await prepareCall(builtInRegistry, program, shape, select ? { select } : {});
  const { dag } = call.wanted;
  const compileMs = performance.now() - started;
  const { operators, disabledPasses: left } = program;
  const options = { blockRows, keepsResults, operators, disabledPasses: left };
  const opened = await openDag(host, dag, panel, options);
  return { ...opened, compileMs };
}

export interface OpenDagOptions extends OpenFormulasOptions {
  /** Operators beyond the built-in ones; default: none. */
  readonly operators?: readonly Operator[];
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
  { blockRows, keepsResults, operators = [], disabledPasses }: OpenDagOptions,
): Promise<Omit<OpenedFormulas, "compileMs">> {
  const inputs = inputsOf(panel, dag);
  const columns = [...inputs.fields.values(), ...[...inputs.groups.values()].map(({ codes }) => codes)];
  const rowBytes = panel.laneCount * Float64Array.BYTES_PER_ELEMENT;
  const evaluation = await Evaluation.open<PlanBuffers>(host, {
    dag,
    laneCount: panel.laneCount,
    rowCount: panel.rowCount,
    registry: builtInRegistry,
    operators,
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
  return { evaluation, lookbackRows: Math.max(0, ...finite) };
}

function inputsOf(panel: Panel, dag: Dag): Omit<PlanBuffers, "results"> {
  const { fields, groups } = panel;
  const read = columnsRead(dag, { fieldNames: [...fields.keys()], groupNames: [...groups.keys()] });
  return { ...columnsOfPanel(panel, read), params: {} };
}
