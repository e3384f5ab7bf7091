import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareResults } from "../../../src/bench/budget/compare.ts";
import { type MeasuredRun, type ResultFile, readResultFile } from "../../../src/bench/budget/result_file.ts";
import { Xoshiro128 } from "../../../src/bench/random.ts";
import { type BenchResult, msPerRow, sum } from "../../../src/bench/result.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { madeUpCell, madeUpResult } from "./made_up_cells.ts";

const folder = fileFolder();

/** Calls of some 10 ms: neighbours are alike, one in fifty is disturbed, as they are on real machines. */
function callsOf(seed: number, { count = 300, times = 1 } = {}): number[] {
  const random = Xoshiro128.seeded(BigInt(seed));
  let drift = 0;
  return Array.from({ length: count }, () => {
    drift = 0.8 * drift + 0.02 * (random.uniform() - 0.5);
    const disturbance = random.uniform() < 0.02 ? 0.3 * random.uniform() : 0;
    return times * 10 * (1 + drift + 0.04 * random.uniform() + disturbance);
  });
}

function fileOf(runs: readonly Partial<MeasuredRun>[], path = "A.json"): ResultFile {
  const run = { workload: "w", callMs: null, figures: {}, digest: "d", rows: 1 };
  return { path, machines: ["one"], runs: runs.map((given) => ({ ...run, ...given })) };
}

const verdicts = (a: ResultFile, b: ResultFile, threshold = 1.05) =>
  compareResults(a, b, threshold).figures.map(({ verdict }) => verdict);

describe("calls", () => {
  const before = fileOf([{ callMs: callsOf(1) }]);

  test("20 % slower are found, and 20 % faster the other way round", () => {
    const after = fileOf([{ callMs: callsOf(2, { times: 1.2 }) }]);
    const { figures } = compareResults(before, after, 1.05);
    expect(figures.map(({ figure, verdict }) => [figure, verdict])).toEqual([
      ["p50 ms", "slower"],
      // Of 300 calls three are slower than the 99th percentile: too few to tell.
      ["p99 ms", "no difference"],
    ]);
    const [p50] = figures;
    expect(p50!.interval![0]).toBeLessThan(1.2);
    expect(p50!.interval![1]).toBeGreaterThan(1.2);
    expect(Math.abs(p50!.ratio - 1.2)).toBeLessThan(0.02);
    expect(verdicts(after, before)).toEqual(["faster", "no difference"]);
    expect(verdicts(before, after, 1.3)).toEqual(["no difference", "no difference"]);
  });

  test("more of them tell of the 99th percentile, too", () => {
    const [a, b] = [1, 1.2].map((times) => fileOf([{ callMs: callsOf(4, { times, count: 5000 }) }]));
    expect(verdicts(a!, b!)).toEqual(["slower", "slower"]);
    expect(verdicts(b!, a!)).toEqual(["faster", "faster"]);
  });

  test("noise is not flagged", () => {
    for (let seed = 10; seed < 40; seed++) {
      const found = verdicts(fileOf([{ callMs: callsOf(seed) }]), fileOf([{ callMs: callsOf(seed + 100) }]));
      expect(found, `seeds ${seed} and ${seed + 100}`).toEqual(["no difference", "no difference"]);
    }
  });

  test("what differs from run to run widens the intervals", () => {
    const widthOf = (times: readonly number[]) => {
      const runs = times.map((each, index) => ({ callMs: callsOf(50 + index, { times: each }) }));
      const [p50] = compareResults(before, fileOf(runs), 1.05).figures;
      return p50!.interval![1] - p50!.interval![0];
    };
    expect(widthOf([0.9, 1, 1.1])).toBeGreaterThan(3 * widthOf([1, 1, 1]));
  });

  test("the same files give the same intervals", () => {
    const after = fileOf([{ callMs: callsOf(3) }]);
    expect(compareResults(before, after, 1.05)).toEqual(compareResults(before, after, 1.05));
  });

  test("of any file are no slower than themselves", () => {
    const call = fc.double({ min: 1e-3, max: 1e6, noNaN: true });
    const runs = fc.array(fc.array(call, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 4 });
    const property = fc.property(runs, fc.double({ min: 1, max: 2, noNaN: true }), (all, threshold) => {
      const file = fileOf(all.map((callMs) => ({ callMs, figures: { "wall ms": sum(callMs) } })));
      const { figures, warnings } = compareResults(file, file, threshold);
      expect(warnings).toEqual([]);
      for (const { ratio, verdict } of figures) {
        expect(ratio).toBe(1);
        expect(["no difference", "unknown"]).toContain(verdict);
      }
    });
    fc.assert(property, { numRuns: 25 });
  });
});

describe("figures that a run gives once", () => {
  const walls = (values: readonly number[]) =>
    fileOf(values.map((wall) => ({ figures: { "wall ms": wall } })));

  test("need three runs on both sides", () => {
    expect(verdicts(walls([10, 10.1]), walls([20, 20.1, 20.2]))).toEqual(["unknown"]);
    expect(verdicts(walls([10, 10.1, 9.9]), walls([12, 12.1, 12.2]))).toEqual(["slower"]);
    expect(verdicts(walls([10, 10.1, 9.9]), walls([12, 9.9, 12.2]))).toEqual(["no difference"]);
  });
});

