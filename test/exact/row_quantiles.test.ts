import { describe, expect, test } from "vitest";
import { inverseNormal } from "../../src/exact/inverse_normal.ts";

/** The quantile at p, to the precision of p itself. */
const at = (p: number) => inverseNormal(p - 0.5, Math.min(p, 1 - p));

describe("inverse normal", () => {
  // Solutions z of erfc(-z / sqrt(2)) / 2 = p with 60 digits (mpmath 1.3).
  test.each([
    [0.5, 0],
    [0.75, 0.6744897501960817],
    [0.0625, -1.5341205443525463],
    [0.015625, -2.1538746940614564],
    [2 ** -20, -4.7630010342678135],
    [2 ** -60, -8.773321169027552],
    [2 ** -300, -20.19985664254582],
    [2 ** -1000, -37.11101193716479],
  ])("quantile at %d to 1e-15", (p, z) => {
    expect(Math.abs(at(p) - z)).toBeLessThanOrEqual(1e-15 * Math.abs(z));
  });

  test("is odd to the last bit and rises with p, across the seams of its three approximations", () => {
    const tails = [
      2 ** -40,
      1e-12,
      1.3887943864964e-11,
      1.3887943864965e-11,
      1e-9,
      0.01,
      0.0749999,
      0.075,
      0.0750001,
    ];
    const offsets = [...tails.map((tail) => tail - 0.5), -0.4, -0.1, -1e-9];
    const left = offsets.map((offset, i) => inverseNormal(offset, tails[i] ?? 0.5 + offset));
    const right = offsets.map((offset, i) => inverseNormal(-offset, tails[i] ?? 0.5 + offset));
    expect(right).toEqual(left.map((z) => -z));
    expect(left).toEqual([...left].sort((a, b) => a - b));
    expect(new Set(left).size).toBe(left.length);
  });
});
