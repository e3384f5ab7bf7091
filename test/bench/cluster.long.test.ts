import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { measureAgainstLocal } from "../../bench/cluster/against_local.ts";
import { measureExchange } from "../../bench/cluster/exchange.ts";
import { fileFolder } from "../support/file_folder.ts";
import { hasDask } from "../support/needs.ts";

const store = fileFolder();

describe.runIf(await hasDask())("benches of clusters", () => {
  test("exchange: as many tasks as shards and blocks and a barrier, every byte written is read", async () => {
    const result = await measureExchange({ shards: 6, blocks: 4, mebibytes: 1, workers: 2, store });
    expect(result.tasks).toBe(6 + 1 + 4);
    // Six tiles of the first stage, their state left aside, read by the second, which leaves a quarter of that.
    expect(result.movedBytes).toBeGreaterThanOrEqual(2.25 * 6 * 2 ** 20);
    expect(result.movedBytes).toBeLessThan(2.4 * 6 * 2 ** 20);
    expect(result.wallMs).toBeGreaterThan(0);
    expect(readdirSync(store), "nothing stays").toEqual([]);
  });

  test("a job beside the same on threads: both cuts, with what they moved", async () => {
    const cuts = ["slabs", "stages"] as const;
    const shape = { lanes: 40, rows: 60, formulas: "alpha158", workers: 2 };
    const { factors, localMs, runs } = await measureAgainstLocal({ ...shape, store, cuts });
    expect(factors).toBe(158);
    expect(localMs).toBeGreaterThan(0);
    expect(runs.map(({ cut }) => cut)).toEqual(cuts);
    expect(runs[0]!.bytesWritten).toBe(0);
    expect(runs[1]!.bytesWritten).toBeGreaterThan(0);
    for (const { wallMs, ratio } of runs) expect(ratio).toBeCloseTo(wallMs / localMs, 10);
  });
});
