import { describe, expect, test } from "vitest";
import { slotsNeeded } from "../../src/schedule/memory_order.ts";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { simulate } from "./simulate.ts";

/** `count` pairs leaf - sum, where each sum is an output: by weight alone, all leaves would run first. */
const pairs = (count: number): Drawing =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      [`leaf${i}`, {}],
      [`sum${i}`, { inputs: [`leaf${i}`], isOutput: true }],
    ]).flat(),
  );

/** A chain of `count` nodes whose last is the output. */
const chain = (count: number): Drawing =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `c${i}`,
      { inputs: i === 0 ? [] : [`c${i - 1}`], isOutput: i === count - 1 },
    ]),
  );

const needOf = (drawing: Drawing, seed = 1) => {
  const graph = new DrawnGraph(drawing, seed);
  return slotsNeeded(graph.nodes, graph.wanted());
};

describe("slotsNeeded", () => {
  test("two columns do for a chain of any length", () => {
    expect(needOf(chain(1))).toBe(1);
    expect(needOf(chain(1000))).toBe(2);
  });

  test("outputs stay, so pairs need one column each and one to work in", () => {
    expect(needOf(pairs(10))).toBe(11);
  });

  test("a balanced tree of 2^k leaves needs k + 2 columns", () => {
    //   a   b c   d
    //    \ /   \ /       while the second pair is computed the first sum is held: 1 + 3
    //     ab   cd
    //       \ /
    //       abcd
    const drawing = {
      a: {},
      b: {},
      c: {},
      d: {},
      ab: { inputs: ["a", "b"] },
      cd: { inputs: ["c", "d"] },
      abcd: { inputs: ["ab", "cd"], isOutput: true },
    };
    for (const seed of [1, 2, 3]) expect(needOf(drawing, seed)).toBe(4);
  });

  test("the input that needs more goes first", () => {
    //   a - b \
    //          f      d, e, then c: 3 columns, 2 of them working; b is held afterwards only
    //   d \   /
    //      c         (b first would hold it while c's three are alive: 4)
    //   e /
    const drawing = {
      a: {},
      b: { inputs: ["a"] },
      d: {},
      e: {},
      c: { inputs: ["d", "e"] },
      f: { inputs: ["b", "c"], isOutput: true },
    };
    for (const seed of [1, 2, 3]) expect(needOf(drawing, seed)).toBe(3);
  });

  test("nothing wanted needs nothing", () => {
    const graph = new DrawnGraph(pairs(2), 1);
    expect(slotsNeeded(graph.nodes, new Uint8Array(4))).toBe(0);
  });

  test("a cycle is refused", () => {
    const nodes = [
      { inputs: [1], partCount: 1, weight: 1, isOutput: true },
      { inputs: [0], partCount: 1, weight: 1, isOutput: true },
    ];
    expect(() => slotsNeeded(nodes, Uint8Array.of(1, 1))).toThrow("cycle");
  });
});

describe("slots", () => {
  test("are reused: a chain touches two", () => {
    const graph = new DrawnGraph(chain(50), 3);
    expect(simulate([{ graph }], 2).slotsUsed).toBe(2);
  });

  test("of a call with little memory suffice, where weight alone would be stuck", () => {
    const graph = new DrawnGraph(pairs(20), 3);
    for (const slotCount of [21, 22, 25, 39]) {
      const { ends, slotsUsed } = simulate([{ graph, slotCount }], 3);
      expect(ends).toEqual([{ kind: "finished", call: 0 }]);
      expect(slotsUsed).toBeLessThanOrEqual(slotCount);
    }
  });

  test("executors still run side by side where memory is short", () => {
    const graph = new DrawnGraph(pairs(20), 3);
    // 40 nodes of cost 1: the memory order alone takes 40, the weight order with 40 slots 10.
    expect(simulate([{ graph, slotCount: 21 }], 4, 1).makespan).toBe(40);
    expect(simulate([{ graph, slotCount: 24 }], 4, 1).makespan).toBeLessThanOrEqual(20);
    expect(simulate([{ graph, slotCount: 30 }], 4, 1).makespan).toBeLessThanOrEqual(12);
  });

  test("that cannot suffice fail the call before anything runs", () => {
    const graph = new DrawnGraph(pairs(20), 3);
    const { ends, started } = simulate([{ graph, slotCount: 20 }], 3);
    expect(started).toEqual([]);
    expect(ends).toMatchObject([{ kind: "failed", reason: "memory" }]);
  });
});
