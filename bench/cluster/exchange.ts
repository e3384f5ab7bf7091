import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInRegistry } from "../../operators/index.ts";
import { Bridge } from "../../src/cluster/bridge/bridge.ts";
import { findPython } from "../../src/cluster/bridge/python.ts";
import { prepareJob } from "../../src/cluster/cut/cluster_job.ts";
import { buildTaskGraph } from "../../src/cluster/cut/task_graph.ts";
import { installExecutors } from "../../src/cluster/deploy/install_executors.ts";
import { startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { packJob } from "../../src/cluster/protocol/job_bytes.ts";
import type { ClusterJob, GraphTask, TaskGraph } from "../../src/cluster/protocol/protocol.ts";
import { compile } from "../../src/compile.ts";
import type { PanelSource } from "../../src/data/panel/panel_source.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";

export interface ExchangeOptions {
  readonly shards: number;
  readonly blocks: number;
  /** Of a tile. */
  readonly mebibytes: number;
  readonly workers: number;
  /** Folder of the tiles. */
  readonly store: string;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ExchangeResult extends Omit<ExchangeOptions, "onProgress"> {
  readonly tasks: number;
  /** From the graph's submission to its last task, the executors being warm. */
  readonly wallMs: number;
  /** Summed over the tasks: with reading and writing tiles. */
  readonly taskMs: number;
  readonly movedBytes: number;
}

/** Runs before the one that is measured: executors compile, and the memory of the tiles is there. */
const WARM_UPS = 1;
const SHARD_LANES = 32;
/** Series of a tile: the second stage reads all of them, and leaves one. */
const SERIES = 4;

/**
 * What an exchange costs: every shard of lanes leaves a tile of four smoothed series, and every block of rows reads its
 * piece of each and leaves one series.
 *
 * @throws as `startLocalCluster`.
 */
export async function measureExchange({ onProgress, ...options }: ExchangeOptions): Promise<ExchangeResult> {
  const own = await mkdtemp(join(tmpdir(), "factorloom-exchange-"));
  await using cluster = await startLocalCluster({ workers: options.workers });
  const bridge = await Bridge.start({ python: (await findPython()).path });
  const folder = join(options.store, "factorloom-exchange");
  try {
    await bridge.connect(cluster.address, { timeoutSeconds: 30 });
    await installExecutors(bridge, null, 30);
    let result: ExchangeResult | null = null;
    const digests: string[] = [];
    for (let run = 0; run <= WARM_UPS; run++) {
      onProgress?.(run, WARM_UPS + 1);
      await mkdir(folder, { recursive: true });
      // Another number, and it is another job, with counts of its own.
      const job = await exchangeJob(options, folder, own, run);
      const { digest, bytes } = packJob(job);
      await bridge.addJob(digest, bytes);
      digests.push(digest);
      result = { ...options, ...(await runOnce(bridge, job, digest, `run${run}`)) };
      await rm(folder, { recursive: true, force: true });
    }
    // The last job takes the executors with it.
    for (const digest of digests) await bridge.removeJob(digest);
    return result!;
  } finally {
    await bridge.close();
    await rm(folder, { recursive: true, force: true });
    await rm(own, { recursive: true, force: true });
  }
}

async function runOnce(bridge: Bridge, job: ClusterJob, digest: string, prefix: string) {
  const whole = buildTaskGraph(job, { prefix, costNs: () => 5e6 });
  const graph = twoStages(whole, prefix);
  const started = performance.now();
  await bridge.submit(digest, graph);
  await Promise.all(graph.results.map((key) => bridge.gather(key, { isEmpty: true })));
  const wallMs = performance.now() - started;
  const { workers } = await bridge.workers(digest);
  const counters = workers.flatMap(({ job: ofJob }) => ofJob?.counters ?? []);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    tasks: graph.tasks.length,
    wallMs,
    taskMs: 1000 * sum(counters.map(({ seconds }) => seconds)),
    movedBytes: sum(counters.map(({ bytesRead, bytesWritten }) => bytesRead + bytesWritten)),
  };
}

/** The two stages alone: no results are gathered. */
function twoStages({ tasks }: TaskGraph, prefix: string): TaskGraph {
  const isOf =
    (stage: string) =>
    ({ key: [group] }: GraphTask) =>
      group.startsWith(`${prefix}_${stage}`);
  const last = tasks.filter(isOf("stage1-"));
  return { tasks: [...tasks.filter(isOf("stage0")), ...last], results: last.map(({ key }) => key) };
}

/** A job whose first stage reads nothing but a number per row: there is no panel. */
async function exchangeJob(
  { shards, blocks, mebibytes }: ExchangeOptions,
  folder: string,
  own: string,
  tick: number,
): Promise<ClusterJob> {
  const rowCount = (mebibytes * 2 ** 20) / (8 * SHARD_LANES * SERIES);
  const laneCount = shards * SHARD_LANES;
  const times = BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row));
  const source: PanelSource = {
    rowCount,
    laneCount,
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${String(lane).padStart(6, "0")}`),
    time: { name: "time", type: { kind: "integer", bits: 64 }, values: times },
    fieldNames: [],
    groupNames: [],
    blocks: () => {
      throw new Error("there is no panel");
    },
    close: async () => {},
  };
  const text =
    "param tick = 2\nx = rank(ema(tick, 3)) + demean(ema(tick, 5)) * demean(ema(tick, 8)) - zscore(ema(tick, 13))";
  const program = compile(text, { fields: [] });
  const { job } = await prepareJob({
    // The graph as it is written: every instrument has a row, nobody has to ask the panel who counts.
    program: { ...program, stages: program.stages.slice(0, 1) },
    registry: builtInRegistry,
    source,
    path: own,
    sourceOptions: {},
    options: { params: { tick } },
    costs: DEFAULT_COSTS,
    threadCount: 2,
    folder,
    dataset: null,
    cut: "stages",
    partition: { shardLanes: SHARD_LANES, slabRows: rowCount, blockRows: Math.ceil(rowCount / blocks) },
  });
  return job;
}
