import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { verifySummary, verifyText } from "../../../src/cli/commands/verify_summary.ts";
import { COMPILER_PASS_NAMES, compile } from "../../../src/compile.ts";
import type { CheckResult, Verification } from "../../../src/verify/verify.ts";
import { BARS, runCli } from "../run_cli.ts";

const FILES = {
  "bars.csv": BARS,
  "a.factors": "param k = 1\na = rank(close) * k\nb = ts_mean(close, 2)\nc = cum_sum(volume) when k > 1\n",
};
/** Passes that find nothing to do in these formulas. */
const IDLE_PASSES = [
  "fold_constants",
  "simplify_algebra",
  "canonical_order",
  "remove_dead_tasks",
  "split_nodes",
];
const verify = (...rest: string[]) => [
  "verify",
  "a.factors",
  "--data",
  "bars.csv",
  "--threads",
  "2",
  ...rest,
];

/** Lines without what differs from run to run. */
const linesOf = (stdout: string) =>
  stdout
    .replaceAll(/\d+(\.\d\d)? m?s\b/g, "TIME")
    .replaceAll(/ +/g, " ")
    .split("\n");

/** The first days of some symbols of the bundled bars. */
function sliceOfBars(): string {
  const path = fileURLToPath(new URL("../../../examples/data/sp100_daily.csv.gz", import.meta.url));
  const [header, ...lines] = gunzipSync(readFileSync(path)).toString().split("\n");
  return [
    header,
    ...lines.filter((line) => /^2013-0[2-6]-\d\d,(A|AAL|AAP|AAPL|ABT|BAC),/.test(line)),
    "",
  ].join("\n");
}

/** Runs the command with the operator of the fixture, whose code and reference differ. */
function verifyThird(text: string, ...rest: string[]): Promise<{ exitCode: number | null; stdout: string }> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-verify-"));
  for (const [name, content] of Object.entries({ "a.factors": text, "bars.csv": BARS }))
    writeFileSync(join(folder, name), content);
  const script = fileURLToPath(new URL("../fixtures/verify_third.ts", import.meta.url));
  return new Promise((resolve) => {
    const args = [script, "a.factors", "bars.csv", ...rest];
    const child = execFile(process.execPath, args, { cwd: folder }, (_, stdout) => {
      rmSync(folder, { recursive: true });
      resolve({ exitCode: child.exitCode, stdout });
    });
  });
}

