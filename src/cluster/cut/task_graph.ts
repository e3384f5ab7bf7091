import { criticalPathWeights } from "../../plan/weights.ts";
import type {
  BufferPath,
  ClusterJob,
  ClusterTask,
  GraphTask,
  GraphWork,
  TaskGraph,
  TaskKey,
} from "../protocol/protocol.ts";
import {
  blockCount,
  lastPiece,
  PANEL_STAGE,
  type Piece,
  piecesRead,
  slabCount,
  slabName,
  stageKind,
  stageName,
  stagePartCount,
  stagesRead,
} from "../protocol/tiles.ts";

export interface GraphOptions {
  /** Prefix of the names of all tasks. */
  readonly prefix: string;
  /** Estimated ns of a task. */
  readonly costNs: (task: ClusterTask) => number;
  /** An executor that takes longer for a task is killed. Default: far longer than the estimate. */
  readonly taskTimeoutSeconds?: number | undefined;
  readonly priority?: number | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
  readonly workers?: readonly string[] | undefined;
}

const DEADLINE_SECONDS_MIN = 120;
const DEADLINE_FACTOR = 50;

type Draft = Omit<GraphTask, "urgency"> & { readonly slab: number; readonly costNs: number };

/**
 * The whole run as one graph. Slabs run one after the other, which limits the size of tiles; within a slab the task with
 * the longest path to the results runs first.
 *
 * Where tiles are files, a task that reads across the border waits for a `barrier` of all writers. Where they are values,
 * pieces are regrouped in two steps: with `n` writers and `m` readers there are about `sqrt(n) * sqrt(m)` tasks that each
 * `merge` the pieces of neighbouring writers for neighbouring readers, so that no task has more than `sqrt(n)` inputs and
 * every byte travels once.
 */
export function buildTaskGraph(job: ClusterJob, options: GraphOptions): TaskGraph {
  const builder = new GraphBuilder(job, options);
  const results: TaskKey[] = [];
  for (let slab = 0; slab < slabCount(job.partition); slab++) {
    if (job.warmUpRows === null) results.push(...builder.addStages(slab));
    else results.push(builder.addSlab(slab));
  }
  const { priority, resources, workers } = options;
  return { tasks: withUrgencies(builder.drafts), results, priority, resources, workers };
}

/** True if the client gathers the factors from tiles in the store: it has to copy them anyway. */
export function isGatheredByClient({ folder, dataset, warmUpRows }: ClusterJob): boolean {
  return folder !== null && dataset === null && warmUpRows === null;
}

class GraphBuilder {
  readonly drafts: Draft[] = [];
  readonly #job: ClusterJob;
  readonly #options: GraphOptions;
  /** Keys of tasks with several readers, by name. */
  readonly #shared = new Map<string, TaskKey>();

  constructor(job: ClusterJob, options: GraphOptions) {
    this.#job = job;
    this.#options = options;
  }

  addSlab(slab: number): TaskKey {
    return this.#addRun({ kind: "slab", slab }, slab, this.#key("slabs", slab), []);
  }

