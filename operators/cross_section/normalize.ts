import { exactDeviations, exactStandardScores } from "../../src/exact/row_statistics.ts";
import { hasInfinity, infiniteSum, isConstant } from "../../src/exact/special_values.ts";
import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "normalize",
  axis: "cross_section",
  parameters: [
    { name: "x", kind: "series" },
    { name: "use_std", kind: "constant", default: 0 },
    { name: "limit", kind: "constant", default: 0 },
  ],
  result: "series",
  unit: "other",
  summary:
    "Value minus the mean of the row, unless use_std is 0 divided by the sample standard deviation (ddof " +
    "1), unless limit is 0 limited to -limit .. limit: the exact value rounded once.",
  nulls:
    "Nulls stay null and do not count; with use_std the whole row is null for fewer than 2 values, where " +
    "all are equal, and where one is infinite.",
  source: "normalize(x, useStd, limit) of the WorldQuant BRAIN operators",
  costNs: () => 110,
  nullWhere: {
    infinite_input: ([x], { use_std: useStd }, i) =>
      useStd === 0 ? Number.isNaN(x[i] - infiniteSum(x)) : hasInfinity(x),
    too_few_values: ([x], { use_std: useStd }) => useStd !== 0 && x.length < 2,
    constant_row: ([x], { use_std: useStd }) => useStd !== 0 && isConstant(x),
  },
  reference: ([x], { use_std: useStd, limit }, output) => {
    if (useStd === 0) exactDeviations(x, output);
    else exactStandardScores(x, output);
    const most = Math.abs(limit);
    if (most === 0) return;
    for (let i = 0; i < output.length; i++) output[i] = Math.max(-most, Math.min(most, output[i]));
  },
  lower: (on, { use_std: useStd, limit }) => (useStd === 0 ? on.deviations(limit) : on.standardScores(limit)),
  examples: [
    { formula: "normalize(x)", inputs: { x: [3, 5, null, 6, 2] }, output: [-1, 1, null, 2, -2] },
    {
      formula: "normalize(x, use_std=1)",
      inputs: { x: [3, 5, 6, 2] },
      output: [-0.5477225575051661, 0.5477225575051661, 1.0954451150103321, -1.0954451150103321],
    },
    { formula: "normalize(x, 0, 1.5)", inputs: { x: [3, 5, 6, 2, null] }, output: [-1, 1, 1.5, -1.5, null] },
  ],
});