describe("verify", () => {
  test("prints a table of promises and a verdict", async () => {
    const { exitCode, stdout, stderr } = await runCli(verify(), FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(linesOf(stdout)).toEqual([
      "check cells differ bit-identical largest deviation time factors",
      "operators by their references 12 0 yes TIME",
      "each of 2 factors alone 12 0 yes TIME",
      "blocks of 1 row 12 0 yes TIME",
      "one block of 3 rows 0 0 same plan as usual TIME",
      "1 thread 12 0 yes TIME",
      "2 threads 0 0 same plan as usual TIME",
      ...COMPILER_PASS_NAMES.map((name) => {
        const isIdle = IDLE_PASSES.includes(name);
        return `no ${name} ${isIdle ? "0 0 same plan as usual" : "12 0 yes"} TIME`;
      }),
      "no pass at all 12 0 yes TIME",
      "continue from a checkpoint after 1 row 12 0 yes TIME",
      "history without its first row 6 0 yes TIME",
      "",
      "a.factors: 2 factors x 6 rows",
      "not wanted by their conditions: c",
      "time: read TIME, compile TIME, verify TIME",
      "holds: 11 of 11 checks, 126 cells of 2 factors, every bit the same",
      "",
    ]);
  });

  test("--json prints the same as one object in one line", async () => {
    const { exitCode, stdout } = await runCli(verify("--json", "--select", "c", "--param", "k=2"), FILES);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd()).not.toContain("\n");
    const { checks, stagesMs, ...summary } = JSON.parse(stdout);
    expect(summary).toEqual({
      file: "a.factors",
      dialect: "native",
      factorCount: 1,
      factorsNotWanted: [],
      factorsWithoutValue: [],
      rowCount: 6,
      threads: 2,
      holds: true,
    });
    expect(Object.keys(stagesMs)).toEqual(["read", "compile", "verify"]);
    const { elapsedMs, ...first } = checks[0];
    expect(elapsedMs).toBeGreaterThan(0);
    expect(first).toEqual({
      name: "operators by their references",
      isAsUsual: false,
      cellCount: 6,
      differingCount: 0,
      incomparableCount: 0,
      holds: true,
      relativeMax: 0,
      ulpMax: 0,
      factors: [],
      miscounts: [],
      otherTimeCount: 0,
      otherPresenceCount: 0,
    });
    expect(checks.at(-1)).toMatchObject({
      name: "a later start: every factor looks back to the first row",
      cellCount: 0,
      holds: null,
    });
  });

  test("holds for formulas of every axis on real bars", async () => {
    const text = `
      dialect alpha101
      let vwap = (high + low + close) / 3
      a1 = rank(ts_argmax(signedpower(close, 2), 5)) - 0.5
      a2 = -1 * correlation(rank(delta(log(volume), 2)), rank((close - open) / open), 6)
      a3 = decay_linear(correlation(vwap, adv20, 4), 7) + indneutralize(close, IndClass.sector)
      a4 = scale(stddev(close, 20) * covariance(high, low, 10))`;
    const files = {
      "bars.csv": sliceOfBars(),
      "a.factors": text,
      "groups.csv": "symbol,sector\nA,Health\nAAL,Industry\nAAPL,Tech\nAAP,Retail\nABT,Health\nBAC,Bank\n",
    };
    const { exitCode, stdout, stderr } = await runCli(verify("--groups", "groups.csv", "--json"), files);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { checks, holds, rowCount } = JSON.parse(stdout);
    expect({ holds, rowCount }).toEqual({ holds: true, rowCount: 588 });
    const own = checks.filter(({ isAsUsual }: { isAsUsual: boolean }) => !isAsUsual);
    expect(own.length).toBeGreaterThan(10);
    for (const check of own) expect(check.cellCount, check.name).toBeGreaterThan(1000);
  });

  test("names factors without a value, and proves nothing by them alone", async () => {
    const files = { ...FILES, "a.factors": "a = ts_mean(close, 9)\nb = delay(close, 5)\nc = close\n" };
    const some = await runCli(verify(), files);
    expect(some).toMatchObject({ exitCode: 0, stderr: "" });
    expect(some.stdout).toContain("\nnull throughout: a, b\n");
    const none = await runCli(verify("--select", "a,b"), files);
    expect(none).toMatchObject({ exitCode: 1, stderr: "" });
    expect(none.stdout).toMatch(
      /\nnull throughout: a, b\n.*\nnothing to compare: no factor has a single value\n$/,
    );
    const { stdout } = await runCli(verify("--json", "--select", "a"), files);
    expect(JSON.parse(stdout)).toMatchObject({ holds: null, factorsWithoutValue: ["a"] });
  });

  test("says what a run left out", () => {
    const check = (name: string, findings: Partial<CheckResult>): CheckResult => {
      const none = { cellCount: 0, differences: [], miscounts: [], otherTimeCount: 0, otherPresenceCount: 0 };
      return { ...none, ...findings, name, isAsUsual: false, elapsedMs: 1 };
    };
    const miscount = (name: string, cellCount: number) => ({ name, cellCount, expectedCount: 1_200 });
    const verification: Verification = {
      factors: ["a", "b"],
      factorsNotWanted: [],
      factorsWithoutValue: [],
      rowCount: 1_200,
      threads: 1,
      checks: [
        check("blocks of 1 row", { cellCount: 2_400 }),
        check("1 thread", { miscounts: [miscount("a", 0), miscount("b", 1_000)] }),
        check("2 threads", { cellCount: 2_400, otherTimeCount: 1, otherPresenceCount: 2 }),
      ],
      holds: false,
    };
    const program = compile("a = close\nb = open", { file: "a.factors" });
    const summary = verifySummary(program, verification, {});
    expect(summary.checks.map(({ holds }) => holds)).toEqual([true, false, false]);
    const lines = linesOf(verifyText(summary)).map((line) => line.trim());
    expect(lines.slice(1, 4)).toEqual([
      "blocks of 1 row 2,400 0 yes TIME",
      "1 thread 0 0 NO 1,000 of 2,400 cells TIME a, b",
      "2 threads 2,400 0 NO other times in 1 row; other symbols in 2 cells TIME",
    ]);
    expect(lines).toContain("1 thread: a has 0 of the 1,200 cells of the usual run");
    expect(lines).toContain("2 threads: other times in 1 row; other symbols in 2 cells");
    expect(lines.at(-1)).toMatch(/^BROKEN: 2 of 3 checks \(1 thread; 2 threads\): please report it/);
  });

  test("names what is broken and ends with exit code 1", async () => {
    const text = "a = third(open)\nb = rank(close)\nc = third(close)\n";
    const { exitCode, stdout } = await verifyThird(text);
    expect(exitCode).toBe(1);
    const lines = linesOf(stdout);
    expect(lines[1]).toBe(
      "operators by their references 18 2 NO 1.3e-16, 1 ulp; 1 null or infinite on one side TIME a, c",
    );
    expect(lines[2]).toMatch(/^each of 3 factors alone 18 0 yes/);
    expect(lines).toContain(
      "operators by their references: a at 2020-01-01, A is null in the usual run and 0.3333333333333333 in this one",
    );
    expect(lines.at(-2)).toMatch(
      /^BROKEN: 1 of \d+ checks \(operators by their references\): please report it/,
    );
  });

  test("--json gives each factor that is broken with a cell", async () => {
    const { exitCode, stdout } = await verifyThird("c = third(close)\n", "--json");
    expect(exitCode).toBe(1);
    const { holds, checks } = JSON.parse(stdout);
    expect(holds).toBe(false);
    expect(checks[0]).toMatchObject({ holds: false, differingCount: 1, incomparableCount: 0, ulpMax: 1 });
    const [factor] = checks[0].factors;
    expect(factor).toMatchObject({ name: "c", cellCount: 1, ulpMax: 1 });
    expect(factor.first).toEqual({
      time: "2020-01-03",
      symbol: "A",
      usual: 1.6666666666666665,
      other: 1.6666666666666667,
    });
  });

  test.each([
    ["no data", ["verify", "a.factors"], "E500 required option '--data <path>' not specified\n"],
    ["a factor that is not there", verify("--select", "d"), "E506 no factor d to select\n"],
    ["no time of the range", verify("--from", "2021-01-01"), "E344 "],
    ["no factor that is wanted", verify("--select", "c"), "E561 no factor is wanted with these params\n"],
    ["a mistake in the formulas", verify("--dialect", "qlip"), "E506 unknown dialect qlip\n"],
  ])("%s ends with exit code 1", async (_, args, start) => {
    const { exitCode, stdout, stderr } = await runCli(args, FILES);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr.slice(0, start.length)).toBe(start);
  });

  test("memory that does not suffice ends with exit code 2 and says how to need less", async () => {
    const { exitCode, stdout, stderr } = await runCli(verify("--memory-limit", "100"), FILES);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^E401 the evaluation needs .*, the limit is 100 bytes\n.*--select.*--from/);
  });
});
