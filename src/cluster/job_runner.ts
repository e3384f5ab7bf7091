import { accessSync, constants } from "node:fs";
import { InternalError } from "../errors.ts";
import { DatasetPart } from "./dataset_part.ts";
import { sourceNotShared } from "./errors.ts";
import { HeldPieces, HeldTile } from "./held_pieces.ts";
import {
  FactorColumns,
  type FactorRows,
  gatherFactors,
  resultBuffers,
  rowsOfOutput,
} from "./output_block.ts";
import { addPanel, type OpenRows, type RowReader } from "./panel_task.ts";
import type { PieceInput, TileOutput } from "./pieces.ts";
import { probeFolder } from "./probe.ts";
import type { ClusterJob, ExecutorTask, OutputCounts, TaskReport } from "./protocol.ts";
import { ResultFile } from "./result_file.ts";
import type { ResultOutcome, ResultTarget } from "./result_target.ts";
import { ReusedBuffer } from "./reused_buffer.ts";
import { runSlab } from "./slab_task.ts";
import { StageRunner } from "./stage_runner.ts";
import { runStage } from "./stage_task.ts";
import { TileStore } from "./tile_store.ts";
import { PANEL, rowsOfBlock, rowsOfSlab } from "./tiles.ts";

/** What became of a task. */
export interface TaskAnswer {
  readonly report: TaskReport;
  /** The tile of the task, or its result; they hold until the next task. */
  readonly buffers: readonly Uint8Array[];
}

/** What a task did, less its times. */
interface Outcome {
  readonly buffers?: readonly Uint8Array[];
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  readonly counts?: OutputCounts;
  readonly wasDone?: boolean;
}

const WAS_DONE: Outcome = { wasDone: true };

type TaskOf<Kind extends ExecutorTask["kind"]> = Extract<ExecutorTask, { kind: Kind }>;

/** Runs the tasks of a job, one at a time; keeps what they share: compiled stages, the open panel, memory. */
export class JobRunner {
  readonly #job: ClusterJob;
  readonly #openRows: OpenRows;
  /** Null where tiles are values. */
  readonly #store: TileStore | null;
  readonly #stages: (StageRunner | undefined)[] = [];
  readonly #tileRooms: ReusedBuffer[] = [];
  readonly #codesRoom = new ReusedBuffer();
  readonly #factors: FactorColumns;
  #rows: RowReader | null = null;

  /** @param openRows opens the panel for the tasks that read it */
  constructor(job: ClusterJob, openRows: OpenRows) {
    this.#job = job;
    this.#openRows = openRows;
    this.#store = job.exchange === "store" && job.folder !== null ? new TileStore(job, job.folder) : null;
    this.#factors = new FactorColumns(job);
  }

  /**
   * Does what a task asks for. It may be asked again, after other tasks or in another process: the bits are the same.
   *
   * @param buffers where tiles are values, the pieces that the task reads (`piecesRead`)
   * @throws ResourceError E609 if a tile cannot be written, E610 if one is missing; DataError E615 and as `PanelRows`
   *   where the panel is read; UsageError E515 if an operator of the user throws.
   */
  async run(task: ExecutorTask, buffers: readonly Uint8Array[] = []): Promise<TaskAnswer> {
    return await timed(() => this.#dispatch(task, buffers));
  }

  /** Closes the panel, and the tiles that are open. */
  async close(): Promise<void> {
    this.#store?.close();
    const rows = this.#rows;
    this.#rows = null;
    await rows?.close();
  }

  #dispatch(task: ExecutorTask, buffers: readonly Uint8Array[]): Outcome | Promise<Outcome> {
    switch (task.kind) {
      case "read":
        return this.#read(task);
      case "stage":
        return this.#stage(task, buffers);
      case "output":
        return this.#output(task, buffers);
      case "slab":
        return this.#slab(task);
      case "probe":
        return probe(task);
    }
  }

