import { getEventListeners } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, vi } from "vitest";
import { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { until, untilGone } from "../../support/until.ts";
import { foundDone, type StartedRun } from "../support/fault_setting.ts";
import {
  at,
  kill,
  killAllWithNannies,
  killExecutor,
  killWithNanny,
  killWorker,
  type RunRow,
  row,
  signal,
  toEveryOne,
} from "./fault_row.ts";
import { bridgesOf, ONE, type Scene } from "./scene.ts";

const REASON = new Error("no longer");
const CLOSED = /^E404 the cluster was closed\n {2}await what is under way/;
const [CONNECTING, UNSENT] = ["while it connects", "before its first task"] as const;
const [EARLY, LATE] = ["in its first slab", "in its last slab"] as const;
const [HISTORY, JOIN] = ["over all rows", "in a join"] as const;

/** Between two steps of tasks that write files; there a task that is killed has done some of its work. */
const WRITING = [
  at("after columns of a slab are there", "dataset"),
  at(JOIN, "dataset", "parts"),
  at("after a part has its name", "dataset", "parts"),
  at("after a part has its counts", "dataset"),
  at("while columns of a part are removed", "dataset"),
];
const ANY_TIME = [at(LATE, "chunks", "dataset", "parts"), at(HISTORY, "chunks", "dataset"), ...WRITING];

const signalled = ({ controller: { signal } }: Scene) => ({ signal });
const noWorker = (which: string) => ({
  code: "E604",
  says: new RegExp(`^E604 the Dask scheduler at tcp:.* has no worker${which}\n {2}start`),
  seconds: 90,
});
const twice = (code: string, what: string) =>
  new RegExp(
    `^${code} executors on tcp://127\\.0\\.0\\.1:\\d+ ${what} \\('factorloom_\\w+_(slabs|history|joins)', .*\n {2}look at the`,
    "s",
  );

/** A cluster with one worker more, which alone may run its tasks. */
const allowed =
  (choice: (name: string) => object) =>
  async ({ setting }: Scene) => {
    const { name } = await setting.dask.addWorker(["--resources", "GPU=1"]);
    return { timeoutSeconds: 8, ...choice(name) };
  };
/** The worker that has done everything so far, and waits for nothing. */
async function stopOtherWorker(scene: Scene): Promise<void> {
  const { pid } = await scene.worker();
  const other = (await scene.setting.dask.workerPids()).find((each) => each !== pid)!;
  scene.defer(() => kill(other));
  signal("SIGSTOP", other);
}
async function stopWorker(scene: Scene): Promise<void> {
  const { pid } = await scene.worker();
  scene.defer(() => kill(pid));
  signal("SIGSTOP", pid);
}
async function stopFor2s(scene: Scene): Promise<void> {
  const { pid } = await scene.worker();
  signal("SIGSTOP", pid);
  scene.setting.gate.open();
  await wait(2_000);
  signal("SIGCONT", pid);
}
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
  const runs = await Promise.all([1, 2].map(() => scene.setting.begin(scene.cluster)));
  for (const run of runs) await scene.setting.expectRight(run);
  const idle = await scene.bridges();
  expect(idle).toHaveLength(2);
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
/** Once the bridge has begun with a request. */
const abortDuring = (request: "addJob" | "install") => (scene: Scene) => {
  const asked = Bridge.prototype[request] as (...args: unknown[]) => Promise<unknown>;
  const spy = vi.spyOn(Bridge.prototype, request).mockImplementationOnce(async function (
    this: Bridge,
    ...args: unknown[]
  ) {
    const answer = asked.apply(this, args);
    if (request === "addJob") await answer;
    scene.controller.abort(REASON);
    return (await answer) as never;
  });
  scene.defer(() => spy.mockRestore());
  return signalled(scene);
};
async function abort({ setting, controller, end }: Scene): Promise<void> {
  const executors = await setting.executors();
  const start = performance.now();
  controller.abort(REASON);
  await Promise.all([expect(end).rejects.toBe(REASON), untilGone(executors)]);
  expect(performance.now() - start).toBeLessThan(20_000);
}
const killBridge = async (scene: Scene) => {
  kill(...(await scene.bridges()));
  await until(() => scene.started.run.restarts === 1);
};
const joinLater = async (scene: Scene) => {
  const folder = ["--local-directory", join(scene.dataset, "../joins")];
  await scene.startDask(["worker", scene.setting.dask.address, ...ONE, ...folder]);
  await scene.setting.gate.waiting(3);
};
const stopBefore = (count: number, timeoutSeconds: number) => async (scene: Scene) => {
  signal("SIGSTOP", ...(await scene.setting.dask.workerPids()).slice(0, count));
  return { timeoutSeconds };
};
const goOn = async ({ setting }: Scene) => signal("SIGCONT", ...(await setting.dask.workerPids()));
const again = true;
const seconds = (taskTimeoutSeconds: number) => ({ options: () => ({ taskTimeoutSeconds }) });
const stop = (pid: number) => signal("SIGSTOP", pid);
const stopExecutor = ({ executor }: Scene) => signal("SIGSTOP", executor);
const killEveryWorker = toEveryOne(async (pid, { setting }) => kill((await setting.workerOf(pid)).pid));
const breakGate = ({ setting }: Scene) => setting.gate.break();
function expectNoOtherTry({ setting, started }: Scene): void {
  const rows = setting.gate.thrownAt();
  expect(new Set(rows).size, "no other try").toBe(rows.length);
  expect(started.run.restarts).toBe(0);
  setting.gate.open();
}
async function expectAllLeft({ others, controller: { signal } }: Scene): Promise<void> {
  expect(await bridgesOf(process.pid)).toEqual(others);
  expect(getEventListeners(signal, "abort")).toEqual([]);
}
const expectNoBridge = (scene: Scene) => until(async () => (await scene.bridges()).length === 0);
/** Rows that were given before are not given again. */
const expectGivenOnce = ({ mode, started }: Scene) =>
  expect(started.given).toHaveLength(mode === "dataset" ? 0 : 4);
const usesFiles = (next: StartedRun, { mode }: Scene) =>
  mode !== "dataset" || expect(foundDone(next)).toBeGreaterThan(0);

const restarted = (deadlineKills: number) => ({ counters: { executorRestarts: 1, deadlineKills } });
const SILENT_WORKERS = {
  code: "E604",
  says: /has no worker that answers\n {2}look at the logs of those/,
  seconds: 60,
};
const ENDED = { code: "E607", says: twice("E607", "ended twice while they ran") };
const GIVEN_UP = { code: "E607", says: /^E607 Dask gave up \('factorloom_.*workers died/s };
const BRIDGE_ENDED = { code: "E611", says: /^E611 the bridge to Dask ended: SIGKILL\n {2}run again/ };
const SILENT_EXECUTORS = { code: "E607", says: twice("E607", "did not answer twice within 2 s of") };
const THROWN = { code: "E515", says: /gated.*the gate is broken at row -?\d+/s };
const ABORTED = { reason: REASON };
const OWN = { options: () => ({}) };
const HASTY = { cluster: "hasty" } as const;
const GPU = { options: allowed(() => ({ resources: { GPU: 1 } })) };
const NAMED = { options: allowed((name) => ({ workers: [name] })) };

const CHUNKS = [at(LATE, "chunks")];
const BOTH = [at(LATE, "chunks", "dataset")];
const MANY = [...BOTH, at(HISTORY, "dataset"), at(JOIN, "dataset")];
const START = [at(CONNECTING, "chunks")];
const READY = [at(UNSENT, "chunks", "dataset")];
const PANELS = [at(EARLY, "brought", "copied"), at(HISTORY, "copied")];
const SOME = [at(EARLY, "chunks", "copied"), at(HISTORY, "chunks"), at(LATE, "dataset"), at(JOIN, "dataset")];
const BRIDGE = [
  at("once a chunk is taken", "chunks"),
  at(LATE, "dataset"),
  at(JOIN, "dataset"),
  at(EARLY, "copied"),
];

/** Executors, workers, the bridge and the client of a run. */
export const PROCESS_ROWS: readonly RunRow[] = [
  row("an executor is killed", ANY_TIME, killExecutor, { restarts: 0, ...restarted(0) }),
  row(
    "every executor is killed",
    MANY,
    toEveryOne((pid) => kill(pid)),
    ENDED,
    { again },
  ),
  row("an executor stops", [...CHUNKS, at(JOIN, "dataset")], stopExecutor, restarted(1), seconds(5)),
  row("every executor stops", CHUNKS, toEveryOne(stop), SILENT_EXECUTORS, { ...seconds(2), again }),
  row("a worker is killed", [...ANY_TIME, ...PANELS], killWorker, { restarts: 0, gone: 1 }, OWN),
  row("every worker that has the task is killed", BOTH, killEveryWorker, GIVEN_UP, { again }),
  row("a worker and its nanny are killed", MANY, killWithNanny, { restarts: 0, workers: 1 }, { lost: 1 }),
  row("no worker is left", CHUNKS, killAllWithNannies, noWorker("s"), {
    options: () => ({ timeoutSeconds: 8 }),
    lost: 2,
    also: ({ started }) => expect(started.run.restarts).toBe(0),
    again,
  }),
  row("none is left that `--resources` allows", CHUNKS, killWithNanny, noWorker(" with GPU=1"), GPU),
  row("none is left that `--workers` allows", CHUNKS, killWithNanny, noWorker(" called worker-.*"), NAMED),
  row(
    "a worker joins later",
    [at(EARLY, "chunks", "dataset", "copied")],
    joinLater,
    { restarts: 0, workers: 3 },
    {
      run: () => ({ slabRows: 30 }),
    },
  ),
  row("a worker stops before it has the executors' code", START, stopBefore(1, 15), {}, { connected: goOn }),
  row("all workers stop before they have the executors' code", START, stopBefore(2, 6), SILENT_WORKERS, {
    also: goOn,
  }),
  row("a worker stops for 2 s", [...BOTH, at(JOIN, "dataset")], stopFor2s, {}),
  row("a worker stops for good", MANY, stopWorker, { workers: 1 }, HASTY),
  row("a worker stops for good that has results", BOTH, stopOtherWorker, { workers: 1 }, HASTY),
  row("the bridge is killed", BRIDGE, killBridge, { restarts: 1 }, { ...OWN, also: expectGivenOnce }),
  // No client is left to clean up: unused executors end after 10 s.
  row("the bridge is killed three times", CHUNKS, killBridges, BRIDGE_ENDED, OWN),
  row("idle bridges are killed", [at("between two runs", "chunks")], killIdle, {}, OWN),
  row(
    "the cluster is closed",
    BOTH,
    closeCluster,
    { code: "E404", says: CLOSED },
    {
      options: signalled,
      also: expectAllLeft,
    },
  ),
  row("abort", START, abortDuring("install"), ABORTED, { also: expectNoBridge }),
  row("abort", READY, abortDuring("addJob"), ABORTED, { run: signalled, again }),
  row("abort in the middle", SOME, abort, ABORTED, { run: signalled, again: usesFiles }),
  row("an operator of the user throws", READY, breakGate, THROWN, {
    keepsGate: true,
    also: expectNoOtherTry,
    again,
  }),
];
