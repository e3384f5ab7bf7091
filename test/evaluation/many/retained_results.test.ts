import { afterEach, describe, expect, test, vi } from "vitest";
import { RetainedResults } from "../../../src/evaluation/many/retained_results.ts";
import { MemoryBudget } from "../../../src/evaluation/memory/memory_budget.ts";
import { MANAGED_ONLY } from "../../support/managed_only.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.unstubAllEnvs());

/** 100 values, 800 bytes. */
const column = (first: number) => Float64Array.from({ length: 100 }, (_, i) => first + i);

describe("retained results", () => {
  test("stay in memory below 60 % of the limit", async () => {
    const budget = new MemoryBudget(10_000, { thresholds: MANAGED_ONLY });
    const retained = new RetainedResults(budget, 2);
    for (let i = 0; i < 7; i++) retained.keep(i % 2, column(i));
    await budget.admitBlock({});
    expect(budget.memory).toMatchObject({ retainedBytes: 5600, spilledBytes: 0, spilledBytesTotal: 0 });
    await retained.close();
    expect(budget.memory).toMatchObject({ retainedBytes: 0 });
  });

  test("are spilled above it, the least recently used first, and come back", async () => {
    const budget = new MemoryBudget(10_000, { thresholds: MANAGED_ONLY });
    const retained = new RetainedResults(budget, 1);
    for (let i = 0; i < 7; i++) retained.keep(0, column(i));
    await retained.read(0, 0); // now block 1 is the oldest
    for (let i = 7; i < 12; i++) retained.keep(0, column(i));
    await budget.admitBlock({}); // waits for 80 % alone
    await until(() => budget.memory.retainedBytes <= 6000);
    const { spilledBytes } = budget.memory;
    expect(spilledBytes).toBeGreaterThan(5 * 800);
    for (let i = 0; i < 12; i++) expect([...(await retained.read(0, i))]).toEqual([...column(i)]);
    expect(budget.memory.spilledBytes).toBe(spilledBytes);
    await retained.close();
    expect(budget.memory).toMatchObject({
      retainedBytes: 0,
      spilledBytes: 0,
      spilledBytesTotal: spilledBytes,
    });
  });

  test("make room for what is managed", async () => {
    const budget = new MemoryBudget(10_000, { thresholds: MANAGED_ONLY });
    const retained = new RetainedResults(budget, 1);
    for (let i = 0; i < 7; i++) retained.keep(0, column(i));
    const release = budget.reserve({ bytes: { results: 9000 }, held: [], remedy: "" });
    await budget.admitBlock({});
    expect(budget.memory).toMatchObject({ managedBytes: 9000, retainedBytes: 0 });
    release();
    await retained.close();
  });

  test("that are read again stay in memory if there is room", async () => {
    const budget = new MemoryBudget(10_000, { thresholds: MANAGED_ONLY });
    const retained = new RetainedResults(budget, 1);
    const release = budget.reserve({ bytes: { results: 9000 }, held: [], remedy: "" });
    retained.keep(0, column(0));
    await budget.admitBlock({});
    await retained.read(0, 0);
    expect(budget.memory.retainedBytes).toBe(0);
    release();
    await retained.read(0, 0);
    expect(budget.memory.retainedBytes).toBe(800);
    retained.discard(0);
    expect(budget.memory).toMatchObject({ retainedBytes: 0, spilledBytes: 0 });
    await retained.close();
  });

  test("that are discarded while they are written are no more on disk", async () => {
    const budget = new MemoryBudget(1000, { thresholds: MANAGED_ONLY });
    const retained = new RetainedResults(budget, 1);
    retained.keep(0, column(0));
    await retained.close();
    await budget.admitBlock({});
    await until(() => budget.memory.retainedBytes === 0);
    expect(budget.memory.spilledBytes).toBe(0);
  });

  test("that cannot be written end in E444, and nothing waits forever", async () => {
    vi.stubEnv("TMPDIR", "/no/such/folder");
    const budget = new MemoryBudget(1000, { thresholds: MANAGED_ONLY });
    const [failing, other] = [new RetainedResults(budget, 1), new RetainedResults(budget, 1)];
    failing.keep(0, column(0));
    other.keep(0, column(1));
    await budget.admitBlock({});
    expect(() => failing.keep(0, column(2))).toThrow("E444");
    await expect(failing.read(0, 0)).rejects.toThrow("cannot be kept in /no/such/folder (ENOENT)");
    await failing.close();
    await other.close();
    expect(budget.memory).toMatchObject({ retainedBytes: 0, spilledBytes: 0 });
  });
});
