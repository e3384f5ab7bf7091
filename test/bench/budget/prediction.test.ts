import { expect, test } from "vitest";
import { predictionErrors } from "../../../src/bench/budget/prediction.ts";

test("errors are given in percent of what came", () => {
  const { meanAbsolutePercent, biasPercent } = predictionErrors([12, 9, 10], [10, 10, 20]);
  expect(meanAbsolutePercent).toBeCloseTo((20 + 10 + 50) / 3, 9);
  expect(biasPercent).toBeCloseTo(100 * (31 / 40 - 1), 9);
});
