import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishedText } from "../../src/bench/open_formulas.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { JobCounters } from "../../src/cluster/bridge/bridge.ts";
import { Cluster, type ClusterPanel, openClusterPanel } from "../../src/cluster/client/cluster.ts";
import { startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile, type Program } from "../../src/compile.ts";
import type { FactorBlock } from "../../src/data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
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
  readonly onProgress?: (done: number, total: number) => void;
}

export interface AgainstLocalResult extends Omit<AgainstLocalOptions, "onProgress"> {
  readonly factors: number;
  /** From opening the Parquet file to the complete result in a Parquet file. */
  readonly localMs: number;
  /** Of the result, as doubles. */
  readonly resultBytes: number;
  readonly runs: readonly ClusterRunTime[];
}

export interface ClusterRunTime {
  /** Where the bars come from, and who writes the result. */
  readonly form: string;
  /** Of bars that the client brings: reading them and writing the file for the workers. */
  readonly conversionMs: number;
  /** From connecting to the complete result, without the conversion; the cluster was there. */
  readonly wallMs: number;
  readonly ratio: number;
  readonly tasks: number;
  /** Seconds in which executors were busy, summed. */
  readonly busySeconds: number;
}

const FORMS = [
  { form: "Parquet, workers write", file: "bars.parquet", isBrought: false, isDataset: true },
  { form: "CSV, workers write", file: "bars.csv", isBrought: true, isDataset: true },
  { form: "Parquet, the client writes", file: "bars.parquet", isBrought: false, isDataset: false },
];

/**
 * The same job on this machine's threads and on a loopback Dask cluster with as many workers: made-up bars in, Parquet out.
 *
 * @throws as `startLocalCluster` and `Cluster`.
 */
export async function measureAgainstLocal({
  onProgress,
  ...options
}: AgainstLocalOptions): Promise<AgainstLocalResult> {
  const { lanes, rows, formulas, workers } = options;
  const folder = await mkdtemp(join(tmpdir(), "factorloom-bench-"));
  try {
    const steps = 2 + FORMS.length;
    const groups = join(folder, "groups.csv");
    await writeBars(folder, groups, lanes, rows);
    const programOf = (source: PanelSource) =>
      compile(publishedText(formulas), {
        file: formulas,
        fields: [...source.fieldNames],
        groups: [...source.groupNames],
      });
    onProgress?.(1, steps);
    const localStart = performance.now();
    const source = await openPanelSource(join(folder, "bars.parquet"), { groups });
    const program = programOf(source);
    await runLocally(program, source, workers, join(folder, "local.parquet"));
    const localMs = performance.now() - localStart;
    const runs: ClusterRunTime[] = [];
    await using dask = await startLocalCluster({ workers });
    for (const [index, { form, file, isBrought, isDataset }] of FORMS.entries()) {
      onProgress?.(2 + index, steps);
      const opened = performance.now();
      const panel = await openClusterPanel(join(folder, file), { groups });
      const readMs = isBrought ? performance.now() - opened : 0;
      const out = join(folder, `out-${index}${isDataset ? "" : ".parquet"}`);
      const given = isBrought ? { ...panel, path: null } : panel;
      const { conversionMs, counters } = await runOnCluster(dask.address, program, given, out, isDataset);
      const wallMs = performance.now() - opened - readMs - conversionMs;
      await panel.source.close();
      await rm(out, { recursive: true });
      const sum = (of: (counted: JobCounters) => number) =>
        counters.reduce((total, each) => total + of(each), 0);
      runs.push({
        form,
        conversionMs: readMs + conversionMs,
        wallMs,
        ratio: wallMs / localMs,
        tasks: sum(({ tasks }) => tasks),
        busySeconds: sum(({ seconds }) => seconds),
      });
    }
    const resultBytes = Float64Array.BYTES_PER_ELEMENT * program.factors.length * lanes * rows;
    return { ...options, factors: program.factors.length, localMs, resultBytes, runs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnCluster(
  scheduler: string,
  program: Program,
  panel: ClusterPanel,
  out: string,
  isDataset: boolean,
): Promise<{ readonly conversionMs: number; readonly counters: readonly JobCounters[] }> {
  await using cluster = await Cluster.connect({ scheduler });
  const opened = performance.now();
  const run = await cluster.openRun(program, panel, {}, isDataset ? out : null);
  const conversionMs = panel.path === null ? performance.now() - opened : 0;
  if (isDataset) for await (const _ of run.blocks());
  else await writeBlocks(out, panel.source, program, run.blocks());
  return { conversionMs, counters: run.report!.workers.flatMap(({ job }) => job?.counters ?? []) };
}

async function writeBlocks(
  out: string,
  { time, symbols }: PanelSource,
  program: Program,
  blocks: AsyncIterable<FactorBlock>,
): Promise<void> {
  const writer = await openFactorWriter(out, {
    time,
    symbols,
    factors: program.factors.map(({ name }) => name),
  });
  for await (const block of blocks) await writer.append(block);
  await writer.commit();
}

/** Bars without gaps, and groups of some sizes. */
async function writeBars(folder: string, groups: string, lanes: number, rows: number): Promise<void> {
  const panel = syntheticPanel({ lanes, rows, nullShare: 0 });
  const { time, symbols, present, fields } = panel;
  const block = { rowCount: rows, times: time.values, present, columns: fields };
  const { table } = await factorTableOfBlocks({ time, symbols, factors: [...fields.keys()] }, [block]);
  for (const file of ["bars.parquet", "bars.csv"]) await writeTable(table, join(folder, file));
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
  await writeBlocks(out, source, program, stream.blocks());
  await source.close();
}
