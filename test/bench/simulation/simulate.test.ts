import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lowerBound } from "../../../bench/simulation/lower_bound.ts";
import { POLICIES } from "../../../bench/simulation/orders.ts";
import { OVERLAP_DEFAULT, partCosts, simulate } from "../../../bench/simulation/simulate.ts";
import type { SimulatedNode, Simulation, SimulationOptions } from "../../../bench/simulation/simulation.ts";
import { type Drawing, DrawnGraph } from "../../schedule/drawn_graph.ts";
import { randomGraphs } from "../../schedule/random_graph.ts";

/** Waking a thread takes 5, a busy one sees a record after 1, the scheduler needs 10 for an event. */
const CLOCK: Omit<SimulationOptions, "executors"> = {
  machine: { wakeNs: 5, busyNs: 1, spinNs: 0, mainNs: 20, eventNs: 10, handOutNs: 0, slower: 1 },
  scheduler: { isRunningAhead: false },
};

/** When each node starts, by name. */
function startsOf(drawing: Drawing, options: SimulationOptions): Record<string, number> {
  const graph = new DrawnGraph(drawing, 1);
  const { parts } = simulate(graph.nodes, options);
  return Object.fromEntries(parts.map(({ node, start }) => [graph.names[node]!, start]));
}

describe("the simulated clock", () => {
  test("charges the scheduler and the hand-over to an executor that sleeps", () => {
    // The request is taken at 0, handed over at 10, begun at 15; that it has ended is known at 130, as below.
    const graph = new DrawnGraph({ a: { cost: 100 } }, 1);
    const { makespanNs, schedulerNs } = simulate(graph.nodes, { ...CLOCK, executors: 1 });
    expect([makespanNs, schedulerNs]).toEqual([130, 20]);
  });

  test("charges both ways between two nodes of a chain", () => {
    // a100 - b    a ends at 115; the scheduler wakes up at 120 and is done at 130; b begins at 135
    const drawing = { a: { cost: 100 }, b: { inputs: ["a"] } };
    expect(startsOf(drawing, { ...CLOCK, executors: 1 })).toEqual({ a: 15, b: 135 });
    // Threads that look for records see them after 1: 116, 126, 127.
    const machine = { ...CLOCK.machine, spinNs: 1000 };
    expect(startsOf(drawing, { ...CLOCK, machine, executors: 1 })).toEqual({ a: 15, b: 127 });
  });

  test("lets executors go on with a chain that they were given ahead", () => {
    const ahead = { ...CLOCK, scheduler: {} };
    const chain = { a: { cost: 100 }, b: { inputs: ["a"] }, c: { inputs: ["b"] } };
    expect(startsOf(chain, { ...ahead, executors: 1 })).toEqual({ a: 15, b: 115, c: 116 });
    // c is given to the executor of b, its heaviest input, and begins when that ends.
    const joined = { a: { cost: 100 }, b: { cost: 108 }, c: { inputs: ["a", "b"] } };
    expect(startsOf(joined, { ...ahead, executors: 2 })).toEqual({ a: 15, b: 15, c: 123 });
  });

  test("lets events wait for the scheduler, which takes them in bulk", () => {
    // a100 \       both begin at 15; a is taken from 120 to 130, b, visible at 124, from 130 to 140; c begins at 145
    // b108 - c
    const drawing = { a: { cost: 100 }, b: { cost: 108 }, c: { inputs: ["a", "b"] } };
    expect(startsOf(drawing, { ...CLOCK, executors: 2 })).toEqual({ a: 15, b: 15, c: 145 });
    // With b104 both are visible at 120: two events, until 140.
    const sooner = { ...drawing, b: { cost: 104 } };
    expect(startsOf(sooner, { ...CLOCK, executors: 2 })).toEqual({ a: 15, b: 15, c: 145 });
  });

  test("lets a busy executor go on with what is queued, the heaviest first", () => {
    // a100 - b50      one executor is given all three at 10; it begins c when a ends: b's turn comes at 132,
    // c40             when the scheduler has heard of a (wakes up at 120, decides until 130, seen at 131)
    const drawing = { a: { cost: 100 }, b: { inputs: ["a"], cost: 50 }, c: { cost: 40 } };
    expect(startsOf(drawing, { ...CLOCK, executors: 1 })).toEqual({ a: 15, c: 115, b: 155 });
  });

  test("asks for the next block by way of the main thread", () => {
    // The end of block 0 is reported at 130 and the request is seen at 150.
    const graph = new DrawnGraph({ a: { cost: 100 } }, 1);
    const { parts } = simulate(graph.nodes, { ...CLOCK, executors: 1, blocks: 2, overlap: 1 });
    // Waking the scheduler is part of the way.
    expect(parts.map(({ start }) => start)).toEqual([15, 130 + 20 + 4 + 10 + 5]);
  });
});

const worlds = fc.record({
  executors: fc.integer({ min: 1, max: 9 }),
  blocks: fc.integer({ min: 1, max: 4 }),
  overlap: fc.integer({ min: 1, max: 3 }),
  noise: fc.constantFrom(0, 0.5),
  seed: fc.nat(100),
  policy: fc.constantFrom(...POLICIES),
  isStealing: fc.boolean(),
  isRunningAhead: fc.boolean(),
  queueNs: fc.constantFrom(0, 50_000, 1_000_000),
  eventNs: fc.constantFrom(0, 500, 20_000),
  handOutNs: fc.constantFrom(0, 1000),
  slower: fc.constantFrom(1, 1.5),
  wakeNs: fc.constantFrom(0, 5000),
});

