import { describe, expect, test } from "vitest";
import { figuresOf } from "../../bench/simulation/figures.ts";
import { firstInFirstOut } from "../../bench/simulation/orders.ts";
import { simulate } from "../../bench/simulation/simulate.ts";
import type { Simulation, SimulationOptions } from "../../bench/simulation/simulation.ts";
import type { SchedulerOptions } from "../../src/schedule/scheduler.ts";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Executors get one part at a time. */
const SHALLOW: SchedulerOptions = { queueNs: 0, queuePartsMin: 1 };

/** Messages and the scheduler take no time. */
function run(graph: DrawnGraph, executors: number, scheduler: SchedulerOptions, blocks = 1): Simulation {
  return simulate(graph.nodes, timeless(executors, scheduler, blocks));
}

function timeless(executors: number, scheduler: SchedulerOptions, blocks = 1): SimulationOptions {
  return {
    executors,
    blocks,
    scheduler,
    machine: { wakeNs: 0, busyNs: 0, mainNs: 0, eventNs: 0, handOutNs: 0, slower: 1 },
  };
}

function namesOf({ names, nodes }: DrawnGraph, { parts }: Simulation): string[] {
  return parts.map(({ node, part }) =>
    nodes[node]!.partCount > 1 ? `${names[node]}/${part}` : names[node]!,
  );
}

/** The start order on one executor that gets one part at a time; the same for any assignment of ids. */
function startOrder(drawing: Drawing): string {
  const orders = SEEDS.map((seed) => {
    const graph = new DrawnGraph(drawing, seed);
    return namesOf(graph, run(graph, 1, SHALLOW)).join(" ");
  });
  expect(new Set(orders)).toHaveLength(1);
  return orders[0]!;
}

describe("which ready node goes first", () => {
  test("the head of the longest path, though it is cheap itself", () => {
    //   a1 - b20        a weighs 21, c weighs 10: b must not wait behind c
    //   c10
    const drawing = {
      a: {},
      b: { inputs: ["a"], cost: 20 },
      c: { cost: 10 },
    };
    expect(startOrder(drawing)).toBe("a b c");
  });

  test("every node of a diamond waits for all that it reads", () => {
    //       b3
    //     /    \
    //   a        d     b before c by weight; d after both
    //     \    /
    //       c2
    const drawing = {
      a: {},
      b: { inputs: ["a"], cost: 3 },
      c: { inputs: ["a"], cost: 2 },
      d: { inputs: ["b", "c"] },
    };
    expect(startOrder(drawing)).toBe("a b c d");
  });

  test("of equal weights, the one that lets more columns go", () => {
    //   a1 - c2         c is the last reader of a and of b; d, of the same weight, leaves e's reader g to come
    //   b1 /
    //   e1 - d2         f9 keeps the executor busy until all that c and d read is done
    //      \ g1
    const drawing = {
      a: { cost: 9 },
      b: { cost: 8 },
      e: { cost: 7 },
      c: { inputs: ["a", "b"], cost: 2 },
      d: { inputs: ["e"], cost: 2 },
      g: { inputs: ["e"] },
    };
    expect(startOrder(drawing)).toBe("a b e c d g");
  });

  test("of these, the most recently ready: depth first", () => {
    //   a2 - c2         after a, b (weight 3) goes before c (2);
    //   b1 - d2         then c and d are equal, and d became ready last
    const drawing = {
      a: { cost: 2 },
      b: {},
      c: { inputs: ["a"], cost: 2 },
      d: { inputs: ["b"], cost: 2 },
    };
    expect(startOrder(drawing)).toBe("a b d c");
  });

  test("of equals in everything, the most recently ready, then the lower id", () => {
    const graph = new DrawnGraph({ a: {}, b: {}, c: {} }, 5);
    expect(namesOf(graph, run(graph, 1, SHALLOW))).toEqual([...graph.names].reverse());
  });
});

