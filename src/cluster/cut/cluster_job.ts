import { availableParallelism } from "node:os";
import type { Program } from "../../compile.ts";
import type { CallTask, Dag } from "../../dag/dag.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import { blockRowsToTry } from "../../evaluation/arenas/block_rows.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { type PreparedCall, prepareCall } from "../../evaluation/prepared_call.ts";
import type { SelectedFactor } from "../../evaluation/wanted_factors.ts";
import { kernelOperators, windowRowsOf } from "../../operator/definition.ts";
import type { Registry } from "../../operator/registry.ts";
import { packOperator } from "../../operator/transfer.ts";
import type { CostModel } from "../../plan/cost_model.ts";
import { formPlan } from "../../plan/form.ts";
import { lookbackRows } from "../../plan/lookback.ts";
import type { Plan } from "../../plan/plan.ts";
import { slabsImpossible } from "../protocol/errors.ts";
import {
  type ClusterJob,
  type JobFactor,
  type JobStage,
  type Partition,
  PROTOCOL_VERSION,
  type SeriesOrigin,
} from "../protocol/protocol.ts";
import { PANEL_STAGE } from "../protocol/tiles.ts";
import { cellNs, choosePartition, type PartitionOptions, type StageCost } from "./partition.ts";
import { type ClusterStage, type CutDag, cutStages, type PanelSeries } from "./stages.ts";
import { type ValueBytes, valueBytes, type WorkerMemory } from "./value_memory.ts";

/** How a plan is split: into stages between which data moves, or into independent slabs of rows. */
export type CutChoice = "auto" | "stages" | "slabs";

export interface ClusterCall {
  readonly program: Program;
  readonly registry: Registry;
  /** The panel as the client opened it; only its keys are read. */
  readonly source: PanelSource;
  /** Its path for workers; null if the client brings the values. */
  readonly path: string | null;
  readonly sourceOptions: Readonly<Record<string, unknown>>;
  readonly options: EvaluateOptions;
  readonly costs: CostModel;
  readonly threadCount: number;
  readonly workers?: readonly WorkerMemory[] | undefined;
  /** The tile store; null if there is no storage that all workers see. */
  readonly folder: string | null;
  readonly dataset: string | null;
  readonly cut: CutChoice;
  readonly partition: PartitionOptions;
}

export interface PreparedJob {
  readonly call: PreparedCall;
  readonly job: ClusterJob;
  /** Estimated ns of a cell of each stage, tiles included. */
  readonly stageNs: readonly number[];
}

/** Limits where tiles are files. */
const FILE_BYTES: ValueBytes = { slabBytesMax: 2 ** 34, taskBytesMax: 2 ** 28 };
/** Blocks become shorter if the columns of a stage would take more. */
const COLUMN_BYTES_MAX = 2 ** 30;
/** Limit for the rows that independent slabs read in addition to their own, if there is more than one slab per thread. */
const WARM_UP_SHARE_MAX = 0.03;
const SLABS_PER_THREAD = 4;

/**
 * Splits a program for a cluster.
 *
 * @throws as `prepareCall`.
 */
