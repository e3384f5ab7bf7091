import { describe, expect, test } from "vitest";
import { COMPILER_PASS_NAMES } from "../../src/compile.ts";
import { type CheckedShape, checksOf } from "../../src/verify/checks.ts";

const ALWAYS = Number.POSITIVE_INFINITY;

const factor = (name: string, lookbackRows: number) => ({
  name,
  lookbackRows,
  isConditional: false,
  priority: 0,
});
const namesOf = (shape: CheckedShape) => checksOf(shape).map(({ name }) => name);
const variationsOf = (shape: CheckedShape) => checksOf(shape).flatMap(({ variations }) => variations);

describe("checks", () => {
  test("of a file of several factors", () => {
    const factors = [factor("a", 0), factor("b", 250), factor("c", ALWAYS)];
    expect(namesOf({ factors, rowCount: 1259, threads: 16 })).toEqual([
      "operators by their references",
      "each of 3 factors alone",
      "blocks of 1 row",
      "blocks of 7 rows",
      "blocks of 64 rows",
      "one block of 1,259 rows",
      "1 thread",
      "2 threads",
      "16 threads",
      ...COMPILER_PASS_NAMES.map((name) => `no ${name}`),
      "no pass at all",
      "continue from a checkpoint after 629 rows",
      "history without its first row (2 of 3 factors)",
      "history without its first 504 rows (2 of 3 factors)",
    ]);
  });

  test("of one factor over one row are those that there is something to try of", () => {
    const shape = { factors: [factor("a", 0)], rowCount: 1, threads: 2 };
    expect(
      checksOf(shape).flatMap(({ name, variations }) => (variations.length === 0 ? [name] : [])),
    ).toEqual([
      "each factor alone: there is one only",
      "continue from a checkpoint: too few rows",
      "a later start: every factor looks back to the first row",
    ]);
    expect(namesOf(shape)).toContain("one block of 1 row");
    expect(namesOf(shape).filter((name) => name.startsWith("blocks"))).toEqual([]);
  });

  test("of more rows than a block may have use the largest block", () => {
    const shape = { factors: [factor("a", 0)], rowCount: 100_000, threads: 1 };
    expect(namesOf(shape)).toContain("blocks of 65,536 rows");
    expect(Math.max(...variationsOf(shape).map(({ blockRows = 0 }) => blockRows))).toBe(65_536);
  });

  test.each([
    [3, 0],
    [3, 1],
    [12, 10],
    [13, 10],
    [1259, 250],
  ])("of %i rows with a lookback of %i leave rows to compare behind every later start", (rowCount, lookback) => {
    const shape = { factors: [factor("a", lookback)], rowCount, threads: 1 };
    const starts = variationsOf(shape).flatMap(({ startRow = [] }) => startRow);
    expect(starts.length).toBeGreaterThan(0);
    for (const start of starts) {
      expect(start).toBeGreaterThanOrEqual(1);
      expect(start + lookback).toBeLessThan(rowCount);
    }
  });
});
