import { defineOperator } from "../../../src/operator/definition.ts";

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
  // The last value and the rows since its last row; the value before it that differs, and the same of that.
  initialState: () => [Number.NaN, Number.NaN, Number.NaN, Number.NaN],
  nullWhere: {
    too_few_values: (_cells, { d }, [, currentAge]) => !(currentAge + 1 < d),
    constant_window: ([value], { d }, [current, , , previousAge]) =>
      value === current && !(previousAge + 1 < d),
    infinite_state: ([value], _settings, [current, , previous]) =>
      !Number.isNaN(value) && Math.abs(value === current ? previous : current) === Infinity,
  },
  reference: ([value], { d }, state) => {
    const current = state[0];
    const currentAge = state[1] + 1;
    const previousAge = state[3] + 1;
    const isChange = !Number.isNaN(value) && value !== current;
    // Of equal values the latest: -0 and 0 are equal.
    state[0] = Number.isNaN(value) ? current : value;
    state[1] = Number.isNaN(value) ? currentAge : 0;
    state[2] = isChange ? current : state[2];
    state[3] = isChange ? currentAge : previousAge;
    return !Number.isNaN(value) && state[3] < d ? state[2] : Number.NaN;
  },
  lower: (on, [value], { d }, state) => {
    const [current, currentSince, previous, previousSince] = state;
    const one = on.number(1);
    const currentAge = on.add(currentSince, one);
    const isNull = on.isNull(value);
    const isChange = on.andNot(on.ne(value, current), isNull);
    const other = on.select(isChange, current, previous);
    const otherAge = on.select(isChange, currentAge, on.add(previousSince, one));
    const isRecent = on.andNot(on.lt(otherAge, on.number(d)), isNull);
    return {
      value: on.keep(isRecent, other),
      state: [
        on.select(isNull, current, value),
        on.select(isNull, currentAge, on.number(0)),
        other,
        otherAge,
      ],
    };
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
