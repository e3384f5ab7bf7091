import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { openClusterPanel } from "../../src/cluster/client/cluster.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { hasDask } from "../support/needs.ts";
import { panelTable } from "./support/panel_table.ts";
import { published, TwoWorkers } from "./support/two_workers.ts";

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
});
