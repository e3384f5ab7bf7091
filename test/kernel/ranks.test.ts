import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import type { Operator } from "../../src/operator/definition.ts";
import { applyOperator, groupOf } from "./small_panel.ts";

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
  "few ties among nulls": (u) => (u() < 0.3 ? NaN : Math.floor(3_000 * u())),
  "zeros of both signs": (u) => [0, -0, 5e-324, -5e-324][Math.floor(4 * u())] as number,
  "one outlier: the rest agrees in all leading bits": (u, lane) => (lane === 3 ? 1e300 : 1 + u() * 1e-9),
  infinities: (u) => [Infinity, -Infinity, u(), NaN][Math.floor(4 * u())] as number,
  "descending, neighbours by one bit": (_, lane) => 1 + (5_000 - lane) * 2 ** -52,
  "no value": () => NaN,
  "one value": (_, lane) => (lane === 0 ? -2 : NaN),
  "all equal": () => 7,
};

describe.each(Object.entries(HARD))("ranks of %s", (_, cellOf) => {
  test.each([1, 2, 7, 8, 9, 64, 1_003, 4_096])("%i lanes", (laneCount) => {
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

test("ranks of any doubles", () => {
  fc.assert(
    fc.property(fc.array(fc.double(), { minLength: 1, maxLength: 40 }), (row) => {
      const operands = [Float64Array.from(row)];
      const ranks = applyOperator({ operator: rank, rowCount: 1, laneCount: row.length, operands });
      expect(ranks).toEqual(Float64Array.from(ranksOf(row)));
    }),
  );
});
