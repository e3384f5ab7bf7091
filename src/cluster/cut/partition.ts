import type { Partition } from "../protocol/protocol.ts";

export interface StageCost {
  readonly kind: "lanes" | "rows";
  readonly nsPerCell: number;
  /** Series that it passes to other stages. */
  readonly exportCount: number;
  /** Series that it reads from other stages and the panel. */
  readonly importCount: number;
}

export interface PartitionSpec {
  readonly laneCount: number;
  /** Rows to run, up to the last output row. */
  readonly rowCount: number;
  /** Threads of all workers together. */
  readonly threadCount: number;
  readonly stages: readonly StageCost[];
  /** Longest window of the plan, in rows. */
  readonly windowRows: number;
  /** Series of the panel that are read, and factors that are written. */
  readonly panelSeries: number;
  readonly factorCount: number;
  /** Limit for the tiles of one slab, of the panel and all stages together. */
  readonly slabBytesMax: number;
  /** Limit for input and output of a task. */
  readonly taskBytesMax: number;
}

/** Sizes that the user prescribes. */
export interface PartitionOptions {
  readonly shardLanes?: number | undefined;
  readonly slabRows?: number | undefined;
  readonly blockRows?: number | undefined;
}

/** Limits for the duration of a task; Dask takes 0.3 to 0.7 ms to schedule one. */
const TASK_NS_MIN = 50e6;
const TASK_NS_MAX = 1e9;
/** Tasks per thread of a stage and slab: threads that wait for the last one are idle for a small share of the time. */
const TASKS_PER_THREAD = 3;
/** Shards are whole cache lines, and wide enough to be worth a kernel call. */
const LINE_LANES = 8;
const SHARD_LANES_MIN = 16;
/** Minimum length of a slab in windows: state between slabs is the rows of windows. */
const SLAB_WINDOWS_MIN = 8;

/**
 * Chooses how lanes and rows are split, so that tasks last 50 ms to 1 s and every thread has some of each stage. History is
 * one slab if its tiles fit: more slabs limit the size of tiles and cost transfers of state. Tasks are shorter where memory
 * is short.
 */
export function choosePartition(spec: PartitionSpec, options: PartitionOptions = {}): Partition {
  const { laneCount, rowCount } = spec;
  const wantedRows = Math.min(Math.max(1, rowCount), options.slabRows ?? slabRowsOf(spec));
  const shardLanes = Math.min(
    options.shardLanes ?? shardLanesOf(spec, wantedRows),
    wholeLines(Math.max(SHARD_LANES_MIN, laneCount)),
  );
  const blockRows = Math.min(wantedRows, options.blockRows ?? blockRowsOf(spec, wantedRows));
  // Slabs of whole blocks, so that blocks do not depend on slabs.
  const slabRows = Math.ceil(wantedRows / blockRows) * blockRows;
  const slabs = Math.max(1, Math.ceil(rowCount / slabRows));
  return {
    laneCount,
    shardLanes,
    shardCount: Math.ceil(laneCount / shardLanes),
    slabRows: Array.from({ length: slabs + 1 }, (_, slab) => Math.min(rowCount, slab * slabRows)),
    blockRows,
  };
}

const BYTES = Float64Array.BYTES_PER_ELEMENT;

function slabRowsOf(spec: PartitionSpec): number {
  const { laneCount, rowCount, stages, panelSeries, windowRows, slabBytesMax } = spec;
  const seriesCount = stages.reduce((sum, { exportCount }) => sum + exportCount, panelSeries);
  const rowBytes = Math.max(1, BYTES * seriesCount * laneCount);
  const affordable = Math.floor(slabBytesMax / rowBytes);
  if (affordable >= rowCount) return rowCount;
  const slabs = Math.ceil(rowCount / Math.max(affordable, SLAB_WINDOWS_MIN * windowRows, 1));
  return Math.ceil(rowCount / slabs);
}

function shardLanesOf(spec: PartitionSpec, slabRows: number): number {
  const { laneCount } = spec;
  const nsPerLane = heaviest(spec, "lanes") * slabRows;
  const bytesPerLane = BYTES * widest(spec, "lanes") * slabRows;
  const count = Math.max(
    taskCount(nsPerLane * laneCount, spec.threadCount),
    (bytesPerLane * laneCount) / spec.taskBytesMax,
  );
  const lanes = Math.max(SHARD_LANES_MIN, Math.ceil(laneCount / count));
  return wholeLines(lanes);
}

const wholeLines = (lanes: number) => Math.ceil(lanes / LINE_LANES) * LINE_LANES;

function blockRowsOf(spec: PartitionSpec, slabRows: number): number {
  const { laneCount, panelSeries, factorCount } = spec;
  const series = Math.max(widest(spec, "rows"), panelSeries, 2 * factorCount);
  const count = Math.max(
    taskCount(heaviest(spec, "rows") * laneCount * slabRows, spec.threadCount),
    Math.ceil((BYTES * series * laneCount * slabRows) / spec.taskBytesMax),
  );
  return Math.ceil(slabRows / Math.min(slabRows, count));
}

/** The number of tasks for work of `ns` nanoseconds. */
function taskCount(ns: number, threadCount: number): number {
  const most = Math.max(1, Math.floor(ns / TASK_NS_MIN));
  const least = Math.ceil(ns / TASK_NS_MAX);
  return Math.max(least, Math.min(most, TASKS_PER_THREAD * threadCount));
}

/** The largest cost of a cell among the stages of a kind, transfers included. */
function heaviest({ stages }: PartitionSpec, kind: "lanes" | "rows"): number {
  return stages
    .filter((stage) => stage.kind === kind)
    .reduce((most, stage) => Math.max(most, cellNs(stage)), 1);
}

/** The largest number of imports and exports among the stages of a kind. */
function widest({ stages }: PartitionSpec, kind: "lanes" | "rows"): number {
  return stages
    .filter((stage) => stage.kind === kind)
    .reduce((most, { importCount, exportCount }) => Math.max(most, importCount + exportCount), 1);
}

/** Cost of writing, moving and reading one value of a tile. */
const TILE_NS_PER_VALUE = 3;

export function cellNs({ nsPerCell, exportCount, importCount }: StageCost): number {
  return nsPerCell + TILE_NS_PER_VALUE * (exportCount + importCount);
}