  /** Adds all tasks of a slab; returns the keys of its results. */
  addStages(slab: number): TaskKey[] {
    const { stages, source, partition } = this.#job;
    const blocks = blockCount(partition, slab);
    if (source.path !== null) {
      for (let block = 0; block < blocks; block++)
        this.#addRun({ kind: "read", slab, block }, slab, this.#partKey(PANEL_STAGE, slab, block), []);
    }
    stages.forEach((_, stage) => {
      for (let part = 0; part < stagePartCount(this.#job, stage, slab); part++)
        this.#addReader({ kind: "stage", stage, slab, part }, slab, this.#partKey(stage, slab, part), part);
    });
    return Array.from({ length: blocks }, (_, block) =>
      this.#addReader(
        { kind: "output", slab, block },
        slab,
        this.#key(`results-${slabName(slab)}`, block),
        block,
      ),
    );
  }

  #addReader(task: ClusterTask, slab: number, key: TaskKey, part: number): TaskKey {
    if (task.kind === "output" && isGatheredByClient(this.#job)) {
      this.#add({ key, work: { kind: "barrier" }, dependencies: this.#filesOf(task, slab, part), slab });
      return key;
    }
    if (this.#job.exchange === "memory") {
      const { dependencies, buffers } = this.#buffersOf(task, part);
      return this.#addRun(task, slab, key, dependencies, buffers);
    }
    return this.#addRun(task, slab, key, this.#filesOf(task, slab, part));
  }

  /** The tasks that write the files that a task reads. */
  #filesOf(task: ClusterTask, slab: number, part: number): TaskKey[] {
    const kind = task.kind === "stage" ? stageKind(this.#job, task.stage) : "rows";
    const keys = stagesRead(this.#job, task).flatMap((stage) =>
      stageKind(this.#job, stage) === kind ? this.#written(stage, slab, part) : [this.#barrier(stage, slab)],
    );
    if (task.kind === "output") keys.push(...this.#written(PANEL_STAGE, slab, part));
    const carries = task.kind === "stage" && this.#job.stages[task.stage]!.hasState && slab > 0;
    if (carries) keys.push(this.#partKey(task.stage, slab - 1, part));
    return distinct(keys);
  }

  /** The task that writes a tile; none for tiles that the client brings before the run. */
  #written(stage: number, slab: number, part: number): TaskKey[] {
    return stage === PANEL_STAGE && this.#job.source.path === null ? [] : [this.#partKey(stage, slab, part)];
  }

  #barrier(stage: number, slab: number): TaskKey {
    return this.#sharedTask(`${stageName(stage)}_all-${slabName(slab)}`, [], slab, () => {
      const parts = Array.from({ length: stagePartCount(this.#job, stage, slab) }, (_, part) => part);
      return [{ kind: "barrier" }, parts.flatMap((part) => this.#written(stage, slab, part))];
    });
  }

  /** The pieces that a task reads, as paths into the values of its dependencies. */
  #buffersOf(task: ClusterTask, part: number): { dependencies: TaskKey[]; buffers: BufferPath[] } {
    const dependencies: TaskKey[] = [];
    const indexOf = new Map<string, number>();
    const buffers = piecesRead(this.#job, task).map((piece): BufferPath => {
      const [key, ...indices] = this.#pathOf(piece, task, part);
      const name = key.join(" ");
      const known = indexOf.get(name) ?? dependencies.push(key) - 1;
      indexOf.set(name, known);
      return [known, ...indices];
    });
    return { dependencies, buffers };
  }

  /** The task whose value has a piece for this reader, and the path in that value. */
  #pathOf(piece: Piece, task: ClusterTask, part: number): [TaskKey, ...number[]] {
    const { stage, slab, part: writer, index } = piece;
    const isLast = index === lastPiece(this.#job, stage, slab);
    if (isLast) return [this.#picked(piece)];
    const readerKind = task.kind === "stage" ? stageKind(this.#job, task.stage) : "rows";
    if (stageKind(this.#job, stage) === readerKind) return [this.#partKey(stage, slab, writer), index];
    return this.#merged(piece, part);
  }

  /** Picks one entry of a tile, so that Dask can forget the others. */
  #picked({ stage, slab, part, index }: Piece): TaskKey {
    return this.#sharedTask(`${stageName(stage)}_last-${slabName(slab)}`, [part], slab, () => [
      { kind: "pick", index },
      [this.#partKey(stage, slab, part)],
    ]);
  }

  #merged({ stage, slab, part: writer }: Piece, reader: number): [TaskKey, ...number[]] {
    const writers = new Neighbours(stagePartCount(this.#job, stage, slab));
    const readers = new Neighbours(
      stageKind(this.#job, stage) === "lanes"
        ? blockCount(this.#job.partition, slab)
        : this.#job.partition.shardCount,
    );
    const [i, j] = [writers.groupOf(writer), readers.groupOf(reader)];
    const key = this.#sharedTask(`${stageName(stage)}_merge-${slabName(slab)}`, [i, j], slab, () => {
      const work: GraphWork = { kind: "merge", from: readers.start(j), to: readers.start(j + 1) };
      const from = writers.start(i);
      const count = writers.start(i + 1) - from;
      return [work, Array.from({ length: count }, (_, member) => this.#partKey(stage, slab, from + member))];
    });
    return [key, writer - writers.start(i), reader - readers.start(j)];
  }

  #sharedTask(
    name: string,
    indices: readonly number[],
    slab: number,
    make: () => [GraphWork, TaskKey[]],
  ): TaskKey {
    const key = this.#key(name, ...indices);
    const id = key.join(" ");
    const known = this.#shared.get(id);
    if (known) return known;
    this.#shared.set(id, key);
    const [work, dependencies] = make();
    this.#add({ key, work, dependencies: distinct(dependencies), slab });
    return key;
  }

  #addRun(
    task: ClusterTask,
    slab: number,
    key: TaskKey,
    dependencies: readonly TaskKey[],
    buffers: readonly BufferPath[] = [],
  ): TaskKey {
    const costNs = this.#options.costNs(task);
    const deadlineSeconds =
      this.#options.taskTimeoutSeconds ?? Math.max(DEADLINE_SECONDS_MIN, DEADLINE_FACTOR * costNs * 1e-9);
    const work: GraphWork = { kind: "run", task, buffers };
    const preferredWorker = this.#preferredWorker(task);
    this.#add({ key, work, dependencies, slab, costNs, deadlineSeconds, preferredWorker });
    return key;
  }

  /** The worker that ran the shard in the previous slab has its state; neighbouring shards share a worker. */
  #preferredWorker(task: ClusterTask): number | null {
    const { partition, stages } = this.#job;
    if (task.kind !== "stage" || !stages[task.stage]!.hasState || slabCount(partition) === 1) return null;
    return task.part / partition.shardCount;
  }

  #add(draft: Pick<Draft, "key" | "work" | "dependencies" | "slab"> & Partial<Draft>): void {
    this.drafts.push({ costNs: 0, deadlineSeconds: 0, preferredWorker: null, ...draft });
  }

  #partKey(stage: number, slab: number, part: number): TaskKey {
    return this.#key(`${stageName(stage)}-${slabName(slab)}`, part);
  }

  #key(name: string, ...indices: number[]): TaskKey {
    return [`${this.#options.prefix}_${name}`, ...indices];
  }
}

/** Splits `count` neighbours into groups, about as many as each has members. */
class Neighbours {
  readonly #count: number;
  readonly #groups: number;

  constructor(count: number) {
    this.#count = count;
    this.#groups = Math.max(1, Math.round(Math.sqrt(count)));
  }

  start(group: number): number {
    return Math.floor((group * this.#count) / this.#groups);
  }

  groupOf(member: number): number {
    let group = Math.floor((member * this.#groups) / this.#count);
    while (this.start(group + 1) <= member) group++;
    return group;
  }
}

/** The key of a tile of the panel. */
export function panelKey(prefix: string, slab: number, block: number): TaskKey {
  return [`${prefix}_${stageName(PANEL_STAGE)}-${slabName(slab)}`, block];
}

function distinct(keys: readonly TaskKey[]): TaskKey[] {
  return [...new Map(keys.map((key) => [key.join(" "), key])).values()];
}

/**
 * Adds urgencies: earlier slabs first, then longer paths to the results. Drafts are in order of dependencies.
 */
function withUrgencies(drafts: readonly Draft[]): GraphTask[] {
  const indices = new Map(drafts.map(({ key }, index) => [key.join(" "), index]));
  const inputs = drafts.map(({ dependencies, slab }) =>
    dependencies
      .map((key) => indices.get(key.join(" ")))
      // Tiles that the client brings are not tasks.
      .filter((index) => index !== undefined && (drafts[index] as Draft).slab === slab),
  ) as number[][];
  const costsNs = drafts.map(({ costNs }) => costNs);
  const weights = criticalPathWeights(costsNs, inputs);
  const heaviest = weights.reduce((most, weight) => Math.max(most, weight), 1);
  return drafts.map(({ slab, costNs: _, ...task }, index) => ({
    ...task,
    urgency: (weights[index] as number) / (2 * heaviest) - slab,
  }));
}
