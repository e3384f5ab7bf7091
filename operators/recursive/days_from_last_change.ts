import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "days_from_last_change",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary:
    "Rows since the value last changed, 0 in the row of the change; the first value counts as a change.",
  nulls: "Null until the first value; a null is no change, and the rows go on counting.",
  source: "days_from_last_change(x) of the WorldQuant BRAIN operators",
  costNs: () => 10,
  reference: ([x], _settings, output) => {
    let current = Number.NaN;
    let changeRow = Number.NaN;
    (x as Float64Array).forEach((value, row) => {
      if (!Number.isNaN(value) && value !== current) {
        current = value;
        changeRow = row;
      }
      output[row] = row - changeRow;
    });
  },
  examples: [
    {
      formula: "days_from_last_change(x)",
      inputs: { x: [10, 10, 12, 12, 12, 15] },
      output: [0, 1, 0, 1, 2, 0],
    },
    {
      formula: "days_from_last_change(x)",
      inputs: { x: [null, 3, null, 3, null, 4] },
      output: [null, 0, 1, 2, 3, 0],
    },
  ],
});
