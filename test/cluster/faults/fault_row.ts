import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { Cluster } from "../../../src/cluster/client/cluster.ts";
import type { ClusterOptions } from "../../../src/cluster/client/options.ts";
import type { GraphTask } from "../../../src/cluster/protocol/protocol.ts";
import { PATIENCE_SECONDS, until } from "../../support/until.ts";
import { addJob, type FakeRun, keysOf, openFakeRun } from "../support/fake_run.ts";
import {
  type BeginOptions,
  type countersOf,
  EARLY,
  type FaultSetting,
  LATE,
  type StartedRun,
} from "../support/fault_setting.ts";
import { GATE_VARIABLE } from "../support/gate.ts";
import { DASK_PROCESS } from "../support/processes/process_cluster.ts";
import { ProcessGroup, processes } from "../support/processes/process_group.ts";
import type { CLUSTERS } from "./fault_clusters.ts";

/** Where tiles are: files of the store, or values of Dask. */
export type Mode = "store" | "memory";

export interface Refused {
  /** Its code, or its name where it has none. */
  readonly code: string;
  readonly name?: string;
  readonly says?: RegExp;
  /** Within which it is refused. */
  readonly seconds?: number;
}

/** The table has the bits of the engine. What else is given holds of the run; `workers` at its end, `gone` until then. */
export interface Right {
  readonly restarts?: number;
  readonly counters?: ReturnType<typeof countersOf>;
  readonly workers?: number;
  readonly gone?: number;
  readonly given?: number;
}

interface Row {
  readonly fault: string;
  /** Default: one that gives no worker up. */
  readonly cluster?: keyof typeof CLUSTERS;
  readonly needs?: "openssl" | "mount";
  /** Workers that do not come back. */
  readonly lost?: number;
  /** No other row can use its cluster. */
  readonly breaks?: true;
  /** Tried in `npm test`, too. */
  readonly isQuick?: true;
}

/** A whole run of real executors, on a client that rows share unless there are options. */
export interface RunRow extends Row {
  readonly moment: keyof typeof MOMENTS;
  /** A test each; default: memory. */
  readonly modes?: readonly Mode[];
  readonly options?: (scene: Scene) => Partial<ClusterOptions> | Promise<Partial<ClusterOptions>>;
  readonly run?: (scene: Scene) => BeginOptions;
  /** Happens at the moment; while it connects it gives options. */
  readonly inflict: (scene: Scene) => unknown;
  readonly connected?: (scene: Scene) => unknown;
  /** The gate stays as it is until the run has ended. */
  readonly keepsGate?: true;
  readonly expected: Refused | { readonly reason: unknown } | Right;
  readonly also?: (scene: Scene) => unknown;
  /** The next run of the client is right; what else holds of it. */
  readonly next?: (next: StartedRun, scene: Scene) => unknown;
}

/** Tasks of executors that do as they are told; the last one gives the result. */
export interface TaskRow extends Row {
  readonly moment: string;
  readonly tasks: (scene: TaskScene) => readonly GraphTask[] | Promise<readonly GraphTask[]>;
  readonly hasOwnBridge?: true;
  /** Happens once a task has left its mark. */
  readonly inflict?: (scene: TaskScene) => unknown;
  readonly expected: Refused | { readonly buffers: readonly number[][] };
  /** How often a task left its mark. */
  readonly marks?: number;
  readonly counters?: Readonly<Record<string, number>>;
  readonly also?: (scene: TaskScene) => unknown;
}

/** What goes its own way. */
export interface OwnRow extends Row {
  readonly moment: string;
  readonly expected: string;
  readonly attempt: (scene: Scene) => Promise<void>;
}

export type FaultRow = RunRow | TaskRow | OwnRow;

/** @throws as `process.kill` */
export const signal = (name: NodeJS.Signals, ...pids: readonly number[]) => {
  for (const pid of pids) process.kill(pid, name);
};
export const kill = (...pids: readonly number[]) => signal("SIGKILL", ...pids);

/** Options of a worker of Dask. */
export const ONE = ["--nworkers", "1", "--nthreads", "1"] as const;

/** Bridges that belong to a process. */
export async function bridgesOf(client: number): Promise<number[]> {
  const own = (await processes()).filter(({ parent }) => parent === client);
  return own.filter(({ command }) => command.includes("bridge.py")).map(({ pid }) => pid);
}

/** Where a row is tried. */
export class Scene implements AsyncDisposable {
  /** None where the row has no cluster. */
  readonly setting: FaultSetting;
  readonly mode: Mode;
  readonly row: Partial<RunRow>;
  /** For runs that are aborted. */
  readonly controller = new AbortController();
  cluster!: Cluster;
  started!: StartedRun;
  /** It waits at the gate. */
  executor = 0;
  /** What comes of the run. */
  end: Promise<unknown> = Promise.resolve();
  /** Bridges that were there before. */
  others: readonly number[] = [];
  readonly #left = new AsyncDisposableStack();

