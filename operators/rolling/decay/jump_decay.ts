import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "jump_decay",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "sensitivity", kind: "constant", default: 0.5 },
    { name: "force", kind: "constant", default: 0.1 },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value, or where its change from the row before exceeds sensitivity times the standard deviation (ddof " +
    "1) over the last d rows, the value before plus force times the change.",
  nulls: "Null until d rows exist and while any value among them is null, and for d = 1.",
  source: "jump_decay(x, d, sensitivity, force) of the WorldQuant BRAIN operators",
  formula: "abs(delta(x, 1)) > sensitivity * ts_std(x, d) ? delay(x, 1) + delta(x, 1) * force : x",
  examples: [
    {
      formula: "jump_decay(x, 3)",
      inputs: { x: [5, 6, 6, 20, 19, null, 19] },
      output: [null, null, 6, 7.4, 19, null, null],
    },
    {
      formula: "jump_decay(x, 3, 1.5, 0.25)",
      inputs: { x: [5, 6, 6, 20, 19] },
      output: [null, null, 6, 9.5, 19],
    },
  ],
});
