import { describe, expect, test } from "vitest";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { simulate } from "./simulate.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** The start order on one executor that is told one part at a time; the same for any deal of ids. */
function startOrder(drawing: Drawing, options: { wanted?: string[]; slotCount?: number } = {}): string {
  const orders = SEEDS.map((seed) => {
    const graph = new DrawnGraph(drawing, seed);
    const { slotCount } = options;
    const call = {
      graph,
      wanted: graph.wanted(options.wanted),
      ...(slotCount === undefined ? {} : { slotCount }),
    };
    return simulate([call], 1, 1).started.join(" ");
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
      b: { inputs: ["a"], cost: 20, isOutput: true },
      c: { cost: 10, isOutput: true },
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
      d: { inputs: ["b", "c"], isOutput: true },
    };
    expect(startOrder(drawing)).toBe("a b c d");
  });

  test("of equal weights, what gives back more columns", () => {
    //   a9 - c5         c gives back a; d gives back nothing (e, lighter, still reads b);
    //   b8 - d5         d became ready last and would win otherwise
    //      \ e1
    const drawing = {
      a: { cost: 9 },
      b: { cost: 8 },
      c: { inputs: ["a"], cost: 5, isOutput: true },
      d: { inputs: ["b"], cost: 5, isOutput: true },
      e: { inputs: ["b"], cost: 1, isOutput: true },
    };
    expect(startOrder(drawing)).toBe("a b c d e");
  });

  test("what a node gives back grows while it waits in the heap", () => {
    //   a10 - c6        once c is done, d is the last reader of a and wins over e,
    //       \ d3        which became ready after d but gives nothing back
    //   b12 - e3        (b is an output: its column stays)
    const drawing = {
      a: { cost: 10 },
      b: { cost: 12, isOutput: true },
      c: { inputs: ["a"], cost: 6, isOutput: true },
      d: { inputs: ["a"], cost: 3, isOutput: true },
      e: { inputs: ["b"], cost: 3, isOutput: true },
    };
    expect(startOrder(drawing)).toBe("a b c d e");
  });

  test("of equal weights and releases, the most recently ready: depth first", () => {
    //   a2 - c2         after a, b (weight 3) goes before c (2);
    //   b1 - d2         then c and d are equal, and d became ready last
    const drawing = {
      a: { cost: 2 },
      b: {},
      c: { inputs: ["a"], cost: 2, isOutput: true },
      d: { inputs: ["b"], cost: 2, isOutput: true },
    };
    expect(startOrder(drawing)).toBe("a b d c");
  });

  test("of equals in everything, the lower id", () => {
    const graph = new DrawnGraph({ a: { isOutput: true }, b: { isOutput: true }, c: { isOutput: true } }, 5);
    expect(simulate([{ graph }], 1, 1).started).toEqual(graph.names);
  });

  test("nodes that are not wanted never run", () => {
    //   a - b - c(out)      only d is wanted: b and c must not run, and a, shared, counts one reader
    //     \ d(out)
    const drawing = {
      a: {},
      b: { inputs: ["a"], cost: 50 },
      c: { inputs: ["b"], isOutput: true },
      d: { inputs: ["a"], isOutput: true },
    };
    expect(startOrder(drawing, { wanted: ["d"] })).toBe("a d");
    expect(startOrder(drawing, { wanted: [] })).toBe("");
  });
});

describe("broken-down nodes", () => {
  test("complete with their last part", () => {
    //   a9 (3 parts) - b      b waits for the third part of a, so c, lighter than a, comes between
    //   c4
    const drawing = {
      a: { cost: 9, partCount: 3 },
      b: { inputs: ["a"], isOutput: true },
      c: { cost: 4, isOutput: true },
    };
    expect(startOrder(drawing)).toBe("a/0 a/1 a/2 c b");
  });

  test("give way between their parts", () => {
    //   a9 (3 parts)          y (10) is ready at time 2, after a/0 has started, and goes before a/1
    //   x2 - y10
    const drawing = {
      a: { cost: 9, partCount: 3, isOutput: true },
      x: { cost: 2 },
      y: { inputs: ["x"], cost: 10, isOutput: true },
    };
    const { started } = simulate([{ graph: new DrawnGraph(drawing, 4) }], 2, 1);
    expect(started.slice(0, 2).sort()).toEqual(["a/0", "x"]);
    expect(started.slice(2)).toEqual(["y", "a/1", "a/2"]);
  });

  test("run on several executors at once", () => {
    const graph = new DrawnGraph({ a: { cost: 8, partCount: 4 }, b: { inputs: ["a"], isOutput: true } }, 3);
    expect(simulate([{ graph }], 4).makespan).toBe(3);
    expect(simulate([{ graph }], 2).makespan).toBe(5);
  });
});

describe("makespan", () => {
  //   c0 - c1 - ... - c11     a chain of 12, and 36 nodes that wait for nothing, each of cost 1:
  //   w0, w1, ..., w35        on 4 executors neither the chain nor the work allows less than 12
  const isLast = (i: number) => i === 11;
  const chain = Array.from({ length: 12 }, (_, i) => [
    `c${i}`,
    { inputs: i === 0 ? [] : [`c${i - 1}`], isOutput: isLast(i) },
  ]);
  const wide = Array.from({ length: 36 }, (_, i) => [`w${i}`, { isOutput: true }]);
  const drawing: Drawing = Object.fromEntries([...wide, ...chain]);

  test("reaches the bound by weight, which first come, first served does not", () => {
    for (const seed of SEEDS) {
      expect(simulate([{ graph: new DrawnGraph(drawing, seed) }], 4, 1).makespan).toBe(12);
    }
    // The 36 came first: 9 units on 4 executors before the chain starts.
    const arrival = (name: string) => (name.startsWith("w") ? 2 : 1);
    expect(simulate([{ graph: new DrawnGraph(drawing, 1, arrival) }], 4, 1).makespan).toBe(21);
  });

  test("loses little to deep queues", () => {
    // What is queued is not taken back, so a part of the chain may wait behind up to a queue of others.
    expect(simulate([{ graph: new DrawnGraph(drawing, 2) }], 4, 2).makespan).toBeLessThanOrEqual(14);
    expect(simulate([{ graph: new DrawnGraph(drawing, 2) }], 4).makespan).toBeLessThanOrEqual(20);
  });
});
