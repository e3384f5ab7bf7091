import type { Partition } from "../protocol/protocol.ts";

/** What a stage costs, for the choice of a partition. */
export interface StageCost {
  readonly kind: "lanes" | "rows";
  readonly nsPerCell: number;
  /** Series that it hands over. */
  readonly exportCount: number;
  /** Series that it takes from other stages and from the panel. */
  readonly importCount: number;
}

export interface PartitionSpec {
  readonly laneCount: number;
  /** Rows that are run: up to the last one that is output. */
  readonly rowCount: number;
  /** Threads of all workers together. */
  readonly threadCount: number;
  readonly stages: readonly StageCost[];
  /** Longest window of the plan, in rows. */
  readonly windowRows: number;
  /** Series of the panel that are read, and factors that are written. */
  readonly panelSeries: number;
  readonly factorCount: number;
  /** What tiles of one slab may take, those of the panel and of all stages together. */
  readonly slabBytesMax: number;
  /** What a task may take and give. */
  readonly taskBytesMax: number;
}

/** Cuts that the user prescribes. */
export interface PartitionOptions {
  readonly shardLanes?: number | undefined;
  readonly slabRows?: number | undefined;
  readonly blockRows?: number | undefined;
}

/** A task should last so long at least, far more than the 0.3 to 0.7 ms that Dask takes to place one, and at most. */
const TASK_NS_MIN = 50e6;
const TASK_NS_MAX = 1e9;
/** Tasks per thread of a stage and slab: the last one to end leaves others idle for a small share only. */
const TASKS_PER_THREAD = 3;
/** Shards are whole cache lines, and wide enough that a call of a kernel pays. */
const LINE_LANES = 8;
const SHARD_LANES_MIN = 16;
/** What is carried from slab to slab are the rows of windows: slabs are longer than that by so much. */
const SLAB_WINDOWS_MIN = 8;

/**
 * Chooses how lanes and rows are cut, so that tasks last 50 ms to 1 s and every thread has some of each stage. History is
 * one slab where its tiles fit: slabs bound what tiles take, and cost the hand-over of state. Where memory is short tasks are
 * shorter.
 */
export function choosePartition(spec: PartitionSpec, options: PartitionOptions = {}): Partition {
  const { laneCount, rowCount } = spec;
  const wantedRows = Math.min(Math.max(1, rowCount), options.slabRows ?? slabRowsOf(spec));
  const shardLanes = options.shardLanes ?? shardLanesOf(spec, wantedRows);
  const blockRows = Math.min(wantedRows, options.blockRows ?? blockRowsOf(spec, wantedRows));
  // Whole blocks: then they are the same rows whatever the slabs.
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
  return Math.ceil(lanes / LINE_LANES) * LINE_LANES;
}

function blockRowsOf(spec: PartitionSpec, slabRows: number): number {
  const { laneCount, panelSeries, factorCount } = spec;
  const series = Math.max(widest(spec, "rows"), panelSeries, 2 * factorCount);
  const count = Math.max(
    taskCount(heaviest(spec, "rows") * laneCount * slabRows, spec.threadCount),
    Math.ceil((BYTES * series * laneCount * slabRows) / spec.taskBytesMax),
  );
  return Math.ceil(slabRows / Math.min(slabRows, count));
}

/** Into how many tasks work of so many ns is cut. */
function taskCount(ns: number, threadCount: number): number {
  const most = Math.max(1, Math.floor(ns / TASK_NS_MIN));
  const least = Math.ceil(ns / TASK_NS_MAX);
  return Math.max(least, Math.min(most, TASKS_PER_THREAD * threadCount));
}

/** Of the stages of a kind the largest cost of a cell; with what handing over its series takes. */
function heaviest({ stages }: PartitionSpec, kind: "lanes" | "rows"): number {
  return stages
    .filter((stage) => stage.kind === kind)
    .reduce((most, stage) => Math.max(most, cellNs(stage)), 1);
}

/** Of the stages of a kind the most series that one takes and gives. */
function widest({ stages }: PartitionSpec, kind: "lanes" | "rows"): number {
  return stages
    .filter((stage) => stage.kind === kind)
    .reduce((most, { importCount, exportCount }) => Math.max(most, importCount + exportCount), 1);
}

/** Writing, moving and reading one value of a tile, in ns. */
const TILE_NS_PER_VALUE = 3;

export function cellNs({ nsPerCell, exportCount, importCount }: StageCost): number {
  return nsPerCell + TILE_NS_PER_VALUE * (exportCount + importCount);
}
