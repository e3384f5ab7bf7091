import { accessSync, constants } from "node:fs";
import { hostname } from "node:os";
import { InternalError } from "../../errors.ts";
import { broughtFields } from "../../evaluation/has_row.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import { checkClaim } from "../exchange/folder_claim.ts";
import { HeldPieces, HeldTile } from "../exchange/held_pieces.ts";
import { TileStore } from "../exchange/tile_store.ts";
import { operatorsDiffer, sourceNotShared } from "../protocol/errors.ts";
import type { PieceInput, TileOutput } from "../protocol/pieces.ts";
import type { ClusterJob, ClusterTask, OutputCounts, TaskReport } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { PANEL_STAGE, rowsOfBlock, rowsOfSlab } from "../protocol/tiles.ts";
import { DatasetPart } from "../results/dataset_part.ts";
import {
  FactorColumns,
  type FactorRows,
  gatherFactors,
  resultBuffers,
  rowsOfOutput,
} from "../results/output_block.ts";
import type { ResultOutcome, ResultTarget } from "../results/result_target.ts";
import { ResultFile } from "../results/slab_result_file.ts";
import { InputCheck } from "./input_digest.ts";
import { addPanel, type OpenRows, type RowReader } from "./panel_task.ts";
import { probe } from "./probe.ts";
import { runSlab } from "./slab_task.ts";
import { StageRunner } from "./stage_runner.ts";
import { runStage } from "./stage_task.ts";

export interface TaskAnswer {
  readonly report: TaskReport;
  /** The tile of the task, or its result; valid until the next task. */
  readonly buffers: readonly Uint8Array[];
}

/** What a task did, without its times. */
interface Outcome {
  readonly buffers?: readonly Uint8Array[];
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  readonly counts?: OutputCounts;
  readonly wasDone?: boolean;
}

const WAS_DONE: Outcome = { wasDone: true };

type TaskOf<Kind extends ClusterTask["kind"]> = Extract<ClusterTask, { kind: Kind }>;

/** Runs the tasks of a job one at a time, and keeps the compiled stages, the open panel and memory between them. */
export class TaskRunner {
  readonly #job: ClusterJob;
  readonly #openRows: OpenRows;
  /** Null where tiles are values. */
  readonly #store: TileStore | null;
  readonly #stages: (StageRunner | undefined)[] = [];
  readonly #pieceBuffers: ReusedBuffer[] = [];
  readonly #codesBuffer = new ReusedBuffer();
  readonly #factors: FactorColumns;
  readonly #inputs: InputCheck;
  #rows: RowReader | null = null;

  /** @param openRows opens the panel for the tasks that read it */
  constructor(job: ClusterJob, openRows: OpenRows) {
    this.#job = job;
    this.#openRows = openRows;
    this.#store = job.exchange === "store" && job.folder !== null ? new TileStore(job, job.folder) : null;
    this.#factors = new FactorColumns(job);
    this.#inputs = new InputCheck(job.identity.inputs);
  }

  /**
   * Runs a task. A repeated task gives the same bits, also after other tasks or in another process.
   *
   * @param buffers where tiles are values, the pieces that the task reads (`piecesRead`)
   * @throws ResourceError E609 if a tile cannot be written, E610 if one is missing; DataError E615, E623 and as `PanelRows`
   *   where the panel is read; UsageError E515 if a user's operator throws, E614 if this host does not see the client's
   *   folders.
   */
  async run(task: ClusterTask, buffers: readonly Uint8Array[] = []): Promise<TaskAnswer> {
    return await timed(() => {
      this.#checkFolders();
      return this.#dispatch(task, buffers);
    });
  }

  /** Closes the panel and the open tiles. */
  async close(): Promise<void> {
    this.#store?.close();
    const rows = this.#rows;
    this.#rows = null;
    await rows?.close();
  }

