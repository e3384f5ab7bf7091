import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Cluster,
  type ClusterEvaluateOptions,
  type ClusterOptions,
  openClusterPanel,
} from "../../src/cluster/client/cluster.ts";
import { hasDask } from "../support/needs.ts";
import { trials } from "../support/trials.ts";
import { BARS, published, TABLES, TwoWorkers } from "./support/two_workers.ts";

test("options of a connection that are not known are refused", async () => {
  const wrong = { scheduler: "tcp://127.0.0.1:1", storage: "/tiles" } as ClusterOptions;
  await expect(Cluster.connect(wrong)).rejects.toThrow("E527 unknown option storage of Cluster.connect");
});

describe.runIf(await hasDask())("on two workers", () => {
  let workers: TwoWorkers;
  beforeAll(async () => {
    workers = await TwoWorkers.start();
  });
  afterAll(async () => await workers?.[Symbol.asyncDispose]());

  test("options that are not known and other arguments are refused", async () => {
    const panel = await openClusterPanel(BARS, TABLES);
    const wrong = { slabRow: 700 } as ClusterEvaluateOptions;
    await expect(workers.inMemory.evaluate(published("alpha101"), panel, wrong)).rejects.toThrow(
      "E527 unknown option slabRow of a cluster's evaluate\n  did you mean slabRows?",
    );
    const program = Promise.resolve(published("alpha101")) as never;
    await expect(workers.inMemory.evaluate(program, panel)).rejects.toThrow(
      "E528 a cluster's evaluate takes a program, got a promise\n  await it",
    );
    await panel.source.close();
  });

  const tiles = trials(["files"] as const, ["files", "values"] as const);
  test.for(tiles)("alpha101 on real bars that the client brings, tiles as %s", async (kind) => {
    const panel = { ...(await openClusterPanel(BARS, TABLES)), path: null };
    const cluster = kind === "files" ? workers.inStore : workers.inMemory;
    await workers.expectSame(cluster, published("alpha101"), panel, { shardLanes: 32, slabRows: 700 });
    await panel.source.close();
    expect(readdirSync(workers.store), "no tiles stay").toEqual([]);
  });
});
