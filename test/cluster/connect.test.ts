import { expect, test } from "vitest";
import { Cluster, type ClusterOptions } from "../../src/cluster/client/cluster.ts";

test("options of a connection that are not known are refused", async () => {
  const wrong = { scheduler: "tcp://127.0.0.1:1", storage: "/tiles" } as ClusterOptions;
  await expect(Cluster.connect(wrong)).rejects.toThrow("E527 unknown option storage of Cluster.connect");
});
