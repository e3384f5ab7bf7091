import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Table } from "apache-arrow";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { ClusterProgress, ClusterReport, GroupProgress } from "../../src/cluster/bridge/bridge.ts";
import { findPython } from "../../src/cluster/bridge/python.ts";
import { Cluster, type ClusterPanel, openClusterPanel } from "../../src/cluster/client/cluster.ts";
import type { ClusterEvaluateOptions, ClusterOptions } from "../../src/cluster/client/options.ts";
import { compile, type Program } from "../../src/compile.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import { fileFolder } from "../support/file_folder.ts";
import { hasDask } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { differenceOf } from "./support/difference.ts";
import { panelTable } from "./support/panel_table.ts";
import { PATIENCE_VARIABLE, patient } from "./support/patient.ts";
import { ProcessCluster } from "./support/processes/process_cluster.ts";

/** What Dask does for a run is forced to happen, and seen; tables have the bits of the engine each time. */

/** Of a row of the waiting tasks. */
const PATIENCE_MS = 10;
/** While something happens for which a run must not be over too soon. */
const SLOW_MS = 100;
const SHAPE = { lanes: 40, rows: 300, nullShare: 0.02 };
const CUT = { slabRows: 5, trace: true };
/** Tasks of a run. */
const SLABS = SHAPE.rows / CUT.slabRows;

const fields = ["close", "volume"];
const program = compile("a = rank(patient(close)) - ts_mean(rank(volume), 5)\nb = delta(patient(close), 3)", {
  operators: [patient],
  fields,
});
const other = compile("c = ts_mean(patient(volume), 3) * 2", { operators: [patient], fields });

