import { bringPanel } from "../../../src/cluster/client/panel_tiles.ts";
import type { PreparedJob } from "../../../src/cluster/cut/cluster_job.ts";
import { TaskRunner } from "../../../src/cluster/executor/task_runner.ts";
import { packJob, unpackJob } from "../../../src/cluster/protocol/job_bytes.ts";
import type { TaskGraph } from "../../../src/cluster/protocol/protocol.ts";
import { blockCount, rowsOfBlock, rowsOfSlab, slabCount } from "../../../src/cluster/protocol/tiles.ts";
import { ResultReader } from "../../../src/cluster/results/result_reader.ts";
import type { FactorBlock } from "../../../src/data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../../src/data/factors/factor_table.ts";
import type { openPanelSource } from "../../../src/data/source/open_panel_source.ts";
import { PanelRows } from "../../../src/data/source/panel_rows.ts";

type Value = Uint8Array | readonly Value[] | null;

/** How a graph is run here: executors in this thread that take turns, and what its table keeps. */
export interface GraphRunOptions {
  readonly executorCount?: number;
  readonly keepInfinite?: boolean;
}

/**
 * Runs a graph task by task as Dask would.
 *
 * @throws Error if a task comes before one that it depends on; as the tasks themselves.
 */
export async function runGraph(
  { job, call }: PreparedJob,
  graph: TaskGraph,
  prefix: string,
  source: Awaited<ReturnType<typeof openPanelSource>>,
  { executorCount = 2, keepInfinite = false }: GraphRunOptions = {},
) {
  const values = new Map<string, Value>();
  const put = async (
    pieces: readonly { key: readonly (string | number)[]; buffers: readonly Uint8Array[] }[],
  ) => {
    for (const { key, buffers } of pieces)
      values.set(
        key.join(" "),
        buffers.map((buffer) => buffer.slice()),
      );
  };
  if (job.source.path === null) await bringPanel(source, job, prefix, { put }, undefined);
  const { bytes, digest } = packJob(job);
  const runners = Array.from(
    { length: executorCount },
    () =>
      new TaskRunner(unpackJob(bytes, digest), (path, options, shape) =>
        PanelRows.open(path, options, shape),
      ),
  );
  try {
    let turn = 0;
    for (const { key, work, dependencies } of graph.tasks) {
      const deps = dependencies.map((dependency) => {
        const name = dependency.join(" ");
        if (!values.has(name)) throw new Error(`${key.join(" ")} comes before ${name}`);
        return values.get(name)!;
      });
      let value: Value = null;
      if (work.kind === "run") {
        const buffers = work.buffers.map((path) =>
          path.reduce<Value>((from, index) => (from as Value[])[index]!, deps),
        );
        const runner = runners[turn++ % executorCount]!;
        const answer = await runner.run(work.task, buffers as Uint8Array[]);
        const { counts } = answer.report;
        value = answer.buffers.map((buffer) => buffer.slice());
        if (counts) value = [...value, Buffer.from(JSON.stringify(counts))];
      } else if (work.kind === "merge") value = deps.map((dep) => (dep as Value[]).slice(work.from, work.to));
      else if (work.kind === "pick") value = (deps[0] as Value[])[work.index]!;
      values.set(key.join(" "), value);
    }
  } finally {
    for (const runner of runners) await runner.close();
  }
  async function* blocks(): AsyncGenerator<FactorBlock> {
    const reader = new ResultReader(job);
    let index = 0;
    for (let slab = 0; slab < slabCount(job.partition); slab++) {
      const count = job.warmUpRows === null ? blockCount(job.partition, slab) : 1;
      for (let block = 0; block < count; block++) {
        const rows =
          job.warmUpRows === null ? rowsOfBlock(job.partition, slab, block) : rowsOfSlab(job.partition, slab);
        const name = graph.results[index++]!.join(" ");
        yield* reader.read(slab, block, rows, values.get(name) as Uint8Array[]);
      }
    }
  }
  const { time, symbols } = job.source;
  const columns = { time, symbols, factors: call.wanted.factors.map(({ name }) => name) };
  return (await factorTableOfBlocks(columns, blocks(), { keepInfinite })).table;
}
