import { resolve } from "node:path";
import { expect, test } from "vitest";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import {
  type ClusterEvaluateOptions,
  type ClusterOptions,
  checkedClusterCall,
} from "../../src/cluster/client/options.ts";

test("options of a connection that are not known are refused", async () => {
  const wrong = { scheduler: "tcp://127.0.0.1:1", storage: "/tiles" } as ClusterOptions;
  await expect(Cluster.connect(wrong)).rejects.toThrow("E527 unknown option storage of Cluster.connect");
});

test("a relative store counts from here", async () => {
  const connected = Cluster.connect({ scheduler: "tcp://127.0.0.1:1", store: "not/there" });
  await expect(connected).rejects.toThrow(`E630 the store ${resolve("not/there")} does not exist`);
});

test.for([
  [{ timeoutSeconds: 0 }, "E638 timeoutSeconds is 0\n  give a positive number of seconds"],
  [{ taskTimeoutSeconds: Number.NaN }, "E638 taskTimeoutSeconds is NaN\n"],
  [{ workers: [] }, "E638 workers is []\n  give a list of at least one name"],
  [{ workers: "host1" }, "E638 workers is 'host1'\n"],
  [{ resources: { GPU: -1 } }, "E638 resources is { GPU: -1 }\n  give numbers from 0 by name"],
  [{ store: "" }, "E638 store is ''\n  give a text that is not empty"],
] as const)("an option whose value makes no sense is refused: %o", async ([option, message]) => {
  const options = { scheduler: "tcp://127.0.0.1:1", ...option } as unknown as ClusterOptions;
  await expect(Cluster.connect(options)).rejects.toThrow(message);
});

test.for([
  [{ shardLanes: 0 }, "E638 shardLanes is 0\n  give a positive whole number"],
  [{ slabRows: 1.5 }, "E638 slabRows is 1.5\n"],
  [{ cut: "slices" }, "E638 cut is 'slices'\n  cuts: auto, stages, slabs"],
] as const)("so is one of a call: %o", ([option, message]) => {
  expect(() => checkedClusterCall(option as ClusterEvaluateOptions)).toThrow(message);
});
