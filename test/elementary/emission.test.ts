import { describe, expect, test } from "vitest";
import type { Arithmetic } from "../../src/elementary/arithmetic.ts";
import { scalarArithmetic } from "../../src/elementary/scalar.ts";
import { FUNCTIONS } from "./functions.ts";
import { drawFrom, RANGES } from "./samples.ts";

type Name = keyof Arithmetic<number, boolean>;

/** Scalar arithmetic that shows each operation and its operands to someone. */
function watched(
  see: (name: Name, operands: readonly unknown[], result: unknown) => void,
): typeof scalarArithmetic {
  const watch = ([name, operation]: [string, (...operands: never[]) => unknown]) => [
    name,
    (...operands: never[]) => {
      const result = operation(...operands);
      see(name as Name, operands, result);
      return result;
    },
  ];
  return Object.fromEntries(Object.entries(scalarArithmetic).map(watch));
}

describe.each(FUNCTIONS)("$name", ({ name, emit, operationCount }) => {
  test("takes as many operations as its documentation says", () => {
    let count = 0;
    const on = watched((operation) => {
      if (operation !== "number" && operation !== "bits") count++;
    });
    emit(on, 0.5, 0.7);
    expect(count).toBe(operationCount);
  });

  // A pattern of a signalling NaN comes out of JavaScript with another bit set: log(1.7e308) was wrong for that.
  test("no bits travel in a NaN", () => {
    let problem = "";
    const on = watched((operation, operands, result) => {
      if (/bits$|^shift/i.test(operation) && [...operands, result].some(Number.isNaN)) problem = operation;
    });
    for (const [range, draw] of Object.entries(RANGES[name] ?? {}))
      for (const [x, y] of drawFrom(draw, 500, 2)) {
        emit(on, x, y);
        if (problem) expect.fail(`${problem} in ${name}(${x}, ${y}), from ${range}`);
      }
  });
});
