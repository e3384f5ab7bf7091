import { describe, expect, test } from "vitest";
import type { Arithmetic } from "../../src/elementary/arithmetic.ts";
import { scalarArithmetic } from "../../src/elementary/scalar.ts";
import { FUNCTIONS } from "./functions.ts";
import { drawFrom, RANGES } from "./samples.ts";

type Name = keyof Arithmetic<number, boolean>;

/** Scalar arithmetic that reports each operation, its operands and its result to `see`. */
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

describe.each(FUNCTIONS)("$name", ({ name, emit }) => {
  // JavaScript sets another bit in a signalling NaN, which once made log(1.7e308) wrong.
  test("no bits travel in a NaN", () => {
    let problem = "";
    let bitCount = 0;
    const on = watched((operation, operands, result) => {
      if (!/bits$|^shift/i.test(operation)) return;
      bitCount++;
      if ([...operands, result].some(Number.isNaN)) problem = operation;
    });
    for (const [range, draw] of Object.entries(RANGES[name]!))
      for (const [x, y] of drawFrom(draw, 500, 2)) {
        emit(on, x, y);
        if (problem) expect.fail(`${problem} in ${name}(${x}, ${y}), from ${range}`);
      }
    // A name that the pattern misses would pass: every function works on bits.
    expect(bitCount).toBeGreaterThan(0);
  });
});