  /** Checks that this host sees the client's folders, and that no other client has taken them. */
  #checkFolders(): void {
    const { folder, dataset, identity } = this.#job;
    if (identity.token === null) return;
    for (const path of [folder, dataset?.folder]) if (path) checkClaim(path, identity.token);
  }

  #dispatch(task: ClusterTask, buffers: readonly Uint8Array[]): Outcome | Promise<Outcome> {
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
        return probed(task);
    }
  }

  async #read(task: TaskOf<"read">): Promise<Outcome> {
    const { slab, block } = task;
    if (this.#isDone(PANEL_STAGE, slab, block)) return WAS_DONE;
    const { fields, groups } = this.#job.source;
    const reader = await this.#openPanel();
    const range = rowsOfBlock(this.#job.partition, slab, block);
    const rows = await reader.read(range, broughtFields(fields), groups);
    return this.#writeTile(PANEL_STAGE, slab, block, (output) =>
      addPanel(this.#job, rows, this.#codesBuffer, output),
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
    return { bytesRead, ...(await this.#written(target, async () => await target.append(rows))) };
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
    return await this.#written(target, () => run(async (rows) => await target.append(rows)));
  }

  /** Writes a result; removes a partial one if that fails. */
  async #written(target: ResultTarget, write: () => Promise<unknown>): Promise<ResultOutcome> {
    try {
      await write();
      this.#checkFolders();
      return await target.commit();
    } catch (error) {
      await target.abort();
      throw error;
    }
  }

  #partOf(slab: number, block: number): ResultTarget | null {
    const { dataset } = this.#job;
    return dataset === null ? null : new DatasetPart(this.#job, dataset, slab, block);
  }

  /** The file for the result of a whole slab, which is too large for memory; null without a store: the answer holds it. */
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
    const output = this.#store?.create(stage, slab, part) ?? new HeldTile(this.#pieceBuffers);
    try {
      fill(output);
      this.#checkFolders();
      const buffers = output.finish();
      return { buffers, bytesWritten: output.bytesWritten };
    } finally {
      output.abort();
    }
  }

  /** Compiles a stage for its first task. */
  #runnerOf(stage: number): StageRunner {
    if (this.#stages[stage] === undefined) checkModules(this.#job);
    this.#stages[stage] ??= new StageRunner(this.#job, stage);
    return this.#stages[stage];
  }

  /** @throws DataError E615 if this host does not see the panel, E623 if it sees another one, and as `PanelRows.open`. */
  async #openPanel(): Promise<RowReader> {
    const { path, options, time, symbols } = this.#job.source;
    if (path === null) throw new InternalError("a task reads a panel that the client brings");
    if (this.#rows === null) {
      try {
        accessSync(path, constants.R_OK);
      } catch (error) {
        throw sourceNotShared(path, (error as Error).message);
      }
      await this.#inputs.check();
      const opened = await this.#openRows(path, options, { time, symbols });
      this.#rows = checkedRows(opened, this.#inputs);
    }
    return this.#rows;
  }
}

/** Checks the files again after each read: values from files that have changed are not used. */
function checkedRows(reader: RowReader, inputs: InputCheck): RowReader {
  return {
    read: async (...what) => {
      const block = await reader.read(...what);
      await inputs.check();
      return block;
    },
    close: () => reader.close(),
  };
}

/** @throws UsageError E624 if modules of operators on this host differ from the client's. */
function checkModules({ identity }: ClusterJob): void {
  for (const [module, digest] of Object.entries(identity.modules))
    if (digestSeen(module) !== digest) throw operatorsDiffer(module, hostname());
}

/** Null if the module cannot be read. */
function digestSeen(module: string): string | null {
  try {
    return moduleDigest(module);
  } catch {
    return null;
  }
}

/** Runs a `probe`, which needs no job. */
export async function runProbe(task: TaskOf<"probe">): Promise<TaskAnswer> {
  return await timed(() => probed(task));
}

function probed({ folder }: TaskOf<"probe">): Outcome {
  return { buffers: [Buffer.from(JSON.stringify(probe(folder)))] };
}

async function timed(work: () => Outcome | Promise<Outcome>): Promise<TaskAnswer> {
  const started = performance.now();
  const { buffers = [], bytesRead = 0, bytesWritten = 0, wasDone = false, counts } = await work();
  const ns = Math.round(1e6 * (performance.now() - started));
  const startMs = performance.timeOrigin + started;
  return { report: { startMs, ns, bytesRead, bytesWritten, wasDone, counts }, buffers };
}
