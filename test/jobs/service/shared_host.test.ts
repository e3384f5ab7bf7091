import workerThreads, { type Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { SharedHost } from "../../../src/jobs/service/shared_host.ts";
import { JobFolder, realBars, SILENT } from "../job_folder.ts";

test("jobs share threads until these are lost, then others", async () => {
  const shared = new SharedHost({ threads: 1 });
  const host = await shared.current();
  expect(await shared.current()).toBe(host);
  await host.pool.close();
  const [one, other] = await Promise.all([shared.current(), shared.current()]);
  expect(one).not.toBe(host);
  expect(other).toBe(one);
  await shared.close();
  expect(one.pool.isLost).toBe(true);
});

test("threads that do not start are tried again by the next run", async () => {
  let isFailing = true;
  const shared = new SharedHost({
    threads: 1,
    get memoryLimitBytes() {
      if (isFailing) throw new Error("no memory");
      return 2 ** 28;
    },
  });
  await expect(shared.current()).rejects.toThrow("no memory");
  isFailing = false;
  expect((await shared.current()).threads).toBe(1);
  await shared.close();
});

/** Runs `body` with all threads that are started meanwhile. */
async function withThreads(body: (started: readonly Worker[]) => Promise<void>): Promise<void> {
  const { Worker } = workerThreads;
  const started: Worker[] = [];
  class NotedWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      started.push(this);
    }
  }
  workerThreads.Worker = NotedWorker;
  try {
    await body(started);
  } finally {
    workerThreads.Worker = Worker;
  }
}

test("a job whose threads are lost goes on with others, and gives each row once", async () => {
  // A sink with one file for each batch: one for each day takes ten times as long.
  using folder = new JobFolder({ sink: "arrow" });
  const bars = realBars(3, 320, 4);
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  for (const text of bars.slice(1)) folder.addBars(text);
  await withThreads(async (started) => {
    let isLosing = true;
    const debug = (_: object, message: string) => {
      if (message !== "evaluated" || !isLosing) return;
      isLosing = false;
      // The scheduler is the first thread of an engine: later blocks of the next file find none.
      void started[0]!.terminate();
    };
    expect(await folder.run({ ...SILENT, debug })).toBeNull();
    expect(started.length).toBe(4);
  });
  expect(await folder.results()).toEqual(await folder.expected(bars));
});
