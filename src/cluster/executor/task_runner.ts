import { hostname } from "node:os";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import { slabCountOf } from "../cut/task_graph.ts";
import { operatorsDiffer } from "../protocol/errors.ts";
import type { ClusterJob, ClusterTask, JobTask, OutputCounts, TaskReport } from "../protocol/protocol.ts";
import { ChunkFiller, chunkRowCounts, joinChunks } from "../results/chunk.ts";
import { ColumnFile } from "../results/column_file.ts";
import { DatasetPart } from "../results/dataset_part.ts";
import { checkClaim } from "../results/folder_claim.ts";
import { InputCheck } from "./input_digest.ts";
import { openJobSource } from "./job_source.ts";
import { probe } from "./probe.ts";
import { ShareEvaluations } from "./share_evaluation.ts";

export interface TaskAnswer {
  readonly report: TaskReport;
  /** The chunks of the result. */
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

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

type TaskOf<Kind extends ClusterTask["kind"]> = Extract<ClusterTask, { kind: Kind }>;

/** Runs the tasks of a job one at a time, and keeps the open panel and the compiled evaluation between them. */
export class TaskRunner {
  readonly #job: ClusterJob;
  readonly #host: EngineHost;
  readonly #sourceLimitBytes: number;
  readonly #inputs: InputCheck;
  #source: PanelSource | null = null;
  #shares: ShareEvaluations | null = null;

  /** @param sourceLimitBytes memory for reading the panel */
  constructor(job: ClusterJob, host: EngineHost, sourceLimitBytes: number) {
    this.#job = job;
    this.#host = host;
    this.#sourceLimitBytes = sourceLimitBytes;
    this.#inputs = new InputCheck(job.identity.inputs);
  }

  /**
   * Runs a task. A repeated task gives the same bits, also after other tasks or in another process.
   *
   * @param panel the file of a panel that the client brings, as this host has it
   * @throws ResourceError E442 if a file cannot be written, E610 if columns are missing; DataError E615; UsageError
   *   E614 if this host does not see the client's folder, if it sees other operators; as `FactorStream`.
   */
  async run(task: JobTask, panel: string | null): Promise<TaskAnswer> {
    return await timed(async () => {
      this.#checkFolder();
      if (task.kind === "slab") return await this.#slab(task, panel);
      if (task.kind === "history") return await this.#history(task, panel);
      return await this.#join(task);
    });
  }

  /** Closes the panel and the evaluation. */
  async close(): Promise<void> {
    const [shares, source] = [this.#shares, this.#source];
    this.#shares = null;
    this.#source = null;
    await shares?.close();
    await source?.close();
  }

  /** Checks that this host sees the client's folder, and that no other client has taken it. */
  #checkFolder(): void {
    const { dataset, identity } = this.#job;
    if (dataset !== null) checkClaim(dataset, identity.token!);
  }

  async #slab({ share, slab }: TaskOf<"slab">, panel: string | null): Promise<Outcome> {
    const { dataset } = this.#job;
    if (dataset === null) return { buffers: await Array.fromAsync(this.#chunks(share, [slab], panel)) };
    // The last share of a slab makes the part itself: its own columns need no file.
    const others = this.#files(slab).filter((_, index) => index !== share);
    if (!others.every((file) => file.isThere()))
      return await this.#columnFiles(share, [slab], dataset, panel);
    return await this.#part(slab, (index) =>
      index === share ? this.#chunks(share, [slab], panel) : this.#files(slab)[index]!.chunks(),
    );
  }

