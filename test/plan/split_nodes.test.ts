import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type NodeToSplit, type SplitLimits, splitNodes } from "../../src/plan/split_nodes.ts";

const US = 1000;
const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

function limits(executorCount: number): SplitLimits {
  return { laneCount: 5000, blockRows: 5000, executorCount };
}

/** Nodes that read nothing. */
function wide(costsUs: readonly number[]): NodeToSplit[] {
  return costsUs.map((us) => ({ costNs: us * US, partAxis: "lanes", inputs: [] }));
}

/** Each node reads the one before. */
function chain(costsUs: readonly number[]): NodeToSplit[] {
  return wide(costsUs).map((node, id) => ({ ...node, inputs: id === 0 ? [] : [id - 1] }));
}

describe("parts that the scheduler can hand out", () => {
  const graphs = fc.array(fc.record({ us: fc.nat(40_000), reads: fc.boolean() }), {
    minLength: 1,
    maxLength: 60,
  });

  test("with up to 26 executors a node has as many parts as 60 us go into it, beside any number of short ones", () => {
    fc.assert(
      fc.property(graphs, fc.nat(2_000), fc.integer({ min: 9, max: 26 }), (drawn, idle, executors) => {
        const nodes = wide(drawn.map(({ us }) => us)).map((node, id) => {
          return { ...node, inputs: id > 0 && drawn[id]!.reads ? [id - 1] : [] };
        });
        // Long enough that whole nodes do not keep all executors busy.
        const long = chain([sumOf(drawn.map(({ us }) => us)) + 60]);
        const all = [...nodes, ...wide(new Array<number>(idle).fill(0)), ...long];
        const expected = all.map(({ costNs }) => {
          return Math.max(1, Math.min(executors, Math.ceil(costNs / (60 * US))));
        });
        expect(splitNodes(all, limits(executors))).toEqual(expected);
      }),
    );
  });

  test("with more, never more than 0.44 in a microsecond of the block beside one of each node", () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 27, max: 256 }), (drawn, executors) => {
        const nodes = wide(drawn.map(({ us }) => us));
        const totalUs = sumOf(drawn.map(({ us }) => us));
        const counts = splitNodes(nodes, limits(executors));
        const longestPartUs = Math.max(...drawn.map(({ us }, id) => us / counts[id]!));
        const blockUs = Math.max(totalUs / executors, longestPartUs);
        expect(sumOf(counts)).toBeLessThanOrEqual(nodes.length + (0.75 / 1.7) * blockUs + 1e-6);
        expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
        expect(Math.max(...counts)).toBeLessThanOrEqual(executors);
      }),
    );
  });

  test("longer nodes are cut into more parts, but not in proportion", () => {
    const nodes = wide([...new Array<number>(300).fill(5000), 20_000]);
    const [short, long] = splitNodes(nodes, limits(256)).slice(299);
    // The root of four times the cost.
    expect(Math.abs(long! / short! - 2)).toBeLessThan(0.1);
  });

  test("a chain that nothing is beside may take as many parts as its path allows", () => {
    // k parts of 12 ms / k, and 1.7 us for each: the square root of 0.75 x 12,000 / 1.7 is 73.
    const counts = splitNodes(chain(new Array<number>(20).fill(12_000)), limits(200));
    expect(new Set(counts).size).toBe(1);
    expect(counts[0]).toBeGreaterThan(60);
    expect(counts[0]).toBeLessThan(80);
  });

  test("costs say how long a hand-out takes", () => {
    const nodes = chain(new Array<number>(20).fill(12_000));
    const countOf = (handOutNs: number) => splitNodes(nodes, { ...limits(200), handOutNs })[0]!;
    expect(countOf(1)).toBe(200);
    expect(countOf(10_000)).toBeLessThan(countOf(1700) / 2);
  });
});
