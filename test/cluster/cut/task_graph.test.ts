import { describe, expect, test } from "vitest";
import { choosePartition, type PartitionSpec } from "../../../src/cluster/cut/partition.ts";
import { buildTaskGraph } from "../../../src/cluster/cut/task_graph.ts";
import type { GraphTask } from "../../../src/cluster/protocol/protocol.ts";
import { jobOf, wanderingPanel } from "../hand_made_job.ts";

const panel = wanderingPanel(40, 12);
const partition = { shardLanes: 4, slabRows: [0, 20, 40], blockRows: 5 };
const stages = [
  { kind: "lanes", text: "a = ts_sum(close, 3)" },
  { kind: "rows", text: "b = rank(x)", imports: { x: { stage: 0, series: 0 } } },
] as const;

const graphOf = (changes: Parameters<typeof jobOf>[1] | object = {}) =>
  buildTaskGraph(jobOf(panel, { stages, partition, ...changes }), { prefix: "p", costNs: () => 1e6 });
const named = (tasks: readonly GraphTask[], name: string) => tasks.filter(({ key }) => key[0] === name);

describe("the graph of a run", () => {
  test("tiles as files: who reads across a border waits for all who wrote", () => {
    const { tasks, results } = graphOf({ exchange: "store", folder: "/store" });
    // Of each slab: 4 reads, 3 shards, 4 blocks, 4 results, and barriers for the panel and the first stage.
    expect(tasks.length).toBe(2 * (4 + 3 + 4 + 4 + 2));
    expect(results.length).toBe(8);
    const [barrier] = named(tasks, "p_stage0_all-t000000");
    expect(barrier!.dependencies).toEqual([0, 1, 2].map((part) => ["p_stage0-t000000", part]));
    for (const { dependencies } of named(tasks, "p_stage1-t000000"))
      expect(dependencies).toEqual([barrier!.key]);
  });

  test("tiles as values: regrouped in two steps, every piece on one way", () => {
    const { tasks } = graphOf();
    const merges = named(tasks, "p_stage0_merge-t000001");
    // Three shards in two groups, four blocks in two.
    expect(merges.length).toBe(4);
    const moved = merges.flatMap(({ work, dependencies }) =>
      work.kind === "merge" ? dependencies.map(([, shard]) => `${shard}: ${work.from} to ${work.to}`) : [],
    );
    expect(moved.sort()).toEqual([
      "0: 0 to 2",
      "0: 2 to 4",
      "1: 0 to 2",
      "1: 2 to 4",
      "2: 0 to 2",
      "2: 2 to 4",
    ]);
  });

  test("tasks come after what they depend on, keys are their own, earlier slabs are more urgent", () => {
    for (const exchange of ["store", "memory"] as const) {
      const { tasks } = graphOf({ exchange, folder: exchange === "store" ? "/store" : null });
      const seen = new Set<string>();
      for (const { key, dependencies } of tasks) {
        for (const dependency of dependencies) expect(seen, key.join()).toContain(dependency.join());
        expect(seen).not.toContain(key.join());
        seen.add(key.join());
      }
      const urgencies = (slab: string) =>
        tasks.filter(({ key }) => key[0].endsWith(slab)).map(({ urgency }) => urgency);
      expect(Math.min(...urgencies("t000000"))).toBeGreaterThan(Math.max(...urgencies("t000001")));
      const [read] = named(tasks, "p_panel-t000000");
      const [result] = named(tasks, "p_results-t000000");
      expect(read!.urgency, "the longest way to the results").toBeGreaterThan(result!.urgency);
    }
  });

  test("a shard asks for the same worker in every slab, neighbours for the same one", () => {
    const homes = (slabRows: readonly number[]) =>
      graphOf({ partition: { ...partition, slabRows } })
        .tasks.filter(({ preferredWorker }) => preferredWorker !== null)
        .map(({ key, preferredWorker }) => [key[0], preferredWorker]);
    const [third, twoThirds] = [1 / 3, 2 / 3];
    expect(homes([0, 20, 40])).toEqual(
      ["p_stage0-t000000", "p_stage0-t000001"].flatMap((name) =>
        [0, third, twoThirds].map((preferredWorker) => [name, preferredWorker]),
      ),
    );
    expect(homes([0, 40]), "nothing is carried from slab to slab").toEqual([]);
  });
});

describe("the partition", () => {
  const spec: PartitionSpec = {
    laneCount: 4096,
    rowCount: 1000,
    threadCount: 4,
    stages: [
      { kind: "lanes", nsPerCell: 2000, exportCount: 100, importCount: 5 },
      { kind: "rows", nsPerCell: 1000, exportCount: 50, importCount: 100 },
    ],
    windowRows: 20,
    panelSeries: 5,
    factorCount: 100,
    slabBytesMax: 2 ** 40,
    taskBytesMax: 2 ** 40,
  };

  test("gives tasks of 50 ms to 1 s, at least three of each stage for every thread", () => {
    const { shardCount, shardLanes, blockRows, slabRows } = choosePartition(spec);
    expect(slabRows).toEqual([0, 1000]);
    const shardSeconds = 1e-9 * 2315 * shardLanes * 1000;
    const blockSeconds = 1e-9 * 1450 * 4096 * blockRows;
    for (const seconds of [shardSeconds, blockSeconds]) {
      expect(seconds).toBeGreaterThan(0.05);
      expect(seconds).toBeLessThan(1);
    }
    expect(shardCount).toBeGreaterThanOrEqual(12);
    expect(Math.ceil(1000 / blockRows)).toBeGreaterThanOrEqual(12);
  });

  test("cuts history into slabs where tiles do not fit, of whole blocks, long against windows", () => {
    const { slabRows, blockRows } = choosePartition({ ...spec, slabBytesMax: 2 ** 30 });
    expect(slabRows.length).toBeGreaterThan(2);
    const lengths = slabRows.slice(1).map((end, slab) => end - slabRows[slab]!);
    for (const length of lengths.slice(0, -1)) {
      expect(length % blockRows).toBe(0);
      expect(length).toBeGreaterThanOrEqual(8 * spec.windowRows);
    }
  });

  test("little work is few tasks; one lane and one row are one", () => {
    const small = choosePartition({ ...spec, laneCount: 10, rowCount: 20 });
    expect([small.shardCount, small.slabRows, small.blockRows]).toEqual([1, [0, 20], 20]);
    const { shardCount, slabRows } = choosePartition({ ...spec, laneCount: 1, rowCount: 1 });
    expect([shardCount, slabRows]).toEqual([1, [0, 1]]);
  });
});
