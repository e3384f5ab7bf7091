import { expect, test } from "vitest";
import { InternalError } from "../../src/errors.ts";
import { RowScratch } from "../../src/kernel/rows/layout/row_scratch.ts";

test("kernels share a part by its name, other parts lie behind it, and nobody takes a part for larger than it is", () => {
  const scratch = new RowScratch(100);
  const keys = scratch.part("keys", 64);
  const lanes = scratch.part("lanes", 8);
  expect(keys).toBeGreaterThanOrEqual(100);
  expect(lanes).toBeGreaterThanOrEqual(keys + 64);
  expect(scratch.bytes).toBeGreaterThanOrEqual(lanes + 8);
  expect(scratch.part("keys", 64)).toBe(keys);
  expect(() => scratch.part("keys", 72)).toThrow(InternalError);
});