describe("broken-down nodes", () => {
  test("complete with their last part", () => {
    //   a9 (3 parts) - b      b waits for the third part of a, so c, lighter than a, comes between
    //   c2
    const drawing = {
      a: { cost: 9, partCount: 3 },
      b: { inputs: ["a"] },
      c: { cost: 2 },
    };
    expect(startOrder(drawing)).toBe("a/0 a/1 a/2 c b");
  });

  test("give way between their parts", () => {
    //   a9 (3 parts)          y (10) is ready at time 2, after a/0 has started, and goes before a/1
    //   x2 - y10
    const drawing = {
      a: { cost: 9, partCount: 3 },
      x: { cost: 2 },
      y: { inputs: ["x"], cost: 10 },
    };
    const graph = new DrawnGraph(drawing, 4);
    const started = namesOf(graph, run(graph, 2, SHALLOW));
    expect(started.slice(0, 2).sort()).toEqual(["a/0", "x"]);
    expect(started.slice(2)).toEqual(["y", "a/1", "a/2"]);
  });

  test("run on several executors at once", () => {
    const graph = new DrawnGraph({ a: { cost: 8, partCount: 4 }, b: { inputs: ["a"] } }, 3);
    expect(run(graph, 4, SHALLOW).makespanNs).toBe(3);
    expect(run(graph, 2, SHALLOW).makespanNs).toBe(5);
  });
});

describe("blocks overlap", () => {
  test("where the block before has ended the node and its readers", () => {
    //   a2 - b6      two executors: block 1 of a runs beside block 0 of nothing, since b reads a until 8;
    //                then a of block 1 runs from 8 to 10, b of block 1 from 10 to 16
    const graph = new DrawnGraph({ a: { cost: 2 }, b: { inputs: ["a"], cost: 6 } }, 1);
    expect(run(graph, 2, SHALLOW, 2).makespanNs).toBe(16);
  });

  test("and the executors do not fall idle at a block's end", () => {
    //   a2 - b2        once d has ended, c of the next block runs beside e, then a; one after the other
    //   c2 - d2 - e4   the blocks would take 8 each
    const drawing = {
      a: { cost: 2 },
      b: { inputs: ["a"], cost: 2 },
      c: { cost: 2 },
      d: { inputs: ["c"], cost: 2 },
      e: { inputs: ["d"], cost: 4 },
    };
    const graph = new DrawnGraph(drawing, 1);
    const { parts, makespanNs } = run(graph, 2, SHALLOW, 2);
    const next = parts.filter(({ block }) => block === 1);
    const starts = next.map(({ node, start }) => `${graph.names[node]} ${start}`);
    expect(starts.sort()).toEqual(["a 6", "b 8", "c 4", "d 8", "e 10"]);
    expect(makespanNs).toBe(14);
  });
});

describe("makespan", () => {
  //   c0 - c1 - ... - c11     a chain of 12, and 36 nodes that wait for nothing, each of cost 1:
  //   w0, w1, ..., w35        on 4 executors neither the chain nor the work allows less than 12
  const unit = 50_000;
  const chain = Array.from({ length: 12 }, (_, i) => {
    return [`c${i}`, { inputs: i === 0 ? [] : [`c${i - 1}`], cost: unit }];
  });
  const wide = Array.from({ length: 36 }, (_, i) => [`w${i}`, { cost: unit }]);
  const drawing: Drawing = Object.fromEntries([...wide, ...chain]);

  test("reaches the bound by weight, which first come, first served does not", () => {
    for (const seed of SEEDS) {
      const graph = new DrawnGraph(drawing, seed);
      const options = timeless(4, SHALLOW);
      expect(figuresOf(graph.nodes, options, simulate(graph.nodes, options))).toMatchObject({
        makespanNs: 12 * unit,
        ratio: 1,
      });
      const arrival = run(graph, 4, { ...SHALLOW, order: firstInFirstOut });
      expect(arrival.makespanNs).toBeGreaterThan(18 * unit);
    }
  });

  test("loses little to deep queues", () => {
    // An executor with more in its queue begins that before it learns of the chain, which then waits for one part.
    for (const seed of SEEDS) {
      const graph = new DrawnGraph(drawing, seed);
      for (const scheduler of [{ queueNs: 0 }, {}])
        expect(run(graph, 4, scheduler).makespanNs).toBeLessThanOrEqual(18 * unit);
    }
  });

  test("is saved by stealing where estimates mislead", () => {
    //   x20, w0 ... w8   x is thought to cost 1: what was queued behind it on the first executor is taken back
    const estimate = 50_000;
    const nodes = Array.from({ length: 10 }, () => ({ cost: estimate }));
    const graph = new DrawnGraph(Object.fromEntries(nodes.map((node, i) => [`w${i}`, node])), 1);
    const costly = graph.nodes.map((node, id) => (id === 9 ? { ...node, costNs: 20 * estimate } : node));
    const makespan = (isStealing: boolean) => {
      const options = { ...timeless(2, { queueNs: 1e6, isStealing }), estimates: graph.nodes };
      return simulate(costly, options).makespanNs;
    };
    expect(makespan(true)).toBe(20 * estimate);
    expect(makespan(false)).toBe(24 * estimate);
  });
});
