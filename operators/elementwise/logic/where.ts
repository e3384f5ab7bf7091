import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "where",
  symbol: "?:",
  aliases: { native: ["if_else"], qlib: ["if"] },
  axis: "elementwise",
  parameters: [
    { name: "c", kind: "condition" },
    { name: "a", kind: "series" },
    { name: "b", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary: "The value of a where the condition holds, the value of b where it does not.",
  nulls: "Null if the condition or the chosen value is null; a null in the other branch does not matter.",
  source: "c ? a : b of Kakushadze (2015), arXiv:1601.00991; null rule of SQL applied to the condition",
  laws: [
    "(!c ? x : y) = c ? y : x",
    "(c ? 1 : 0) = c",
    "(c ? 0 : 1) = !c",
    "(1 ? x : y) = x",
    "(0 ? x : y) = y",
  ],
  seesNulls: true,
  nullFor: ["c"],
  costNs: () => 2,
  nullWhere: {},
  reference: (c, a, b) => {
    if (Number.isNaN(c)) return Number.NaN;
    return c !== 0 ? a : b;
  },
  lower: (on, c, a, b) => on.keep(on.eq(c, c), on.select(on.ne(c, on.number(0)), a, b)),
  examples: [
    {
      formula: "x > 0 ? x : y",
      inputs: { x: [1, -1, 2, -2, null], y: [10, 20, null, null, 50] },
      output: [1, 20, 2, null, null],
    },
  ],
});
