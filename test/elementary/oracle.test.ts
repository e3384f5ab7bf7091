import { expect, test } from "vitest";
import { errorInUlps, exactExp, exactLog, exactLog1p, exactPower, exactTanh, type Real } from "./oracle.ts";

/** The first 50 decimals, cut. */
function decimals({ integer, exponent }: Real): string {
  const digits = ((integer * 10n ** 50n) >> BigInt(-exponent)).toString().padStart(51, "0");
  return `${digits.slice(0, -50)}.${digits.slice(-50)}`;
}

// Sequences A001113, A002392, A016627, A002193 of the OEIS; tanh(1) = (e^2 - 1) / (e^2 + 1), sequence A073744.
test("the oracle knows the digits of constants", () => {
  expect(decimals(exactExp(1))).toBe("2.71828182845904523536028747135266249775724709369995");
  expect(decimals(exactLog(10))).toBe("2.30258509299404568401799145468436420760110148862877");
  expect(decimals(exactLog1p(3))).toBe("1.38629436111989061883446424291635313615100026872051");
  expect(decimals(exactPower(2, 0.5))).toBe("1.41421356237309504880168872420969807856967187537694");
  expect(decimals(exactTanh(1))).toBe("0.76159415595576488811945828260479359041276859725793");
});

test("the oracle follows the first terms of the series near 0", () => {
  const x = 2 ** -600;
  expect(errorInUlps(x, exactTanh(x))).toBe(0);
  expect(errorInUlps(-x, exactLog1p(-x))).toBe(0);
  expect(errorInUlps(1, exactExp(-x))).toBe(0);
});

test("errors are counted in the last place of the exact value", () => {
  const one = { integer: 1n, exponent: 0 };
  expect(errorInUlps(1 + Number.EPSILON, one)).toBe(1);
  expect(errorInUlps(1 - Number.EPSILON, one)).toBe(1);
  expect(errorInUlps(0, { integer: 3n, exponent: -1075 })).toBe(1.5);
  expect(errorInUlps(Number.MAX_VALUE, { integer: 1n, exponent: 1024 })).toBe(0.5);
  expect(errorInUlps(Number.POSITIVE_INFINITY, { integer: 1n, exponent: 1030 })).toBe(0);
  expect(errorInUlps(Number.POSITIVE_INFINITY, { integer: (1n << 55n) - 1n, exponent: 969 })).toBe(0.25);
});
