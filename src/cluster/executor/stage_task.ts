import { InternalError } from "../../errors.ts";
import type { ColumnRows, LaneRange } from "../protocol/column_rows.ts";
import {
  lanesOfShard,
  type PieceInput,
  type PieceOutput,
  pieceAt,
  type SeriesRead,
  type TileOutput,
} from "../protocol/pieces.ts";
import type { ClusterJob, ClusterTask, JobStage } from "../protocol/protocol.ts";
import { blockCount, lastPiece, type Rows, rowsOfBlock, rowsOfSlab } from "../protocol/tiles.ts";
import type { StageRunner } from "./stage_runner.ts";

type StageTask = Extract<ClusterTask, { kind: "stage" }>;

/**
 * Runs a stage over one slab of its shard, or over one block of all shards: reads pieces, writes a tile. A stage with
 * state continues from the state of its shard after the previous slab.
 */
export function runStage(
  job: ClusterJob,
  runner: StageRunner,
  task: StageTask,
  input: PieceInput,
  output: TileOutput,
): void {
  const { slab, part } = task;
  const { kind, hasState } = job.stages[task.stage]!;
  const { shardCount, shardLanes } = job.partition;
  const blocks = kind === "lanes" ? countTo(blockCount(job.partition, slab)) : [part];
  const shards = kind === "lanes" ? [part] : countTo(shardCount);
  enter(job, runner, task, input);
  for (const block of blocks) {
    const rows = rowsOfBlock(job.partition, slab, block);
    const shape = {
      seriesCount: runner.plan.outputs.length,
      rowCount: rows.end - rows.first,
      laneCount: shardLanes,
    };
    const pieces = shards.map((): PieceOutput => output.addPiece(shape));
    const within = (some: Rows) => ({ first: some.first - rows.first, end: some.end - rows.first });
    runner.run(rows, {
      fill: (some, inputs) => {
        for (const [stage, reads] of byStage(job.stages[task.stage]!, inputs)) {
          for (const shard of shards) {
            const piece = pieceAt(job, stage, slab, block, shard);
            input.read(piece, within(some), reads, lanesWithin(job, kind, shard));
          }
        }
      },
      take: (some, outputs) => {
        shards.forEach((shard, index) => {
          pieces[index]!.write(within(some).first, outputs, lanesWithin(job, kind, shard));
        });
      },
    });
  }
  if (!hasState) return;
  output.addState(runner.save());
  runner.markEnded(taskName(slab, part));
}

/** Puts the runner into the state in which the task begins. */
function enter(job: ClusterJob, runner: StageRunner, task: StageTask, input: PieceInput): void {
  const { stage, slab, part } = task;
  const { kind, hasState } = job.stages[stage]!;
  if (kind === "rows") runner.start(0);
  else if (!hasState || slab === 0) runner.start(rowsOfSlab(job.partition, slab).first);
  else if (!runner.isAfter(taskName(slab - 1, part))) {
    const index = lastPiece(job, stage, slab - 1);
    runner.restore(input.state({ stage, slab: slab - 1, part, index }));
  }
}

/** The lanes of a shard in a plan of the kind. */
function lanesWithin({ partition }: ClusterJob, kind: JobStage["kind"], shard: number): LaneRange {
  return kind === "lanes" ? { first: 0, count: partition.shardLanes } : lanesOfShard(partition, shard);
}

/** The series to read, by stage, ascending. */
function byStage({ imports }: JobStage, inputs: ReadonlyMap<string, ColumnRows>): Map<number, SeriesRead[]> {
  const reads = new Map<number, SeriesRead[]>();
  for (const [name, target] of inputs) {
    const origin = imports[name];
    if (origin === undefined) throw new InternalError(`a stage without an import of ${name}`);
    const ofStage = reads.get(origin.stage) ?? [];
    ofStage.push({ series: origin.series, target });
    reads.set(origin.stage, ofStage);
  }
  for (const ofStage of reads.values()) ofStage.sort((a, b) => a.series - b.series);
  return reads;
}

const taskName = (slab: number, part: number) => `slab ${slab} of shard ${part}`;
const countTo = (count: number) => Array.from({ length: count }, (_, index) => index);
