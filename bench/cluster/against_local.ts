import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishedText } from "../../src/bench/open_formulas.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { JobCounters } from "../../src/cluster/bridge/bridge.ts";
import { Cluster, openClusterPanel } from "../../src/cluster/client/cluster.ts";
import type { CutChoice } from "../../src/cluster/cut/cluster_job.ts";
import { startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile, type Program } from "../../src/compile.ts";
import { factorTable } from "../../src/data/factors/factor_table.ts";
import type { PanelSource } from "../../src/data/panel/panel_source.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { openFactorWriter } from "../../src/data/write/factor_writer.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";

export interface AgainstLocalOptions {
  readonly lanes: number;
  readonly rows: number;
  /** Name of a published set, e.g. `alpha101`. */
  readonly formulas: string;
  /** Workers with one thread each; as many threads locally. */
  readonly workers: number;
  readonly store: string;
  readonly cuts: readonly CutChoice[];
  readonly onProgress?: (done: number, total: number) => void;
}

export interface AgainstLocalResult extends Omit<AgainstLocalOptions, "onProgress" | "cuts"> {
  readonly factors: number;
  /** From opening the file to the complete result in a Parquet file. */
  readonly localMs: number;
  readonly runs: readonly ClusterRunTime[];
}

export interface ClusterRunTime {
  readonly cut: CutChoice;
  /** From connecting to the complete Parquet dataset; the cluster was there. */
  readonly wallMs: number;
  readonly ratio: number;
  readonly tasks: number;
  /** Seconds in which executors were busy, summed. */
  readonly busySeconds: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/**
 * The same job on this machine's threads and on a loopback Dask cluster with as many workers: a Parquet file of made-up
 * bars in, Parquet out.
 *
 * @throws as `startLocalCluster` and `Cluster`.
 */
export async function measureAgainstLocal({
  onProgress,
  cuts,
  ...options
}: AgainstLocalOptions): Promise<AgainstLocalResult> {
  const { lanes, rows, formulas, workers, store } = options;
  const folder = await mkdtemp(join(tmpdir(), "factorloom-bench-"));
  try {
    const steps = 2 + cuts.length;
    const path = join(folder, "bars.parquet");
    const groups = join(folder, "groups.csv");
    await writeBars(path, groups, lanes, rows);
    const opened = async () => {
      const source = await openPanelSource(path, { groups });
      const program = compile(publishedText(formulas), {
        file: formulas,
        fields: [...source.fieldNames],
        groups: [...source.groupNames],
      });
      return { source, program };
    };
    onProgress?.(1, steps);
    const localStart = performance.now();
    const { source, program } = await opened();
    await runLocally(program, source, workers, join(folder, "local.parquet"));
    const localMs = performance.now() - localStart;
    const runs: ClusterRunTime[] = [];
    await using dask = await startLocalCluster({ workers });
    for (const [index, cut] of cuts.entries()) {
      onProgress?.(2 + index, steps);
      const started = performance.now();
      const panel = await openClusterPanel(path, { groups });
      await using cluster = await Cluster.connect({ scheduler: dask.address, store });
      const run = await cluster.openRun(program, panel, { cut }, join(folder, `dataset-${cut}`));
      for await (const _ of run.blocks());
      const wallMs = performance.now() - started;
      await panel.source.close();
      const counters = run.report!.workers.flatMap(({ job }) => job?.counters ?? []);
      const sum = (of: (counted: JobCounters) => number) =>
        counters.reduce((total, each) => total + of(each), 0);
      runs.push({
        cut,
        wallMs,
        ratio: wallMs / localMs,
        tasks: sum(({ tasks }) => tasks),
        busySeconds: sum(({ seconds }) => seconds),
        bytesRead: sum(({ bytesRead }) => bytesRead),
        bytesWritten: sum(({ bytesWritten }) => bytesWritten),
      });
    }
    return { ...options, factors: program.factors.length, localMs, runs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Bars without gaps, and groups of some sizes. */
async function writeBars(path: string, groups: string, lanes: number, rows: number): Promise<void> {
  const panel = syntheticPanel({ lanes, rows, nullShare: 0 });
  const columns = [...panel.fields].map(([name, values]) => ({ name, values }));
  const { table } = await factorTable(panel, columns);
  await writeTable(table, path);
  const lines = panel.symbols.map((symbol, lane) => `${symbol},s${lane % 11},i${lane % 67},u${lane % 150}`);
  await writeFile(groups, `symbol,sector,industry,subindustry\n${lines.join("\n")}\n`);
}

async function runLocally(
  program: Program,
  source: PanelSource,
  threads: number,
  out: string,
): Promise<void> {
  await using engine = await Engine.start({ threads });
  const stream = await engine.openStream(program, source);
  const { time, symbols } = source;
  const factors = stream.wanted.factors.map(({ name }) => name);
  const writer = await openFactorWriter(out, { time, symbols, factors });
  for await (const block of stream.blocks()) await writer.append(block);
  await writer.commit();
  await source.close();
}
