import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { criticalPath } from "../../src/plan/critical_path.ts";
import { criticalPathWeights } from "../../src/plan/weights.ts";
import { type Drawing, nodesOf, weightsOf } from "./drawn_costs.ts";

/** The nodes on the critical path, joined as they are drawn. */
function pathOf(drawing: Drawing): string {
  const { nodes, names } = nodesOf(drawing);
  return criticalPath(nodes)
    .map(({ id }) => names[id])
    .join(" - ");
}

describe("the weight of a node is the heaviest way from it to an end, itself included", () => {
  test("in a chain", () => {
    //   a1 - b2 - c3
    const drawing: Drawing = { a: [1], b: [2, "a"], c: [3, "b"] };
    expect(weightsOf(drawing)).toEqual({ a: 6, b: 5, c: 3 });
    expect(pathOf(drawing)).toBe("a - b - c");
  });

  test("in a diamond the heavier side counts, once", () => {
    //       b10
    //     /     \
    //   a1       d4
    //     \     /
    //       c2
    const drawing: Drawing = { a: [1], b: [10, "a"], c: [2, "a"], d: [4, "b", "c"] };
    expect(weightsOf(drawing)).toEqual({ a: 15, b: 14, c: 6, d: 4 });
    expect(pathOf(drawing)).toBe("a - b - d");
  });

  test("a long way of cheap nodes beats a short way of dear ones", () => {
    //   a1 - b3 - c3 - d3
    //      \ e8
    const drawing: Drawing = { a: [1], b: [3, "a"], c: [3, "b"], d: [3, "c"], e: [8, "a"] };
    expect(weightsOf(drawing)).toEqual({ a: 10, b: 9, c: 6, d: 3, e: 8 });
    expect(pathOf(drawing)).toBe("a - b - c - d");
  });

  test("several sources and ends", () => {
    //   a5 - c1        what a leads to weighs 1 or 2: the larger counts
    //      \
    //   b9 - d2
    const drawing: Drawing = { a: [5], b: [9], c: [1, "a"], d: [2, "a", "b"] };
    expect(weightsOf(drawing)).toEqual({ a: 7, b: 11, c: 1, d: 2 });
    expect(pathOf(drawing)).toBe("b - d");
  });

  test("of equal ways the one of the smaller ids is shown", () => {
    expect(pathOf({ a: [1], b: [1], c: [1, "a", "b"] })).toBe("a - c");
  });

  test("an empty graph has none", () => {
    expect([...criticalPathWeights([], [])]).toEqual([]);
    expect(criticalPath([])).toEqual([]);
  });
});

/** Costs and inputs of a graph in topological order. */
const graph = fc
  .array(fc.record({ cost: fc.nat(100), picks: fc.array(fc.nat(1000), { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((nodes) => ({
    costs: nodes.map(({ cost }) => cost),
    inputs: nodes.map(({ picks }, id) => (id === 0 ? [] : [...new Set(picks.map((pick) => pick % id))])),
  }));

test("the weights of any graph obey their definition", () => {
  fc.assert(
    fc.property(graph, ({ costs, inputs }) => {
      const weights = criticalPathWeights(
        costs,
        inputs.map((list) => ({ inputs: list })),
      );
      costs.forEach((cost, id) => {
        const consumers = inputs.flatMap((list, consumer) => (list.includes(id) ? [consumer] : []));
        expect(weights[id]).toBe(
          cost + Math.max(0, ...consumers.map((consumer) => weights[consumer] as number)),
        );
      });
    }),
    { seed: 301, numRuns: 300 },
  );
});

test("the critical path weighs what its first node weighs, and no node weighs more", () => {
  fc.assert(
    fc.property(graph, ({ costs, inputs }) => {
      const names = costs.map((_, id) => `n${id}`);
      const drawing = Object.fromEntries(
        names.map((name, id) => [
          name,
          [costs[id] as number, ...(inputs[id] as number[]).map((i) => `n${i}`)] as const,
        ]),
      );
      const { nodes } = nodesOf(drawing);
      const path = criticalPath(nodes);
      expect(path.reduce((sum, { costNs }) => sum + costNs, 0)).toBe(path[0]?.weight);
      expect(Math.max(...nodes.map(({ weight }) => weight))).toBe(path[0]?.weight);
      path.slice(1).forEach((node, i) => {
        expect(node.inputs).toContain(path[i]?.id);
      });
    }),
    { seed: 302, numRuns: 300 },
  );
});
