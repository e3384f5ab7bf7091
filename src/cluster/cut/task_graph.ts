import type { ClusterJob, ClusterTask, GraphTask, TaskGraph, TaskKey } from "../protocol/protocol.ts";
import { chunkRowCounts } from "../results/chunk.ts";

export interface GraphOptions {
  /** Prefix of the names of all tasks. */
  readonly prefix: string;
  /** Of each share: estimated ns of a row. */
  readonly rowNs: readonly number[];
  /** An executor that takes longer for a task is killed. Default: far longer than the estimate. */
  readonly taskTimeoutSeconds?: number | undefined;
  readonly priority?: number | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
  readonly workers?: readonly string[] | undefined;
}

const DEADLINE_SECONDS_MIN = 120;
const DEADLINE_FACTOR = 50;
/** Of a value that a join reads and writes. */
const JOIN_NS = 40;

/** Tasks over all rows are the longest, so they go first; of slabs the earlier ones do. */
const URGENCY_HISTORY = 1;

/** Whether several tasks make a part of the dataset: they leave files of columns, which a join puts side by side. */
function isJoined({ cut, dataset }: Pick<ClusterJob, "cut" | "dataset">): boolean {
  return dataset !== null && (cut.shares.length > 1 || cut.shares[0]!.warmUpRows === null);
}

export const slabCountOf = ({ cut }: Pick<ClusterJob, "cut">): number => cut.slabRows.length - 1;

/** A chunk of a slab, and its rows. */
export interface ChunkPlace {
  readonly slab: number;
  readonly chunk: number;
  readonly first: number;
  readonly end: number;
}

/** Makes the graphs of a run: that of a dataset as a whole, others slab by slab, as the client takes the results. */
export class RunGraph {
  readonly #job: ClusterJob;
  readonly #options: GraphOptions;
  /** Chunks before each slab, and of all. */
  readonly #firstChunks: number[] = [0];

  constructor(job: ClusterJob, options: GraphOptions) {
    this.#job = job;
    this.#options = options;
    for (let slab = 0; slab < slabCountOf(job); slab++)
      this.#firstChunks.push(this.#firstChunks[slab]! + this.chunksOf(slab).length);
  }

  /** Of all graphs together. */
  get taskCount(): number {
    const slabs = slabCountOf(this.#job);
    const evaluations = this.#shares(true).length + slabs * this.#shares(false).length;
    if (this.#job.dataset !== null) return evaluations + (isJoined(this.#job) ? slabs : 0);
    return evaluations + this.#firstChunks[slabs]! * this.#job.cut.shares.length;
  }

  /** All tasks of a dataset; the results are one task for each slab, in order. */
  dataset(): TaskGraph {
    if (!isJoined(this.#job)) {
      const slabs = this.#slabs((slab) => this.#shares(false).map((share) => this.#slab(share, slab)));
      return this.#graph(
        slabs,
        slabs.map(({ key }) => key),
      );
    }
    const histories = this.#shares(true).map((share) => this.#history(share));
    const results: TaskKey[] = [];
    const tasks = this.#slabs((slab) => {
      const columns = this.#shares(false).map((share) => this.#slab(share, slab));
      const join = this.#run({ kind: "join", slab }, -slab, [...histories, ...columns]);
      results.push(join.key);
      return [...columns, join];
    });
    return this.#graph([...histories, ...tasks], results);
  }

