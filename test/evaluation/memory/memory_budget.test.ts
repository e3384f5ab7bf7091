import { describe, expect, test, vi } from "vitest";
import { MemoryBudget } from "../../../src/evaluation/memory/memory_budget.ts";
import { formatBytes } from "../../../src/evaluation/memory/memory_need.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";

const need = (bytes: number, held: readonly ArrayBufferLike[] = []) => {
  return { bytes: { results: bytes }, held, remedy: "do something" };
};

describe("a memory budget", () => {
  test("is shared by all that reserve from it, until they give it back", () => {
    const budget = new MemoryBudget(100, { thresholds: MANAGED_ONLY });
    const release = budget.reserve(need(60));
    expect(budget.usedBytes).toBe(60);
    expect(() => budget.expectRoom(need(41))).toThrow("E401");
    const other = budget.reserve(need(40));
    release();
    release();
    expect(budget.usedBytes).toBe(40);
    other();
    expect(budget.usedBytes).toBe(0);
  });

  test("counts a buffer once, however many hold it, as long as one does", () => {
    const budget = new MemoryBudget(1000, { thresholds: MANAGED_ONLY });
    const [shared, own] = [new SharedArrayBuffer(300), new ArrayBuffer(100)];
    const first = budget.reserve(need(10, [shared, shared]));
    const second = budget.reserve(need(10, [shared, own]));
    expect(budget.usedBytes).toBe(420);
    first();
    expect(budget.usedBytes).toBe(410);
    second();
    expect(budget.usedBytes).toBe(0);
  });

  test("refuses what does not fit with need, limit and remedy, and stays as it was", () => {
    const budget = new MemoryBudget(2048, { thresholds: MANAGED_ONLY });
    budget.reserve(need(512));
    const held = [new SharedArrayBuffer(1024)];
    expect(() => budget.reserve(need(1024, held))).toThrow(
      "E401 the evaluation needs 2.0 KiB (results 1.0 KiB, panel 1.0 KiB), the limit is 2.0 KiB, of which " +
        "512 bytes are in use\n  do something",
    );
    expect(budget.usedBytes).toBe(512);
  });
});

test.each([
  [0, "0 bytes"],
  [1023, "1,023 bytes"],
  [1, "1 byte"],
  [1024, "1.0 KiB"],
  [1.5 * 2 ** 30, "1.5 GiB"],
  [2 ** 60, "1048576.0 TiB"],
])("%d bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test("the process is read as well: what is not managed, and what of that is new", () => {
  const budget = new MemoryBudget(2 ** 40);
  const rss = vi.spyOn(process.memoryUsage, "rss");
  rss.mockReturnValue(1000);
  const release = budget.reserve({ bytes: { columns: 300 }, held: [], remedy: "" });
  expect(budget.memory).toMatchObject({ processBytes: 1000, unmanagedBytes: 700, unmanagedRecentBytes: 0 });
  rss.mockReturnValue(1500);
  expect(budget.memory).toMatchObject({
    processBytes: 1500,
    unmanagedBytes: 1200,
    unmanagedRecentBytes: 500,
  });
  release();
  // Memory that the system has not mapped yet is managed all the same.
  rss.mockReturnValue(0);
  expect(budget.memory).toMatchObject({ unmanagedBytes: 0 });
  rss.mockRestore();
});
