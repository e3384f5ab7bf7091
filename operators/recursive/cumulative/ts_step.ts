import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_step",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Number of the row, 1 for the first of the history; x does not matter and is written as 1.",
  nulls: "Never null.",
  source: "ts_step(1) of the WorldQuant BRAIN operators: a counter of days",
  costNs: () => 3,
  initialState: () => [0],
  nullWhere: {},
  reference: (_cells, _settings, state) => {
    const row = state[0] + 1;
    state[0] = row;
    return row;
  },
  lower: (on, _cells, _settings, state) => {
    const row = on.add(state[0], on.number(1));
    return { value: row, state: [row] };
  },
  examples: [
    { formula: "ts_step(1) + 0 * x", inputs: { x: [7, 7, null, 7] }, output: [1, 2, null, 4] },
    { formula: "ts_step(x)", inputs: { x: [null, null, 5] }, output: [1, 2, 3] },
  ],
});
