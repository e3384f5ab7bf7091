import { inverseNormal } from "../../src/exact/inverse_normal.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { isFewerThan } from "../../src/operator/null_rules.ts";
import { averageRanks } from "./rank.ts";

export const operator = defineOperator({
  name: "quantile",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "driver", kind: "constant", default: 0 },
    { name: "sigma", kind: "constant", default: 1 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Sigma times the quantile of a standard normal distribution (driver 0), or of a uniform one from -1/2 to 1/2 " +
    "(driver 1), at the rank of the value, which is mapped to [1/n, 1 - 1/n] for n values; ties share their average rank.",
  nulls: "Nulls stay null and do not count; null for fewer than 2 values and for other drivers.",
  source:
    "quantile(x, driver, sigma) of the WorldQuant BRAIN operators; inverse normal of Wichura (1988), " +
    "algorithm AS 241, relative error below 1e-15",
  costNs: () => 170,
  nullWhere: {
    setting_out_of_range: (_columns, { driver }) => driver !== 0 && driver !== 1,
    too_few_values: isFewerThan(2),
  },
  reference: ([x], { driver, sigma }, output) => {
    const count = output.length;
    averageRanks(x, output);
    // With r = (rank - 1) / (n - 1) in [0, 1] the probability is p = 1/n + r * (1 - 2/n): a fraction over 2n(n-1),
    // whose numerator is exact, so that p and p - 1/2 are rounded once.
    const denominator = 2 * count * (count - 1);
    for (let i = 0; i < count; i++) {
      const rank = output[i];
      const above = 2 * (count - 1) + 2 * (rank - 1) * (count - 2);
      const offset = ((2 * rank - count - 1) * (count - 2)) / denominator + 0; // of two lanes: 0, not -0
      const tail = Math.min(above, denominator - above) / denominator;
      if (driver === 0) output[i] = sigma * inverseNormal(offset, tail);
      else output[i] = driver === 1 ? sigma * offset : Number.NaN;
    }
  },
  examples: [
    {
      formula: "quantile(x)",
      inputs: { x: [0.2, 0.5, -0.1, null, 0.8, 0.3] },
      output: [-0.38532046640756756, 0.38532046640756756, -0.8416212335729142, null, 0.8416212335729142, 0],
    },
    {
      formula: "quantile(x, 1, 2)",
      inputs: { x: [0.2, 0.5, -0.1, 0.8, 0.3] },
      output: [-0.3, 0.3, -0.6, 0.6, 0],
    },
    { formula: "quantile(x)", inputs: { x: [null, 4, null] }, output: [null, null, null] },
  ],
});
