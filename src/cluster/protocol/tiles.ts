import type { ClusterJob, ClusterTask, Partition } from "./protocol.ts";

/**
 * The data that tasks pass to each other. Every task of a stage writes one **tile**: all its exports over its rows and
 * lanes, split into **pieces** along the axis on which its readers are split.
 *
 *     lanes (slab, shard):  piece k, for each block of the slab:  [series][row of the block][lane of the shard]
 *                           then, if it has state, one more piece: the state after the slab
 *     rows (slab, block):   piece s, for each shard:              [series][row of the block][lane of the shard]
 *     panel (slab, block):  the same, and one more piece: presence, a byte per cell [row of the block][lane]
 *
 * Values are Float64, little-endian; lanes that pad the last shard are null. In a store a tile is a file of its pieces in
 * order, except for the state, which is a separate file.
 */
export interface Piece {
  /** Index of the stage; -1 for the panel. */
  readonly stage: number;
  readonly slab: number;
  /** The shard or block of the task that wrote it. */
  readonly part: number;
  readonly index: number;
}

export const PANEL_STAGE = -1;

/** Rows `[first, end)` of the panel. */
export interface Rows {
  readonly first: number;
  readonly end: number;
}

export function slabCount({ slabRows }: Partition): number {
  return slabRows.length - 1;
}

export function rowsOfSlab({ slabRows }: Partition, slab: number): Rows {
  return { first: slabRows[slab]!, end: slabRows[slab + 1]! };
}

export function blockCount(partition: Partition, slab: number): number {
  const { first, end } = rowsOfSlab(partition, slab);
  return Math.ceil((end - first) / partition.blockRows);
}

export function rowsOfBlock(partition: Partition, slab: number, block: number): Rows {
  const { first, end } = rowsOfSlab(partition, slab);
  const start = first + block * partition.blockRows;
  return { first: start, end: Math.min(end, start + partition.blockRows) };
}

type Shape = Pick<ClusterJob, "partition" | "source" | "stages">;

export function stageKind({ stages }: Pick<ClusterJob, "stages">, stage: number): "lanes" | "rows" {
  return stage === PANEL_STAGE ? "rows" : stages[stage]!.kind;
}

/** How many tasks a stage has in a slab. */
export function stagePartCount(job: Shape, stage: number, slab: number): number {
  return stageKind(job, stage) === "lanes" ? job.partition.shardCount : blockCount(job.partition, slab);
}

/** Series in a tile of the stage. */
export function seriesCount({ source, stages }: Shape, stage: number): number {
  return stage === PANEL_STAGE
    ? source.fields.length + source.groups.length
    : stages[stage]!.plan.outputs.length;
}

/** Rows of the panel that a piece of values covers. */
function rowsOfPiece(job: Shape, { stage, slab, part, index }: Piece): Rows {
  const block = stageKind(job, stage) === "lanes" ? index : part;
  return rowsOfBlock(job.partition, slab, block);
}

/** Bytes of a piece of values. */
export function pieceBytes(job: Shape, piece: Piece): number {
  const { first, end } = rowsOfPiece(job, piece);
  const { shardLanes } = job.partition;
  return Float64Array.BYTES_PER_ELEMENT * seriesCount(job, piece.stage) * (end - first) * shardLanes;
}

/** How many pieces of values a tile has. */
function pieceCount(job: Shape, stage: number, slab: number): number {
  return stageKind(job, stage) === "lanes" ? blockCount(job.partition, slab) : job.partition.shardCount;
}

/** Index of the piece after those of values: the state of a lanes stage, the presence of the panel. */
export const lastPiece = pieceCount;

/**
 * Byte at which a piece starts in the file of its tile. Only the last piece of values may be shorter than the first;
 * presence follows it.
 */
export function pieceOffset(job: Shape, piece: Piece): number {
  const { index } = piece;
  if (index === 0) return 0;
  const [first, before] = [0, index - 1].map((at) => pieceBytes(job, { ...piece, index: at }));
  return (index - 1) * first! + before!;
}

/** Bytes of the file of a tile. */
export function tileBytes(job: Shape, stage: number, slab: number, part: number): number {
  const values = pieceOffset(job, { stage, slab, part, index: pieceCount(job, stage, slab) });
  if (stage !== PANEL_STAGE) return values;
  const { first, end } = rowsOfBlock(job.partition, slab, part);
  return values + (end - first) * job.partition.laneCount;
}

const padded = (number: number, digits: number) => String(number).padStart(digits, "0");

export function stageName(stage: number): string {
  return stage === PANEL_STAGE ? "panel" : `stage${stage}`;
}

/** Also its folder in that of the run. */
export function slabName(slab: number): string {
  return `t${padded(slab, 6)}`;
}

/** Path of a tile in the folder of the run. */
export function tilePath(stage: number, slab: number, part: number): string {
  return `${slabName(slab)}/${stageName(stage)}-${padded(part, 5)}.tile`;
}

/** Path of the state of a lanes stage after a slab. */
export function statePath(stage: number, slab: number, shard: number): string {
  return `${slabName(slab)}/${stageName(stage)}-${padded(shard, 5)}.state`;
}

/** Path of the result of an independent slab: the factors that have values, `[rows x lanes]` each, then presence. */
export function resultPath(slab: number): string {
  return `${slabName(slab)}/result.bin`;
}

/** Stages that a task reads, ascending; the panel for its presence only by `output`. */
export function stagesRead(
  { stages, factors }: Pick<ClusterJob, "stages" | "factors">,
  task: ClusterTask,
): number[] {
  const origins =
    task.kind === "stage"
      ? Object.values(stages[task.stage]!.imports)
      : task.kind === "output"
        ? factors.flatMap(({ origin }) => origin ?? [])
        : [];
  return [...new Set(origins.map(({ stage }) => stage))].sort((a, b) => a - b);
}

/**
 * The pieces that a task reads, which is also the order of its buffers where tiles are values: stage by stage the tiles in
 * order; then the presence for `output`, or the state of the previous slab for a stage with state.
 */
export function piecesRead(job: ClusterJob, task: ClusterTask): Piece[] {
  if (task.kind !== "stage" && task.kind !== "output") return [];
  const { slab } = task;
  const kind = task.kind === "stage" ? stageKind(job, task.stage) : "rows";
  const own = task.kind === "stage" ? task.part : task.block;
  const pieces = stagesRead(job, task).flatMap((stage): Piece[] => {
    if (stageKind(job, stage) === kind) {
      const count = pieceCount(job, stage, slab);
      return Array.from({ length: count }, (_, index) => ({ stage, slab, part: own, index }));
    }
    const parts = stagePartCount(job, stage, slab);
    return Array.from({ length: parts }, (_, part) => ({ stage, slab, part, index: own }));
  });
  if (task.kind === "output") {
    pieces.push({ stage: PANEL_STAGE, slab, part: own, index: lastPiece(job, PANEL_STAGE, slab) });
  } else if (job.stages[task.stage]!.hasState && slab > 0) {
    const { stage, part } = task;
    pieces.push({ stage, slab: slab - 1, part, index: lastPiece(job, stage, slab - 1) });
  }
  return pieces;
}
