import { describe, expect, test } from "vitest";
import { MeasuredLatency } from "../../src/live/latency.ts";
import type { NodeSelection } from "../../src/plan/catch_up.ts";
import type { PlanNode } from "../../src/plan/plan.ts";

/**
 *     0 --> 1 --> 3        2 is cut into two parts
 *      \--> 2 -->/
 */
const INPUTS = [[], [0], [0], [1, 2]];
const nodes = INPUTS.map((inputs, id) => {
  return { id, inputs, costNs: 1e6, partCount: id === 2 ? 2 : 1 } as unknown as PlanNode;
});

const FIRST_ROW = 10;
const selectionOf = (isRun: readonly number[], startRows = isRun.map(() => FIRST_ROW)): NodeSelection => {
  return {
    isRun: Uint8Array.from(isRun),
    startRows: Float64Array.from(startRows),
    isRebuilt: new Uint8Array(isRun.length),
  };
};

describe("a prediction", () => {
  test("is the longest chain of nodes, or all work shared among the threads", () => {
    const totals = new Float64Array(4);
    expect(new MeasuredLatency(nodes, 8, totals).predictMs(null, FIRST_ROW)).toBe(3);
    expect(new MeasuredLatency(nodes, 1, totals).predictMs(null, FIRST_ROW)).toBe(4);
    expect(new MeasuredLatency(nodes, 8, totals).criticalPathMs(null, FIRST_ROW)).toBe(3);
  });

  test("leaves out nodes that are not run, and counts the rows that others catch up", () => {
    const latency = new MeasuredLatency(nodes, 8, new Float64Array(4));
    expect(latency.predictMs(selectionOf([1, 0, 1, 0]), FIRST_ROW)).toBe(1.5);
    expect(latency.predictMs(selectionOf([1, 1, 0, 0], [10, 7, 10, 10]), FIRST_ROW)).toBe(5);
  });

  test("follows what is measured, per row, and what comes on top of it", () => {
    const totals = new Float64Array(4);
    const latency = new MeasuredLatency(nodes, 8, totals);
    totals.set([2e6, 8e6, 0, 0]);
    // Node 1 has run four rows of 2 ms: 2 + 8 ms, and half a millisecond of overhead.
    latency.note(selectionOf([1, 1, 0, 0], [10, 7, 10, 10]), FIRST_ROW, 10.5);
    expect(latency.predictMs(null, FIRST_ROW)).toBe(2 + 2 + 1 + 0.5);
    totals.set([2e6 + 4e6, 8e6, 0, 0]);
    latency.note(selectionOf([1, 0, 0, 0]), FIRST_ROW, 2.4);
    expect(latency.criticalPathMs(selectionOf([1, 0, 0, 0]), FIRST_ROW)).toBeCloseTo(2.4);
  });
});
