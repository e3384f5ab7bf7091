import { describe, expect, test } from "vitest";
import { scalarArithmetic } from "../../src/elementary/scalar.ts";
import { trials } from "../support/trials.ts";
import { FUNCTIONS } from "./functions.ts";
import { errorInUlps } from "./oracle.ts";
import { drawFrom, RANGES } from "./samples.ts";

const NORMAL_MIN = 2 ** -1022;

/** Arguments drawn from each range; some 20 microseconds each. */
const DRAWN_COUNT = trials(1000, 4000);

describe.each(FUNCTIONS)("$name", ({ name, emit, exact, ulpsMax, subnormalUlpsMax }) => {
  const ranges = Object.entries(RANGES[name] ?? {});

  test.each(ranges)("%s", (_, draw) => {
    for (const [x, y] of drawFrom(draw, DRAWN_COUNT, 1)) {
      const value = emit(scalarArithmetic, x, y);
      const error = errorInUlps(value, exact(x, y));
      const bound = Math.abs(value) < NORMAL_MIN ? subnormalUlpsMax : ulpsMax;
      if (error > bound) expect.fail(`${name}(${x}, ${y}) = ${value} is off by ${error} ulp`);
    }
  });
});
