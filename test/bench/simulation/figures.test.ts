import { describe, expect, test } from "vitest";
import { figuresOf, peakBytes } from "../../../bench/simulation/figures.ts";
import { simulate } from "../../../bench/simulation/simulate.ts";
import type { SimulationOptions } from "../../../bench/simulation/simulation.ts";
import { type Drawing, DrawnGraph } from "../../schedule/drawn_graph.ts";

const TIMELESS: Omit<SimulationOptions, "executors"> = {
  machine: { wakeNs: 0, busyNs: 0, mainNs: 0, eventNs: 0, handOutNs: 0, slower: 1 },
};

function figures(drawing: Drawing, options: Partial<SimulationOptions>) {
  const { nodes } = new DrawnGraph(drawing, 1);
  const all = { ...TIMELESS, executors: 1, ...options };
  return figuresOf(nodes, all, simulate(nodes, all));
}

describe("figures", () => {
  test("live bytes last from a node's start until its last reader has ended", () => {
    //   a (100 bytes) - b (10) - c (1)      a is let go when b ends, so at most a and b live
    const chain = {
      a: { cost: 3, bytes: 100 },
      b: { inputs: ["a"], cost: 2, bytes: 10 },
      c: { inputs: ["b"], bytes: 1 },
    };
    expect(figures(chain, {}).peakBytes).toBe(110);
    // c reads a, too.
    expect(figures({ ...chain, c: { ...chain.c, inputs: ["a", "b"] } }, {}).peakBytes).toBe(111);
  });

  test("bytes of blocks that overlap add up", () => {
    const nodes = [{ kind: "one", inputs: [], partCount: 1, weight: 1, costNs: 4, moveNs: 0, bytes: 5 }];
    const part = { node: 0, part: 0, executor: 0, queued: 0 };
    const first = { ...part, block: 0, start: 0, end: 4 };
    expect(peakBytes(nodes, [first, { ...part, block: 1, start: 3, end: 7 }])).toBe(10);
    expect(peakBytes(nodes, [first, { ...part, block: 1, start: 4, end: 8 }])).toBe(5);
  });

  test("waits, queues and shares are those of the schedule", () => {
    // One executor is given a40, b30, c20, d10 at once: they wait 0, 40, 70 and 90 of 100.
    const drawing = { a: { cost: 40 }, b: { cost: 30 }, c: { cost: 20 }, d: { cost: 10 } };
    expect(figures(drawing, {})).toMatchObject({
      parts: 4,
      makespanNs: 100,
      ratio: 1,
      heavyWaitNs: 0,
      queueMean: 2,
      queueMax: 4,
      schedulerShare: 0,
    });
    const slow = { machine: { ...TIMELESS.machine, eventNs: 100 } };
    expect(figures({ a: { cost: 100 } }, slow)).toMatchObject({
      makespanNs: 300,
      ratio: 3,
      schedulerShare: 2 / 3,
    });
  });

  test("ten parts have one in the heaviest tenth", () => {
    const nodes = Array.from({ length: 10 }, (_, i) => [`n${i}`, { cost: 10 + (i === 9 ? 1 : 0) }]);
    const firstFirst = { order: (a: number, b: number) => a - b, queueNs: 1e6 };
    const { nodes: drawn, names } = new DrawnGraph(Object.fromEntries(nodes), 1);
    const estimates = drawn.map((node) => ({ ...node, weight: 0 }));
    const options = { ...TIMELESS, executors: 1, scheduler: firstFirst, estimates };
    // The executor, too, runs them as they come: the heavy one waits for all before it.
    expect(figuresOf(drawn, options, simulate(drawn, options)).heavyWaitNs).toBe(10 * names.indexOf("n9"));
  });
});
