import { expect } from "vitest";
import type { BufferPath } from "../../../src/cluster/protocol/protocol.ts";
import { isAlive } from "../../../src/files/is_alive.ts";
import { until } from "../../support/until.ts";
import { type FakeTask, graphTask, resultOf, runTask } from "../support/fake_run.ts";
import { processes } from "../support/processes/process_group.ts";
import { kill, type TaskRow, type TaskScene } from "./fault_row.ts";

const RUNNING = "while an executor runs its task";
const E302 = { kind: "fault", errorClass: "data", code: "E302" } as const;

/** A single task, which leaves its marks. */
const one =
  (task: Omit<FakeTask, "marks">, options: { deadlineSeconds?: number } = {}) =>
  ({ key, marks }: TaskScene) => [runTask(key("out"), { ...task, marks }, options)];
/** It never ends by itself. */
const sleeping = one({ kind: "sleep", times: 1 });

/** A small graph whose last task ends its worker once; other workers have to take over. */
const endsItsWorker =
  (kind: "killWorker" | "killNanny") =>
  ({ key, marks }: TaskScene) => {
    const makes = [0, 1, 2, 3].map((place) =>
      runTask(key("make", place), { kind: "echo", made: [place + 1] }),
    );
    const reads = makes.map((task) => task.key);
    const pack = graphTask(key("pack"), { kind: "merge", from: 0, to: 1 }, reads);
    const buffers: BufferPath[] = [
      [0, 3, 0],
      [0, 1, 0],
    ];
    return [...makes, pack, runTask(key("copy"), { kind, marks, times: 1 }, { reads: [pack.key], buffers })];
  };
const SURVIVED = {
  buffers: [
    [1, 1, 1, 1],
    [1, 1],
  ],
};

