import type { ClusterOptions } from "../../../src/cluster/client/options.ts";
import type { BeginOptions, countersOf, StartedRun } from "../support/fault_setting.ts";
import { processes } from "../support/processes/process_group.ts";
import type { CLUSTERS } from "./fault_clusters.ts";
import type { MOMENTS, Mode, Scene } from "./scene.ts";

export interface Refused {
  readonly code: string;
  readonly says?: RegExp;
  /** Within which it is refused. */
  readonly seconds?: number;
}

/** The result has the bits of the engine. What else is given holds of the run; `workers` at its end, `gone` until then. */
export interface Right {
  readonly restarts?: number;
  readonly counters?: ReturnType<typeof countersOf>;
  readonly workers?: number;
  readonly gone?: number;
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

/** When it happens, and in which modes: each is a test. */
export type When = readonly [moment: keyof typeof MOMENTS, ...modes: readonly Mode[]];

/** A whole run of real executors, on a client that rows share unless there are options. */
export interface RunRow extends Row {
  readonly when: readonly When[];
  readonly options?: (scene: Scene) => Partial<ClusterOptions> | Promise<Partial<ClusterOptions>>;
  readonly run?: (scene: Scene) => BeginOptions;
  /** Happens at the moment; while it connects it gives options. */
  readonly act: (scene: Scene) => unknown;
  readonly connected?: (scene: Scene) => unknown;
  /** The gate stays as it is until the run has ended. */
  readonly keepsGate?: true;
  readonly end: Refused | { readonly reason: unknown } | Right;
  readonly also?: (scene: Scene) => unknown;
  /** The next run of the client, into the same folder if it has one, is right; what else holds of it. */
  readonly again?: true | ((next: StartedRun, scene: Scene) => unknown);
}

/** What goes its own way. */
export interface OwnRow extends Row {
  readonly when: string;
  readonly end: string;
  readonly attempt: (scene: Scene) => Promise<void>;
}

export type FaultRow = RunRow | OwnRow;

export const at = (...when: When): When => when;
export const row = (
  fault: string,
  when: readonly When[],
  act: RunRow["act"],
  end: RunRow["end"],
  more: Partial<RunRow> = {},
): RunRow => ({ fault, when, act, end, ...more });

/** @throws as `process.kill` */
export const signal = (name: NodeJS.Signals, ...pids: readonly number[]) => {
  for (const pid of pids) process.kill(pid, name);
};
export const kill = (...pids: readonly number[]) => signal("SIGKILL", ...pids);

export const killExecutor = ({ executor }: Scene) => kill(executor);
export const killWorker = async (scene: Scene) => kill((await scene.worker()).pid);
export async function killWithNanny(scene: Scene): Promise<void> {
  const { pid, parent } = await scene.worker();
  kill(parent, pid);
}
export const killAllWorkers = async ({ setting }: Scene) => kill(...(await setting.dask.workerPids()));
export async function killAllWithNannies({ setting }: Scene): Promise<void> {
  const workers = await setting.dask.workerPids();
  const all = (await processes()).filter(({ pid }) => workers.includes(pid));
  kill(...all.map(({ parent }) => parent), ...workers);
}

/** Does it to each executor that comes to the gate, until the run ends. */
export const toEveryOne = (act: (executor: number, scene: Scene) => unknown) => async (scene: Scene) => {
  const seen = new Set<number>();
  const failed = scene.end.catch(() => null);
  for (;;) {
    const next = await Promise.race([failed, scene.setting.gate.waiting(1, seen)]);
    if (!Array.isArray(next)) return;
    for (const executor of next) {
      seen.add(executor);
      await act(executor, scene);
    }
  }
};
