import { resolve } from "node:path";
import { expect, test } from "vitest";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import {
  type ClusterEvaluateOptions,
  type ClusterOptions,
  checkedClusterCall,
} from "../../src/cluster/client/options.ts";

test("a relative store counts from here", async () => {
  const connected = Cluster.connect({ scheduler: "tcp://127.0.0.1:1", store: "not/there" });
  await expect(connected).rejects.toThrow(`E630 the store ${resolve("not/there")} does not exist`);
});

test.for([
  [{ workers: "host1" }, "E638 workers is 'host1'\n"],
  [{ resources: { GPU: -1 } }, "E638 resources is { GPU: -1 }\n  give numbers from 0 by name"],
] as const)("a value that makes no sense is shown whole: %o", async ([option, message]) => {
  const options = { scheduler: "tcp://127.0.0.1:1", ...option } as unknown as ClusterOptions;
  await expect(Cluster.connect(options)).rejects.toThrow(message);
});

test("an option that was removed is refused with what to use instead", () => {
  const options = { restrictedFactors: ["fast"] } as ClusterEvaluateOptions;
  expect(() => checkedClusterCall(options)).toThrow(
    "E527 unknown option restrictedFactors of a cluster's evaluate\n  resources and workers of Cluster.connect hold",
  );
});
