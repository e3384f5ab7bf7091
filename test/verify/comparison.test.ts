import { describe, expect, test } from "vitest";
import { Comparison } from "../../src/verify/comparison.ts";

const LANES = 2;
const usual = {
  firstRow: 10,
  laneCount: LANES,
  columns: new Map([
    ["a", Float64Array.of(1, 2, 3, Number.NaN, 5, 0)],
    ["b", Float64Array.of(1, 1, 1, 1, 1, 1)],
  ]),
};

function blockOf(columns: Record<string, number[] | null>, present = [1, 1, 1, 1, 1, 1]) {
  const arrays = Object.entries(columns).map(([name, values]) => {
    return [name, values && Float64Array.from(values)] as const;
  });
  return {
    rowCount: present.length / LANES,
    times: new BigInt64Array(present.length / LANES),
    present: Uint8Array.from(present),
    columns: new Map(arrays),
  };
}

const always = () => 0;

describe("a comparison", () => {
  test("of equal values counts their cells", () => {
    const comparison = new Comparison(usual);
    comparison.take(blockOf({ a: [1, 2, 3, Number.NaN, 5, 0], b: [1, 1, 1, 1, 1, 1] }), 10, always);
    expect(comparison).toMatchObject({ cellCount: 12, differences: [] });
  });

  test("measures what differs and keeps the first cell of each factor", () => {
    const comparison = new Comparison(usual);
    comparison.take(blockOf({ b: [1, 1, 1, 1 + Number.EPSILON, 1, 4] }), 10, always);
    comparison.take(blockOf({ a: [1, 2, 3, 7, Number.POSITIVE_INFINITY, -0] }), 10, always);
    expect(comparison.differences).toEqual([
      {
        name: "a",
        cellCount: 3,
        incomparableCount: 2,
        relativeMax: 0,
        ulpMax: 0,
        first: { row: 11, lane: 1, usual: Number.NaN, other: 7 },
      },
      {
        name: "b",
        cellCount: 2,
        incomparableCount: 0,
        relativeMax: 0.75,
        ulpMax: 2 ** 53,
        first: { row: 11, lane: 1, usual: 1, other: 1 + Number.EPSILON },
      },
    ]);
  });

  test("leaves out what the input has no row for, other factors, and rows outside", () => {
    const comparison = new Comparison(usual);
    const wrong = [9, 9, 9, 9, 9, 9];
    comparison.take(blockOf({ a: wrong, other: wrong }, [0, 0, 0, 0, 0, 0]), 10, always);
    comparison.take(blockOf({ b: wrong }), 7, always);
    comparison.take(blockOf({ a: wrong }), 10, () => 13);
    expect(comparison).toMatchObject({ cellCount: 0, differences: [] });
    comparison.take(blockOf({ a: wrong }), 9, always);
    expect(comparison.cellCount).toBe(4);
    comparison.take(blockOf({ b: wrong }), 10, () => 12);
    expect(comparison.cellCount).toBe(6);
    expect(comparison.differences.map(({ name, first }) => [name, first.row])).toEqual([
      ["a", 10],
      ["b", 12],
    ]);
  });

  test("takes a factor that was not wanted for nulls", () => {
    const comparison = new Comparison(usual);
    comparison.take(blockOf({ a: null }), 10, always);
    expect(comparison.differences).toMatchObject([{ cellCount: 5, incomparableCount: 5 }]);
  });
});