/** Executors that do as they are told, as the bridge to Dask sees them. */
export const TASK_ROWS: readonly TaskRow[] = [
  {
    fault: "a task fails",
    moment: RUNNING,
    tasks: ({ key, marks }) => {
      const failing = runTask(key("bad"), { ...E302, marks });
      return [failing, runTask(key("out"), { kind: "echo" }, { reads: [failing.key] })];
    },
    expected: { code: "E302", name: "DataError", says: /^E302 as asked\n {2}ask for less/ },
    marks: 1,
  },
  {
    fault: "a task fails with a text that is too long for Dask",
    moment: RUNNING,
    tasks: one({ ...E302, problem: `first ${"x".repeat(20_000)} last` }),
    expected: { code: "E302", says: /^E302 first x+ \.\.\. x+ last\n {2}ask for less$/ },
  },
  {
    fault: "an executor is killed",
    moment: RUNNING,
    tasks: ({ key, marks }) => {
      const make = runTask(key("make"), { kind: "echo", made: [5] });
      const read = { reads: [make.key], buffers: [[0, 0]] as const };
      return [make, runTask(key("copy"), { kind: "die", marks, times: 1 }, read)];
    },
    expected: { buffers: [[1, 1, 1, 1, 1]] },
    counters: { tasks: 2, executorRestarts: 1, deadlineKills: 0 },
  },
  {
    fault: "every executor is killed",
    moment: RUNNING,
    tasks: one({ kind: "die", times: 2 }),
    expected: {
      code: "E607",
      says: /^E607 executors on tcp:\/\/127\.0\.0\.1:\d+ ended twice while they ran \('fault-\w+-out', \).*going to die/s,
    },
    marks: 2,
  },
  {
    fault: "an executor stops",
    moment: RUNNING,
    tasks: one({ kind: "stop", times: 1, made: [2] }, { deadlineSeconds: 1 }),
    expected: { buffers: [[1, 1]] },
    counters: { executorRestarts: 1, deadlineKills: 1 },
    also: (scene) => expect(isAlive(scene.marked()[0]!)).toBe(false),
  },
  {
    fault: "every executor stops",
    moment: RUNNING,
    tasks: one({ kind: "stop", times: 2 }, { deadlineSeconds: 0.5 }),
    expected: { code: "E613", says: /^E613 .* did not answer twice within 0.5 s of/ },
  },
  {
    fault: "tasks are cancelled",
    moment: RUNNING,
    tasks: sleeping,
    inflict: ({ run }) => run.bridge.cancel(),
    expected: { code: "AbortError", seconds: 20 },
    also: async (scene) => {
      const { run, key } = scene;
      await until(() => !isAlive(scene.marked()[0]!));
      await resultOf(run, runTask(key("next"), { kind: "echo" }));
      // A key that was cancelled may be asked for again.
      await resultOf(run, runTask(key("out"), { kind: "echo" }));
    },
  },
  {
    fault: "the bridge is killed",
    moment: RUNNING,
    hasOwnBridge: true,
    tasks: sleeping,
    inflict: ({ run }) => kill(run.bridge.pid),
    expected: { code: "E612", says: /^E612 the bridge to Dask ended: SIGKILL/ },
    also: async (scene) => {
      const { run, setting, key } = scene;
      await expect(run.bridge.workers(run.job)).rejects.toMatchObject({ code: "E612" });
      expect(await until(() => !isAlive(scene.marked()[0]!))).toBeLessThan(20_000);
      await resultOf(await setting.fakes(), runTask(key("next"), { kind: "echo" }));
    },
  },
  {
    fault: "a worker is killed",
    moment: RUNNING,
    hasOwnBridge: true,
    tasks: endsItsWorker("killWorker"),
    expected: SURVIVED,
    marks: 1,
    also: async ({ run: { bridge, job } }) => {
      await until(async () => (await bridge.workers(job)).workers.length === 2);
      const { workers, gone, joined } = await bridge.workers(job);
      expect(workers.map(({ restarts }) => restarts).sort()).toEqual([0, 1]);
      expect({ gone, joined }).toEqual({ gone: 1, joined: 1 });
    },
  },
  {
    fault: "a worker and its nanny are killed",
    moment: RUNNING,
    hasOwnBridge: true,
    tasks: endsItsWorker("killNanny"),
    lost: 1,
    expected: SURVIVED,
    marks: 1,
    also: async ({ run }) => expect((await run.bridge.workers(run.job)).workers).toHaveLength(1),
  },
  {
    fault: "a task takes its workers with it",
    moment: RUNNING,
    tasks: one({ kind: "killWorker", times: 9 }),
    expected: { code: "E608", says: /^E608 Dask gave up \('fault-.*workers died/ },
  },
  {
    fault: "a worker stops for good",
    moment: "while another one waits for its data",
    cluster: "hasty",
    tasks: async (scene) => {
      const { key, marks } = scene;
      const pid = await pidOfFirstWorker(scene);
      scene.still = pid;
      // The first worker makes `kept` and `seen`; the second one reads `seen`, so that it is connected, stops the first one, and
      // then needs `kept`.
      const [first, second] = [{ preferredWorker: 0 }, { preferredWorker: 0.5 }];
      const kept = runTask(key("kept"), { kind: "echo", made: [3] }, first);
      const seen = runTask(key("seen"), { kind: "echo" }, { reads: [kept.key], ...first });
      const read = runTask(key("read"), { kind: "echo" }, { reads: [seen.key], ...second });
      const stop = { kind: "stopOther", marks, times: 1, pid } as const;
      const stops = runTask(key("stop"), stop, { reads: [read.key], ...second });
      const all = { reads: [stops.key, kept.key], buffers: [[1, 0]] as const };
      return [kept, seen, read, stops, runTask(key("copy"), { kind: "echo" }, { ...all, ...second })];
    },
    expected: { buffers: [[1, 1, 1]] },
    marks: 1,
    also: ({ still }) => kill(still),
  },
  {
    fault: "the scheduler is killed for good",
    moment: RUNNING,
    cluster: "hasty",
    breaks: true,
    hasOwnBridge: true,
    tasks: sleeping,
    inflict: ({ setting }) => kill(setting.dask.schedulerPid),
    expected: { code: "E611", says: /^E611 the Dask scheduler at tcp:\S+ is gone/, seconds: 30 },
    also: async ({ run: { bridge, job } }) => {
      await expect(bridge.workers(job)).rejects.toMatchObject({ code: "E611" });
      const closing = performance.now();
      await bridge.close();
      expect(performance.now() - closing).toBeLessThan(20_000);
    },
  },
];

/** Where tasks that prefer it run. */
async function pidOfFirstWorker({ key, run }: TaskScene): Promise<number> {
  const probes = [0, 0.5].map((preferredWorker, place) =>
    runTask(key("probe", place), { kind: "echo" }, { preferredWorker }),
  );
  const reads = probes.map((probe) => probe.key);
  await resultOf(run, ...probes, graphTask(key("probed"), { kind: "barrier" }, reads));
  const { workers } = await run.bridge.workers(run.job, { trace: true });
  const executor = workers[0]!.job.trace[0]!.pid;
  return (await processes()).find((each) => each.pid === executor)!.parent;
}
