import { expect, test } from "vitest";
import { type GraphOptions, RunGraph } from "../../../src/cluster/cut/task_graph.ts";
import type { ClusterJob, Share, TaskGraph } from "../../../src/cluster/protocol/protocol.ts";

const FINITE: Share = { factors: ["a"], warmUpRows: 5 };
const OTHER: Share = { factors: ["b", "c"], warmUpRows: 9 };
const HISTORY: Share = { factors: ["d"], warmUpRows: null };

/** Slabs of 10, 10 and 5 rows in chunks of 4: three, three and two. */
function graphOf(
  shares: readonly Share[],
  dataset: string | null,
  options: Partial<GraphOptions> = {},
): RunGraph {
  const job = {
    cut: { slabRows: [20, 30, 40, 45], chunkRows: 4, shares },
    factors: shares.flatMap(({ factors }) => factors),
    source: { symbols: ["x", "y"] },
    outputRows: [20, 45],
    dataset,
  };
  return new RunGraph(job as unknown as ClusterJob, {
    prefix: "run",
    rowNs: shares.map(() => 1e9),
    ...options,
  });
}

/** Each task as `name work <- what it reads @urgency`. */
function linesOf({ tasks }: TaskGraph): string[] {
  const name = ([group, ...indices]: readonly unknown[]) => `${group}/${indices.join("/")}`;
  return tasks.map(({ key, work, dependencies, urgency }) => {
    const did = work.kind === "pick" ? work.index : work.task.kind;
    return `${name(key)} ${did} <- ${dependencies.map(name).join(" ")} @${Math.round(100 * urgency) / 100}`;
  });
}

const namesOf = ({ results }: TaskGraph) => results.map((key) => key.join("/"));

test("one share of a dataset writes its parts itself", () => {
  const graph = graphOf([FINITE], "out").dataset();
  expect(linesOf(graph)).toEqual([
    "run_slabs/0/0 slab <-  @0",
    "run_slabs/0/1 slab <-  @-1",
    "run_slabs/0/2 slab <-  @-2",
  ]);
  expect(namesOf(graph)).toEqual(["run_slabs/0/0", "run_slabs/0/1", "run_slabs/0/2"]);
});

test("several shares of a dataset are joined slab by slab, also one over all rows", () => {
  const joined = graphOf([HISTORY, FINITE], "out").dataset();
  expect(linesOf(joined)).toEqual([
    "run_history/0 history <-  @1",
    "run_slabs/1/0 slab <-  @-0.5",
    "run_joins/0 join <- run_history/0 run_slabs/1/0 @0",
    "run_slabs/1/1 slab <-  @-1.5",
    "run_joins/1 join <- run_history/0 run_slabs/1/1 @-1",
    "run_slabs/1/2 slab <-  @-2.5",
    "run_joins/2 join <- run_history/0 run_slabs/1/2 @-2",
  ]);
  expect(namesOf(joined)).toEqual(["run_joins/0", "run_joins/1", "run_joins/2"]);
  expect(linesOf(graphOf([HISTORY], "out").dataset())).toHaveLength(1 + 3);
});

test("chunks are taken out of the values of a slab and of all rows", () => {
  const run = graphOf([HISTORY, FINITE, OTHER], null);
  expect(linesOf(run.histories())).toEqual(["run_history/0 history <-  @1"]);
  expect(namesOf(run.histories())).toEqual(["run_history/0"]);
  const graph = run.slabs(1, 2);
  expect(linesOf(graph)).toEqual([
    "run_slabs/1/1 slab <-  @-1.33",
    "run_slabs/2/1 slab <-  @-1.67",
    // The first slab has three chunks.
    "run_chunks/0/1/0 3 <- run_history/0 @-1",
    "run_chunks/1/1/0 0 <- run_slabs/1/1 @-1",
    "run_chunks/2/1/0 0 <- run_slabs/2/1 @-1",
    "run_chunks/0/1/1 4 <- run_history/0 @-1",
    "run_chunks/1/1/1 1 <- run_slabs/1/1 @-1",
    "run_chunks/2/1/1 1 <- run_slabs/2/1 @-1",
    "run_chunks/0/1/2 5 <- run_history/0 @-1",
    "run_chunks/1/1/2 2 <- run_slabs/1/1 @-1",
    "run_chunks/2/1/2 2 <- run_slabs/2/1 @-1",
  ]);
  // The values themselves are released once their chunks are taken.
  expect(namesOf(graph)).toEqual(
    graph.tasks.flatMap(({ key, work }) => (work.kind === "pick" ? [key.join("/")] : [])),
  );
  expect(run.slabs(1, 3).tasks).toEqual([...graph.tasks, ...run.slabs(2, 3).tasks]);
  expect(run.places.slice(-2)).toEqual([
    { slab: 2, chunk: 0, index: 6, first: 40, end: 44 },
    { slab: 2, chunk: 1, index: 7, first: 44, end: 45 },
  ]);
  expect(run.chunkKey(0, run.places[7]!)).toEqual(["run_chunks", 0, 2, 1]);
  expect(linesOf(run.slabs(2, 3)).filter((line) => line.startsWith("run_chunks/0"))).toEqual([
    "run_chunks/0/2/0 6 <- run_history/0 @-2",
    "run_chunks/0/2/1 7 <- run_history/0 @-2",
  ]);
});

test("tasks have 50 times their estimate, at least two minutes, or what the caller says", () => {
  const deadlines = (options: Partial<GraphOptions>) =>
    graphOf([HISTORY, FINITE], "out", options)
      .dataset()
      .tasks.map(({ deadlineSeconds }) => Math.round(deadlineSeconds));
  // 45 rows; 15 and 10 rows with those before.
  expect(deadlines({ rowNs: [1e9, 1e9] })).toEqual([2250, 750, 120, 750, 120, 500, 120]);
  expect(new Set(deadlines({ taskTimeoutSeconds: 7 }))).toEqual(new Set([7]));
});

test("priority, resources and workers go with each graph", () => {
  const where = { priority: 3, resources: { GPU: 1 }, workers: ["w"] };
  const run = graphOf([HISTORY, FINITE], null, where);
  for (const graph of [run.dataset(), run.histories(), run.slabs(0, 1)]) expect(graph).toMatchObject(where);
});