  constructor(setting: FaultSetting | null, row: Partial<RunRow>, mode: Mode) {
    this.setting = setting!;
    this.row = row;
    this.mode = mode;
  }

  /** Done at the end, the last one first. */
  defer(work: () => unknown): void {
    this.#left.defer(async () => void (await work()));
  }

  async connect(more?: Partial<ClusterOptions>): Promise<void> {
    const { options } = this.row;
    this.others = await bridgesOf(process.pid);
    if (options === undefined && more === undefined) {
      this.cluster = await this.setting.client(this.mode);
    } else {
      const all = { timeoutSeconds: PATIENCE_SECONDS, ...(await options?.(this)), ...more };
      const { setting, mode } = this;
      this.cluster = await (setting?.connect(mode, all) ?? Cluster.connect({ scheduler: "", ...all }));
      this.defer(() => this.cluster.close());
    }
  }

  /** Begins a run, or is refused. */
  async begin(more: BeginOptions = {}): Promise<void> {
    const beginning = this.setting.begin(this.cluster, { ...this.row.run?.(this), ...more });
    this.end = beginning.then(({ table }) => table);
    this.end.catch(() => {}); // seen where it is awaited
    this.started = await beginning.catch(() => this.started);
  }

  /** Begins a run that waits at the gate from a row of its bars on. */
  async beginHeld(row: number): Promise<void> {
    const held = await this.setting.beginHeld(this.cluster, this.row.run?.(this), row);
    [this.started, this.end, this.executor] = [held, held.table, held.executor];
  }

  /** The worker that the waiting executor belongs to. */
  worker() {
    return this.setting.workerOf(this.executor);
  }

  /** Bridges of this scene alone. */
  async bridges(): Promise<number[]> {
    return (await bridgesOf(process.pid)).filter((pid) => !this.others.includes(pid));
  }

  /** A process of Dask beside those of the cluster, until the end. */
  async startDask(role: readonly string[], before: readonly string[] = []): Promise<void> {
    const local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const python = [(await findPython()).path, "-B", DASK_PROCESS];
    const [program, ...args] = [...before, ...python, ...role, ...local] as [string, ...string[]];
    const env = { FACTORLOOM_NODE: process.execPath, [GATE_VARIABLE]: this.setting.gate.folder };
    const group = await ProcessGroup.start(program, args, { ...process.env, ...env });
    this.defer(() => group.end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.setting?.gate.open();
    await this.#left.disposeAsync();
  }
}

type Moment = (scene: Scene, inflict: () => unknown) => Promise<void>;
const held =
  (row: number): Moment =>
  async (scene, inflict) => {
    await scene.connect();
    await scene.beginHeld(row);
    await inflict();
  };

/** Each leads a run to a moment, and has the fault happen. */
export const MOMENTS = {
  "while it connects": async (scene, inflict) => {
    const options = (await inflict()) as Partial<ClusterOptions>;
    scene.end = (async () => {
      await scene.connect(options);
      await scene.row.connected?.(scene);
      await scene.begin();
      return await scene.end;
    })();
  },
  "before its tasks are sent": async (scene, inflict) => {
    await scene.connect();
    scene.setting.gate.close(0);
    await scene.begin({ between: inflict });
  },
  "in its first slab": held(EARLY),
  "in its last slab": held(LATE),
  "once it has given rows": (scene, inflict) =>
    held(LATE)(scene, async () => {
      await until(() => scene.started.given.length > 0);
      await inflict();
    }),
  "between two runs": async (scene, inflict) => {
    await scene.connect();
    await scene.begin();
    await scene.setting.expectRight(scene.started);
    await inflict();
    await scene.begin();
  },
} as const satisfies Readonly<Record<string, Moment>>;

/** Where tasks of fake executors are tried. */
export class TaskScene {
  readonly setting: FaultSetting;
  readonly run: FakeRun;
  /** Names tasks of this test. */
  readonly key = keysOf("fault");
  /** The file of marks. */
  readonly marks: string;
  /** A worker that stands still. */
  still = 0;

  static async open(setting: FaultSetting, { hasOwnBridge }: TaskRow): Promise<TaskScene> {
    const { bridge } = await (hasOwnBridge ? openFakeRun(setting.dask.address) : setting.fakes());
    return new TaskScene(setting, { bridge, job: await addJob(bridge) });
  }

  private constructor(setting: FaultSetting, run: FakeRun) {
    this.setting = setting;
    this.run = run;
    this.marks = join(setting.folder, `marks-${this.key("")[0]}`);
    writeFileSync(this.marks, "");
  }

  /** Processes of executors that have left a mark. */
  marked(): number[] {
    return readFileSync(this.marks, "utf8").trim().split("\n").filter(Boolean).map(Number);
  }

  /** Of the job, over all workers. */
  async counter(name: string): Promise<number> {
    const { workers } = await this.run.bridge.workers(this.run.job);
    return workers.reduce(
      (sum, { job }) => sum + (job.counters as unknown as Record<string, number>)[name]!,
      0,
    );
  }
}
