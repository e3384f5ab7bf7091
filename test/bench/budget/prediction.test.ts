import { expect, test } from "vitest";
import { CallPrediction, predictionErrors } from "../../../src/bench/budget/prediction.ts";

/**
 *  0 (4 parts) --> 1 --> 3
 *            \---> 2 --/
 */
const NODES = [
  { inputs: [], partCount: 4 },
  { inputs: [0], partCount: 1 },
  { inputs: [0], partCount: 1 },
  { inputs: [1, 2], partCount: 1 },
];
const FIRST = Float64Array.of(8e6, 6e6, 1e6, 1e6);
/** Node 2 takes 40 ms for once: 8.8 in the average. */
const SECOND = Float64Array.of(8e6, 6e6, 40e6, 1e6);

test.each([
  // All of the work, 16 ms, then 55; by the averages 23.8. The rest, 4 ms, is overhead.
  { threads: 1, walls: [20, 59], predicted: 27.8 },
  // The path by two parts at a time: 4 + 6 + 1, then 4 + 40 + 1; by the averages 4 + 8.8 + 1. Overhead 9 ms.
  { threads: 2, walls: [20, 54], predicted: 22.8 },
  // Four parts at a time: 2 + 6 + 1, then 2 + 40 + 1; by the averages 2 + 8.8 + 1. Overhead 11 ms.
  { threads: 4, walls: [20, 54], predicted: 22.8 },
  { threads: 64, walls: [20, 54], predicted: 22.8 },
] as const)("the next call on $threads threads is the bound by averages and the overhead", (trial) => {
  const { threads, walls, predicted } = trial;
  const prediction = new CallPrediction(NODES, threads);
  expect(prediction.nextMs).toBeNull();
  prediction.learn(FIRST, walls[0]);
  expect(prediction.nextMs).toBeCloseTo(walls[0], 9);
  prediction.learn(SECOND, walls[1]);
  expect(prediction.nextMs).toBeCloseTo(predicted, 9);
});

test("a fifth of new overhead is believed at once, all of it in the end", () => {
  const prediction = new CallPrediction(NODES, 1);
  prediction.learn(FIRST, 20);
  prediction.learn(FIRST, 30);
  expect(prediction.nextMs).toBeCloseTo(22, 9);
  for (let call = 0; call < 200; call++) prediction.learn(FIRST, 30);
  expect(prediction.nextMs).toBeCloseTo(30, 9);
});

test("errors are given in percent of what came", () => {
  const { meanAbsolutePercent, biasPercent } = predictionErrors([12, 9, 10], [10, 10, 20]);
  expect(meanAbsolutePercent).toBeCloseTo((20 + 10 + 50) / 3, 9);
  expect(biasPercent).toBeCloseTo(100 * (31 / 40 - 1), 9);
});
