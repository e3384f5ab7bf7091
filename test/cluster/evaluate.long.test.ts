import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { openClusterPanel } from "../../src/cluster/client/cluster.ts";
import type { ClusterEvaluateOptions } from "../../src/cluster/client/options.ts";
import { compile } from "../../src/compile.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { hasDask } from "../support/needs.ts";
import { panelTable } from "./support/panel_table.ts";
import { BARS, published, TABLES, TwoWorkers } from "./support/two_workers.ts";

describe.runIf(await hasDask())("on two workers", () => {
  let workers: TwoWorkers;
  beforeAll(async () => {
    workers = await TwoWorkers.start();
  });
  afterAll(async () => await workers?.[Symbol.asyncDispose]());

  test("gtja191 on a synthetic year of 1,000 symbols that the workers read themselves", async () => {
    const path = join(workers.folder, "year.parquet");
    await writeTable(await panelTable(syntheticPanel({ lanes: 1000, rows: 252, nullShare: 0.01 })), path);
    const program = published("gtja191");
    const panel = await openClusterPanel(path);
    await workers.expectSame(workers.inMemory, program, panel);
    await workers.expectSame(workers.inStore, program, panel);
    await panel.source.close();
  });

  test("independent slabs, a range of the output, a selection, params", async () => {
    const path = join(workers.folder, "bars.parquet");
    await writeTable(await panelTable(await readPanel(BARS)), path);
    const panel = await openClusterPanel(path, TABLES);
    const options = {
      cut: "slabs",
      from: "2015-01-01",
      to: "2016-06-30",
      select: ["alpha001", "alpha026"],
    } as const;
    const table = await workers.expectSame(workers.inStore, published("alpha101"), panel, options);
    expect(table.schema.names.length).toBe(4);
    const source = "param k = 2\nwhen k > 3 { a = ts_mean(close, 5) * k }\nb = rank(ema(close, 10)) + k";
    const program = compile(source);
    await workers.expectSame(workers.inStore, program, panel, { params: { k: 5 } });
    await workers.expectSame(workers.inMemory, program, panel, { params: { k: 1 } });
    await panel.source.close();
  });

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

  test.for(["onTasks", "onProgress"])("what %s throws is the error of its call alone", async (name) => {
    const panel = { ...(await openClusterPanel(BARS, TABLES)), path: null };
    const error = new Error("of the caller");
    const fail = () => {
      throw error;
    };
    const options = { slabRows: 100, [name]: fail };
    await expect(workers.inMemory.evaluate(published("alpha101"), panel, options)).rejects.toBe(error);
    await workers.expectSame(workers.inMemory, compile("a = rank(ema(close, 10))"), panel);
    await panel.source.close();
  });

  test("a table that cannot be made gives up the folder of its run", async () => {
    const panel = { ...(await openClusterPanel(BARS, TABLES)), path: null };
    const program = compile("symbol = rank(close)");
    await expect(workers.inStore.evaluate(program, panel)).rejects.toThrow("E341");
    const batches = workers.inStore.stream(program, panel);
    await expect(batches.next()).rejects.toThrow("E341");
    await panel.source.close();
    expect(readdirSync(workers.store)).toEqual([]);
  });

  test.for([
    "files",
    "values",
  ] as const)("alpha101 on real bars that the client brings, tiles as %s", async (kind) => {
    const panel = { ...(await openClusterPanel(BARS, TABLES)), path: null };
    const cluster = kind === "files" ? workers.inStore : workers.inMemory;
    await workers.expectSame(cluster, published("alpha101"), panel, { shardLanes: 32, slabRows: 700 });
    await panel.source.close();
    expect(readdirSync(workers.store), "no tiles stay").toEqual([]);
  });
});
