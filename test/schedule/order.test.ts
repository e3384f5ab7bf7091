import { describe, expect, test } from "vitest";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { simulate } from "./simulate.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** The start order on one executor that is told one part at a time; the same for any deal of ids. */
function startOrder(drawing: Drawing): string {
  const orders = SEEDS.map((seed) => simulate([new DrawnGraph(drawing, seed)], 1, 1).started.join(" "));
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

  test("of equal weights, the most recently ready: depth first", () => {
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

  test("of equals in everything, the lower id", () => {
    const graph = new DrawnGraph({ a: {}, b: {}, c: {} }, 5);
    expect(simulate([graph], 1, 1).started).toEqual(graph.names);
  });
});

describe("broken-down nodes", () => {
  test("complete with their last part", () => {
    //   a9 (3 parts) - b      b waits for the third part of a, so c, lighter than a, comes between
    //   c4
    const drawing = {
      a: { cost: 9, partCount: 3 },
      b: { inputs: ["a"] },
      c: { cost: 4 },
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
    const { started } = simulate([new DrawnGraph(drawing, 4)], 2, 1);
    expect(started.slice(0, 2).sort()).toEqual(["a/0", "x"]);
    expect(started.slice(2)).toEqual(["y", "a/1", "a/2"]);
  });

  test("run on several executors at once", () => {
    const graph = new DrawnGraph({ a: { cost: 8, partCount: 4 }, b: { inputs: ["a"] } }, 3);
    expect(simulate([graph], 4).makespan).toBe(3);
    expect(simulate([graph], 2).makespan).toBe(5);
  });
});

describe("makespan", () => {
  //   c0 - c1 - ... - c11     a chain of 12, and 36 nodes that wait for nothing, each of cost 1:
  //   w0, w1, ..., w35        on 4 executors neither the chain nor the work allows less than 12
  const chain = Array.from({ length: 12 }, (_, i) => [`c${i}`, { inputs: i === 0 ? [] : [`c${i - 1}`] }]);
  const wide = Array.from({ length: 36 }, (_, i) => [`w${i}`, {}]);
  const drawing: Drawing = Object.fromEntries([...wide, ...chain]);

  test("reaches the bound by weight, which first come, first served does not", () => {
    for (const seed of SEEDS) {
      expect(simulate([new DrawnGraph(drawing, seed)], 4, 1).makespan).toBe(12);
    }
    // The 36 came first: 9 units on 4 executors before the chain starts.
    const arrival = (name: string) => (name.startsWith("w") ? 2 : 1);
    expect(simulate([new DrawnGraph(drawing, 1, arrival)], 4, 1).makespan).toBe(21);
  });

  test("loses little to deep queues", () => {
    // What is queued is not taken back, so a part of the chain may wait behind up to a queue of others.
    expect(simulate([new DrawnGraph(drawing, 2)], 4, 2).makespan).toBeLessThanOrEqual(14);
    expect(simulate([new DrawnGraph(drawing, 2)], 4).makespan).toBeLessThanOrEqual(20);
  });
});
