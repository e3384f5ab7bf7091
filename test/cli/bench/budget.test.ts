import { describe, expect, test } from "vitest";
import { madeUpCell, madeUpResult } from "../../bench/budget/made_up_cells.ts";
import { parseMarkup } from "../../pages/budget/markup.ts";
import { runCli } from "../run_cli.ts";

describe("bench budget", () => {
  const args = ["bench", "budget", "--lanes", "9", "--formulas", "alpha158:3"];
  const measured = runCli(
    [...args, "--threads", "1,2", "--calls", "20", "--out", "made/here", "--name", "toy"],
    {},
    "made/here/toy.json",
  );
  const page = runCli(
    [...args, "--threads", "1", "--calls", "5", "--out", "made", "--name", "toy", "--json"],
    {},
    "made/toy.html",
  );

  test("measures a grid, prints a table and writes all there is as JSON", async () => {
    const { exitCode, stdout, stderr, written } = await measured;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(
      /^set +formulas +lanes +threads +p50 ms +p99 ms +p99.9 ms +max ms +inside +prediction/,
    );
    expect(lines[1]).toMatch(/^alpha158:3 +3 +9 +1 +[\d.]+ /);
    expect(lines.at(-1)).toBe("made/here/toy.json, made/here/toy.html");
    const result = JSON.parse(written!);
    expect(result).toEqual({
      workload: "budget",
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.version,
      cpu: expect.any(String),
      cores: expect.any(Number),
      memoryBytes: expect.any(Number),
      settings: {
        lanes: [9],
        formulas: ["alpha158:3"],
        threads: [1, 2],
        calls: 20,
        budgetMs: 100,
        nullShare: 0.01,
        panelRows: 512,
      },
      cells: [expect.objectContaining({ threads: 1 }), expect.objectContaining({ threads: 2 })],
    });
    const number = expect.any(Number);
    for (const cell of result.cells) {
      expect(cell).toEqual({
        lanes: 9,
        formulas: "alpha158:3",
        threads: number,
        calls: 20,
        factors: 3,
        nodes: number,
        warmUpRows: number,
        ms: { mean: number, p50: number, p99: number, p999: number, max: number },
        isInside: expect.any(Boolean),
        prediction: { meanAbsolutePercent: number, biasPercent: number },
        stageMs: { input: number, lanes: number, rows: number, rest: number },
        readyMs: number,
        arenaBytes: number,
        stateBytes: number,
        rssBytes: number,
        digest: result.cells[0].digest,
        callMs: new Array(20).fill(number),
      });
      expect(cell.ms.max).toBeCloseTo(Math.max(...cell.callMs), 3);
      for (const key of ["readyMs", "arenaBytes", "rssBytes"]) expect(cell[key], key).toBeGreaterThan(0);
    }
  });

  test("writes a page with the charts and the figures that it prints", async () => {
    const { exitCode, stdout, written } = await page;
    expect(exitCode).toBe(0);
    const { cells } = JSON.parse(stdout);
    const names = parseMarkup(written!).map(({ name }) => name);
    expect(names.filter((name) => name === "figure")).toHaveLength(2);
    for (const { ms } of cells) expect(written).toContain(`<td>${Number(ms.p50.toPrecision(3))}</td>`);
  });

  test.each([
    [
      "an unknown set",
      ["--formulas", "alpha158:3,alpha102"],
      "E506 no formula set alpha102\n  did you mean alpha101?",
    ],
    [
      "too many formulas",
      ["--formulas", "alpha158:159"],
      "E506 no formula set alpha158:159\n  alpha158 has 158",
    ],
    ["no threads", ["--threads", "0"], "E500"],
    ["lanes that are no number", ["--lanes", "1,x"], "E500"],
    ["a name that leads elsewhere", ["--name", "../toy"], "E500"],
  ])("refuses %s", async (_, given, message) => {
    const { exitCode, stdout, stderr } = await runCli(["bench", "budget", ...given]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("tells before it measures that it cannot write", async () => {
    const { exitCode, stderr } = await runCli(["bench", "budget", "--out", "taken"], { taken: "" });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^E442 .*taken/);
  });
});

describe("bench compare", () => {
  const fileOf = (ms: number) => {
    const callMs = Array.from({ length: 300 }, (_, call) => ms * (1 + (call % 7) / 100));
    const cell = madeUpCell({ formulas: "all", factors: 801, lanes: 64, threads: 2, callMs });
    return JSON.stringify(madeUpResult([cell]));
  };
  const files = { "a.json": fileOf(10), "b.json": fileOf(12), "c.txt": "no" };

  test("finds what is slower: exit code 1", async () => {
    const { exitCode, stdout, stderr } = await runCli(["bench", "compare", "a.json", "b.json"], files);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
    expect(stdout).toMatch(
      /^budget all: 801 formulas, 64 lanes, 1 % nulls, threads: 2 +p50 ms +1\.200 +1\.\d+ \.\. 1\.\d+ +slower$/m,
    );
    expect(stdout).toMatch(/ready ms +1\.000 +give 3 runs or more +unknown$/m);
    expect(stdout).toMatch(/^2 slower, 2 unknown\n$/m);
  });

  test("of equal files finds no difference, nor one below the threshold", async () => {
    const equal = await runCli(["bench", "compare", "a.json", "a.json", "--json"], files);
    expect(equal.exitCode).toBe(0);
    const { figures, warnings, threshold } = JSON.parse(equal.stdout);
    expect({ warnings, threshold }).toEqual({ warnings: [], threshold: 1.05 });
    expect(figures.map((each: { verdict: string }) => each.verdict)).toEqual([
      "no difference",
      "no difference",
      "unknown",
      "unknown",
    ]);
    const small = await runCli(["bench", "compare", "a.json", "b.json", "--threshold", "1.3"], files);
    expect(small.exitCode).toBe(0);
    expect(small.stdout).toContain("2 no difference");
  });

  test.each([
    ["a file that holds no results", ["a.json", "c.txt"], "E523 c.txt is no JSON\n"],
    ["a file that is not there", ["a.json", "d.json"], "E523 d.json cannot be read: ENOENT"],
    ["a threshold below 1", ["a.json", "b.json", "--threshold", "0.9"], "E500"],
  ])("refuses %s", async (_, given, message) => {
    const { exitCode, stdout, stderr } = await runCli(["bench", "compare", ...given], files);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});
