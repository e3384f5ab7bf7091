import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile } from "../../src/compile.ts";
import type { Operator } from "../../src/operator/definition.ts";
import { bitsOf } from "../support/bits.ts";
import { runProgram } from "./run_plan.ts";
import { applyOperator, groupOf, sharedCopy } from "./small_panel.ts";

const rank = builtInRegistry.operators.find(({ name }) => name === "rank") as Operator;
const groupRank = builtInRegistry.operators.find(({ name }) => name === "group_rank") as Operator;

/** Average ranks, divided by the number of values: half the sum of the first and the last place of equal ones. */
function ranksOf(row: readonly number[]): number[] {
  const sorted = row.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const first = new Map<number, number>();
  const last = new Map<number, number>();
  sorted.forEach((value, i) => {
    const key = value + 0;
    if (!first.has(key)) first.set(key, i + 1);
    last.set(key, i + 1);
  });
  return row.map((value) => {
    if (Number.isNaN(value)) return NaN;
    const sum = (first.get(value + 0) as number) + (last.get(value + 0) as number);
    return (sum * 0.5) / sorted.length;
  });
}

const seeded = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Rows that are hard for one of the steps of the sort; `u` is uniform, from 0 to below 1. */
const HARD: Readonly<Record<string, (u: () => number, lane: number) => number>> = {
  "signs and magnitudes from subnormal to infinite": (u) => (u() < 0.5 ? -1 : 1) * 2 ** (2_120 * u() - 1_080),
  "returns around 0": (u) => (u() + u() + u() - 1.5) / 50,
  "many ties": (u) => Math.floor(12 * u()) / 12,
  "few values of either sign": (u) => [-3, -1, 1, 3][Math.floor(4 * u())] as number,
  "few values, two of them neighbours": (u) => [1, 1 + 2 ** -52, 2, 3][Math.floor(4 * u())] as number,
  "few values and nulls": (u) => (u() < 0.1 ? NaN : Math.floor(12 * u()) - 6),
  "prices in cents, half of them with an equal": (u) => 20 + Math.floor(4_000 * u()) / 100,
  "few ties among nulls": (u) => (u() < 0.3 ? NaN : Math.floor(3_000 * u())),
  "zeros of both signs": (u) => [0, -0, 5e-324, -5e-324][Math.floor(4 * u())] as number,
  "few bits, so that all low digits agree": (u) => 1 + Math.floor(2_048 * u()) / 2_048,
  "few bits of either sign, and nulls": (u) => (u() < 0.2 ? NaN : (Math.floor(1_024 * u()) - 512) / 8),
  "one outlier: the rest agrees in all leading bits": (u, lane) => (lane === 3 ? 1e300 : 1 + u() * 1e-9),
  infinities: (u) => [Infinity, -Infinity, u(), NaN][Math.floor(4 * u())] as number,
  "descending, neighbours by one bit": (_, lane) => 1 + (5_000 - lane) * 2 ** -52,
  "no value": () => NaN,
  "one value": (_, lane) => (lane === 0 ? -2 : NaN),
  "all equal": () => 7,
};

describe.each(Object.entries(HARD))("ranks of %s", (_, cellOf) => {
  test.each([1, 2, 7, 8, 9, 64, 1_003, 4_096, 9_001])("%i lanes", (laneCount) => {
    const u = seeded(laneCount);
    const rows = [0, 1].map(() => Array.from({ length: laneCount }, (__, lane) => cellOf(u, lane)));
    const operands = [Float64Array.from(rows.flat())];
    const ranks = applyOperator({ operator: rank, rowCount: rows.length, laneCount, operands });
    expect(ranks).toEqual(Float64Array.from(rows.flatMap(ranksOf)));
    const group = groupOf(
      Array.from({ length: laneCount }, (___, lane) => lane % 3),
      false,
    );
    const inGroups = applyOperator({
      operator: groupRank,
      rowCount: rows.length,
      laneCount,
      operands,
      group,
    });
    const wanted = rows.flatMap((row) => {
      const ofGroups = [0, 1, 2].map((code) => ranksOf(row.filter((____, lane) => lane % 3 === code)));
      return row.map((____, lane) => ofGroups[lane % 3]![Math.floor(lane / 3)]!);
    });
    expect(inGroups).toEqual(Float64Array.from(wanted));
  });
});

const doubles = new Float64Array(1);
const patterns = new BigUint64Array(doubles.buffer);

function doubleOf(pattern: bigint): number {
  patterns[0] = pattern;
  return doubles[0] as number;
}

/** Lanes and the bits of a digit that go with them. */
const DIGITS = [
  [8, 6],
  [128, 6],
  [256, 7],
  [512, 8],
  [1_024, 9],
  [2_048, 10],
  [4_096, 11],
] as const;

test.each(DIGITS)("a null has no rank, however far values lie apart: %i lanes", (laneCount, digitBits) => {
  const most = 2n ** BigInt(2 * digitBits) - 1n;
  const rows = [0, 1, 8, 20, 30, 52 - 2 * digitBits, 62 - 2 * digitBits].flatMap((shift) =>
    [-1n, 0n, 1n].map((off) => {
      const far = doubleOf(bitsOf([2 ** -1000])[0]! + (most << BigInt(shift)) + off);
      return [2 ** -1000, far, ...new Array<number>(laneCount - 2).fill(NaN)];
    }),
  );
  const ends = [-Number.MAX_VALUE, 5e-324, Infinity, ...new Array<number>(laneCount - 3).fill(NaN)];
  const all = [...rows, ends, ends.map((value) => -value)];
  const operands = [Float64Array.from(all.flat())];
  const ranks = applyOperator({ operator: rank, rowCount: all.length, laneCount, operands });
  expect(ranks).toEqual(Float64Array.from(all.flatMap(ranksOf)));
});

test("a null that the processor has made has none", () => {
  // Infinity - Infinity is a NaN with its sign set.
  const program = compile("a = rank(x - y)\nb = group_rank(x - y, g)", { fields: ["x", "y"], groups: ["g"] });
  const fields = new Map([
    ["x", sharedCopy([1, 1.9999, Infinity])],
    ["y", sharedCopy([0, 0, Infinity])],
  ]);
  const groups = new Map([["g", groupOf([0, 0, 0], false)]]);
  const [ranks, inGroups] = runProgram(program, { rowCount: 1, laneCount: 3, fields, groups });
  expect(ranks).toEqual(Float64Array.of(0.5, 1, NaN));
  expect(inGroups).toEqual(Float64Array.of(0.5, 1, NaN));
});

test("ranks of any doubles", () => {
  fc.assert(
    fc.property(fc.array(fc.double(), { minLength: 1, maxLength: 40 }), (row) => {
      const operands = [Float64Array.from(row)];
      const ranks = applyOperator({ operator: rank, rowCount: 1, laneCount: row.length, operands });
      expect(ranks).toEqual(Float64Array.from(ranksOf(row)));
    }),
  );
});
