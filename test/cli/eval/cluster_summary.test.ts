import { expect, test } from "vitest";
import { type ClusterSummary, clusterText } from "../../../src/cli/eval/cluster_summary.ts";

const QUIET: ClusterSummary = {
  scheduler: "tcp://10.0.0.1:8786",
  dashboard: null,
  slabs: 1,
  shares: [{ factors: 3, warmUpRows: 20 }],
  runsBegunAnew: 0,
  hangs: [],
  workersJoined: 0,
  workersGone: 0,
  workers: [],
};

const MIB = 2 ** 20;
const WORKER: ClusterSummary["workers"][number] = {
  address: "tcp://10.0.0.2:4000",
  threads: 1,
  silentSeconds: 0,
  restarts: 0,
  managedBytes: 3 * MIB,
  unmanagedBytes: 4 * MIB,
  spilledBytes: 5 * MIB,
  keys: 0,
  replicatedKeys: 7,
  stolenFrom: 0,
  stolenBy: 6,
  tasks: 12,
  seconds: 1.25,
  bytesSent: 0,
  bytesReceived: 0,
  bytesRead: MIB,
  bytesWritten: 2 * MIB,
  executorStarts: 1,
  executorRestarts: 1,
  deadlineKills: 1,
  memoryKills: 0,
  workerBytesMax: 120 * MIB,
  executorBytesMax: 700 * MIB,
};

test("a run on a cluster has a line for each worker, and says what went wrong", () => {
  const summary: ClusterSummary = {
    ...QUIET,
    dashboard: "http://10.0.0.1:8787/status",
    slabs: 2,
    shares: [
      { factors: 5, warmUpRows: null },
      { factors: 4, warmUpRows: null },
      { factors: 90, warmUpRows: 251 },
    ],
    runsBegunAnew: 2,
    workersJoined: 1,
    workersGone: 1,
    workers: [WORKER, { ...WORKER, address: "tcp://10.0.0.3:4000", tasks: 0, seconds: 0 }],
  };
  expect(clusterText(summary)).toMatchInlineSnapshot(`
    "
    worker               tasks  busy    written  read again  managed  unmanaged  spilled  peak       executors  stolen  replicated  restarts
    tcp://10.0.0.2:4000     12  1.25 s  2.0 MiB  1.0 MiB     3.0 MiB  4.0 MiB    5.0 MiB  120.0 MiB  700.0 MiB       6           7         1
    tcp://10.0.0.3:4000      0  0.00 s  2.0 MiB  1.0 MiB     3.0 MiB  4.0 MiB    5.0 MiB  120.0 MiB  700.0 MiB       6           7         1

    cluster: tcp://10.0.0.1:8786, 2 slabs, 3 groups of factors, 2 of them over all rows; 1 worker lost, 1 joined; the run began again 2 times
    dashboard: http://10.0.0.1:8787/status"
  `);
});

test("a run on a cluster without losses and dashboard says nothing of them", () => {
  expect(clusterText(QUIET).split("\n").slice(-1)).toEqual([
    "cluster: tcp://10.0.0.1:8786, 1 slab, 1 group of factors",
  ]);
});

test("an operator that hung has a line, which says where and for how long", () => {
  const hang = {
    worker: "tcp://10.0.0.2:4000",
    executor: 1,
    key: "('factorloom_3f2a_slabs', 0, 5)",
    node: 4,
    operators: ["slow", "endless"],
    seconds: 12.34,
    estimatedMs: 0.2345,
    isReplaced: true,
  };
  const lines = clusterText({ ...QUIET, hangs: [hang, { ...hang, isReplaced: false }] }).split("\n");
  const line =
    "hang: slow, endless has run for 12.3 s on executor 1 of tcp://10.0.0.2:4000, in ('factorloom_3f2a_slabs', 0, 5), estimated are 0.23 ms";
  expect(lines.slice(-2)).toEqual([`${line}; its thread was replaced, and the part runs again`, line]);
});
