import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { criticalPathWeights } from "../../src/plan/weights.ts";
import { MeasuredCosts } from "../../src/schedule/measured_costs.ts";
import { NodeGraph } from "../../src/schedule/node_graph.ts";
import { criticalPaths, randomGraphs } from "./random_graph.ts";

const node = (costNs: number, inputs: number[] = [], weight = 1) => {
  return { inputs, partCount: 2, weight, costNs, moveNs: 0 };
};

const run = (nodeNs: readonly number[], blocks = 1) => ({
  nodeNs: Float64Array.from(nodeNs),
  blocksRun: () => blocks,
});

/** Costs after runs in which the only node took these times. */
function costAfter(measured: readonly number[]): number {
  const costs = new MeasuredCosts(new NodeGraph([node(1000)]));
  for (const ns of measured) costs.note(run([ns]));
  return costs.nodeNs[0]!;
}

describe("measured costs", () => {
  test("are estimates at first, then what the first run took, then averages", () => {
    expect(costAfter([])).toBe(1000);
    expect(costAfter([4000])).toBe(4000);
    expect(costAfter([4000, 2000])).toBe(3600);
    expect(costAfter([4000, 2000, 2000])).toBe(3280);
  });

  test("stay where a node did not run", () => {
    expect(costAfter([4000, 0, 0])).toBe(4000);
    expect(costAfter([0, 300])).toBe(300);
  });

  test("are those of one block where a node catches up on several", () => {
    const costs = new MeasuredCosts(new NodeGraph([node(1000)]));
    costs.note(run([4000], 4));
    expect(costs.nodeNs[0]).toBe(1000);
  });

  test("are shared evenly by the parts", () => {
    expect(new MeasuredCosts(new NodeGraph([node(1000)])).partNs(0)).toBe(500);
  });

  test("make weights after 1, 2, 4 ... blocks, in arrays that stay as they are", () => {
    const costs = new MeasuredCosts(new NodeGraph([node(10, [], 30), node(20, [0], 20)]));
    const seen = [costs.weights];
    for (let block = 1; block <= 4; block++) {
      costs.note(run([100, 50]));
      seen.push(costs.weights);
    }
    expect([...seen[0]!]).toEqual([30, 20]);
    expect([...seen[1]!]).toEqual([75, 25]);
    expect(seen[3]).toBe(seen[2]);
    expect(seen[4]).not.toBe(seen[3]);
  });

  test("make no weights for a plan that has none", () => {
    const costs = new MeasuredCosts(new NodeGraph([node(10, [], 0), node(20, [0], 0)]));
    costs.note(run([100, 50]));
    expect([...costs.weights]).toEqual([0, 0]);
  });

  test("weigh paths of any graph", () => {
    fc.assert(
      fc.property(randomGraphs(20), (nodes) => {
        const partNs = Float64Array.from(nodes, ({ costNs, partCount }) => costNs / partCount);
        expect([...criticalPathWeights(partNs, nodes)]).toEqual(criticalPaths(nodes));
      }),
    );
  });
});