export async function prepareJob(request: ClusterCall): Promise<PreparedJob> {
  const { program, registry, source, options, costs, folder } = request;
  const call = await prepareCall(registry, program, source, options);
  const { dag } = call.wanted;
  const panel: PanelSeries = { fields: call.read.fields, groups: call.read.groups };
  const cut = cutStages(dag, panel);
  const form: FormPlan = (stageDag, laneCount, rowCount) =>
    planOf(stageDag, laneCount, rowCount, costs, program.disabledPasses);
  const stageCosts = cut.stages.map((stage) => stageCostOf(stage, source.laneCount, form));
  const exchange = folder === null ? "memory" : "store";
  const spec = {
    laneCount: source.laneCount,
    rowCount: call.range.end,
    threadCount: Math.max(1, request.threadCount || availableParallelism()),
    stages: stageCosts,
    windowRows: windowRowsIn(dag, Number.isFinite),
    panelSeries: panel.fields.length + panel.groups.length,
    factorCount: dag.outputs.length,
    ...(exchange === "store" ? FILE_BYTES : valueBytes(request.workers ?? [])),
  };
  const slabs = slabsOf(request, call, spec);
  const partition = slabs ?? choosePartition(spec, request.partition);
  const stages = slabs ? [wholeStage(dag, panel, partition, form)] : jobStages(cut, partition, form);
  const origins = slabs ? dag.outputs.map((_, series) => ({ stage: 0, series })) : cut.outputs;
  const job: ClusterJob = {
    protocol: PROTOCOL_VERSION,
    exchange,
    folder,
    identity: { token: null, seal: "", inputs: [], modules: {} },
    partition,
    source: {
      path: request.path,
      options: request.sourceOptions,
      ...panel,
      time: source.time,
      symbols: source.symbols,
    },
    stages,
    warmUpRows: slabs ? lookbackOf(dag) : null,
    operators: kernelOperators(program.operators).map(packOperator),
    params: paramsOf(call),
    reference: options.kernel === "reference",
    factors: call.wanted.factors.map((factor) => jobFactor(factor, origins, call)),
    outputRows: [call.range.first, call.range.end],
    dataset:
      request.dataset === null
        ? null
        : { folder: request.dataset, keepInfinite: options.keepInfinite === true },
  };
  const stageNs = slabs
    ? [stageCosts.reduce((sum, { nsPerCell }) => sum + nsPerCell, 0)]
    : stageCosts.map(cellNs);
  return { call, job, stageNs };
}

type FormPlan = (dag: Dag, laneCount: number, rowCount: number) => Plan;

/** The plan with the longest blocks whose columns are within `COLUMN_BYTES_MAX`. */
function planOf(
  dag: Dag,
  laneCount: number,
  rowCount: number,
  costs: CostModel,
  disabledPasses: ReadonlySet<string>,
): Plan {
  const plans = blockRowsToTry({ dag, laneCount, rowCount })
    .values()
    .map((blockRows) => {
      return formPlan(dag, { laneCount, blockRows, executorCount: 1, costs, disabledPasses });
    });
  let plan: Plan | undefined;
  for (plan of plans) if (plan.columnBytes <= COLUMN_BYTES_MAX) break;
  return plan!;
}

function stageCostOf({ kind, dag, imports }: ClusterStage, laneCount: number, form: FormPlan): StageCost {
  const { nodes, blockRows } = form(dag, laneCount, Number.MAX_SAFE_INTEGER);
  const ns = nodes.reduce((sum, { costNs }) => sum + costNs, 0);
  return {
    kind,
    nsPerCell: ns / (laneCount * blockRows),
    exportCount: dag.outputs.length,
    importCount: imports.size,
  };
}

function jobStages({ stages }: CutDag, partition: Partition, form: FormPlan): JobStage[] {
  const slabRows = partition.slabRows[1]! - partition.slabRows[0]!;
  return stages.map(({ kind, dag, imports }) => ({
    kind,
    plan:
      kind === "lanes"
        ? form(dag, partition.shardLanes, slabRows)
        : form(dag, partition.laneCount, partition.blockRows),
    imports: Object.fromEntries(imports),
    hasState: kind === "lanes" && windowRowsIn(dag) > 1,
  }));
}

/** The whole plan, for slabs that read the panel themselves. */
function wholeStage(
  dag: Dag,
  panel: PanelSeries,
  { laneCount, slabRows }: Partition,
  form: FormPlan,
): JobStage {
  const names = [...panel.fields, ...panel.groups];
  return {
    kind: "rows",
    plan: form(dag, laneCount, slabRows[1]! - slabRows[0]!),
    imports: Object.fromEntries(names.map((name, series) => [name, { stage: PANEL_STAGE, series }])),
    hasState: false,
  };
}

/** The longest window in rows, Infinity for recursive operators, among those that `counts` accepts. */
function windowRowsIn({ tasks }: Dag, counts: (rows: number) => boolean = () => true): number {
  const calls = tasks.filter((task): task is CallTask => task.kind === "call");
  const rows = calls.map(({ operator, settings }) => windowRowsOf(operator, settings)).filter(counts);
  return rows.reduce((most, count) => Math.max(most, count), 1);
}

