import { expect, test } from "vitest";
import { defineOperator, type WindowRows } from "../../src/operator/definition.ts";
import * as rolling from "../../src/rolling/index.ts";
import { facts } from "../engine/fixtures/operator_facts.ts";

/** The assertions are the types: `npm run typecheck` fails where one of these lines is accepted or refused wrongly. */
const clipped = {
  ...facts,
  name: "ts_clipped",
  summary: "Mean of the values where the condition holds, at most the limit.",
  parameters: [
    { name: "x", kind: "series" },
    { name: "c", kind: "condition" },
    { name: "d", kind: "window" },
    { name: "limit", kind: "constant", default: 1 },
  ],
} as const;

test("functions get one item for each series and the declared settings by name", () => {
  const operator = defineOperator({
    ...clipped,
    axis: "rolling",
    windowRows: ({ d }) => d + 1,
    reference: ([x, c], { d, limit }, { last }: WindowRows) => {
      const columns: readonly [Float64Array, Float64Array] = [x, c];
      return Math.min(limit, columns.length + d + last);
    },
    lower: (on, [x, c], { d, limit }) =>
      on.min(on.mul(rolling.mean(on, x, d, null), c.now), on.number(limit)),
  });
  expect(operator.parameters.map(({ name }) => name)).toEqual(["x", "c", "d", "limit"]);
});

test("what is not declared cannot be used", () => {
  defineOperator({
    ...clipped,
    axis: "rolling",
    // @ts-expect-error: there is no parameter n.
    windowRows: ({ n }) => n,
    // @ts-expect-error: there are two series.
    reference: ([_x, _c, third]) => third.length,
  });
  defineOperator({
    ...facts,
    name: "own_sum",
    summary: "Sum of two.",
    axis: "elementwise",
    parameters: [
      { name: "x", kind: "series" },
      { name: "y", kind: "series" },
    ],
    // @ts-expect-error: it is given two numbers.
    reference: (x: number, y: number, z: number) => x + y + z,
  });
  defineOperator({
    ...facts,
    name: "own_share",
    summary: "Share of the group.",
    axis: "group",
    parameters: [
      { name: "x", kind: "series" },
      { name: "g", kind: "group" },
    ],
    // @ts-expect-error: the group is no column.
    reference: ([x, groups], _settings, output) => output.set(x, groups.length),
  });
  expect.assertions(0);
});
