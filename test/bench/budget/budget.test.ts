import { describe, expect, test, vi } from "vitest";
import { measureBudget } from "../../../src/bench/budget/budget.ts";
import { type CellShape, measureCell } from "../../../src/bench/budget/cell.ts";
import { FORMULA_SETS_DEFAULT, formulaSet, graphOf } from "../../../src/bench/budget/formula_sets.ts";
import { measureApart } from "../../../src/bench/budget/measure_apart.ts";
import { madeUpCell } from "./made_up_cells.ts";

describe("formula sets", () => {
  const setsOf = (name: string) =>
    graphOf(formulaSet(name)).outputs.map((output) => output.name.split(".")[0]!);

  test("of fewer formulas are as mixed as the whole", () => {
    const all = setsOf("all");
    expect(all).toHaveLength(801);
    for (const count of [100, 200, 400]) {
      const some = setsOf(`all:${count}`);
      expect(some).toHaveLength(count);
      for (const set of new Set(all)) {
        const expected = (all.filter((one) => one === set).length * count) / all.length;
        expect(Math.abs(some.filter((one) => one === set).length - expected), set).toBeLessThanOrEqual(1);
      }
    }
  });

  test("hold no task that nothing needs, and every formula once", () => {
    const { outputs, tasks } = graphOf(formulaSet("alpha158:5"));
    expect(new Set(outputs.map(({ name }) => name)).size).toBe(5);
    const read = new Set(tasks.flatMap((task) => (task.kind === "call" ? task.inputs : [])));
    for (const { task } of outputs) read.add(task);
    expect(read.size).toBe(tasks.length);
  });

  test.each([
    ["alpha11", "E506 no formula set alpha11\n  did you mean alpha101?"],
    ["all:0", "E506 no formula set all:0"],
    ["", "E506 no formula set \n  there are alpha101, alpha158, alpha360, gtja191, all"],
  ])("named %s are refused", (name, message) => {
    expect(() => formulaSet(name)).toThrow(message);
  });

  test("of more formulas than there are are refused", () => {
    expect(() => graphOf(formulaSet("alpha158:159"))).toThrow("alpha158 has 158 formulas");
  });

  test("that are measured by default exist", () => {
    for (const name of FORMULA_SETS_DEFAULT) expect(formulaSet(name).name).toBe(name);
  });
});

describe("a grid", () => {
  const grid = { lanes: [7, 9], formulas: ["alpha158:2", "alpha158:3"], threads: [1, 2], calls: 3 };
  const made = (digestOf: (shape: CellShape) => string) => async (shape: CellShape) => ({
    ...madeUpCell({ ...shape, factors: 2, callMs: [1, 2, 3] }),
    digest: digestOf(shape),
  });

  test("is measured cell by cell", async () => {
    const progress: number[] = [];
    const onProgress = (done: number, total: number) => progress.push(done / total);
    const measure = made(({ lanes, formulas }) => `${lanes} ${formulas}`);
    const { cells, settings, version } = await measureBudget(grid, { version: "1.2.3", onProgress, measure });
    expect(cells.map(({ formulas, lanes, threads }) => [formulas, lanes, threads])).toEqual([
      ["alpha158:2", 7, 1],
      ["alpha158:2", 7, 2],
      ["alpha158:2", 9, 1],
      ["alpha158:2", 9, 2],
      ["alpha158:3", 7, 1],
      ["alpha158:3", 7, 2],
      ["alpha158:3", 9, 1],
      ["alpha158:3", 9, 2],
    ]);
    expect(settings).toEqual({ ...grid, budgetMs: 100, nullShare: 0.01, panelRows: 512 });
    expect(version).toBe("1.2.3");
    expect(progress.at(-1)).toBe(1);
  });

  test("whose bits depend on the threads is a bug", async () => {
    const measure = made(({ threads }) => String(threads));
    const measured = measureBudget(grid, { version: "", onProgress: () => {}, measure });
    await expect(measured).rejects.toThrow(
      "the bits of alpha158:2 over 7 lanes depend on the number of threads",
    );
  });

  test("of nothing is refused, and a mistake is reported before anything is measured", async () => {
    const measure = vi.fn();
    const options = { version: "", onProgress: () => {}, measure };
    for (const formulas of [[], ["alpha158:2", "alpha159"]])
      await expect(measureBudget({ ...grid, formulas }, options)).rejects.toThrow("E506");
    expect(measure).not.toHaveBeenCalled();
  });
});

test("a cell is measured after every window is full, and its stages add up to its calls", async () => {
  const shape = { lanes: 21, formulas: "alpha101:6", threads: 2, calls: 20 };
  const progress: number[] = [];
  const cell = await measureCell(shape, (done, total) => progress.push(done / total));
  expect(cell).toMatchObject({ ...shape, factors: 6, digest: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(cell.callMs).toHaveLength(20);
  expect(cell.warmUpRows).toBeGreaterThanOrEqual(64);
  expect(progress.at(-1)).toBe(1);
  const { input, lanes, rows, rest } = cell.stageMs;
  expect(input + lanes + rows + rest).toBeCloseTo(cell.ms.mean, 9);
  for (const ms of [input, lanes, rows]) expect(ms).toBeGreaterThan(0);
  expect(cell.ms.p50).toBeLessThanOrEqual(cell.ms.p99);
  expect(cell.isInside).toBe(cell.ms.p99 <= 100);
  expect(cell.prediction.meanAbsolutePercent).toBeGreaterThan(0);
  expect(cell.prediction.biasPercent).toBeGreaterThan(-100);
});

describe("a process that measures a cell", () => {
  const shape = { lanes: 5, formulas: "alpha158:2", threads: 1, calls: 3 };

  test("tells what it cannot do", async () => {
    await expect(measureApart({ ...shape, lanes: 2 ** 40 }, () => {})).rejects.toThrow(/^E401 /);
    await expect(measureApart({ ...shape, formulas: "none" }, () => {})).rejects.toThrow(
      "E506 no formula set none",
    );
  });

  test("that ends without a result is reported", async () => {
    vi.stubEnv("NODE_OPTIONS", "--no-such-option");
    try {
      await expect(measureApart(shape, () => {})).rejects.toThrow(
        /^E449 the process that measured alpha158:2 over 5 lanes ended: /,
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
