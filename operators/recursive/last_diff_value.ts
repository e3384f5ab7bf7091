import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "last_diff_value",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "The latest value among the last d rows that differs from the current value.",
  nulls:
    "Null where the current value is null or no value of these rows, or those that exist, differs from it.",
  source: "last_diff_value(x, d) of the WorldQuant BRAIN operators",
  costNs: () => 10,
  reference: ([x], { d }, output) => {
    let current = Number.NaN;
    let currentRow = Number.NaN; // the last row that had it
    let previous = Number.NaN;
    let previousRow = Number.NaN;
    (x as Float64Array).forEach((value, row) => {
      output[row] = Number.NaN;
      if (Number.isNaN(value)) return;
      if (value !== current) {
        previous = current;
        previousRow = currentRow;
        current = value;
      }
      currentRow = row;
      if (row - previousRow < (d as number)) output[row] = previous;
    });
  },
  examples: [
    {
      formula: "last_diff_value(x, 3)",
      inputs: { x: [5, 5, 7, 7, 7, null, 5] },
      output: [null, null, 5, 5, null, null, 7],
    },
    {
      formula: "last_diff_value(x, 2)",
      inputs: { x: [1, 2, null, 3, Infinity] },
      output: [null, 1, null, null, 3],
    },
  ],
});