describe.runIf(await hasDask())("what Dask does for a run", () => {
  const folder = fileFolder();
  let path: string;
  let engine: Engine;
  let dask: ProcessCluster;
  let cluster: Cluster;
  const closing: (() => Promise<void>)[] = [];
  const expected = new Map<Program, Table>();
  beforeAll(async () => {
    path = join(folder, "bars.parquet");
    waitPerRow(PATIENCE_MS);
    await writeTable(await panelTable(syntheticPanel(SHAPE)), path);
    engine = await Engine.start({ threads: 1 });
    for (const each of [program, other])
      expected.set(each, (await engine.evaluate(each, await readPanel(path))).table);
    dask = await startDask(2);
    cluster = await connect(dask);
  });
  afterEach(() => waitPerRow(PATIENCE_MS));
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
    await engine?.close();
  });

  async function startDask(workers: number): Promise<ProcessCluster> {
    const config = { [PATIENCE_VARIABLE]: join(folder, "patience") };
    const started = await ProcessCluster.start({ workers, config });
    closing.push(() => started.close());
    return started;
  }

  async function connect(
    { address }: ProcessCluster,
    options: Partial<ClusterOptions> = {},
  ): Promise<Cluster> {
    const connected = await Cluster.connect({
      scheduler: address,
      timeoutSeconds: PATIENCE_SECONDS,
      ...options,
    });
    closing.push(() => connected.close());
    return connected;
  }

  function waitPerRow(ms: number): void {
    writeFileSync(join(folder, "patience"), String(ms));
  }

  /** Runs a program, whose table must be that of the engine; gives what every worker did. */
  async function runOn(
    on: Cluster,
    options: ClusterEvaluateOptions = {},
    { runs = program, panel }: { runs?: Program; panel?: ClusterPanel } = {},
  ) {
    const input = panel ?? (await openClusterPanel(path));
    try {
      const run = await on.openRun(runs, input, { ...CUT, ...options });
      const { time, symbols } = input.source;
      const columns = { time, symbols, factors: run.wanted.factors.map(({ name }) => name) };
      const { table } = await factorTableOfBlocks(columns, run.blocks(), { keepInfinite: false });
      const params = Object.keys(options.params ?? {}).length > 0;
      if (!params) expect(differenceOf(table, expected.get(runs)!)).toBe(null);
      expect(run.restarts).toBe(0);
      return run.report!;
    } finally {
      await input.source.close();
    }
  }

  /** Calls `act` once `count` tasks are done; `acted` fulfils when it is through. */
  function whenDone(count: number, act: () => Promise<unknown> | unknown) {
    const { promise: acted, resolve } = Promise.withResolvers<unknown>();
    let isCalled = false;
    const onTasks = ({ done }: ClusterProgress) => {
      if (done < count || isCalled) return;
      isCalled = true;
      resolve((async () => await act())());
    };
    return { onTasks, acted };
  }

  test("queuing: what no worker has room for waits on the scheduler", async () => {
    const seen: GroupProgress[] = [];
    const onTasks = ({ groups }: ClusterProgress) => {
      const [, slabs] = Object.entries(groups).find(([name]) => /_slabs$/.test(name))!;
      seen.push(slabs);
    };
    await runOn(cluster, { onTasks });
    expect(Math.max(...seen.map(({ queued }) => queued))).toBeGreaterThan(SLABS / 4);
    // A worker of one thread is given two tasks: Dask rounds 1.1 up.
    for (const { processing } of seen) expect(processing).toBeLessThanOrEqual(4);
  });

  test("two runs at a time, of one program and of two", async () => {
    const one = [runOn(cluster), runOn(cluster)];
    const names = (await Promise.all(one)).map(namesIn);
    expect(names.map(({ length }) => length)).toEqual([1, 1]);
    expect(names[0]).not.toEqual(names[1]);
    await Promise.all([runOn(cluster), runOn(cluster, {}, { runs: other })]);
  });

  test("a run that is cancelled leaves the other one alone", async () => {
    const controller = new AbortController();
    const { onTasks, acted } = whenDone(5, () => controller.abort(new Error("enough")));
    const cancelled = runOn(cluster, { signal: controller.signal, onTasks });
    const kept = [runOn(cluster), runOn(cluster, {}, { runs: other })];
    await expect(cancelled).rejects.toThrow("enough");
    await acted;
    const done = await Promise.all(kept);
    for (const { workers } of done)
      for (const { job } of workers) expect(job.counters.executorRestarts).toBe(0);
    await runOn(cluster);
  });

  test("keys of tasks begin with the same name for the same run, and with others for other formulas, params and files", async () => {
    const keysOf = async (options: ClusterEvaluateOptions = {}, more: Parameters<typeof runOn>[2] = {}) =>
      keysIn(await runOn(cluster, options, more)).sort();
    const withParam = compile("param k = 1\na = ts_mean(volume, 3) * k", { operators: [patient], fields });
    const first = await keysOf({ params: { k: 2 } }, { runs: withParam });
    expect(first).toHaveLength(SLABS);
    expect(await keysOf({ params: { k: 2 } }, { runs: withParam })).toEqual(first);
    const changed = compile("param k = 1\na = ts_mean(volume, 4) * k", { operators: [patient], fields });
    const copy = join(folder, "copy.parquet");
    await writeTable(await panelTable(await readPanel(path)), copy);
    const others = [
      await keysOf({ params: { k: 3 } }, { runs: withParam }),
      await keysOf({ params: { k: 2 } }, { runs: changed }),
      await keysOf({ params: { k: 2 } }, { runs: withParam, panel: await openClusterPanel(copy) }),
    ];
    for (const keys of others) expect(keys.filter((key) => first.includes(key))).toEqual([]);
    // The same file, written again.
    await writeTable(await panelTable(syntheticPanel({ ...SHAPE, nullShare: 0.1 })), copy);
    const again = await keysOf(
      { params: { k: 2 } },
      { runs: withParam, panel: await openClusterPanel(copy) },
    );
    expect(again.filter((key) => others[2]!.includes(key))).toEqual([]);
  });

  test("a worker that joins in the middle takes part; resources and addresses say who may", async () => {
    const { onTasks, acted } = whenDone(5, () => dask.addWorker(["--resources", "BIG=1"]));
    waitPerRow(SLOW_MS);
    const running = runOn(await connect(dask), { onTasks });
    await acted;
    waitPerRow(2 * PATIENCE_MS);
    const tasks = tasksByWorker(await running);
    expect(tasks.size).toBe(3);
    for (const count of tasks.values()) expect(count).toBeGreaterThan(0);
    waitPerRow(0);

    const ofBig = tasksByWorker(await runOn(await connect(dask, { resources: { BIG: 1 } })));
    const [big, ...more] = [...ofBig].flatMap(([address, count]) => (count > 0 ? [address] : []));
    expect(more).toEqual([]);
    const [allowed, ...others] = [...ofBig.keys()].filter((address) => address !== big);
    const ofAllowed = tasksByWorker(await runOn(await connect(dask, { workers: [allowed!] })));
    expect(ofAllowed.get(allowed!)).toBe(SLABS);
    for (const address of [big, ...others]) expect(ofAllowed.get(address!)).toBe(0);
  });

  test("a worker that is retired in the middle loses nothing", async () => {
    const on = await connect(dask);
    const [first, ...rest] = on.info.workers.map(({ address }) => address).sort();
    const { onTasks, acted } = whenDone(5, () => retire(dask.address, first!));
    waitPerRow(SLOW_MS);
    const running = runOn(on, { onTasks });
    await acted;
    waitPerRow(0);
    const report = await running;
    expect(report.gone).toBe(1);
    expect([...tasksByWorker(report).keys()].sort()).toEqual(rest);
  });
});

function tasksByWorker({ workers }: ClusterReport): Map<string, number> {
  return new Map(workers.map(({ address, job }) => [address, job.counters.tasks]));
}

/** Keys of the tasks that a run was made of, without what tells runs of the same apart. */
function keysIn(report: ClusterReport): string[] {
  const [name] = namesIn(report);
  return traceOf(report).map((key) => key.replace(name!, name!.slice(0, -9)));
}

const traceOf = ({ workers }: ClusterReport) => workers.flatMap(({ job }) => job.trace.map(({ key }) => key));

/** What the names of a run's tasks begin with. */
function namesIn(report: ClusterReport): string[] {
  return [...new Set(traceOf(report).map((key) => /factorloom_[0-9a-f]{8}_[0-9a-f]{8}/.exec(key)![0]))];
}

/** Has the scheduler send a worker away, as operators do. */
async function retire(scheduler: string, worker: string): Promise<void> {
  const script = [
    "import sys",
    "from distributed import Client",
    "with Client(sys.argv[1], set_as_default=False) as client:",
    "    client.retire_workers([sys.argv[2]], close_workers=True)",
  ].join("\n");
  await promisify(execFile)(await findPython(), ["-c", script, scheduler, worker]);
}
