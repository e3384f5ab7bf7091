import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "delay",
  aliases: { native: ["ts_delay"], qlib: ["ref"] },
  axis: "rolling",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "delay" },
  ],
  result: "series",
  unit: "same",
  summary: "The value d rows ago.",
  nulls:
    "Null until d + 1 rows exist and where the value d rows ago is null; nulls in between do not matter.",
  source: "pandas Series.shift(d); delay(x, d) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["delay(x, 0) = x", "delay(delay(x, a), b) = delay(x, a + b)"],
  seesNulls: true,
  costNs: () => 2,
  windowRows: ({ d }) => d + 1,
  nullWhere: {},
  reference: ([x]) => x[0],
  lower: (on, [x], { d }) => on.lag(x, d),
  examples: [
    { formula: "delay(x, 2)", inputs: { x: [1, null, 3, Infinity, 5] }, output: [null, null, 1, null, 3] },
    { formula: "delay(x, 0)", inputs: { x: [1, null, 3] }, output: [1, null, 3] },
  ],
});