describe("warnings", () => {
  const run = { callMs: callsOf(1) };

  test("tell of machines, of bits, and of what only one file has", () => {
    const other = { ...fileOf([{ ...run, digest: "e" }, { workload: "v" }], "B.json"), machines: ["two"] };
    expect(compareResults(fileOf([run]), other, 1.05).warnings).toEqual([
      "different machines: one; two",
      "only in B.json: v",
      "the results differ in their bits: w",
    ]);
    // Over other rows the bits are other ones.
    expect(compareResults(fileOf([run]), fileOf([{ ...run, rows: 2, digest: "e" }]), 1.05).warnings).toEqual(
      [],
    );
  });

  test("files without a workload in common are refused", () => {
    expect(() => compareResults(fileOf([run]), fileOf([{ ...run, workload: "v" }], "B.json"), 1.05)).toThrow(
      "E523 the files measure different workloads: A.json has w; B.json has v",
    );
  });
});

describe("files", () => {
  const write = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const where = { cpu: "c", cores: 2, node: "v26.0.0" };
  const bench: BenchResult = {
    workload: "history-alpha158",
    lanes: 21,
    rows: 70,
    threads: 1,
    nullShare: 0.01,
    digest: "d",
    blockRows: 64,
    factors: 2,
    wallMs: 12,
    msPerRow: null,
    cellsPerSecond: 1,
    readyMs: 30,
    kernelMs: 20,
    arenaBytes: 1000,
    stateBytes: 500,
    peakRssBytes: 10_000,
    factorDigests: {},
    parts: [{ name: "close_", nsPerCell: 3.5, count: 7 }],
    ...where,
  };
  const figures = { "wall ms": 12, "close_ nsPerCell": 3.5, "ready ms": 30, "arena bytes": 1000 };
  const workload = "history-alpha158: 2 formulas, 21 lanes x 70 rows, blocks of 64, 1 % nulls, threads: 1";

  test.each([
    ["one result", JSON.stringify(bench, null, 2), 1],
    ["a list", JSON.stringify([bench, bench]), 2],
    ["a result a line", `${JSON.stringify(bench)}\n\n${JSON.stringify(bench)}\n`, 2],
  ])("of bench NAME: %s", async (name, text, count) => {
    const { runs, machines } = await readResultFile(write(name, text));
    expect(machines).toEqual(["c, 2 cores, Node v26.0.0"]);
    expect(runs).toEqual(new Array(count).fill({ workload, callMs: null, figures, digest: "d", rows: 70 }));
  });

  test("of live workloads, whose calls may be of another number, but not their warm-up", async () => {
    const live = { ...bench, workload: "live-alpha158", rows: 3, warmUpRows: 64, callMs: [1, 2, 3] };
    const withMs = { ...live, msPerRow: msPerRow(6, 3, [1, 2, 3]) };
    const [run] = (await readResultFile(write("live", JSON.stringify(withMs)))).runs;
    expect(run).toMatchObject({
      workload: "live-alpha158: 2 formulas, 21 lanes after 64 rows, 1 % nulls, threads: 1",
      callMs: [1, 2, 3],
      rows: 67,
    });
    expect(run!.figures).not.toHaveProperty("wall ms");
  });

  test("of bench budget: a workload for each cell", async () => {
    const cells = [64, 128].map((lanes) =>
      madeUpCell({ formulas: "all:40", factors: 40, lanes, threads: 2, callMs: [1, 2] }),
    );
    const { runs } = await readResultFile(write("budget", JSON.stringify(madeUpResult(cells))));
    expect(runs.map((run) => run.workload)).toEqual([
      "budget all:40: 40 formulas, 64 lanes, 1 % nulls, threads: 2",
      "budget all:40: 40 formulas, 128 lanes, 1 % nulls, threads: 2",
    ]);
    expect(runs[0]).toMatchObject({ callMs: [1, 2], figures: { "ready ms": 321 }, rows: 66 });
  });

  test.each([
    ["no JSON", "{", "is no JSON"],
    ["nothing", "", "holds no results"],
    ["something else", '{"workload":"x"}', "holds something else than results"],
    ["null", "null", "holds something else than results"],
    [
      "a cell without calls",
      JSON.stringify({
        ...madeUpResult([
          madeUpCell({
            formulas: "all",
            factors: 1,
            lanes: 1,
            threads: 1,
            callMs: [1],
          }),
        ]),
        cells: [{}],
      }),
      "holds something else",
    ],
    [
      "a call that took no time",
      JSON.stringify({ ...bench, callMs: [1, 0] }),
      "holds something else than results",
    ],
  ])("with %s are refused", async (name, text, message) => {
    const path = write(name, text);
    await expect(readResultFile(path)).rejects.toThrow(`E523 ${path} ${message}`);
  });

  test("that are not there are refused", async () => {
    await expect(readResultFile(join(folder, "none.json"))).rejects.toThrow(
      /^E523 .*none\.json cannot be read: ENOENT/,
    );
  });
});
