import type { EngineHost } from "../../evaluation/evaluation.ts";
import { slabCountOf } from "../cut/task_graph.ts";
import type { ClusterJob, ClusterTask, OutputCounts, TaskReport } from "../protocol/protocol.ts";
import { ChunkFiller, chunkRowCounts, joinChunks } from "../results/chunk.ts";
import { ColumnFile } from "../results/column_file.ts";
import { DatasetPart } from "../results/dataset_part.ts";
import { checkClaim } from "../results/folder_claim.ts";
import { ShareEvaluations } from "./share_evaluation.ts";

export interface TaskAnswer {
  readonly report: TaskReport;
  /** The chunks of the result. */
  readonly buffers: readonly Uint8Array[];
}

/** What a task did, without its times. */
type Outcome = Partial<Omit<TaskReport, "startMs" | "ns">> & Partial<Pick<TaskAnswer, "buffers">>;

/** The chunks of a share in consecutive slabs, each valid until the next one. */
type Chunks = AsyncGenerator<Uint8Array>;

/** Runs the tasks of a job one at a time. */
export class TaskRunner {
  readonly #job: ClusterJob;
  readonly #shares: ShareEvaluations;

  /** @param sourceLimitBytes memory for reading the panel */
  constructor(job: ClusterJob, host: EngineHost, sourceLimitBytes: number) {
    this.#job = job;
    this.#shares = new ShareEvaluations(job, host, sourceLimitBytes);
  }

  /**
   * Runs a task. A repeated task gives the same bits, also after other tasks or in another process.
   *
   * @param panel the file of a panel that the client brings, as this host has it
   * @throws ResourceError E442 if a file cannot be written, E610 if columns are missing; UsageError E614 if this host does
   *   not see the client's folder; as `ShareEvaluations.rows`.
   */
  async run(task: ClusterTask, panel: string | null): Promise<TaskAnswer> {
    const started = performance.now();
    this.#checkFolder();
    const { buffers = [], ...outcome } = await this.#run(task, panel);
    const ns = Math.round(1e6 * (performance.now() - started));
    const startMs = performance.timeOrigin + started;
    return { report: { startMs, ns, bytesRead: 0, bytesWritten: 0, wasDone: false, ...outcome }, buffers };
  }

  /** Closes the panel and the evaluation. */
  async close(): Promise<void> {
    await this.#shares.close();
  }

  /** Checks that this host sees the client's folder, and that no other client has taken it. */
  #checkFolder(): void {
    const { dataset, identity } = this.#job;
    if (dataset !== null) checkClaim(dataset, identity.token!);
  }

  async #run(task: ClusterTask, panel: string | null): Promise<Outcome> {
    const { dataset } = this.#job;
    if (task.kind === "join") return await this.#part(task.slab);
    const { share } = task;
    const all = Array.from({ length: slabCountOf(this.#job) }, (_, slab) => slab);
    const slabs = task.kind === "slab" ? [task.slab] : all;
    const chunks = (count: number) => this.#chunks(share, slabs.slice(0, count), panel);
    if (dataset === null) return { buffers: await Array.fromAsync(chunks(slabs.length)) };
    // The last share of a slab makes the part itself: its own columns need no file.
    if (task.kind === "slab" && this.#files(task.slab).every((file, of) => of === share || file.isThere()))
      return await this.#part(task.slab, { share, chunks: chunks(1) });
    return await this.#columnFiles(share, slabs, dataset, chunks);
  }

  /** The chunks of a share in consecutive slabs. */
  async *#chunks(share: number, slabs: readonly number[], panel: string | null): Chunks {
    const { cut, source, dataset } = this.#job;
    const counts = slabs.flatMap((slab) => chunkRowCounts(cut, slab));
    const shape = { factors: cut.shares[share]!.factors, laneCount: source.symbols.length };
    const filler = new ChunkFiller(shape, counts, dataset !== null);
    const [first, end] = [cut.slabRows[slabs[0] ?? 0]!, cut.slabRows[(slabs.at(-1) ?? -1) + 1]!];
    for await (const block of this.#shares.rows(share, first, end, panel)) yield* filler.add(block);
  }

  /** Writes the columns of slabs, those that neither the dataset nor the folder of columns has. */
  async #columnFiles(
    share: number,
    slabs: readonly number[],
    dataset: string,
    chunksOf: (slabCount: number) => Chunks,
  ): Promise<Outcome> {
    const missing = new Map<number, ColumnFile>();
    for (const slab of slabs) {
      const file = new ColumnFile(this.#job, dataset, share, slab);
      const part = new DatasetPart(this.#job, dataset, slab);
      if ((await part.done()) === null && !(await file.isWhole())) missing.set(slab, file);
    }
    const some = slabs.slice(0, slabs.findLastIndex((slab) => missing.has(slab)) + 1);
    if (some.length === 0) return { wasDone: true };
    const chunks = chunksOf(some.length);
    let bytesWritten = 0;
    try {
      for (const slab of some) {
        const file = missing.get(slab);
        for (const _ of chunkRowCounts(this.#job.cut, slab)) {
          const { value } = await chunks.next();
          await file?.append(value as Uint8Array);
        }
        if (file === undefined) continue;
        this.#checkFolder();
        await file.commit();
        bytesWritten += file.bytes;
      }
      // To the end, where inputs are checked again.
      await chunks.next();
    } finally {
      await chunks.return(undefined);
      for (const file of missing.values()) await file.abort();
    }
    return { bytesWritten };
  }

  /**
   * Makes the part of a slab of the chunks of all shares, those of one share or none as they are computed. Then removes the
   * files of columns: a task that is killed runs again.
   */
  async #part(slab: number, own?: { readonly share: number; readonly chunks: Chunks }): Promise<Outcome> {
    const part = new DatasetPart(this.#job, this.#job.dataset!, slab);
    const done = await part.done();
    const files = this.#files(slab);
    const there = files.filter((file) => file.isThere());
    const chunks = files.map((file, share) => (share === own?.share ? own.chunks : file.chunks()));
    const counts = done ?? (await this.#written(part, slab, chunks));
    for (const file of there) await file.remove();
    if (done !== null) return { counts, wasDone: true };
    const bytesRead = there.reduce((sum, { bytes }) => sum + bytes, 0);
    return { counts, bytesRead, bytesWritten: counts.bytes };
  }

  /** Writes a part; removes an unfinished one if that fails. */
  async #written(part: DatasetPart, slab: number, chunks: readonly Chunks[]): Promise<OutputCounts> {
    const { cut } = this.#job;
    let first = cut.slabRows[slab]!;
    try {
      for (const rowCount of chunkRowCounts(cut, slab)) {
        const bytes = await Promise.all(chunks.map(async (each) => (await each.next()).value as Uint8Array));
        await part.append(joinChunks(this.#job, first, rowCount, bytes));
        first += rowCount;
      }
      // To the end, where inputs are checked again.
      for (const each of chunks) await each.next();
      this.#checkFolder();
      return await part.commit();
    } catch (error) {
      await part.abort();
      throw error;
    } finally {
      for (const each of chunks) await each.return(undefined);
    }
  }

  #files(slab: number): ColumnFile[] {
    const { cut, dataset } = this.#job;
    return cut.shares.map((_, share) => new ColumnFile(this.#job, dataset!, share, slab));
  }
}
