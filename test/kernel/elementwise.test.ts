import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import type { Operator } from "../../src/operator/definition.ts";
import { bitsOf } from "../support/bits.ts";
import { applyOperator, testOperator } from "./small_panel.ts";

const series = (name: string) => ({ name, kind: "series" as const });
const operatorOf = (arity: number, seesNulls: boolean) =>
  testOperator({
    name: "weigh",
    axis: "elementwise",
    seesNulls,
    parameters: ["a", "b", "c", "d"].slice(0, arity).map(series),
    nullWhere: {},
    reference: (...cells) =>
      cells.reduce((sum, cell, k) => sum + (Number.isNaN(cell) ? 0.5 : cell) * 10 ** k, 0),
  });

const nulls = [1, NaN, 3, 4, 5, NaN];
const others = [6, 5, 4, 3, 2, 1];

describe.each([1, 2, 3, 4])("an elementwise operator of %i arguments", (arity) => {
  const operands = [
    Float64Array.from(nulls),
    ...Array.from({ length: arity - 1 }, () => Float64Array.from(others)),
  ];
  const weigh = (cell: number, row: number) =>
    (Number.isNaN(cell) ? 0.5 : cell) + (arity > 1 ? Number("1".repeat(arity - 1)) * 10 * others[row]! : 0);

  test("gives null where any argument is null", () => {
    const column = applyOperator({ operator: operatorOf(arity, false), rowCount: 3, laneCount: 2, operands });
    expect([...column]).toEqual(nulls.map((cell, i) => (Number.isNaN(cell) ? NaN : weigh(cell, i))));
  });

  test("is handed nulls if it sees them", () => {
    const column = applyOperator({ operator: operatorOf(arity, true), rowCount: 3, laneCount: 2, operands });
    expect([...column]).toEqual(nulls.map(weigh));
  });

  test("takes a number for a constant column", () => {
    const constant = Float64Array.from(nulls, () => 7);
    const last = operands.slice(0, -1);
    const application = { operator: operatorOf(arity, false), rowCount: 3, laneCount: 2 };
    const column = applyOperator({ ...application, operands: [...last, 7] });
    expect([...column]).toEqual([...applyOperator({ ...application, operands: [...last, constant] })]);
  });
});

test("-0 is kept and every null has the same bits", () => {
  const negate = testOperator({
    name: "negate",
    axis: "elementwise",
    parameters: [series("x")],
    nullWhere: {},
    reference: (x) => (x === 3 ? Number.POSITIVE_INFINITY - Number.POSITIVE_INFINITY : -x!),
  });
  const otherNaN = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0123n]).buffer)[0]!;
  const operands = [Float64Array.of(0, otherNaN, 3, Number.POSITIVE_INFINITY)];
  const column = applyOperator({ operator: negate, rowCount: 4, laneCount: 1, operands });
  expect(bitsOf(column)).toEqual(bitsOf(Float64Array.of(-0, NaN, NaN, Number.NEGATIVE_INFINITY)));
});

test.each(["power", "signed_power"])("%s of a literal exponent is that of a series of it", (name) => {
  const operator = builtInRegistry.operators.find((one) => one.name === name) as Operator;
  const values = [0, -0, 1, -1, 1.1, -1.1, 3e-170, -3e-170, 1e200, -1e200, Infinity, -Infinity, NaN];
  const x = Float64Array.from(values);
  for (const exponent of [-1, 0, 0.5, 1, 2, 3, 4]) {
    const application = { operator, rowCount: 1, laneCount: x.length };
    const series = applyOperator({ ...application, operands: [x, x.map(() => exponent)] });
    expect(bitsOf(applyOperator({ ...application, operands: [x, exponent] }))).toEqual(bitsOf(series));
  }
});
