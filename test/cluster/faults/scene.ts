import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { Cluster } from "../../../src/cluster/client/cluster.ts";
import type { ClusterRun } from "../../../src/cluster/client/cluster_run.ts";
import type { ClusterOptions } from "../../../src/cluster/client/options.ts";
import { PATIENCE_SECONDS, until } from "../../support/until.ts";
import { type BeginOptions, type FaultSetting, LATE, type StartedRun } from "../support/fault_setting.ts";
import { gateVariables, type Step } from "../support/gate.ts";
import { DASK_PROCESS } from "../support/processes/process_cluster.ts";
import { ProcessGroup, processes } from "../support/processes/process_group.ts";
import type { RunRow } from "./fault_row.ts";

/** Where results go: to the client, or to a folder, whose parts are joined or written by one task; whose bars are read. */
export const MODES = {
  chunks: () => ({}),
  dataset: ({ dataset }: Scene) => ({ dataset }),
  parts: ({ dataset }: Scene) => ({ dataset, select: ["fast"] }),
  brought: () => ({ brings: "seen" }),
  copied: () => ({ brings: "copied" }),
} as const satisfies Readonly<Record<string, (scene: Scene) => BeginOptions>>;
export type Mode = keyof typeof MODES;

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
  /** The folder of results of this scene. */
  dataset = "";
  cluster!: Cluster;
  started!: StartedRun;
  /** The run of `started`, before it is sent. */
  begun!: ClusterRun;
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
    if (setting === null) return;
    const place = mkdtempSync(join(setting.folder, "result-"));
    this.dataset = join(place, "out");
    this.defer(() => rmSync(place, { recursive: true, force: true }));
  }

  /** Done at the end, the last one first. */
  defer(work: () => unknown): void {
    this.#left.defer(async () => void (await work()));
  }

  async connect(more?: Partial<ClusterOptions>): Promise<void> {
    const { options } = this.row;
    this.others = await bridgesOf(process.pid);
    if (options === undefined && more === undefined) {
      this.cluster = await this.setting.client();
    } else {
      const all = { timeoutSeconds: PATIENCE_SECONDS, ...(await options?.(this)), ...more };
      this.cluster = await (this.setting?.connect(all) ?? Cluster.connect({ scheduler: "", ...all }));
      this.defer(() => this.cluster.close());
    }
  }

  /** Begins a run, or is refused. */
  async begin(more: BeginOptions = {}): Promise<void> {
    const beginning = this.setting.begin(this.cluster, { ...this.#run(), ...more });
    this.end = beginning.then(({ table }) => table);
    this.end.catch(() => {}); // seen where it is awaited
    this.started = await beginning.catch(() => this.started);
  }

  /** Begins a run that waits at the gate. */
  async beginHeld(close: () => void): Promise<void> {
    const held = await this.setting.beginHeld(this.cluster, this.#run(), close);
    [this.started, this.end, this.executor] = [held, held.table, held.executor];
  }

  #run(): BeginOptions {
    return { ...MODES[this.mode](this), ...this.row.run?.(this) };
  }

  /** The same run once more. */
  again(): Promise<StartedRun> {
    return this.setting.begin(this.cluster, MODES[this.mode](this));
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
    const python = [await findPython(), "-B", DASK_PROCESS];
    const [program, ...args] = [...before, ...python, ...role, ...local] as [string, ...string[]];
    const env = { FACTORLOOM_NODE: process.execPath, ...gateVariables(this.setting.gate) };
    const group = await ProcessGroup.start(program, args, { ...process.env, ...env });
    this.defer(() => group.end());
  }

  /** A scheduler where the old one was, and two workers. */
  async restartCluster(): Promise<void> {
    const { address, folder } = this.setting.dask;
    const file = join(folder, "scheduler.json");
    rmSync(file);
    await this.startDask(["scheduler", "--port", new URL(address).port, "--scheduler-file", file]);
    for (const name of ["one", "two"]) {
      const place = ["--local-directory", join(this.setting.folder, name)];
      await this.startDask(["worker", address, ...ONE, ...place]);
    }
    await until(() => existsSync(file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.setting?.gate.open();
    await this.#left.disposeAsync();
  }
}

/** The copies of the bars that a client brings, beside the folder of each worker. */
export function copiesOf({ setting }: Scene, run: ClusterRun): string[] {
  const digest = createHash("sha256").update(readFileSync(run.job.source.path)).digest("hex");
  const { folder } = setting.dask;
  const workers = readdirSync(folder).filter((name) => name.startsWith("worker-"));
  return workers.map((name) =>
    join(folder, name, "dask-worker-space", `factorloom-panel-${digest.slice(0, 16)}.arrow`),
  );
}

/** Keeps workers from copying the bars; gives what lets them. */
async function holdCopies(scene: Scene, run: ClusterRun): Promise<() => void> {
  const paths = copiesOf(scene, run).map((copy) => `${copy}.part`);
  for (const path of paths) writeFileSync(path, "");
  const mark = `${paths[0]}.held`;
  const locking = [...paths.flatMap((path) => ["flock", path]), "sh", "-c", `touch ${mark}; exec sleep 600`];
  const lock = spawn(locking[0]!, locking.slice(1), { detached: true });
  const over = once(lock, "exit");
  const release = () =>
    void (lock.exitCode === null && lock.signalCode === null && process.kill(-lock.pid!, "SIGKILL"));
  scene.defer(async () => {
    release();
    await over;
    for (const name of [...paths, mark]) rmSync(name, { force: true });
  });
  await until(() => existsSync(mark));
  return () => {
    if (lock.signalCode === null) release();
  };
}

type Moment = (scene: Scene, act: () => unknown) => Promise<void>;

const held =
  (close: (scene: Scene) => void): Moment =>
  async (scene, act) => {
    await scene.connect();
    await scene.beginHeld(() => close(scene));
    await act();
  };
const rows = (first: number, end?: number) => held(({ setting }) => setting.gate.close(first, end));
const step = (name: Step) => held(({ setting }) => setting.gate.closeAt(name));
const late = rows(LATE);

/** Each leads a run to a moment, and has the fault happen. */
export const MOMENTS = {
  "while it connects": async (scene, act) => {
    const options = (await act()) as Partial<ClusterOptions>;
    scene.end = (async () => {
      await scene.connect(options);
      await scene.row.connected?.(scene);
      await scene.begin();
      return await scene.end;
    })();
  },
  "before its first task": async (scene, act) => {
    await scene.connect();
    scene.setting.gate.close(0);
    await scene.begin({
      between: (run) => {
        scene.begun = run;
        return act();
      },
    });
  },
  "in its first slab": rows(30),
  "in its last slab": late,
  "over all rows": rows(-900, 0),
  "after columns of a slab are there": step("columns"),
  "in a join": step("a part without its name"),
  "after a part has its name": step("a part without its counts"),
  "after a part has its counts": step("a part beside its columns"),
  "while columns of a part are removed": step("a part beside some of its columns"),
  "while the bars are copied": async (scene, act) => {
    await scene.connect();
    let release = () => {};
    let processing = 0;
    const onTasks: BeginOptions["onTasks"] = ({ groups }) => {
      processing = Object.values(groups).reduce((sum, group) => sum + group.processing, 0);
    };
    await scene.begin({
      onTasks,
      between: async (run) => {
        release = await holdCopies(scene, run);
      },
    });
    await until(() => processing > 1);
    await act();
    release();
  },
  "once a chunk is taken": (scene, act) =>
    late(scene, async () => {
      await until(() => scene.started.given.length > 0);
      await act();
    }),
  "between two runs": async (scene, act) => {
    await scene.connect();
    await scene.begin();
    await scene.setting.expectRight(scene.started);
    await act();
    await scene.begin();
  },
} as const satisfies Readonly<Record<string, Moment>>;
