import { describe, expect, test } from "vitest";
import { measureHistory } from "../../src/bench/history.ts";
import { measureLive } from "../../src/bench/live.ts";
import { publishedText } from "../../src/bench/open_formulas.ts";
import { digestOf } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { type BenchOptions, runWorkload, WORKLOADS } from "../../src/bench/workloads.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";

const LANES = 37;

async function withThreads<T>(threads: number, work: (host: EngineHost) => Promise<T>): Promise<T> {
  const pool = await ExecutorPool.start({ threads });
  try {
    return await work({
      pool,
      budget: new MemoryBudget(2 ** 40),
      threads,
      costs: DEFAULT_COSTS,
    });
  } finally {
    await pool.close();
  }
}

const CUTS = [
  { threads: 2, blockRows: 7 },
  { threads: 1, blockRows: 64 },
  { threads: 3, blockRows: 200 },
];

const onProgress = () => {};
const alpha101 = { name: "alpha101", text: publishedText("alpha101") };
const alpha158 = { name: "alpha158", text: publishedText("alpha158") };

describe("digests", () => {
  test.each([
    { formulas: alpha101, nullShare: 0, cuts: CUTS },
    { formulas: alpha158, nullShare: 0.02, cuts: CUTS.slice(0, 2) },
  ])("of $formulas.name are the same for any threads and any blocks, over history and live", async (trial) => {
    const { formulas, nullShare, cuts } = trial;
    const panelOf = (rows: number) => syntheticPanel({ lanes: LANES, rows, nullShare });
    const live = await withThreads(2, (host) =>
      measureLive(host, formulas, panelOf(300), { calls: 20, warmUpRowsMin: 64, onProgress }),
    );
    // As many rows in all: those that warm up and those that are measured.
    const panel = panelOf(live.warmUpRows! + 20);
    for (const { threads, blockRows } of cuts) {
      const history = await withThreads(threads, (host) =>
        measureHistory(host, formulas, panel, { blockRows, runs: 1, onProgress }),
      );
      expect(history.blockRows).toBe(blockRows);
      expect(history.factorDigests, `${threads} threads, blocks of ${blockRows}`).toEqual(live.factorDigests);
    }
  });

  test("depend on every value: other nulls, other rows, another order of factors", async () => {
    const text = "a = close - open\nb = ts_mean(close, 5)";
    const measure = (rows: number, nullShare: number, formulas = text) =>
      withThreads(1, async (host) => {
        const panel = syntheticPanel({ lanes: LANES, rows, nullShare });
        const options = { runs: 1, onProgress };
        return (await measureHistory(host, { name: "two", text: formulas }, panel, options)).factorDigests;
      });
    const plain = await measure(50, 0);
    const others = [await measure(50, 0.01), await measure(49, 0)];
    for (const other of others) {
      expect(other["a"]).not.toBe(plain["a"]);
      expect(other["b"]).not.toBe(plain["b"]);
    }
    const swapped = await measure(50, 0, text.split("\n").reverse().join("\n"));
    expect(swapped["a"]).toBe(plain["a"]);
    expect(digestOf(swapped)).not.toBe(digestOf(plain));
  });
});

describe("a run of each workload over a few bars", () => {
  const toys: Record<string, BenchOptions> = {
    "live-conditions": { rows: 80, threads: 2, calls: 22 },
    "history-alpha101": { rows: 70, threads: 2, select: ["alpha001", "alpha101"] },
    "history-alpha158": { rows: 70, threads: 1, blockRows: 16, select: ["KMID", "MA5"] },
    "live-alpha101": { rows: 70, threads: 1, calls: 10, select: ["alpha001", "alpha101"] },
    "live-alpha158": { rows: 70, threads: 2, calls: 10, select: ["KMID", "MA5"] },
    rank: { rows: 40 },
    elementwise: { rows: 40, threads: 2 },
    ready: { threads: 2 },
  };

  /** What is reported of pieces: ns of a cell of each factor, or the factors of each set. */
  const PARTS: Record<string, [string, unknown][]> = {
    rank: ["close_", "returns_", "volume_", "ties"].map((factor) => [factor, expect.any(Number)]),
    elementwise: [["chain", expect.any(Number)]],
    "live-conditions": ["all conditions", "2 of 50", "2 of 50, the first under them"].map((name) => [
      name,
      undefined,
    ]),
    ready: [
      ["alpha101", 101],
      ["alpha158", 158],
      ["alpha360", 360],
      ["gtja191", 182],
    ],
  };

  test.each(WORKLOADS.map((workload) => [workload.name, workload] as const))("%s", async (name, workload) => {
    const options = toys[name] as BenchOptions;
    const result = await runWorkload(workload, { lanes: LANES, ...options }, { repetition: { runs: 2 } });
    expect(result).toMatchObject({
      workload: name,
      lanes: LANES,
      threads: options.threads ?? 1,
      rows: options.calls ?? options.rows ?? 1,
      node: process.version,
    });
    expect(Object.keys(result.factorDigests)).toHaveLength(result.factors);
    // The first row of nearly all factors is null.
    const distinctMin = name === "ready" ? 10 : result.factors;
    expect(new Set(Object.values(result.factorDigests)).size).toBeGreaterThanOrEqual(distinctMin);
    expect(result.digest).toMatch(/^[0-9a-f]{32}$/);
    for (const key of ["wallMs", "readyMs", "kernelMs", "arenaBytes", "peakRssBytes"] as const)
      expect(result[key], key).toBeGreaterThan(0);
    if (name.startsWith("history-")) expect(result.runMs).toHaveLength(2);
    if (name === "live-alpha101") expect(result.warmUpMsPerRow!.p50).toBeGreaterThan(0);
    const parts = result.parts?.map((part) => [part["name"], part["factors"] ?? part["nsPerCell"]]);
    expect(parts).toEqual(PARTS[name]);
    const { msPerRow } = result;
    if (name === "ready") expect(msPerRow).toBeNull();
    else {
      const { p50, p99, p999, max } = msPerRow!;
      expect([p50, p99, p999, max]).toEqual([p50, p99, p999, max].sort((a, b) => a - b));
      const cellsPerSecond = (1000 * result.factors * LANES * result.rows) / result.wallMs;
      // Under conditions not every call computes every cell.
      if (name === "live-conditions") expect(result.cellsPerSecond).toBeNull();
      else expect(result.cellsPerSecond).toBeCloseTo(cellsPerSecond, 3);
    }
  });

  test("alpha101 means the 82 formulas that the peer has, too, and no nulls, unless options say otherwise", () => {
    const { defaults } = WORKLOADS.find(({ name }) => name === "history-alpha101")!;
    expect(defaults.select).toHaveLength(82);
    expect(defaults.select).not.toContain("alpha048");
    expect(defaults.nulls).toBe(0);
  });
});
