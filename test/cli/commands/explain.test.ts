import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { memoryText } from "../../../src/cli/commands/explain_memory.ts";
import { compile } from "../../../src/index.ts";
import { runCli } from "../run_cli.ts";

const ALPHA101 = fileURLToPath(new URL("../../../examples/alpha101.factors", import.meta.url));
const GOLDEN = new URL("explain_passes.golden.txt", import.meta.url);
const FILES = {
  "b.factors": `param p = 1
let m = ts_mean(-close / -4, 5)
a = rank(m) - -m * (2 * 3 - 5)
b = m * volume when p == 2 && !(p > 3)
c = volume * m
d = ema(close, 3) > 0 && !(open >= close)
`,
  "a.factors": "param p = 1\nlet m = ts_mean(close, 5)\na = rank(m) - m\nb = m * volume when p == 2\n",
};

describe("explain", () => {
  test("shows stages, plan, factors and the graph", async () => {
    const { exitCode, stdout, stderr } = await runCli(["explain", "a.factors"], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^a\.factors: 2 factors, dialect native\n/);
    // rank, subtract and twice ts_mean in a, ts_mean and multiply in b; the graph has one ts_mean.
    expect(stdout).toMatch(/^formulas written out \(before sharing\) +6$/m);
    expect(stdout).toMatch(/^share_subexpressions +4$/m);
    // ts_mean and multiply work lane by lane, but multiply only where p is 2: two nodes.
    expect(stdout).toMatch(/^nodes: 5, columns: 6$/m);
    expect(stdout).toMatch(
      /^critical path: 4 nodes, about \d+ ns a cell: input > ts_mean > rank > subtract$/m,
    );
    expect(stdout).toMatch(/^lookback: 4 rows before the current one \(a\)$/m);
    expect(stdout).toMatch(/^b +%\d+ +4 +p == 2$/m);
    expect(stdout).toMatch(/^%\d+ = ts_mean\(%\d+, d=5\)$/m);
  });

  test("shows them for the 101 formulas", async () => {
    const { exitCode, stdout } = await runCli(["explain", ALPHA101]);
    expect(exitCode).toBe(0);
    const count = (stage: string) =>
      Number(new RegExp(`^${stage} +([\\d,]+)$`, "m").exec(stdout)?.[1]?.replace(",", ""));
    expect(stdout).toContain(": 101 factors, dialect alpha101\n");
    expect(count("formulas written out \\(before sharing\\)")).toBeGreaterThan(1400);
    expect(count("share_subexpressions")).toBeLessThan(1000);
    expect(count("canonical_order")).toBeLessThan(count("share_subexpressions"));
    expect(stdout.match(/^alpha\d{3} +%\d+ +\d+$/gm)).toHaveLength(101);
    expect(stdout).toMatch(/^lookback: \d+ rows before the current one \(alpha\d{3}\)$/m);
  });

  test("counts a delay of 1 as one row of history, and one factor as one", async () => {
    const { stdout } = await runCli(["explain", "d.factors"], { "d.factors": "a = delay(close, 1)\n" });
    expect(stdout).toMatch(/^d\.factors: 1 factor, dialect native$/m);
    expect(stdout).toMatch(/^lookback: 1 row before the current one \(a\)$/m);
    expect(stdout).toMatch(/^%\d+ = delay\(%\d+, d=1\)$/m);
  });

  test("marks tasks whose operator has no code", async () => {
    const files = { "r.factors": "a = ts_regresid3(ts_mean(close, 5), open, high, low, 9)\n" };
    const { stdout } = await runCli(["explain", "r.factors"], files);
    expect(stdout).toMatch(/^%\d+ = ts_regresid3\(.*d=9\) {2}\(no code: by reference\)$/m);
    expect(stdout.match(/by reference/g)).toHaveLength(1);
  });

  test("shows priorities if a factor has one", async () => {
    const files = { "p.factors": "param p = 1\na = close priority -5\nb = open when p == 2\n" };
    const { stdout } = await runCli(["explain", "p.factors"], files);
    expect(stdout).toMatch(/^factor +task +lookback +priority +when$/m);
    expect(stdout).toMatch(/^a +%\d+ +0 +-5$/m);
    expect(stdout).toMatch(/^b +%\d+ +0 +0 +p == 2$/m);
    expect((await runCli(["explain", "a.factors"], FILES)).stdout).not.toContain("priority");
  });

  test("leaves passes out", async () => {
    const { stdout } = await runCli(["explain", "a.factors", "--no-pass", "canonical_order"], FILES);
    expect(stdout).not.toContain("canonical_order");
    expect(stdout).toContain("share_subexpressions");
    const both = ["--no-pass", "canonical_order", "--no-pass", "share_subexpressions"];
    expect((await runCli(["explain", "a.factors", ...both], FILES)).stdout).toMatch(/^build +\d+$/m);
  });

  test("--passes shows the first graph and what each pass does to it", async () => {
    const { exitCode, stdout, stderr } = await runCli(["explain", "b.factors", "--passes"], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    if (process.env["UPDATE_GOLDEN"]) writeFileSync(GOLDEN, stdout);
    expect(stdout, "if this is meant, run with UPDATE_GOLDEN=1").toBe(readFileSync(GOLDEN, "utf8"));
  });

  test("--passes excludes --format", async () => {
    const { exitCode, stderr } = await runCli(["explain", "a.factors", "--passes", "--format", "dot"], FILES);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("option '--passes' cannot be used with option '--format <format>'");
  });

  test("a lookback without end is unbounded", async () => {
    const files = { "ema.factors": "a = ema(close, 3)\nb = open\n" };
    const { stdout } = await runCli(["explain", "ema.factors"], files);
    expect(stdout).toMatch(/^lookback: unbounded \(a\)$/m);
    expect(stdout).toMatch(/^a +%\d+ +unbounded$/m);
    expect(stdout).not.toContain("Infinity");
    expect((await runCli(["explain", "ema.factors", "--format", "dot"], files)).stdout).toContain(
      "ema\\nn=3\\nunbounded",
    );
  });

  test("--format html prints a page and nothing else", async () => {
    const { exitCode, stdout, stderr } = await runCli(["explain", "a.factors", "--format", "html"], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
    expect(stdout).toContain("<title>a.factors: what it is compiled to</title>");
  });

  test("--format json prints the graph of the program and nothing else", async () => {
    const { exitCode, stdout, stderr } = await runCli(["explain", "a.factors", "--format", "json"], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(compile(FILES["a.factors"]).graph());
  });

  test("--format dot prints the graph for Graphviz and nothing else", async () => {
    const { exitCode, stdout, stderr } = await runCli(["explain", "a.factors", "--format", "dot"], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^digraph factors \{\n(.*\n)*\}\n$/);
    expect(stdout.match(/shape=ellipse/g)).toHaveLength(4);
    expect(stdout).toContain('label="ts_mean\\nd=5"');
  });

  test("shows the memory over a number of symbols, and which factors come together where one does not suffice", async () => {
    const one = await runCli(["explain", "a.factors", "--symbols", "5000"], FILES);
    expect(one.exitCode).toBe(0);
    expect(one.stdout).toMatch(
      /^memory over 5,000 symbols:\na history, blocks of 64 rows: [\d.]+ MiB\na session: [\d.]+ MiB\n$/,
    );
    const formulas = ["close", "volume", "close"].map(
      (field, i) => `f${i} = ts_mean(rank(${field}), ${60 + i})`,
    );
    const text = await memoryText(compile(formulas.join("\n")), 100, 2 ** 19);
    expect(text).toMatch(
      /^a history, blocks of 64 rows: [\d.]+ KiB in 2 memories; what several of them need/m,
    );
    expect(text.match(/^ +1 +[\d.]+ KiB +3 +f0 f2\n +2 +[\d.]+ KiB +2 +f1$/gm)).toHaveLength(1);
    await expect(memoryText(compile("f = ts_mean(close, 5000)"), 100, 2 ** 19)).rejects.toThrow(
      /^E401 f needs [\d.]+ MiB of columns and state, one memory holds 512.0 KiB$/m,
    );
  });
});
