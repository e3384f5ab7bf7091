import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InternalError } from "../../src/errors.ts";
import { partRange } from "../../src/kernel/part_range.ts";
import type { PlanNode } from "../../src/plan/plan.ts";

const nodeOf = (partAxis: "lanes" | "rows", partCount: number): PlanNode => ({
  id: 7,
  task: { operator: "x", settings: {}, minPeriods: null, operands: [], group: null },
  inputs: [],
  partAxis,
  partCount,
  costNs: 1,
  weight: 1,
  isOutput: false,
});

describe("partRange", () => {
  test("parts are contiguous, cover everything and differ by at most one", () => {
    const shape = fc.record({ count: fc.nat(5000), partCount: fc.integer({ min: 1, max: 300 }) });
    fc.assert(
      fc.property(shape, ({ count, partCount }) => {
        let end = 0;
        const sizes: number[] = [];
        for (let part = 0; part < partCount; part++) {
          const range = partRange(nodeOf("rows", partCount), part, count, 9);
          expect(range.rowStart).toBe(end);
          expect([range.laneStart, range.laneEnd]).toEqual([0, 9]);
          end = range.rowEnd;
          sizes.push(range.rowEnd - range.rowStart);
        }
        expect(end).toBe(count);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("a cut by lanes spans all rows", () => {
    const range = partRange(nodeOf("lanes", 2), 1, 4, 5);
    expect(range).toEqual({ rowStart: 0, rowEnd: 4, laneStart: 2, laneEnd: 5 });
  });

  test.each([-1, 2, Number.NaN])("part %s of 2 is refused", (part) => {
    expect(() => partRange(nodeOf("rows", 2), part, 4, 5)).toThrow(InternalError);
  });
});
