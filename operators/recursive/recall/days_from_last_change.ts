import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "days_from_last_change",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary:
    "Rows since the value last changed, 0 in the row of the change; the first value counts as a change.",
  nulls: "Null until the first value; a null is not a change, and its row counts.",
  source: "days_from_last_change(x) of the WorldQuant BRAIN operators",
  costNs: () => 10,
  // The last value, and the rows since it became that.
  initialState: () => [Number.NaN, Number.NaN],
  nullWhere: {},
  reference: ([value], _settings, state) => {
    const isChange = !Number.isNaN(value) && value !== state[0];
    const age = isChange ? 0 : state[1] + 1;
    if (isChange) state[0] = value;
    state[1] = age;
    return age;
  },
  lower: (on, [value], _settings, state) => {
    const [current, age] = state;
    const isChange = on.andNot(on.ne(value, current), on.isNull(value));
    const next = on.select(isChange, on.number(0), on.add(age, on.number(1)));
    return { value: next, state: [on.select(isChange, value, current), next] };
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
