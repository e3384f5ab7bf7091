import type { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import type { RunHost } from "../../../src/cluster/client/cluster_run.ts";
import { type TaskAnswer, TaskRunner } from "../../../src/cluster/executor/task_runner.ts";
import { unpackJob } from "../../../src/cluster/protocol/job_bytes.ts";
import type {
  BroughtPanel,
  ClusterTask,
  GraphTask,
  TaskGraph,
  TaskKey,
} from "../../../src/cluster/protocol/protocol.ts";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";

/** What a test does to the workers, which are this process. */
export interface InProcessOptions {
  /** The run fails after this number of tasks. */
  readonly failAfter?: number;
  /** While a graph is under way to the scheduler, which knows no task yet. */
  readonly onSubmit?: (graph: TaskGraph) => void;
  /** Before each task. */
  readonly onTask?: (task: ClusterTask) => void;
  /** Runs the tasks instead of this process. */
  readonly executor?: {
    load(job: string, bytes: Uint8Array): Promise<unknown>;
    run(task: ClusterTask, panel: string | null): Promise<TaskAnswer>;
  };
}

/** A host whose bridge runs the tasks of a graph on an engine here, one after the other, as results are asked for. */
export function inProcessHost(engine: EngineHost, options: InProcessOptions = {}): RunHost {
  const bridge = new InProcessBridge(engine, options);
  return { acquire: async () => bridge as unknown as Bridge, release: async () => {} };
}

class InProcessBridge {
  onProgress = () => {};
  readonly #engine: EngineHost;
  readonly #options: InProcessOptions;
  readonly #tasks = new Map<string, GraphTask>();
  readonly #values = new Map<string, readonly Uint8Array[]>();
  #runner: TaskRunner | null = null;
  #panel: string | null = null;
  #done = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(engine: EngineHost, options: InProcessOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  async addJob(digest: string, bytes: Uint8Array, panel: BroughtPanel | null) {
    this.#runner = new TaskRunner(unpackJob(bytes, digest), this.#engine, 2 ** 28);
    await this.#options.executor?.load(digest, bytes);
    this.#panel = panel?.path ?? null;
    return true;
  }

  async removeJob() {
    // What was asked for ahead may still be under way, and reads the panel.
    await this.#turn;
    await this.#runner?.close();
  }

  async submit(graph: TaskGraph) {
    this.#options.onSubmit?.(graph);
    for (const task of graph.tasks) this.#tasks.set(task.key.join(" "), task);
  }

  async cancel() {
    this.#tasks.clear();
    this.#values.clear();
  }

  async workers() {
    return null;
  }

  gather(key: TaskKey): Promise<readonly Uint8Array[]> {
    const answer = this.#turn.then(async () => await this.#valueOf(key));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #valueOf(key: TaskKey): Promise<readonly Uint8Array[]> {
    const name = key.join(" ");
    const known = this.#values.get(name);
    if (known) return known;
    const task = this.#tasks.get(name);
    if (task === undefined) throw new Error("the run was cancelled");
    const read: (readonly Uint8Array[])[] = [];
    for (const dependency of task.dependencies) read.push(await this.#valueOf(dependency));
    const { work } = task;
    const value = work.kind === "pick" ? [read[0]![work.index]!] : await this.#run(work.task);
    this.#values.set(name, value);
    return value;
  }

  async #run(task: ClusterTask): Promise<readonly Uint8Array[]> {
    if (this.#done++ === this.#options.failAfter) throw new Error("the run is broken off");
    this.#options.onTask?.(task);
    const { executor } = this.#options;
    const running = executor?.run(task, this.#panel) ?? this.#runner!.run(task, this.#panel);
    const { report, buffers } = await running;
    return report.counts ? [...buffers, Buffer.from(JSON.stringify(report.counts))] : buffers;
  }
}
