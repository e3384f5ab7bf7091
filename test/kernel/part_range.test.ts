import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { partRange } from "../../src/kernel/run/part_range.ts";
import type { PlanNode } from "../../src/plan/plan.ts";

const nodeOf = (partAxis: "lanes" | "rows", partCount: number): PlanNode => ({
  id: 7,
  kind: partAxis,
  tasks: [],
  columns: [],
  outputs: [],
  inputs: [],
  partAxis,
  partCount,
  costNs: 1,
  weight: 1,
  conditions: null,
  catchUpRows: 0,
  replayRows: 0,
});

describe("partRange", () => {
  const shapes = fc.record({
    firstRow: fc.nat(5000),
    rowCount: fc.nat(300),
    laneCount: fc.nat(5000),
    partCount: fc.integer({ min: 1, max: 300 }),
  });

  test("parts by rows are contiguous, cover everything and differ by at most one row", () => {
    fc.assert(
      fc.property(shapes, ({ firstRow, rowCount, laneCount, partCount }) => {
        let end = firstRow;
        const sizes: number[] = [];
        for (let part = 0; part < partCount; part++) {
          const range = partRange(nodeOf("rows", partCount), part, firstRow, rowCount, laneCount);
          expect(range.rowStart).toBe(end);
          expect([range.laneStart, range.laneEnd]).toEqual([0, laneCount]);
          end = range.rowEnd;
          sizes.push(range.rowEnd - range.rowStart);
        }
        expect(end).toBe(firstRow + rowCount);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("parts by lanes are contiguous, cover everything, and share no line of eight lanes", () => {
    fc.assert(
      fc.property(shapes, ({ firstRow, rowCount, laneCount, partCount }) => {
        let end = 0;
        const lines: number[] = [];
        for (let part = 0; part < partCount; part++) {
          const range = partRange(nodeOf("lanes", partCount), part, firstRow, rowCount, laneCount);
          expect(range.laneStart).toBe(end);
          expect([range.rowStart, range.rowEnd]).toEqual([firstRow, firstRow + rowCount]);
          if (range.laneEnd < laneCount) expect(range.laneEnd % 8).toBe(0);
          end = range.laneEnd;
          lines.push(Math.ceil((range.laneEnd - range.laneStart) / 8));
        }
        expect(end).toBe(laneCount);
        expect(Math.max(...lines) - Math.min(...lines)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("a cut by lanes spans all rows", () => {
    const range = partRange(nodeOf("lanes", 2), 1, 40, 4, 21);
    expect(range).toEqual({ rowStart: 40, rowEnd: 44, laneStart: 8, laneEnd: 21 });
  });
});
