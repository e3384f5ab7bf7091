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

export const slabCountOf = ({ cut }: Pick<ClusterJob, "cut">): number => cut.slabRows.length - 1;

/** A chunk of a slab, and its rows. */
export interface ChunkPlace {
  readonly slab: number;
  /** Within the slab, and among all. */
  readonly chunk: number;
  readonly index: number;
  readonly first: number;
  readonly end: number;
}

/** Makes the graphs of a run: that of a dataset as a whole, others slab by slab, as the client takes the results. */
export class RunGraph {
  /** All chunks, in order of rows. */
  readonly places: readonly ChunkPlace[];
  readonly #job: ClusterJob;
  readonly #options: GraphOptions;
  readonly #slabs: readonly number[];
  readonly #shares: readonly number[];
  /** Whether several tasks make a part of the dataset: they leave files of columns, which a join puts side by side. */
  readonly #isJoined: boolean;

  constructor(job: ClusterJob, options: GraphOptions) {
    const { shares, slabRows, chunkRows } = job.cut;
    this.#job = job;
    this.#options = options;
    this.#slabs = Array.from({ length: slabCountOf(job) }, (_, slab) => slab);
    this.#shares = shares.map((_, share) => share);
    this.#isJoined = job.dataset !== null && (shares.length > 1 || this.#isHistory(0));
    this.places = this.#slabs
      .flatMap((slab) => chunkRowCounts(job.cut, slab).map((rowCount, chunk) => ({ slab, rowCount, chunk })))
      .map(({ slab, rowCount, chunk }, index) => {
        const first = slabRows[slab]! + chunk * chunkRows;
        return { slab, chunk, index, first, end: first + rowCount };
      });
  }

  /** Of all graphs together. */
  get taskCount(): number {
    if (this.#job.dataset !== null) return this.dataset().tasks.length;
    return this.histories().tasks.length + this.slabs(0, this.#slabs.length).tasks.length;
  }

  /** All tasks of a dataset; the results are one task for each slab, in order. */
  dataset(): TaskGraph {
    const histories = this.#histories();
    const slabs = this.#slabs.map((slab) => {
      const columns = this.#columns(slab);
      if (!this.#isJoined) return columns;
      return [...columns, this.#run({ kind: "join", slab }, -slab, [...histories, ...columns])];
    });
    return this.#graph(
      [...histories, ...slabs.flat()],
      slabs.map((tasks) => tasks.at(-1)!),
    );
  }

  /** The tasks over all rows, whose values wait until every slab is taken. */
  histories(): TaskGraph {
    const tasks = this.#histories();
    return this.#graph(tasks, tasks);
  }

  /**
   * The tasks of slabs `[first, end)`, and those that take the chunks from their values. The values are no results: they
   * are released.
   */
  slabs(first: number, end: number): TaskGraph {
    const places = Map.groupBy(this.places, ({ slab }) => slab);
    const tasks = this.#slabs
      .slice(first, end)
      .flatMap((slab) => [
        ...this.#columns(slab),
        ...places.get(slab)!.flatMap((place) => this.#shares.map((share) => this.#pick(share, place))),
      ]);
    return this.#graph(
      tasks,
      tasks.filter(({ work }) => work.kind === "pick"),
    );
  }

  /** The task whose value is a chunk of a share. */
  chunkKey(share: number, { slab, chunk }: Pick<ChunkPlace, "slab" | "chunk">): TaskKey {
    return this.#key("chunks", share, slab, chunk);
  }

  #isHistory(share: number): boolean {
    return this.#job.cut.shares[share]!.warmUpRows === null;
  }

  #histories(): GraphTask[] {
    return this.#shares
      .filter((share) => this.#isHistory(share))
      .map((share) => this.#run({ kind: "history", share }, URGENCY_HISTORY));
  }

  #columns(slab: number): GraphTask[] {
    return this.#shares
      .filter((share) => !this.#isHistory(share))
      .map((share) => this.#run({ kind: "slab", share, slab }, -slab - share / this.#shares.length));
  }

  #pick(share: number, place: ChunkPlace): GraphTask {
    const isHistory = this.#isHistory(share);
    return {
      key: this.chunkKey(share, place),
      work: { kind: "pick", index: isHistory ? place.index : place.chunk },
      dependencies: [this.#keyOf({ kind: isHistory ? "history" : "slab", share, slab: place.slab })],
      urgency: -place.slab,
      deadlineSeconds: 0,
    };
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

  #graph(tasks: readonly GraphTask[], results: readonly GraphTask[]): TaskGraph {
    const { priority, resources, workers } = this.#options;
    return { tasks, results: results.map(({ key }) => key), priority, resources, workers };
  }

  #key(name: string, ...indices: number[]): TaskKey {
    return [`${this.#options.prefix}_${name}`, ...indices];
  }
}
