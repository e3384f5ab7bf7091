import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "xor",
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "condition" },
    { name: "y", kind: "condition" },
  ],
  result: "condition",
  unit: "none",
  summary: "1 where exactly one of two conditions holds, otherwise 0.",
  nulls: "Null if either condition is null: the other one alone never decides.",
  source: "three-valued logic of Kleene (1938); numpy.logical_xor",
  laws: ["commutative", "xor(c, 0) = c", "xor(c, 1) = !c", "xor(!c, !d) = xor(c, d)"],
  costNs: () => 1,
  nullWhere: {},
  reference: (x, y) => ((x !== 0) !== (y !== 0) ? 1 : 0),
  lower: (on, x, y) => {
    const a = on.ne(x, on.number(0));
    const b = on.ne(y, on.number(0));
    return on.condition(on.or(on.andNot(a, b), on.andNot(b, a)), x, y);
  },
  examples: [
    {
      formula: "xor(x > 0, y > 0)",
      inputs: { x: [1, 1, -1, -1, 1, null], y: [1, -1, 1, -1, null, -1] },
      output: [0, 1, 1, 0, null, null],
    },
  ],
});