  /** The tasks over all rows, whose values wait until every slab is taken. */
  histories(): TaskGraph {
    const tasks = this.#shares(true).map((share) => this.#history(share));
    return this.#graph(
      tasks,
      tasks.map(({ key }) => key),
    );
  }

  /**
   * The tasks of slabs `[first, end)`, and those that take the chunks from their values. The values are no results: they
   * are released.
   */
  slabs(first: number, end: number): TaskGraph {
    const tasks = Array.from({ length: end - first }, (_, index) => {
      const slab = first + index;
      const slabs = this.#shares(false).map((share) => this.#slab(share, slab));
      const picks = this.chunksOf(slab).flatMap((_, chunk) =>
        this.#job.cut.shares.map((_, share) => this.#pick(share, slab, chunk)),
      );
      return [...slabs, ...picks];
    }).flat();
    return this.#graph(
      tasks,
      tasks.flatMap(({ key, work }) => (work.kind === "pick" ? [key] : [])),
    );
  }

  /** Rows of each chunk of a slab. */
  chunksOf(slab: number): number[] {
    return chunkRowCounts(this.#job.cut, slab);
  }

  /** All chunks, in order of rows. */
  places(): ChunkPlace[] {
    const { slabRows, chunkRows } = this.#job.cut;
    return Array.from({ length: slabCountOf(this.#job) }, (_, slab) =>
      this.chunksOf(slab).map((rowCount, chunk): ChunkPlace => {
        const first = slabRows[slab]! + chunk * chunkRows;
        return { slab, chunk, first, end: first + rowCount };
      }),
    ).flat();
  }

  /** The task whose value is a chunk of a share. */
  chunkKey(share: number, slab: number, chunk: number): TaskKey {
    return this.#key("chunks", share, slab, chunk);
  }

  #pick(share: number, slab: number, chunk: number): GraphTask {
    const isHistory = this.#job.cut.shares[share]!.warmUpRows === null;
    const index = chunk + (isHistory ? this.#firstChunks[slab]! : 0);
    return {
      key: this.chunkKey(share, slab, chunk),
      work: { kind: "pick", index },
      dependencies: [isHistory ? this.#key("history", share) : this.#key("slabs", share, slab)],
      urgency: -slab,
      deadlineSeconds: 0,
    };
  }

  #history(share: number): GraphTask {
    return this.#run({ kind: "history", share }, URGENCY_HISTORY);
  }

  #slab(share: number, slab: number): GraphTask {
    return this.#run({ kind: "slab", share, slab }, -slab - share / this.#job.cut.shares.length);
  }

  #run(task: ClusterTask, urgency: number, after: readonly GraphTask[] = []): GraphTask {
    const { taskTimeoutSeconds } = this.#options;
    const seconds = Math.max(DEADLINE_SECONDS_MIN, DEADLINE_FACTOR * this.#costNs(task) * 1e-9);
    return {
      key: this.#keyOf(task),
      work: { kind: "run", task },
      dependencies: after.map(({ key }) => key),
      urgency,
      deadlineSeconds: taskTimeoutSeconds ?? seconds,
    };
  }

  #costNs(task: ClusterTask): number {
    const { cut, factors, source, outputRows } = this.#job;
    if (task.kind === "history") return this.#options.rowNs[task.share]! * outputRows[1];
    const rows = cut.slabRows[task.slab + 1]! - cut.slabRows[task.slab]!;
    if (task.kind === "join") return JOIN_NS * factors.length * source.symbols.length * rows;
    return this.#options.rowNs[task.share]! * (rows + cut.shares[task.share]!.warmUpRows!);
  }

  #keyOf(task: ClusterTask): TaskKey {
    if (task.kind === "history") return this.#key("history", task.share);
    if (task.kind === "slab") return this.#key("slabs", task.share, task.slab);
    return this.#key("joins", task.slab);
  }

  #shares(isHistory: boolean): number[] {
    return this.#job.cut.shares.flatMap(({ warmUpRows }, share) =>
      (warmUpRows === null) === isHistory ? [share] : [],
    );
  }

  #slabs(make: (slab: number) => GraphTask[]): GraphTask[] {
    return Array.from({ length: slabCountOf(this.#job) }, (_, slab) => make(slab)).flat();
  }

  #graph(tasks: readonly GraphTask[], results: readonly TaskKey[]): TaskGraph {
    const { priority, resources, workers } = this.#options;
    return { tasks, results, priority, resources, workers };
  }

  #key(name: string, ...indices: number[]): TaskKey {
    return [`${this.#options.prefix}_${name}`, ...indices];
  }
}