  async #history({ share }: TaskOf<"history">, panel: string | null): Promise<Outcome> {
    const { dataset } = this.#job;
    const slabs = Array.from({ length: slabCountOf(this.#job) }, (_, slab) => slab);
    if (dataset === null) return { buffers: await Array.fromAsync(this.#chunks(share, slabs, panel)) };
    return await this.#columnFiles(share, slabs, dataset, panel);
  }

  /** Makes the part of a slab of the columns of all shares. */
  async #join({ slab }: TaskOf<"join">): Promise<Outcome> {
    return await this.#part(slab, (share) => this.#files(slab)[share]!.chunks());
  }

  /** The chunks of a share in consecutive slabs. */
  async *#chunks(share: number, slabs: readonly number[], panel: string | null): AsyncGenerator<Uint8Array> {
    const { cut, source } = this.#job;
    const counts = slabs.flatMap((slab) => chunkRowCounts(this.#job.cut, slab));
    const shape = { factors: cut.shares[share]!.factors, laneCount: source.symbols.length };
    const filler = new ChunkFiller(shape, counts, this.#job.dataset !== null);
    for await (const block of this.#rows(share, slabs, panel)) yield* filler.add(block);
  }

  /** Writes the columns of consecutive slabs, those that neither the dataset nor the folder of columns has. */
  async #columnFiles(
    share: number,
    slabs: readonly number[],
    dataset: string,
    panel: string | null,
  ): Promise<Outcome> {
    const files = slabs.map((slab) => new ColumnFile(this.#job, dataset, share, slab));
    const isDone = slabs.map(
      (slab, index) => new DatasetPart(this.#job, dataset, slab).done() !== null || files[index]!.isWhole(),
    );
    const last = isDone.lastIndexOf(false);
    if (last < 0) return WAS_DONE;
    const some = slabs.slice(0, last + 1);
    const ends = some.map((slab) => chunkRowCounts(this.#job.cut, slab).length);
    let bytesWritten = 0;
    let [index, chunk] = [0, 0];
    const file = () => files[index]!;
    try {
      for await (const bytes of this.#chunks(share, some, panel)) {
        if (!isDone[index]) file().append(bytes);
        if (++chunk < ends[index]!) continue;
        if (!isDone[index]) {
          this.#checkFolder();
          file().commit();
          bytesWritten += file().bytes;
        }
        index++;
        chunk = 0;
      }
    } finally {
      if (index < some.length) file().abort();
    }
    return { bytesWritten };
  }

  /** Puts the chunks of all shares of a slab side by side, then removes their files: a task that is killed runs again. */
  async #part(slab: number, chunksOf: (share: number) => Chunks): Promise<Outcome> {
    const part = new DatasetPart(this.#job, this.#job.dataset!, slab);
    const done = part.done();
    const files = this.#files(slab).filter((file) => file.isThere());
    const outcome = done
      ? { ...WAS_DONE, counts: done }
      : await this.#written(part, () => this.#append(part, slab, chunksOf));
    for (const file of files) file.remove();
    return { ...outcome, bytesRead: done ? 0 : files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  async #append(part: DatasetPart, slab: number, chunksOf: (share: number) => Chunks): Promise<void> {
    const { cut } = this.#job;
    const chunks = cut.shares.map((_, share) => iteratorOf(chunksOf(share)));
    let first = cut.slabRows[slab]!;
    try {
      for (const rowCount of chunkRowCounts(this.#job.cut, slab)) {
        const bytes = await Promise.all(chunks.map(async (each) => (await each.next()).value as Uint8Array));
        await part.append(joinChunks(this.#job, first, rowCount, bytes));
        first += rowCount;
      }
      // To the end, where inputs are checked again.
      for (const each of chunks) await each.next();
    } finally {
      for (const each of chunks) await each.return?.();
    }
  }

  /** Writes a part; removes an unfinished one if that fails. */
  async #written(part: DatasetPart, write: () => Promise<void>): Promise<Outcome> {
    try {
      await write();
      this.#checkFolder();
      const counts = await part.commit();
      return { counts, bytesWritten: counts.bytes };
    } catch (error) {
      await part.abort();
      throw error;
    }
  }

  /** The values of a share in consecutive slabs. Checks the inputs before and after: values of other files are not used. */
  async *#rows(share: number, slabs: readonly number[], panel: string | null): AsyncGenerator<FactorBlock> {
    const { slabRows } = this.#job.cut;
    const [first, end] = [slabRows[slabs[0] ?? 0]!, slabRows[(slabs.at(-1) ?? -1) + 1]!];
    await this.#inputs.check();
    try {
      yield* (await this.#open(panel)).rows(share, first, end);
    } catch (error) {
      // Bars that others replace look damaged to whoever reads them.
      await this.#inputs.check();
      throw error;
    }
    await this.#inputs.check();
  }

  async #open(panel: string | null): Promise<ShareEvaluations> {
    if (this.#shares !== null) return this.#shares;
    this.#source ??= await openJobSource(this.#job.source, panel, this.#sourceLimitBytes);
    checkModules(this.#job);
    this.#shares = new ShareEvaluations(this.#job, this.#host, this.#source);
    return this.#shares;
  }

  #files(slab: number): ColumnFile[] {
    const { cut, dataset } = this.#job;
    return cut.shares.map((_, share) => new ColumnFile(this.#job, dataset!, share, slab));
  }
}

function iteratorOf(chunks: Chunks): Iterator<Uint8Array> | AsyncIterator<Uint8Array> {
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
}

/** @throws UsageError E614 if modules of operators on this host differ from the client's. */
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
  return await timed(async () => probed(task));
}

function probed({ folder }: TaskOf<"probe">): Outcome {
  return { buffers: [Buffer.from(JSON.stringify(probe(folder)))] };
}

async function timed(work: () => Promise<Outcome>): Promise<TaskAnswer> {
  const started = performance.now();
  const { buffers = [], bytesRead = 0, bytesWritten = 0, wasDone = false, counts } = await work();
  const ns = Math.round(1e6 * (performance.now() - started));
  const startMs = performance.timeOrigin + started;
  return { report: { startMs, ns, bytesRead, bytesWritten, wasDone, counts }, buffers };
}
