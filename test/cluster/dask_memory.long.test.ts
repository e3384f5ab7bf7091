import { createHash, type Hash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster, type ClusterPanel, openClusterPanel } from "../../src/cluster/client/cluster.ts";
import { compile } from "../../src/compile.ts";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { Engine } from "../../src/engine.ts";
import { fileFolder } from "../support/file_folder.ts";
import { hasDask } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { PeakMemory } from "./support/peak_memory.ts";
import { ProcessCluster } from "./support/processes/process_cluster.ts";

/**
 * A panel of twice the memory of all workers, which stay below their limits: values are cut to fit, and the client submits
 * no more than a share of the workers' memory ahead. Resident sizes are read from /proc, so it runs on Linux only.
 */
const LIMIT_BYTES = 240e6;
const WORKERS = 2;
/** Of Dask's processes alone: an executor takes more than that. */
const CONFIG = { FACTORLOOM_MEMORY_PAUSE: "0", FACTORLOOM_MEMORY_TERMINATE: "0" };
const SHAPE = { lanes: 500, rows: 30_000 };
const FIELDS = ["open", "high", "low", "close", "volume", "vwap", "amount", "cap"];
/** Node with the code of an executor, DuckDB, the columns and the result of a task. */
const EXECUTOR_BYTES_MAX = 700e6;

const program = compile(`slow = ts_mean(close, 20) + rank(high - low)
fast = rank(ts_mean(volume, 10) - amount) * rank(delay(open, 5) / vwap)
size = ts_mean(rank(cap), 30)`);
const endless = compile("endless = ema(close, 10)");
const FACTORS = ["slow", "fast", "size"];

describe.runIf(process.platform === "linux" && (await hasDask()))(
  "a panel of twice the workers' memory",
  () => {
    const folder = fileFolder();
    let path: string;
    let expected: readonly string[];
    let dask: ProcessCluster;
    let cluster: Cluster;
    beforeAll(async () => {
      path = join(folder, "panel.parquet");
      await writePanel(path);
      expected = await expectedDigests(path);
      dask = await ProcessCluster.start({
        workers: WORKERS,
        memoryLimit: String(LIMIT_BYTES),
        config: CONFIG,
      });
      cluster = await Cluster.connect({ scheduler: dask.address, timeoutSeconds: PATIENCE_SECONDS });
    });
    afterAll(async () => {
      await cluster?.close();
      await dask?.close();
    });

    const panelBytes = SHAPE.lanes * SHAPE.rows * FIELDS.length * Float64Array.BYTES_PER_ELEMENT;

    /** Runs the program; gives what the workers did, and the peaks of processes. */
    async function runOn(
      on: Cluster,
      panel: ClusterPanel,
      { dataset = null }: { dataset?: string | null } = {},
    ) {
      expect(panelBytes).toBeGreaterThanOrEqual(2 * WORKERS * LIMIT_BYTES);
      const peak = await PeakMemory.start(dask);
      const digests = new Digests();
      try {
        const run = await on.openRun(program, panel, {}, dataset);
        for await (const { columns } of run.blocks())
          for (const [index, name] of FACTORS.entries()) digests.add(index, columns.get(name)!);
        if (dataset === null) expect(digests.finish()).toEqual(expected);
        expect(run.restarts).toBe(0);
        expect(run.report!.gone, "no worker was killed").toBe(0);
        const { worker, executor } = peak.stop();
        expect(worker).toBeLessThan(LIMIT_BYTES);
        expect(executor).toBeLessThan(EXECUTOR_BYTES_MAX);
      } finally {
        peak.stop();
      }
    }

    test.each(["that workers read", "that the client brings"])("%s, results to the client", async (whose) => {
      const panel = await openClusterPanel(path);
      try {
        await runOn(cluster, whose === "that workers read" ? panel : { ...panel, path: null });
        await expect(cluster.openRun(endless, panel)).rejects.toThrow("E639");
      } finally {
        await panel.source.close();
      }
    });

    test("results as a dataset, also of a factor without end", async () => {
      const panel = await openClusterPanel(path);
      const dataset = join(folder, "dataset");
      try {
        await runOn(cluster, panel, { dataset });
        expect(await digestsOf(dataset)).toEqual(expected);
        const run = await cluster.openRun(endless, panel, {}, join(folder, "endless"));
        for await (const _ of run.blocks());
        expect(run.counts.rowCount).toBe(SHAPE.lanes * SHAPE.rows);
      } finally {
        await panel.source.close();
      }
    });
  },
);

/** A digest of the bits of each factor, in the order of rows; null counts as one NaN. */
class Digests {
  readonly #hashes: readonly Hash[] = FACTORS.map(() => createHash("sha1"));

  add(factor: number, values: Float64Array): void {
    const copy = Float64Array.from(values, (value) => (Number.isNaN(value) ? Number.NaN : value));
    this.#hashes[factor]!.update(new Uint8Array(copy.buffer));
  }

  finish(): readonly string[] {
    return this.#hashes.map((hash) => hash.digest("hex"));
  }
}

async function expectedDigests(path: string): Promise<readonly string[]> {
  await using engine = await Engine.start({ threads: 2 });
  const source = await openPanelSource(path);
  const digests = new Digests();
  try {
    for await (const batch of engine.stream(program, source)) {
      for (const [index, name] of FACTORS.entries()) {
        const column = batch.getChild(name)!;
        const values = Float64Array.from(column.data[0]!.values as Float64Array);
        if (column.nullCount > 0)
          for (let line = 0; line < values.length; line++)
            if (!column.isValid(line)) values[line] = Number.NaN;
        digests.add(index, values);
      }
    }
  } finally {
    await source.close();
  }
  return digests.finish();
}

/** Of a table that is as dense as the panel. */
async function digestsOf(path: string): Promise<readonly string[]> {
  const source = await openPanelSource(path);
  const digests = new Digests();
  try {
    for await (const { fields, rowCount } of source.blocks({ fields: FACTORS, groups: [], blockRows: 500 }))
      for (const [index, name] of FACTORS.entries())
        digests.add(index, fields.get(name)!.subarray(0, rowCount * SHAPE.lanes));
  } finally {
    await source.close();
  }
  return digests.finish();
}

/** Made-up values, each of its row, lane and field alone. */
async function writePanel(path: string): Promise<void> {
  using database = await openDatabase({ memoryBytes: 512 * 2 ** 20 });
  const columns = FIELDS.map((name, field) => `((i * ${7919 + 2 * field}) % 10007 + 1) / 100.0 AS ${name}`);
  await database.connection.run(`
    COPY (
      SELECT TIMESTAMP '2020-01-01' + to_minutes(row) AS time, 'S' || (1000 + lane) AS symbol, ${columns.join(", ")}
      FROM (SELECT i, i // ${SHAPE.lanes} AS row, i % ${SHAPE.lanes} AS lane
            FROM range(${SHAPE.lanes * SHAPE.rows}) AS cells(i))
    ) TO '${path}' (FORMAT parquet)`);
}
