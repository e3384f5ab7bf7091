import { describe, expect, test } from "vitest";
import { healthText } from "../../../src/cli/commands/cluster.ts";
import { type HostVersions, problemsOf, type WorkerHealth } from "../../../src/cluster/deploy/doctor.ts";

const VERSIONS: HostVersions = { host: "a", python: "3.11.2", dask: "2022.12.1", distributed: "2022.12.1" };

function worker(differing: Partial<WorkerHealth> = {}): WorkerHealth {
  return {
    address: "tcp://10.0.0.2:4000",
    name: "w1",
    threads: 4,
    memoryLimitBytes: 8e9,
    versions: VERSIONS,
    node: { path: "/usr/bin/node", version: "24.1.0" },
    way: { roundTripSeconds: 0.002, transferBytes: 8e6, transferSeconds: 0.1 },
    executor: true,
    folder: { writeBytesPerSecond: 2e8, readBytesPerSecond: 4e8, freeBytes: 5e10 },
    ...differing,
  };
}

function problems(differing: Partial<WorkerHealth> = {}, scheduler: Partial<HostVersions> = {}): string[] {
  return problemsOf({ client: VERSIONS, scheduler: { ...VERSIONS, ...scheduler } }, [worker(differing)]);
}

describe("problems", () => {
  test("are none where all fits, from whatever packager and of whatever patch", () => {
    expect(problems()).toEqual([]);
    const packed = { python: "3.11.9", dask: "2022.12.1+dfsg", distributed: "2022.12.1+ds.1" };
    expect(problems({ versions: { ...VERSIONS, ...packed } }, packed)).toEqual([]);
  });

  test("are versions that differ from the client's", () => {
    expect(problems({ versions: { ...VERSIONS, python: "3.12.2" } }, { distributed: "2024.1.0" })).toEqual([
      "the scheduler has distributed 2024.1.0, the client 2022.12.1",
      "w1 has python 3.12.2, the client 3.11.2",
    ]);
  });

  test.each([
    [{ node: { path: null, version: null } }, "w1: it has no Node"],
    [{ node: { path: "/n", version: null } }, "w1: /n does not say which Node it is"],
    [{ node: { path: "/n", version: "22.9.0" } }, "w1: /n is Node 22.9.0, and 24 is needed"],
    [{ folder: { problem: "E614 worker a does not see it" } }, "w1: folder: E614 worker a does not see it"],
    [
      { folder: { writeBytesPerSecond: 1, readBytesPerSecond: 1, freeBytes: 2 ** 28 } },
      "w1: folder: only 256 MiB are free",
    ],
    [{ problem: "it does not answer", versions: undefined, node: undefined }, "w1: it does not answer"],
    [{ executorProblem: "E606 other version" }, "w1: E606 other version"],
  ])("are what a worker lacks: %j", (differing, problem) => {
    expect(problems(differing)).toEqual([problem]);
  });
});

test("the figures stand in two tables, the problems below them", () => {
  const silent = worker({
    name: "w2",
    memoryLimitBytes: 0,
    versions: undefined,
    node: undefined,
    way: undefined,
    executor: false,
    folder: null,
  });
  const health = {
    scheduler: "tcp://10.0.0.1:8786",
    dashboard: null,
    versions: { client: VERSIONS, scheduler: VERSIONS },
    workers: [worker(), silent],
    problems: ["w2: it does not answer"],
  };
  const client = `client     a     3.11.2  2022.12.1  2022.12.1    ${process.versions.node}`;
  expect(healthText(health)).toBe(`scheduler tcp://10.0.0.1:8786

           host  python  dask       distributed  node
${client}
scheduler  a     3.11.2  2022.12.1  2022.12.1
w1         a     3.11.2  2022.12.1  2022.12.1    24.1.0
w2         ?     ?       ?          ?            ?

    threads  memory GB  executor      round trip ms  to it MB/s  write MB/s  read back MB/s  free GB
w1        4  8          runs          2              80          200         400             50
w2        4  no limit   does not run  -              -           -           -               -

w2: it does not answer`);
});
