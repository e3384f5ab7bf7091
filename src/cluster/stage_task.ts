import { InternalError } from "../errors.ts";
import { copyLanes, lanesOfShard, type PieceInput, pieceAt, type TileOutput } from "./pieces.ts";
import type { ClusterJob, ExecutorTask } from "./protocol.ts";
import type { StageRunner } from "./stage_runner.ts";
import { blockCount, lastPiece, rowsOfBlock, rowsOfSlab } from "./tiles.ts";

type StageTask = Extract<ExecutorTask, { kind: "stage" }>;

/**
 * Runs a stage over one slab of its shard, or over one block of all shards: its pieces in, its tile out. A task of a stage
 * with state goes on where its shard stood after the slab before.
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
  const { shardCount } = job.partition;
  const blocks = kind === "lanes" ? countTo(blockCount(job.partition, slab)) : [part];
  const shards = kind === "lanes" ? [part] : countTo(shardCount);
  enter(job, runner, task, input);
  for (const block of blocks) {
    const { first, end } = rowsOfBlock(job.partition, slab, block);
    for (const shard of shards) stageInput(job, runner, task, input, block, shard);
    runner.run(first, end - first);
    for (const shard of shards) addPiece(job, runner, task, output, end - first, shard);
  }
  if (!hasState) return;
  output.addState(runner.save());
  runner.stand(standing(slab, part));
}

function enter(job: ClusterJob, runner: StageRunner, task: StageTask, input: PieceInput): void {
  const { stage, slab, part } = task;
  const { kind, hasState } = job.stages[stage]!;
  if (kind === "rows") runner.start(0);
  else if (!hasState || slab === 0) runner.start(rowsOfSlab(job.partition, slab).first);
  else if (!runner.standsAfter(standing(slab - 1, part))) {
    const index = lastPiece(job, stage, slab - 1);
    runner.restore(input.state({ stage, slab: slab - 1, part, index }));
  }
}

/** Brings the rows of a block and the lanes of a shard into the columns of the runner. */
function stageInput(
  job: ClusterJob,
  runner: StageRunner,
  task: StageTask,
  input: PieceInput,
  block: number,
  shard: number,
): void {
  const { kind, imports } = job.stages[task.stage]!;
  const { shardLanes } = job.partition;
  const { first, end } = rowsOfBlock(job.partition, task.slab, block);
  const width = runner.plan.laneCount;
  const [lane, lanes] = lanesWithin(job, kind, shard);
  for (const [stage, reads] of byStage(imports, runner)) {
    const series = reads.map((read) => read.series);
    const values = input.values(pieceAt(job, stage, task.slab, block, shard), series);
    reads.forEach(({ target }, index) => {
      const from = { values: values[index]!, width: shardLanes, lane: 0 };
      copyLanes(from, { values: target, width, lane }, end - first, lanes);
    });
  }
}

/** Adds the results in the lanes of a shard to the tile. */
function addPiece(
  job: ClusterJob,
  { plan, results }: StageRunner,
  task: StageTask,
  output: TileOutput,
  rowCount: number,
  shard: number,
): void {
  const { shardLanes } = job.partition;
  const [lane, lanes] = lanesWithin(job, job.stages[task.stage]!.kind, shard);
  const length = rowCount * shardLanes;
  output.addValues(results.length * length, (values) => {
    if (lanes < shardLanes) values.fill(Number.NaN);
    results.forEach((result, series) => {
      const target = values.subarray(series * length, (series + 1) * length);
      const from = { values: result, width: plan.laneCount, lane };
      copyLanes(from, { values: target, width: shardLanes, lane: 0 }, rowCount, lanes);
    });
  });
}

/** Where the lanes of a shard start among those of the plan, and how many of them are the plan's. */
function lanesWithin(
  { partition }: ClusterJob,
  kind: "lanes" | "rows",
  shard: number,
): [lane: number, lanes: number] {
  if (kind === "lanes") return [0, partition.shardLanes];
  return [shard * partition.shardLanes, lanesOfShard(partition, shard)];
}

interface Read {
  readonly series: number;
  readonly target: Float64Array;
}

/** What the runner's inputs are read from: series of each stage, ascending, so that they are read as they lie. */
function byStage(imports: ClusterJob["stages"][number]["imports"], { inputs }: StageRunner) {
  const reads = new Map<number, Read[]>();
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

const standing = (slab: number, part: number) => `slab ${slab} of shard ${part}`;
const countTo = (count: number) => Array.from({ length: count }, (_, index) => index);
