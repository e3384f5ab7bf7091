import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { healthText } from "../../../src/cli/commands/cluster.ts";
import type { ProbedWorker, PythonVersions } from "../../../src/cluster/bridge/bridge.ts";
import { problemsOf } from "../../../src/cluster/deploy/doctor.ts";

const VERSIONS: PythonVersions = { python: "3.11.2", dask: "2022.12.1", distributed: "2022.12.1" };

function worker(differing: Partial<ProbedWorker> = {}): ProbedWorker {
  return {
    address: "tcp://10.0.0.2:4000",
    name: "w1",
    memoryLimitBytes: 2 ** 33,
    host: "a",
    versions: VERSIONS,
    node: "24.1.0",
    factorloom: "0.2.0",
    hasWritten: true,
    clockSeconds: 0.01,
    ...differing,
  };
}

function problems(differing: Partial<ProbedWorker> = {}, scheduler: Partial<PythonVersions> = {}): string[] {
  return problemsOf({ client: VERSIONS, scheduler: { ...VERSIONS, ...scheduler } }, [worker(differing)]);
}

describe("problems", () => {
  test("are none where all fits, from whatever packager and of whatever patch", () => {
    expect(problems()).toEqual([]);
    const packed = { python: "3.11.9", dask: "2022.12.1+dfsg", distributed: "2022.12.1+ds.1" };
    expect(problems({ versions: packed }, packed)).toEqual([]);
  });

  test("are versions that differ from the client's", () => {
    expect(problems({ versions: { ...VERSIONS, python: "3.12.2" } }, { distributed: "2024.1.0" })).toEqual([
      "the scheduler has distributed 2024.1.0, the client 2022.12.1; install one version on all",
      "w1 has python 3.12.2, the client 3.11.2; install one version on all",
    ]);
  });

  test("are tasks that do not run, and clocks that differ", () => {
    expect(problems({ problem: "E614 worker a does not see it" })).toEqual([
      "w1: E614 worker a does not see it",
    ]);
    expect(problems({ clockSeconds: -7 })).toEqual([
      "w1: its clock differs by -7.0 s from the client's; set it",
    ]);
  });
});

test("the answers stand in a table, the problems below it", () => {
  const silent = { name: "w2", address: "tcp://10.0.0.3:4000", memoryLimitBytes: 0 };
  const health = {
    scheduler: "tcp://10.0.0.1:8786",
    dashboard: null,
    versions: { client: VERSIONS, scheduler: VERSIONS },
    workers: [worker(), silent],
    problems: ["w2: it does not answer"],
  };
  const [address, , ...lines] = healthText(health).split("\n");
  expect(address).toBe("scheduler tcp://10.0.0.1:8786");
  const cells = lines.map((line) => line.split(/ {2,}/));
  expect(cells).toEqual([
    ["", "host", "python", "distributed", "node", "factorloom", "memory", "clock", "folder"],
    ["client", hostname(), "3.11.2", "2022.12.1", process.versions.node],
    ["scheduler", "3.11.2", "2022.12.1"],
    ["w1", "a", "3.11.2", "2022.12.1", "24.1.0", "0.2.0", "8.0 GiB", "0.0 s", "written"],
    ["w2", "no limit"],
    [""],
    ["w2: it does not answer"],
  ]);
});
