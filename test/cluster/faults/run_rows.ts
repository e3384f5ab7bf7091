import { getEventListeners } from "node:events";
import { renameSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, vi } from "vitest";
import { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { until, untilGone } from "../../support/until.ts";
import { foundTiles } from "../support/fault_setting.ts";
import { processes } from "../support/processes/process_group.ts";
import { bridgesOf, kill, type Mode, type RunRow, type Scene, signal } from "./fault_row.ts";

const REASON = new Error("no longer");
const BOTH: readonly Mode[] = ["store", "memory"];
const [EARLY, LATE, BETWEEN] = ["in its first slab", "in its last slab", "between two runs"] as const;
const [CONNECTING, UNSENT] = ["while it connects", "before its tasks are sent"] as const;
const REPLACED = { restarts: 0, counters: { executorRestarts: 1, deadlineKills: 0 } };
const E607 = {
  code: "E607",
  name: "ResourceError",
  says: /^E607 executors on tcp:\/\/127\.0\.0\.1:\d+ ended twice while they ran \('factorloom_.*stage.*\n {2}look at the worker's log/s,
};
const SILENT = "worker-\\d+ at tcp:\\S+ does not answer";
const NOBODY_ANSWERS = new RegExp(`^E631 no worker took .*: ${SILENT}; ${SILENT}\n`);
const CLOSED = /^E637 the cluster was closed\n {2}await what is under way/;
const ownClient = () => ({});
const signalled = ({ controller: { signal } }: Scene) => ({ signal });
const noWorker = (which: string) => ({
  code: "E604",
  says: new RegExp(`^E604 the Dask scheduler at tcp:.* has no worker ${which}\n {2}start one`),
  seconds: 90,
});

const killExecutor = ({ executor }: Scene) => kill(executor);
const killWorker = async (scene: Scene) => kill((await scene.worker()).pid);
async function killWithNanny(scene: Scene): Promise<void> {
  const { pid, parent } = await scene.worker();
  kill(parent, pid);
}
const WORKER_KILLED = { fault: "a worker is killed", inflict: killWorker };
const BARS_LOST = {
  ...WORKER_KILLED,
  fault: "a worker is killed that has bars which the client has brought",
};
const NANNY_KILLED = { fault: "a worker and its nanny are killed", inflict: killWithNanny };
async function killAllWithNannies({ setting }: Scene): Promise<void> {
  const workers = await setting.dask.workerPids();
  const all = (await processes()).filter(({ pid }) => workers.includes(pid));
  kill(...all.map(({ parent }) => parent), ...workers);
}
async function killEveryExecutor({ setting, end }: Scene): Promise<void> {
  const killed = new Set<number>();
  const failed = end.catch(() => null);
  for (;;) {
    const next = await Promise.race([failed, setting.gate.waiting(1, killed)]);
    if (!Array.isArray(next)) return;
    for (const pid of next) killed.add(pid) && kill(pid);
  }
}
/** A cluster with one worker more, which alone may run its tasks. */
const allowed =
  (choice: (name: string) => object) =>
  async ({ setting }: Scene) => {
    const { name } = await setting.dask.addWorker(["--resources", "GPU=1"]);
    return { timeoutSeconds: 20, ...choice(name) };
  };
async function killBridges(scene: Scene): Promise<void> {
  const seen = new Set<number>();
  for (let round = 0; round < 3; round++) {
    // The other executor of the attempt before may be the one that is seen next: its bridge is gone.
    await until(async () => (await scene.bridges()).length > 0);
    for (const executor of await scene.setting.gate.waiting(1, seen)) seen.add(executor);
    kill(...(await scene.bridges()));
    await until(() => scene.started.run.restarts === Math.min(round + 1, 2));
  }
}
async function killIdle(scene: Scene): Promise<void> {
  const runs = await Promise.all([1, 2, 3].map(() => scene.setting.begin(scene.cluster)));
  for (const run of runs) await scene.setting.expectRight(run);
  const idle = await scene.bridges();
  expect(idle).toHaveLength(3);
  kill(...idle);
  await untilGone(idle);
}
/** Also what is under way beside the run, and what begins later, is refused. */
async function closeCluster(scene: Scene): Promise<void> {
  const second = await scene.setting.begin(scene.cluster);
  await until(async () => (await scene.bridges()).length === 2);
  await scene.cluster.close();
  for (const { table } of [second, await scene.setting.begin(scene.cluster)])
    await expect(table).rejects.toThrow(CLOSED);
}
function abortOnceAdded(scene: Scene): void {
  const { addJob: add } = Bridge.prototype;
  const addJob = vi.spyOn(Bridge.prototype, "addJob").mockImplementationOnce(async function (
    this: Bridge,
    ...args
  ) {
    await add.apply(this, args);
    scene.controller.abort(REASON);
  });
  scene.defer(() => addJob.mockRestore());
}

/** Executors, workers and the client of a run. */
export const RUN_ROWS: readonly RunRow[] = [
  { fault: "an executor is killed", moment: LATE, modes: BOTH, inflict: killExecutor, expected: REPLACED },
  {
    fault: "every executor is killed",
    moment: LATE,
    inflict: killEveryExecutor,
    expected: E607,
    next: () => {},
  },
  {
    fault: "an executor stops",
    moment: LATE,
    modes: BOTH,
    options: () => ({ taskTimeoutSeconds: 10 }),
    inflict: ({ executor }) => signal("SIGSTOP", executor),
    expected: { counters: { executorRestarts: 1, deadlineKills: 1 } },
  },
  { ...WORKER_KILLED, moment: LATE, modes: BOTH, options: ownClient, expected: { restarts: 0, gone: 1 } },
  { ...BARS_LOST, moment: EARLY, run: () => ({ isBrought: true }), expected: { restarts: 1 } },
  { ...NANNY_KILLED, moment: LATE, modes: BOTH, lost: 1, expected: { restarts: 0, workers: 1 } },
  {
    fault: "no worker is left",
    moment: LATE,
    options: () => ({ timeoutSeconds: 15 }),
    inflict: killAllWithNannies,
    lost: 2,
    expected: { code: "E604", says: /^E604 the Dask scheduler at .* has no workers\n {2}start/, seconds: 60 },
    also: ({ started }) => expect(started.run.restarts).toBe(0),
    next: () => {},
  },
  {
    fault: "none is left that `--resources` allows",
    moment: LATE,
    modes: ["store"],
    options: allowed(() => ({ resources: { GPU: 1 } })),
    inflict: killWithNanny,
    expected: noWorker("with GPU=1"),
  },
  {
    fault: "none is left that `--workers` allows",
    moment: LATE,
    modes: ["store"],
    options: allowed((name) => ({ workers: [name] })),
    inflict: killWithNanny,
    expected: noWorker("called worker-\\d+"),
  },
  {
    fault: "a worker stops before it has the executors' code",
    moment: CONNECTING,
    modes: ["store"],
    inflict: async (scene) => {
      signal("SIGSTOP", (await scene.setting.dask.workerPids())[0]!);
      return { timeoutSeconds: 40 };
    },
    connected: async (scene) => signal("SIGCONT", (await scene.setting.dask.workerPids())[0]!),
    expected: {},
  },
  {
    fault: "no worker takes the executors' code",
    moment: CONNECTING,
    inflict: async ({ setting }) => {
      signal("SIGSTOP", ...(await setting.dask.workerPids()));
      return { timeoutSeconds: 15 };
    },
    expected: { code: "E631", says: NOBODY_ANSWERS, seconds: 60 },
    also: async ({ setting }) => signal("SIGCONT", ...(await setting.dask.workerPids())),
  },
  {
    fault: "a worker stops for 2 s",
    moment: LATE,
    modes: BOTH,
    inflict: async (scene) => {
      const { pid } = await scene.worker();
      signal("SIGSTOP", pid);
      scene.setting.gate.open();
      await wait(2_000);
      signal("SIGCONT", pid);
    },
    expected: {},
  },
  {
    fault: "a worker stops for good",
    moment: LATE,
    modes: BOTH,
    cluster: "hasty",
    inflict: async (scene) => {
      const { pid } = await scene.worker();
      scene.defer(() => kill(pid));
      signal("SIGSTOP", pid);
    },
    expected: { workers: 1 },
  },
  {
    fault: "the bridge is killed",
    moment: "once it has given rows",
    modes: BOTH,
    options: ownClient,
    inflict: async (scene) => {
      kill(...(await scene.bridges()));
      await until(() => scene.started.run.restarts === 1);
    },
    // Rows that were given before are not given again.
    expected: { restarts: 1, given: 12 },
  },
  {
    fault: "the bridge is killed three times",
    moment: LATE,
    options: ownClient,
    inflict: killBridges,
    // No client is left to clean up: unused executors end after 10 s.
    expected: { code: "E612", says: /^E612 the bridge to Dask ended: SIGKILL\n {2}run again/ },
  },
  { fault: "idle bridges are killed", moment: BETWEEN, options: ownClient, inflict: killIdle, expected: {} },
  {
    fault: "the cluster is closed",
    moment: LATE,
    modes: ["store"],
    options: signalled,
    inflict: closeCluster,
    expected: { code: "E637", says: CLOSED },
    also: async ({ others, controller: { signal } }) => {
      expect(await bridgesOf(process.pid)).toEqual(others);
      expect(getEventListeners(signal, "abort")).toEqual([]);
    },
  },
  { fault: "abort", moment: UNSENT, run: signalled, inflict: abortOnceAdded, expected: { reason: REASON } },
  {
    fault: "abort in the middle",
    moment: EARLY,
    modes: BOTH,
    run: signalled,
    inflict: async ({ setting, controller, end }) => {
      const executors = await setting.executors();
      const start = performance.now();
      controller.abort(REASON);
      await Promise.all([expect(end).rejects.toBe(REASON), untilGone(executors)]);
      expect(performance.now() - start).toBeLessThan(20_000);
    },
    expected: { reason: REASON },
    next: (next, { started, mode }) => {
      expect(next.run.job.folder).toBe(started.run.job.folder);
      if (mode === "store") expect(foundTiles(next)).toBeGreaterThan(5);
    },
  },
  {
    fault: "an operator of the user throws",
    moment: UNSENT,
    inflict: ({ setting }) => setting.gate.break(),
    keepsGate: true,
    expected: { code: "E515", name: "UsageError", says: /gated.*the gate is broken at row \d+/s },
    also: ({ setting, started }) => {
      const rows = setting.gate.thrownAt();
      expect(new Set(rows).size, "no other try").toBe(rows.length);
      expect(started.run.restarts).toBe(0);
    },
  },
  {
    fault: "workers do not see the bars",
    moment: UNSENT,
    modes: BOTH,
    inflict: ({ setting: { path } }) => renameSync(path, `${path}.elsewhere`),
    expected: {
      code: "E615",
      name: "DataError",
      says: /^E615 the workers cannot read \S+bars\.parquet: ENOENT/,
    },
    also: async ({ setting, cluster }) => {
      await expect(setting.begin(cluster)).rejects.toBeInstanceOf(Error);
      renameSync(`${setting.path}.elsewhere`, setting.path);
    },
    next: () => {},
  },
];
