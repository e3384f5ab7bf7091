import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "trade_when",
  axis: "recursive",
  parameters: [
    { name: "trigger", kind: "series" },
    { name: "x", kind: "series" },
    { name: "exit", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary:
    "Null where exit is above 0; otherwise the value of x where trigger is above 0; otherwise the last result.",
  nulls:
    "Null until the first trigger; a null trigger or exit counts as not above 0; a triggered null is taken " +
    "over.",
  source: "trade_when(x, y, z) of the WorldQuant BRAIN operators",
  costNs: () => 15,
  initialState: () => [Number.NaN],
  nullWhere: {
    no_value_yet: ([trigger, , exit], _settings, [last]) =>
      exit > 0 || (!(trigger > 0) && Number.isNaN(last)),
    infinite_state: ([trigger], _settings, [last]) => !(trigger > 0) && Math.abs(last) === Infinity,
  },
  reference: ([trigger, x, exit], _settings, state) => {
    if (exit > 0) state[0] = Number.NaN;
    else if (trigger > 0) state[0] = x;
    return state[0];
  },
  lower: (on, [trigger, x, exit], _settings, [last]) => {
    const zero = on.number(0);
    const held = on.select(on.gt(trigger, zero), x, last);
    const value = on.select(on.gt(exit, zero), on.number(Number.NaN), held);
    return { value, state: [value] };
  },
  examples: [
    {
      formula: "trade_when(c > 0, x, z > 0)",
      inputs: { c: [0, 1, 0, null, 1, 0, 0], x: [1, 2, 3, 4, 5, 6, 7], z: [0, 0, 0, 0, null, 0, 1] },
      output: [null, 2, 2, 2, 5, 5, null],
    },
    // An exit of -1 never happens.
    {
      formula: "trade_when(x > 2, x, -1)",
      inputs: { x: [1, 3, 2, null, 4] },
      output: [null, 3, 3, 3, 4],
    },
    {
      formula: "trade_when(c > 0, x, c < 0)",
      inputs: { c: [1, 0, 1, -1, 0], x: [5, 6, null, 8, 9] },
      output: [5, 5, null, null, null],
    },
  ],
});
