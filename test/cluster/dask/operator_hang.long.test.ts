import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { clusterText, summariseCluster } from "../../../src/cli/eval/cluster_summary.ts";
import type { ClusterHangOptions } from "../../../src/cluster/client/options.ts";
import type { ClusterHang } from "../../../src/cluster/protocol/protocol.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { FaultSetting, type StartedRun } from "../support/fault_setting.ts";
import { gated } from "../support/gate.ts";
import { stuck } from "../support/stuck.ts";

/** Operators of users that do not return, in executors of a cluster. */

const program = compile("a = stuck(gated(rank(close), row)) + ts_mean(volume, 5)", {
  operators: [stuck, gated],
  fields: ["close", "volume", "row"],
});

/** Longer than a busy machine stops a process. */
const LIMIT_MS = 3000;

describe.runIf(await hasDask())("an operator that does not return", () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.start({ workers: 1, threadsPerWorker: 2 }, program);
  });
  afterEach(() => release());
  afterAll(() => setting?.close());

  const makeStuck = (name: string) => writeFileSync(join(setting.gate.folder, name), "");
  const release = () => {
    for (const name of ["stuck-once", "stuck-always"])
      rmSync(join(setting.gate.folder, name), { force: true });
  };

  async function withHang<T>(
    hang: ClusterHangOptions | false,
    work: (started: StartedRun, hangs: readonly ClusterHang[]) => Promise<T>,
  ): Promise<T> {
    const hangs: ClusterHang[] = [];
    const onHang = (one: ClusterHang) => void hangs.push(one);
    const options = hang === false ? hang : { onHang, ...hang };
    await using cluster = await setting.connect({ hang: options });
    return await work(await setting.begin(cluster), hangs);
  }

  const countsOf = ({ run }: StartedRun) => run.report!.workers[0]!.job.counters;

  test("is reported while it runs, with worker, task and operator, and goes on when it returns", async () => {
    makeStuck("stuck-always");
    await withHang({ limitMs: LIMIT_MS }, async (started, hangs) => {
      await vi.waitFor(() => expect(hangs.length).toBeGreaterThan(0), { timeout: 120_000, interval: 200 });
      const [hang] = hangs as [ClusterHang];
      expect(hang).toMatchObject({ operators: ["stuck"], isReplaced: false });
      expect(hang.worker).toMatch(/^tcp:/);
      expect(hang.key).toMatch(/factorloom_/);
      expect(hang.seconds).toBeGreaterThan(LIMIT_MS / 1000);
      expect(50 * hang.estimatedMs).toBeLessThan(1000 * hang.seconds);
      release();
      await setting.expectRight(started);
      expect(started.run.hangs).toEqual(hangs);
      // Each of two executors at most once, though it hung for several intervals of the watch.
      expect(hangs.length).toBeLessThanOrEqual(2);
      expect(countsOf(started)).toMatchObject({ executorRestarts: 0 });
    });
  });

  test("once: its thread is replaced where that is wanted, and the result is right", async () => {
    makeStuck("stuck-once");
    await withHang({ limitMs: LIMIT_MS, replaces: true }, async (started, hangs) => {
      await setting.expectRight(started);
      expect(hangs).toMatchObject([{ operators: ["stuck"], isReplaced: true }]);
      expect(countsOf(started)).toMatchObject({ executorRestarts: 0 });
      const cluster = { info: { dashboard: null }, scheduler: "" } as never;
      expect(clusterText(summariseCluster(cluster, started.run))).toMatch(
        /\nhang: stuck has run for [\d.]+ s on executor \d of tcp:.*; its thread was replaced, and the part runs again/,
      );
    });
  });

  test("always: E402; the cluster goes on working", async () => {
    makeStuck("stuck-always");
    await withHang({ limitMs: LIMIT_MS, replaces: true }, async ({ table }) => {
      await expect(table).rejects.toThrow(/^E402 the operator stuck ended its thread twice in a row/);
    });
    release();
    await withHang({ limitMs: LIMIT_MS, replaces: true }, async (started, hangs) => {
      await setting.expectRight(started);
      expect(hangs).toEqual([]);
    });
  });

  test("by default the process is warned; with false nothing is watched", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    makeStuck("stuck-always");
    await withHang(false, async (started) => {
      await new Promise((resolve) => setTimeout(resolve, 2 * LIMIT_MS));
      release();
      await setting.expectRight(started);
      expect(started.run.hangs).toEqual([]);
    });
    makeStuck("stuck-always");
    await using cluster = await setting.connect({ hang: { limitMs: LIMIT_MS } });
    const started = await setting.begin(cluster);
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 120_000, interval: 200 });
    expect(String(warn.mock.calls[0]![0])).toMatch(/^stuck has run for [\d.]+ s on executor \d of tcp:/);
    release();
    await setting.expectRight(started);
    warn.mockRestore();
  });
});