const graphs = randomGraphs(25).map((nodes): SimulatedNode[] => {
  return nodes.map((node) => ({ ...node, kind: "drawn", bytes: 1 }));
});

type World = typeof worlds extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function optionsOf(world: World): SimulationOptions {
  const { policy, isStealing, isRunningAhead, queueNs, eventNs, handOutNs, slower, wakeNs, ...rest } = world;
  return {
    ...rest,
    scheduler: { order: policy.order(rest.seed), isStealing, isRunningAhead, queueNs },
    machine: { wakeNs, busyNs: wakeNs / 5, eventNs, handOutNs, slower },
  };
}

/** By block and node when its first part starts and its last one ends. */
function spansOf({ parts }: Simulation): Map<string, { start: number; end: number }> {
  const spans = new Map<string, { start: number; end: number }>();
  for (const { block, node, start, end } of parts) {
    const span = spans.get(`${block}:${node}`) ?? { start, end };
    spans.set(`${block}:${node}`, { start: Math.min(span.start, start), end: Math.max(span.end, end) });
  }
  return spans;
}

describe("any simulation", () => {
  test("runs every part once and for as long as it takes, and one at a time on an executor", () => {
    fc.assert(
      fc.property(graphs, worlds, (nodes, world) => {
        const options = optionsOf(world);
        const costs = partCosts(nodes, options);
        const { parts } = simulate(nodes, options);
        const keys = new Set(parts.map(({ block, node, part }) => `${block}:${node}:${part}`));
        expect([keys.size, parts.length]).toEqual([costs.partCount, costs.partCount]);
        for (const { block, node, part, start, end } of parts)
          expect(end - start).toBeCloseTo(costs.partNs(block, node, part), 3);
        const byExecutor = Map.groupBy(parts, ({ executor }) => executor);
        for (const own of byExecutor.values()) {
          own.sort((a, b) => a.start - b.start || a.end - b.end);
          own.slice(1).forEach(({ start }, i) => {
            expect(start).toBeGreaterThanOrEqual(own[i]!.end);
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  test("keeps the order of the graph and of the blocks", () => {
    fc.assert(
      fc.property(graphs, worlds, (nodes, world) => {
        const spans = spansOf(simulate(nodes, optionsOf(world)));
        nodes.forEach(({ inputs, keepsRows }, node) => {
          for (let block = 0; block < world.blocks; block++) {
            const { start } = spans.get(`${block}:${node}`)!;
            const before = inputs.map((input) => spans.get(`${block}:${input}`)!.end);
            const readers = nodes.flatMap((other, reader) =>
              !keepsRows && other.inputs.includes(node) ? [reader] : [],
            );
            const last = [node, ...readers].map((user) => spans.get(`${block - 1}:${user}`)?.end ?? 0);
            expect(start).toBeGreaterThanOrEqual(Math.max(0, ...before, ...last));
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  test("never beats the lower bound", () => {
    fc.assert(
      fc.property(graphs, worlds, (nodes, world) => {
        const options = optionsOf(world);
        const { ns } = lowerBound(nodes, partCosts(nodes, options), world);
        expect(simulate(nodes, options).makespanNs).toBeGreaterThanOrEqual(ns * (1 - 1e-12));
      }),
      { numRuns: 150 },
    );
  });

  test("is the same again", () => {
    fc.assert(
      fc.property(graphs, worlds, (nodes, world) => {
        expect(simulate(nodes, optionsOf(world))).toEqual(simulate(nodes, optionsOf(world)));
      }),
      { numRuns: 30 },
    );
  });
});

describe("the lower bound", () => {
  const boundOf = (drawing: Drawing, executors: number, blocks: number, overlap = OVERLAP_DEFAULT) => {
    const { nodes } = new DrawnGraph(drawing, 1);
    return lowerBound(nodes, partCosts(nodes, { executors, blocks, machine: { slower: 1 } }), {
      executors,
      blocks,
      overlap,
    });
  };

  test("is the work of all, or the longest path through the longest parts", () => {
    //   a4 - b6 (3 parts)     work 20; path 4 + 2 or 10
    //   c10
    const drawing = { a: { cost: 4 }, b: { inputs: ["a"], cost: 6, partCount: 3 }, c: { cost: 10 } };
    expect(boundOf(drawing, 1, 1)).toEqual({ workNs: 20, pathNs: 10, ns: 20 });
    expect(boundOf(drawing, 4, 1)).toEqual({ workNs: 5, pathNs: 10, ns: 10 });
  });

  test("follows the path from block to block", () => {
    //   a2 - b6       a of the next block waits for b: 8 for each block
    const chain = { a: { cost: 2 }, b: { inputs: ["a"], cost: 6 } };
    expect(boundOf(chain, 9, 3).pathNs).toBe(24);
    //   a2 - b2 - c6  b of the next block waits for c only, a for b: c runs without a pause
    const longer = { a: { cost: 2 }, b: { inputs: ["a"], cost: 2 }, c: { inputs: ["b"], cost: 6 } };
    expect(boundOf(longer, 9, 3).pathNs).toBe(2 + 3 * (2 + 6));
    // One block at a time.
    expect(boundOf(longer, 9, 3, 1).pathNs).toBe(30);
  });
});
