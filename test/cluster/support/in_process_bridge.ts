import { randomUUID } from "node:crypto";
import type { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import type { RunHost } from "../../../src/cluster/client/cluster_run.ts";
import { TaskRunner } from "../../../src/cluster/executor/task_runner.ts";
import { unpackJob } from "../../../src/cluster/protocol/job_bytes.ts";
import type { GraphWork, TaskGraph, TaskKey } from "../../../src/cluster/protocol/protocol.ts";
import { PanelRows } from "../../../src/data/source/panel_rows.ts";

type Value = Uint8Array | readonly Value[] | null;

/** What a test does to the workers, which are this process. */
export interface InProcessOptions {
  /** The run fails after this number of tasks. */
  readonly failAfter?: number;
  /** While the graph is under way to the scheduler, which knows no task yet. */
  readonly onSubmit?: () => void;
  /** Before each task. */
  readonly onTask?: () => void;
}

/** A host whose bridge runs the tasks of a graph here, one after the other, as results are asked for. */
export function inProcessHost(options: InProcessOptions = {}): RunHost {
  const bridge = new InProcessBridge(options);
  return { acquire: async () => bridge as unknown as Bridge, release: async () => {} };
}

class InProcessBridge {
  onProgress = () => {};
  readonly #options: InProcessOptions;
  readonly #values = new Map<string, Value>();
  #runner: TaskRunner | null = null;
  #graph: TaskGraph | null = null;
  #next = 0;
  #done = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: InProcessOptions) {
    this.#options = options;
  }

  async claimName(wanted: string) {
    return `${wanted}-${randomUUID()}`;
  }

  async releaseName() {}

  async addJob(digest: string, bytes: Uint8Array) {
    this.#runner = new TaskRunner(unpackJob(bytes, digest), (...args) => PanelRows.open(...args));
  }

  async removeJob() {
    // What was asked for ahead may still be under way, and reads the panel.
    await this.#turn;
    await this.#runner?.close();
  }

  async put(pieces: readonly { key: TaskKey; buffers: readonly Uint8Array[] }[]) {
    for (const { key, buffers } of pieces)
      this.#values.set(
        key.join(" "),
        buffers.map((buffer) => buffer.slice()),
      );
  }

  async submit(_: string, graph: TaskGraph) {
    this.#options.onSubmit?.();
    this.#graph = graph;
    this.#next = 0;
  }

  async cancel() {
    this.#graph = null;
  }

  async workers() {
    return null;
  }

  gather(key: TaskKey): Promise<readonly Uint8Array[]> {
    const answer = this.#turn.then(async () => await this.#runTo(key.join(" ")));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #runTo(name: string): Promise<readonly Uint8Array[]> {
    while (!this.#values.has(name)) {
      if (this.#graph === null) throw new Error("the run was cancelled");
      const { tasks } = this.#graph;
      const { key, work, dependencies } = tasks[this.#next]!;
      const values = dependencies.map((dependency) => this.#values.get(dependency.join(" "))!);
      this.#values.set(key.join(" "), await this.#valueOf(work, values));
      this.#next++;
    }
    return (this.#values.get(name) ?? []) as Uint8Array[];
  }

  async #valueOf(work: GraphWork, values: readonly Value[]): Promise<Value> {
    if (work.kind === "merge") return values.map((value) => (value as Value[]).slice(work.from, work.to));
    if (work.kind === "pick") return (values[0] as Value[])[work.index]!;
    if (work.kind === "barrier") return null;
    if (this.#done++ === this.#options.failAfter) throw new Error("the run is broken off");
    this.#options.onTask?.();
    const buffers = work.buffers.map((path) =>
      path.reduce<Value>((from, index) => (from as Value[])[index]!, values),
    );
    const { report, buffers: made } = await this.#runner!.run(work.task, buffers as Uint8Array[]);
    const value = made.map((buffer) => buffer.slice());
    return report.counts ? [...value, Buffer.from(JSON.stringify(report.counts))] : value;
  }
}
