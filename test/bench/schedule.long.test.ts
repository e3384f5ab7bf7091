import { describe, expect, test } from "vitest";
import { measureAblation, VARIANTS } from "../../bench/schedule/ablation.ts";
import { equalNodes, measureSchedules } from "../../bench/schedule/schedule_cost.ts";
import { defaultFormulas } from "../../src/bench/workloads.ts";

const onProgress = () => {};
const few = { ...defaultFormulas("alpha101"), select: ["alpha001", "alpha012", "alpha101"] };

describe("graphs of equal nodes", () => {
  test("are what their names say", () => {
    const inputsOf = (shape: Parameters<typeof equalNodes>[0]) =>
      equalNodes(shape, 200, 1000).map(({ inputs }) => inputs);
    expect(inputsOf("independent").flat()).toEqual([]);
    expect(inputsOf("chain").slice(0, 3)).toEqual([[], [0], [1]]);
    expect(inputsOf("layers").slice(62, 66)).toEqual([[], [], [0, 7], [1, 8]]);
    expect(equalNodes("chain", 200, 1000)[0]!.weight).toBe(200_000);
  });

  test("cost no less than their work", async () => {
    const graphs = [
      { shape: "independent", nodes: 40, nodeUs: 50 },
      { shape: "layers", nodes: 130, nodeUs: 20 },
      { shape: "chain", nodes: 20, nodeUs: 0 },
    ] as const;
    const costs = await measureSchedules(2, { graphs, onProgress });
    expect(costs.map(({ threads }) => threads)).toEqual([1, 1, 1, 2, 2, 2]);
    for (const { wallMs, overheadUs, efficiency } of costs) {
      expect(wallMs).toBeGreaterThan(0);
      expect(overheadUs).toBeGreaterThan(-1);
      expect(efficiency).toBeLessThanOrEqual(1.05);
    }
  });
});

test("every variant of the ablation keeps the bits", async () => {
  const sizes = { threads: 2, lanes: 24, rows: 40, calls: 5, rounds: 1 };
  const ablations = await measureAblation(few, { ...sizes, onProgress });
  expect(ablations.map(({ variant }) => variant)).toEqual(VARIANTS.map(({ name }) => name));
  for (const { historyRatio, liveRatio } of ablations) {
    expect(historyRatio).toBeGreaterThan(0);
    expect(liveRatio).toBeGreaterThan(0);
  }
});
