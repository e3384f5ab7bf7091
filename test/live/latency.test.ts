import { describe, expect, test } from "vitest";
import { MeasuredLatency } from "../../src/live/latency.ts";
import type { PlanNode } from "../../src/plan/plan.ts";
import type { NodeSelection } from "../../src/plan/progress.ts";

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
    generations: new Float64Array(isRun.length),
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

  test("follows measurements per row, and the overhead", () => {
    const trial = new Trial();
    for (let run = 0; run < COLD_RUNS; run++) {
      // Node 1 has run four rows of 2 ms: 2 + 8 ms, and half a millisecond of overhead.
      trial.run([2, 8, 0, 0], 10.5, [10, 7, 10, 10]);
    }
    expect(trial.latency.predictMs(null, FIRST_ROW)).toBe(2 + 2 + 1 + 0.5);
    trial.run([4, 0, 0, 0], 2.4);
    expect(trial.latency.criticalPathMs(selectionOf([1, 0, 0, 0]), FIRST_ROW)).toBeCloseTo(2.4);
  });

  test("ignores cold measurements: the first run, and slower ones among the next", () => {
    const trial = new Trial();
    // A fifth of the 60 ms goes into the node's average, and a fifth of the rest into the overhead.
    const predictions = [150, 90, 20, 60, 15].map((ms) => {
      trial.run([ms, 0, 0, 0], ms);
      return trial.latency.predictMs(selectionOf([1, 0, 0, 0]), FIRST_ROW);
    });
    expect(predictions).toEqual([1, 90, 20, 34.4, 15]);
  });

  test("falls for nodes that it keeps from being run, to the minimum that was measured at most", () => {
    const trial = new Trial();
    for (let run = 0; run < COLD_RUNS; run++) trial.run([0, 2, 0, 0], 2);
    trial.run([0, 500, 0, 0], 500);
    const only1 = selectionOf([0, 1, 0, 0]);
    const predict = () => trial.latency.predictMs(only1, FIRST_ROW);
    expect(predict()).toBeGreaterThan(100);
    for (let run = 0; run < 400; run++) trial.run([1, 0, 0, 0], 1);
    expect(predict()).toBeGreaterThanOrEqual(2);
    expect(predict()).toBeLessThan(3);
  });

  test("does not follow nodes that were run and not measured, nor those that were measured and not run", () => {
    const trial = new Trial();
    for (const ms of [4, 2, 2]) trial.run([ms, ms, ms, ms], 0);
    const predict = (id: number) =>
      trial.latency.predictMs(selectionOf([0, 1, 2, 3].map((each) => Number(each === id))), FIRST_ROW);
    const before = [predict(0), predict(1)];
    trial.run([0, 0, 2, 2], 0, undefined, [1, 0, 1, 1]);
    trial.run([2, 50, 2, 2], 0, undefined, [1, 0, 1, 1]);
    expect([predict(0), predict(1)]).toEqual(before);
  });
});

/** After this many runs an average follows what is measured slowly. */
const COLD_RUNS = 10;

class Trial {
  readonly #totals = new Float64Array(4);
  readonly latency = new MeasuredLatency(nodes, 8, this.#totals);

  /** A run in which the nodes took these ms; unless it says otherwise, those with 0 were left out. */
  run(
    ms: readonly number[],
    runMs: number,
    startRows?: number[],
    isRun: readonly number[] = ms.map((one) => (one > 0 ? 1 : 0)),
  ): void {
    for (const [id, one] of ms.entries()) this.#totals[id]! += 1e6 * one;
    this.latency.note(selectionOf(isRun, startRows), FIRST_ROW, runMs);
  }
}
