import { describe, expect, test } from "vitest";
import { RunComparison, type UsualValues } from "../../src/verify/comparison.ts";

const LANES = 2;
const usual: UsualValues = {
  firstRow: 10,
  laneCount: LANES,
  symbols: ["A", "B"],
  timeType: { kind: "integer", bits: 64 },
  times: BigInt64Array.of(110n, 111n, 112n),
  present: Uint8Array.of(1, 1, 1, 1, 1, 1),
  columns: new Map([
    ["a", Float64Array.of(1, 2, 3, Number.NaN, 5, 0)],
    ["b", Float64Array.of(1, 1, 1, 1, 1, 1)],
  ]),
};

function blockOf(columns: Record<string, number[] | null>, firstRow = 10, present = [1, 1, 1, 1, 1, 1]) {
  const arrays = Object.entries(columns).map(([name, values]) => {
    return [name, values && Float64Array.from(values)] as const;
  });
  return {
    rowCount: present.length / LANES,
    times: BigInt64Array.from({ length: present.length / LANES }, (_, row) => BigInt(100 + firstRow + row)),
    present: Uint8Array.from(present),
    columns: new Map(arrays),
  };
}

const always = () => 0;

describe("a comparison", () => {
  test("of equal values counts their cells", () => {
    const comparison = new RunComparison(usual);
    comparison.addBlock(blockOf({ a: [1, 2, 3, Number.NaN, 5, 0], b: [1, 1, 1, 1, 1, 1] }), 10, always);
    comparison.endRun(["a", "b"], always);
    expect(comparison.findings).toEqual({
      cellCount: 12,
      differences: [],
      miscounts: [],
      otherTimeCount: 0,
      otherPresenceCount: 0,
    });
  });

  test("measures what differs and keeps the first cell of each factor", () => {
    const comparison = new RunComparison(usual);
    comparison.addBlock(blockOf({ b: [1, 1, 1, 1 + Number.EPSILON, 1, 4] }), 10, always);
    comparison.endRun(["b"], always);
    comparison.addBlock(blockOf({ a: [1, 2, 3, 7, Number.POSITIVE_INFINITY, -0] }), 10, always);
    expect(comparison.findings.differences).toEqual([
      {
        name: "a",
        cellCount: 3,
        nullCount: 1,
        infiniteCount: 1,
        absoluteMax: 0,
        relativeMax: 0,
        ulpMax: 0,
        first: { time: "111", symbol: "B", a: null, b: 7 },
      },
      {
        name: "b",
        cellCount: 2,
        nullCount: 0,
        infiniteCount: 0,
        absoluteMax: 3,
        relativeMax: 0.75,
        ulpMax: 2 ** 53,
        first: { time: "111", symbol: "B", a: 1, b: 1 + Number.EPSILON },
      },
    ]);
  });

  test("leaves out other factors, and rows before those of the usual run or of the factor", () => {
    const comparison = new RunComparison(usual);
    const wrong = [9, 9, 9, 9, 9, 9];
    comparison.addBlock(blockOf({ b: wrong }, 7), 7, always);
    comparison.addBlock(blockOf({ a: wrong, other: wrong }), 10, () => 13);
    comparison.endRun(["a"], () => 13);
    expect(comparison.findings).toMatchObject({ cellCount: 0, differences: [] });
    comparison.addBlock(blockOf({ a: wrong }, 9), 9, always);
    expect(comparison.findings.cellCount).toBe(4);
    comparison.endRun([], always);
    comparison.addBlock(blockOf({ b: wrong }), 10, () => 12);
    comparison.endRun(["b"], () => 12);
    const { cellCount, differences, ...rest } = comparison.findings;
    expect(cellCount).toBe(6);
    expect(differences.map(({ name, first }) => [name, first.time])).toEqual([
      ["a", "110"],
      ["b", "112"],
    ]);
    expect(rest).toEqual({ miscounts: [], otherTimeCount: 0, otherPresenceCount: 0 });
  });

  test("leaves out what the input has no row for, and finds rows that only one run has", () => {
    const present = [1, 0, 1, 1, 1, 1];
    const gappy = { ...usual, present: Uint8Array.from(present) };
    const wrong = [1, 9, 3, Number.NaN, 5, 0];
    const found = (presentNow: number[]) => {
      const comparison = new RunComparison(gappy);
      comparison.addBlock(blockOf({ a: wrong }, 10, presentNow), 10, always);
      comparison.endRun(["a"], always);
      return comparison.findings;
    };
    expect(found(present)).toMatchObject({
      cellCount: 5,
      differences: [],
      miscounts: [],
      otherPresenceCount: 0,
    });
    expect(found([1, 1, 1, 1, 1, 1])).toMatchObject({ cellCount: 5, miscounts: [], otherPresenceCount: 1 });
    expect(found([1, 0, 0, 1, 1, 1])).toMatchObject({
      miscounts: [{ name: "a", cellCount: 4, expectedCount: 5 }],
      otherPresenceCount: 1,
    });
  });

  test("takes no row twice, nor one behind the last, for a row that is missing", () => {
    const found = (...firstRows: number[]) => {
      const comparison = new RunComparison(usual);
      for (const row of firstRows) {
        const values = [1, 2, 3, Number.NaN, 5, 0].slice((row - 10) * LANES, (row - 9) * LANES);
        const a = values.length > 0 ? values : [0, 0];
        comparison.addBlock(blockOf({ a }, row, [1, 1]), row, always);
      }
      comparison.endRun(["a"], always);
      return comparison.findings;
    };
    const miscounts = [{ name: "a", cellCount: 4, expectedCount: 6 }];
    expect(found(10, 11, 12)).toMatchObject({ cellCount: 6, miscounts: [], otherTimeCount: 0 });
    expect(found(10, 11, 11)).toMatchObject({ cellCount: 4, miscounts, otherTimeCount: 1 });
    expect(found(10, 11, 13)).toMatchObject({ cellCount: 4, miscounts, otherTimeCount: 1 });
  });

  test("takes a factor that was not wanted for nulls", () => {
    const comparison = new RunComparison(usual);
    comparison.addBlock(blockOf({ a: null }), 10, always);
    expect(comparison.findings.differences).toMatchObject([{ cellCount: 5, nullCount: 5 }]);
  });
});
