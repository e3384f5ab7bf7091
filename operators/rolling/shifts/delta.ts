import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "delta",
  aliases: { native: ["ts_delta", "mom"], qlib: ["mom"], gtja191: ["mom"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "delay" },
  ],
  result: "series",
  unit: "same",
  summary: "Value minus the value d rows ago, rounded once.",
  nulls:
    "Null until d + 1 rows exist and where either of the two values is null; nulls in between do not matter.",
  source: "pandas Series.diff(d); delta(x, d) of Kakushadze (2015), arXiv:1601.00991; TA-Lib MOM",
  seesNulls: true,
  nullFor: ["x"],
  costNs: () => 3,
  windowRows: ({ d }) => d + 1,
  nullWhere: { infinite_input: ([x]) => Math.abs(x[0]) === Infinity && x[0] === x[x.length - 1] },
  reference: ([x]) => x[x.length - 1] - x[0],
  lower: (on, [x], { d }) => on.sub(x.now, on.lag(x, d)),
  examples: [
    { formula: "delta(x, 1)", inputs: { x: [1, 4, null, 9, 7] }, output: [null, 3, null, null, -2] },
    { formula: "delta(x, 2)", inputs: { x: [1, null, 4, Infinity, 8] }, output: [null, null, 3, null, 4] },
  ],
});