  async #read(task: TaskOf<"read">): Promise<Outcome> {
    const { slab, block } = task;
    if (this.#isDone(PANEL, slab, block)) return WAS_DONE;
    const { fields, groups } = this.#job.source;
    const reader = await this.#openPanel();
    const rows = await reader.read(rowsOfBlock(this.#job.partition, slab, block), fields, groups);
    return this.#writeTile(PANEL, slab, block, (output) =>
      addPanel(this.#job, rows, this.#codesRoom, output),
    );
  }

  #stage(task: TaskOf<"stage">, buffers: readonly Uint8Array[]): Outcome {
    const { stage, slab, part } = task;
    if (this.#isDone(stage, slab, part)) return WAS_DONE;
    const runner = this.#runnerOf(stage);
    const input = this.#inputOf(task, buffers);
    const outcome = this.#writeTile(stage, slab, part, (output) =>
      runStage(this.#job, runner, task, input, output),
    );
    return { ...outcome, bytesRead: input.bytesRead };
  }

  async #output(task: TaskOf<"output">, buffers: readonly Uint8Array[]): Promise<Outcome> {
    const target = this.#partOf(task.slab, task.block);
    const done = target?.done();
    if (done) return { ...WAS_DONE, ...done };
    const input = this.#inputOf(task, buffers);
    const rows = gatherFactors(this.#job, task, input, this.#factors);
    const { bytesRead } = input;
    if (target === null) return { bytesRead, buffers: resultBuffers(rows) };
    return { bytesRead, ...(await written(target, async () => await target.append(rows))) };
  }

  async #slab({ slab }: TaskOf<"slab">): Promise<Outcome> {
    const target = this.#partOf(slab, 0) ?? this.#fileOf(slab);
    const done = target?.done();
    if (done) return { ...WAS_DONE, ...done };
    const runner = this.#runnerOf(0);
    const reader = await this.#openPanel();
    const run = (onRows: ((rows: FactorRows) => Promise<void>) | null) =>
      runSlab(this.#job, runner, reader, slab, this.#factors, onRows);
    if (target === null) return { buffers: resultBuffers(await run(null)) };
    return await written(target, () => run(async (rows) => await target.append(rows)));
  }

  #partOf(slab: number, block: number): ResultTarget | null {
    const { dataset } = this.#job;
    return dataset === null ? null : new DatasetPart(this.#job, dataset, slab, block);
  }

  /** Results of whole slabs are too large to be held; null where there is no store: the answer holds them. */
  #fileOf(slab: number): ResultTarget | null {
    const { folder, partition } = this.#job;
    if (folder === null) return null;
    return new ResultFile(this.#job, folder, slab, rowsOfOutput(this.#job, rowsOfSlab(partition, slab)));
  }

  #isDone(stage: number, slab: number, part: number): boolean {
    return this.#store !== null && (this.#store.isCollected(slab) || this.#store.has(stage, slab, part));
  }

  #inputOf(task: TaskOf<"stage" | "output">, buffers: readonly Uint8Array[]): PieceInput {
    return this.#store?.read(task.slab) ?? new HeldPieces(this.#job, task, buffers);
  }

  #writeTile(stage: number, slab: number, part: number, fill: (output: TileOutput) => void): Outcome {
    const output = this.#store?.create(stage, slab, part) ?? new HeldTile(this.#tileRooms);
    try {
      fill(output);
      const buffers = output.finish();
      return { buffers, bytesWritten: output.bytesWritten };
    } finally {
      output.abort();
    }
  }

  /** Compiles the stage if it is the first task of it. */
  #runnerOf(stage: number): StageRunner {
    this.#stages[stage] ??= new StageRunner(this.#job, stage);
    return this.#stages[stage];
  }

  /** @throws DataError E615 if this host does not see the panel, and as `PanelRows.open`. */
  async #openPanel(): Promise<RowReader> {
    const { path, options, time, symbols } = this.#job.source;
    if (path === null) throw new InternalError("the client brings the panel, and a task is to read it");
    if (this.#rows === null) {
      try {
        accessSync(path, constants.R_OK);
      } catch (error) {
        throw sourceNotShared(path, (error as Error).message);
      }
      this.#rows = await this.#openRows(path, options, { time, symbols });
    }
    return this.#rows;
  }
}

/** Does what a `probe` asks for, with no job. */
export async function runProbe(task: TaskOf<"probe">): Promise<TaskAnswer> {
  return await timed(() => probe(task));
}

function probe({ folder, bytes }: TaskOf<"probe">): Outcome {
  const text = JSON.stringify(probeFolder(folder, bytes));
  return { buffers: [Buffer.from(text)], bytesRead: bytes, bytesWritten: bytes };
}

/** Writes a result; leaves no part of it where that fails. */
async function written(target: ResultTarget, write: () => Promise<unknown>): Promise<ResultOutcome> {
  try {
    await write();
    return await target.commit();
  } catch (error) {
    await target.abort();
    throw error;
  }
}

async function timed(work: () => Outcome | Promise<Outcome>): Promise<TaskAnswer> {
  const started = performance.now();
  const { buffers = [], bytesRead = 0, bytesWritten = 0, wasDone = false, counts } = await work();
  const ns = Math.round(1e6 * (performance.now() - started));
  const startMs = performance.timeOrigin + started;
  return { report: { startMs, ns, bytesRead, bytesWritten, wasDone, counts }, buffers };
}