/** Earlier rows that the outputs depend on; Infinity for all. */
function lookbackOf(dag: Dag): number {
  const rows = lookbackRows(dag);
  return dag.outputs.reduce((most, { task }) => Math.max(most, rows[task] as number), 0);
}

/**
 * Independent slabs, if the program allows them and reading rows twice costs less than moving data between stages.
 */
function slabsOf(
  request: ClusterCall,
  { range, wanted }: PreparedCall,
  spec: Parameters<typeof choosePartition>[0],
): Partition | null {
  const { cut, path, folder, dataset, partition } = request;
  if (cut === "stages") return null;
  const reason = reasonAgainstSlabs(wanted.dag, path);
  if (cut === "slabs" && reason !== null) throw slabsImpossible(reason);
  if (reason !== null) return null;
  const lookback = lookbackOf(wanted.dag);
  // Results of a slab are too large to be held in memory.
  if (cut === "auto" && folder === null && dataset === null) return null;
  const { first, end } = range;
  const rows = partition.slabRows ?? slabRowsFor(end - first, lookback, spec.threadCount);
  const slabs = Math.max(1, Math.ceil((end - first) / rows));
  const warmUp = Array.from({ length: slabs }, (_, slab) => Math.min(lookback, first + slab * rows));
  const readTwice = warmUp.reduce((sum, count) => sum + count, 0) / Math.max(1, end);
  const moved = spec.stages.reduce((sum, stage) => sum + cellNs(stage) - stage.nsPerCell, 0);
  const computed = spec.stages.reduce((sum, stage) => sum + stage.nsPerCell, 0);
  if (cut === "auto" && readTwice * computed > moved) return null;
  const slabRows = Array.from({ length: slabs + 1 }, (_, slab) => Math.min(end, first + slab * rows));
  return { laneCount: spec.laneCount, shardLanes: spec.laneCount, shardCount: 1, slabRows, blockRows: rows };
}

/** Why slabs cannot be independent; null if they can. */
function reasonAgainstSlabs(dag: Dag, path: string | null): string | null {
  const rows = lookbackRows(dag);
  const unbounded = dag.outputs.find(({ task }) => rows[task] === Number.POSITIVE_INFINITY);
  if (unbounded) return `${unbounded.name} looks back without end`;
  return path === null ? "the workers cannot read these bars themselves" : null;
}

/** One slab per thread, or several if they stay long compared to their warm-up rows. */
function slabRowsFor(rowCount: number, lookback: number, threadCount: number): number {
  const perThread = Math.ceil(rowCount / threadCount);
  const least = Math.ceil(lookback / WARM_UP_SHARE_MAX);
  const slabs = Math.min(SLABS_PER_THREAD, Math.floor(perThread / Math.max(1, least)));
  return Math.max(1, Math.ceil(perThread / Math.max(1, slabs)));
}

function paramsOf({ read, params, sets, range }: PreparedCall): ClusterJob["params"] {
  const values = read.params.map((name) => {
    if (!params.changeOverTime) return [name, params.numeric(name)] as const;
    const rows = new Float64Array(range.end);
    params.fillNumeric(name, sets, rows);
    return [name, rows] as const;
  });
  return Object.fromEntries(values);
}

function jobFactor(
  { name, condition, output }: SelectedFactor,
  origins: readonly SeriesOrigin[],
  { params, sets }: PreparedCall,
): JobFactor {
  const origin = output === null ? null : (origins[output] as SeriesOrigin);
  const unwantedRows: number[] = [];
  if (origin !== null && params.changeOverTime) {
    sets.forEach((set, row) => {
      const isUnwanted = !params.isWanted(condition, [set]);
      const isOpen = unwantedRows.length % 2 === 1;
      if (isUnwanted !== isOpen) unwantedRows.push(row);
    });
    if (unwantedRows.length % 2 === 1) unwantedRows.push(sets.length);
  }
  return { name, origin, unwantedRows };
}
