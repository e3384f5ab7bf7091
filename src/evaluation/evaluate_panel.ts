import type { Table } from "apache-arrow";
import type { Program } from "../compile.ts";
import { HAS_ROW } from "../dag/row_members.ts";
import { type FactorColumn, factorTable } from "../data/factors/factor_table.ts";
import { type RowRange, seriesOf } from "../data/panel/panel_source.ts";
import type { Registry } from "../operator/registry.ts";
import type { Panel } from "../panel.ts";
import type { CallOrder } from "../schedule/call_order.ts";
import { Pauses } from "../steps.ts";
import { type BlockRows, type EngineHost, Evaluation, type PlanBuffers } from "./evaluation.ts";
import { fillHasRow } from "./has_row.ts";
import type { EvaluateOptions } from "./options.ts";
import { conditionalGraph, type InputShape, type PreparedCall, prepareCall } from "./prepared_call.ts";
import { runBlocks } from "./run_blocks.ts";
import { sharedColumn, sharedColumns } from "./shared_columns.ts";
import type { ColumnsRead } from "./wanted_factors.ts";

/** What an evaluation did. */
export interface EvaluationReport {
  /** Wall time until the first row, in ms. */
  readonly planMs: number;
  /** Wall time of compiling the kernels, a part of `planMs`. */
  readonly kernelMs: number;
  /** Wall time of all rows, in ms. */
  readonly computeMs: number;
  /** Wall time of making the table, in ms. */
  readonly tableMs: number;
  /** Nodes of the plan. */
  readonly nodeCount: number;
  /** Operator applications left out because no wanted factor needs them. */
  readonly prunedTaskCount: number;
  /** Rows of a block. */
  readonly blockRows: number;
  /** Memories that the program takes, each of at most 4 GiB; what several of them need is computed in each. */
  readonly arenaCount: number;
  /** Memory of columns, operator state and scratch space. */
  readonly arenaBytes: number;
  /** Memory of operator state, a part of `arenaBytes`. */
  readonly stateBytes: number;
  /** Factors whose condition does not hold. */
  readonly unwantedFactors: readonly string[];
  /** Nulls of each factor. */
  readonly nullCounts: ReadonlyMap<string, number>;
  /** Infinities of each factor, which are nulls in the table unless they are kept. */
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

export interface PanelEvaluation {
  readonly table: Table;
  readonly report: EvaluationReport;
}

const REMEDY =
  "raise the memory limit, or take the result block by block: engine.stream, or --out on the command line";

/** Evaluates a program over a whole panel; see `Engine.evaluate`. */
export async function evaluatePanel(
  host: EngineHost,
  registry: Registry,
  program: Program,
  panel: Panel,
  options: EvaluateOptions,
): Promise<PanelEvaluation> {
  const started = performance.now();
  const order = host.pool.nextCall(options.priority);
  const pauses = new Pauses();
  const shape = shapeOf(panel);
  await pauses.afterStep();
  const prepared = await prepareCall(registry, program, shape, options);
  await pauses.afterStep();
  const call = { ...prepared, order };
  const computed = await compute(host, registry, program, panel, call, options);
  try {
    return await host.budget.whileBusy(() => reported(computed, panel, call, options, started));
  } finally {
    await computed.close();
  }
}

async function reported(
  computed: Computed,
  panel: Panel,
  call: PreparedCall,
  { keepInfinite = false }: EvaluateOptions,
  started: number,
): Promise<PanelEvaluation> {
  const pauses = new Pauses();
  const { factors, prunedTaskCount } = call.wanted;
  const tableStarted = performance.now();
  const sets = call.sets.subarray(call.range.first);
  const columns: FactorColumn[] = [];
  for (const { name, condition, output } of factors) {
    const values = output === null ? null : (computed.results[output] as Float64Array);
    if (values) call.params.nullInactive(values, condition, sets);
    columns.push({ name, values });
    await pauses.afterStep();
  }
  const { table, nullCounts, nonFiniteCounts } = await factorTable(rowsOf(panel, call.range), columns, {
    keepInfinite,
  });
  const ended = performance.now();
  const report: EvaluationReport = {
    planMs: computed.startedAt - started,
    kernelMs: computed.kernelMs,
    computeMs: tableStarted - computed.startedAt,
    tableMs: ended - tableStarted,
    nodeCount: computed.nodeCount,
    prunedTaskCount,
    blockRows: computed.blockRows,
    arenaCount: computed.arenaCount,
    arenaBytes: computed.arenaBytes,
    stateBytes: computed.stateBytes,
    unwantedFactors: factors.filter(({ output }) => output === null).map(({ name }) => name),
    nullCounts,
    nonFiniteCounts,
  };
  return { table, report };
}

/** One value per param, or one per row if params change over time. */
function paramValues({ params, read, sets }: PreparedCall): PlanBuffers["params"] {
  const values = read.params.map((name) => {
    if (!params.changeOverTime) return [name, params.numeric(name)] as const;
    const column = sharedColumn(sets.length);
    params.fillNumeric(name, sets, column);
    return [name, column] as const;
  });
  return Object.fromEntries(values);
}

interface Computed
  extends Pick<
    EvaluationReport,
    "kernelMs" | "nodeCount" | "blockRows" | "arenaCount" | "arenaBytes" | "stateBytes"
  > {
  /** Values of each output of the graph `[rows of the range x lanes]`. */
  readonly results: readonly Float64Array[];
  readonly startedAt: number;
  /** Releases the reserved memory. */
  readonly close: () => Promise<void>;
}

async function compute(
  host: EngineHost,
  registry: Registry,
  program: Program,
  panel: Panel,
  call: PreparedCall & { readonly order: CallOrder },
  options: EvaluateOptions,
): Promise<Computed> {
  const { range, wanted } = call;
  const { laneCount } = panel;
  const times = panel.time.values;
  const outputCount = wanted.dag.outputs.length;
  if (outputCount === 0 || range.end === 0 || laneCount === 0) return nothingComputed(outputCount);
  // Rows before the range run as well; later blocks overwrite their results.
  const resultCells = (blockRows: number) =>
    Math.max(range.end - range.first, Math.min(range.first, blockRows)) * laneCount;
  const { dag, conditionsIn } = conditionalGraph(program, call);
  const evaluation = await Evaluation.open(host, {
    dag,
    laneCount,
    rowCount: range.end,
    registry,
    operators: program.operators,
    blockRows: options.blockRows,
    kernel: options.kernel,
    disabledPasses: program.disabledPasses,
    order: call.order,
    signal: options.signal,
    memoryNeed: (blockRows) => ({
      bytes: {
        input: madeBytes(panel, call.read),
        results: outputCount * resultCells(blockRows) * Float64Array.BYTES_PER_ELEMENT,
        table: outputCount * (range.end - range.first) * laneCount * Float64Array.BYTES_PER_ELEMENT,
      },
      held: buffersOf(panel),
      remedy: REMEDY,
    }),
    allocate: (blockRows) => ({
      ...panelInputs(panel, call),
      results: sharedColumns(outputCount, resultCells(blockRows)),
    }),
  });
  const startedAt = performance.now();
  const { signal, onProgress } = options;
  try {
    await runBlocks(evaluation, cutBlocks(range, evaluation.plan.blockRows), {
      restartRows: call.restartRows,
      signal,
      conditionsIn: ({ inputRow, rowCount }) => conditionsIn(times.subarray(inputRow, inputRow + rowCount)),
      onBlock: ({ inputRow, rowCount }) => onProgress?.(inputRow + rowCount, range.end),
    });
    await evaluation.openPlan.close();
  } catch (error) {
    await evaluation.close();
    throw error;
  }
  const { plan, arenas, arenaBytes, stateBytes, kernelMs, buffers } = evaluation;
  const cellCount = (range.end - range.first) * laneCount;
  return {
    results: buffers.results.map((column) => column.subarray(0, cellCount)),
    startedAt,
    close: () => evaluation.close(),
    kernelMs,
    nodeCount: plan.nodes.length,
    blockRows: plan.blockRows,
    arenaCount: arenas.length,
    arenaBytes,
    stateBytes,
  };
}

function nothingComputed(outputCount: number): Computed {
  return {
    results: Array.from({ length: outputCount }, () => new Float64Array(0)),
    startedAt: performance.now(),
    close: async () => {},
    kernelMs: 0,
    nodeCount: 0,
    blockRows: 0,
    arenaCount: 0,
    arenaBytes: 0,
    stateBytes: 0,
  };
}

/** Divides the rows up to the end of the range into blocks, one of which starts with the range. */
function* cutBlocks({ first, end }: RowRange, blockRows: number): Generator<BlockRows> {
  for (let row = 0; row < end; ) {
    const isBefore = row < first;
    const rowCount = Math.min(blockRows, (isBefore ? first : end) - row);
    yield { rowCount, inputRow: row, outputRow: isBefore ? 0 : row - first };
    row += rowCount;
  }
}

function panelInputs(panel: Panel, call: PreparedCall): Omit<PlanBuffers, "results"> {
  return { ...columnsOfPanel(panel, call.read), params: paramValues(call) };
}

/** The columns of a panel that a graph reads. */
export function columnsOfPanel(panel: Panel, read: ColumnsRead): Pick<PlanBuffers, "fields" | "groups"> {
  const column = (name: string) => (name === HAS_ROW ? hasRow(panel) : panel.fields.get(name)!);
  return {
    fields: new Map(read.fields.map((name) => [name, column(name)])),
    groups: new Map(read.groups.map((name) => [name, panel.groups.get(name)!])),
  };
}

function hasRow({ present }: Panel): Float64Array<SharedArrayBuffer> {
  const column = sharedColumn(present.length);
  fillHasRow(column, present);
  return column;
}

/** Bytes of the columns that `columnsOfPanel` allocates. */
export function madeBytes({ present }: Panel, { fields }: ColumnsRead): number {
  return fields.includes(HAS_ROW) ? present.length * Float64Array.BYTES_PER_ELEMENT : 0;
}

export function shapeOf(panel: Panel): InputShape {
  const { time, fields, groups, groupReasons } = panel;
  return {
    time,
    groupReasons,
    fieldNames: [...fields.keys()],
    groupNames: [...groups.keys()],
    seriesNames: seriesOf(panel),
  };
}

export function buffersOf({ fields, groups, time, present }: Panel): ArrayBufferLike[] {
  const columns = [
    ...fields.values(),
    ...[...groups.values()].map(({ codes }) => codes),
    time.values,
    present,
  ];
  return columns.map(({ buffer }) => buffer);
}

/** The panel restricted to the rows of the range. Fields and groups stay whole: the output does not contain them. */
function rowsOf(panel: Panel, { first, end }: RowRange): Panel {
  const { time, laneCount, present } = panel;
  return {
    ...panel,
    rowCount: end - first,
    time: { ...time, values: time.values.subarray(first, end) },
    present: present.subarray(first * laneCount, end * laneCount),
  };
}
