import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { kernelOperators, type Settings } from "../../src/operator/definition.ts";
import { declaredCause } from "../../src/reasons/blame.ts";
import { trials } from "../support/trials.ts";

/** What an operator declares in `nullWhere` is where its reference has no value, and nowhere else. */
const value = fc.constantFrom(0, -0, 1, -1, 2, 3.5, 1e-300, 1e300, -7, Infinity, -Infinity);
const declaring = kernelOperators(builtInRegistry.operators).filter(
  ({ nullWhere }) => nullWhere !== undefined,
);
const numRuns = trials(300, 20_000);

describe.each(declaring.map((operator) => [operator.name, operator] as const))("%s", (_, operator) => {
  const provoked = new Set<string>();
  const check = (result: number, cause: string | null) => {
    if (Number.isNaN(result)) expect(cause).not.toBeNull();
    if (cause === null) return;
    provoked.add(cause);
    expect(Number.isFinite(result), cause).toBe(false);
  };

  test("declares a cause where it has no value, and only there", () => {
    const { axis } = operator;
    if (axis !== "elementwise" && axis !== "rolling") throw new Error(`write cases for the axis ${axis}`);
    const count = operator.parameters.filter(({ kind }) => kind === "series").length;
    const settings: Settings = { d: 5 };
    if (axis === "elementwise") {
      const cells = fc.array(value, { minLength: count, maxLength: count });
      fc.assert(
        fc.property(cells, (given) => check(operator.reference(...given), declaredCause(operator, ...given))),
        { numRuns },
      );
    } else {
      const rows = fc.array(fc.array(value, { minLength: count, maxLength: count }), {
        minLength: 1,
        maxLength: 5,
      });
      fc.assert(
        fc.property(rows, (given) => {
          const windows = Array.from({ length: count }, (_, i) => Float64Array.from(given, (row) => row[i]!));
          const at = { positions: Float64Array.from(given.keys()), last: given.length - 1 };
          const result = operator.reference(windows, settings, at);
          check(result, declaredCause(operator, windows, settings, at));
        }),
        { numRuns },
      );
    }
    expect([...provoked].sort()).toEqual(Object.keys(operator.nullWhere!).sort());
  });
});

test("operators with causes are tried", () => expect(declaring.length).toBeGreaterThanOrEqual(13));
