import { expect, test } from "vitest";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import {
  type ClusterEvaluateOptions,
  type ClusterOptions,
  checkedClusterCall,
} from "../../src/cluster/client/options.ts";

test.for([
  [{ workers: "host1" }, "E528 workers is 'host1'\n"],
  [{ resources: { GPU: -1 } }, "E528 resources is { GPU: -1 }\n  give numbers from 0 by name"],
] as const)("a value that makes no sense is shown whole: %o", async ([option, message]) => {
  const options = { scheduler: "tcp://127.0.0.1:1", ...option } as unknown as ClusterOptions;
  await expect(Cluster.connect(options)).rejects.toThrow(message);
});

test.for([
  [{ restrictedFactors: ["fast"] }, "resources and workers of Cluster.connect hold"],
  [
    { cut: "slabs" },
    "leave it out: a task evaluates some factors over some rows; --slab-rows (slabRows) sets how many rows",
  ],
] as const)("an option that was removed is refused with what to use instead: %o", ([options, remedy]) => {
  const message = `E527 unknown option ${Object.keys(options)[0]} of a cluster's evaluate\n  ${remedy}`;
  expect(() => checkedClusterCall(options as ClusterEvaluateOptions)).toThrow(message);
});

test("a store was removed, too", async () => {
  const options = { scheduler: "tcp://127.0.0.1:1", store: "there" } as ClusterOptions;
  await expect(Cluster.connect(options)).rejects.toThrow(
    "E527 unknown option store of Cluster.connect\n  leave it out",
  );
});
