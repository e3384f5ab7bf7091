import { describe, expect, test, vi } from "vitest";
import { runCli } from "./run_cli.ts";

// Ample, so that a busy machine fails no test.
vi.setConfig({ testTimeout: 60_000 });

const FIVE = "a = rank(clsoe)\nb = rank(close, 1)\nc = (close\nd = delay(close, -1)\ne = rnak(close)\n";

describe("check", () => {
  test("says that a file has no mistake", async () => {
    expect(await runCli(["check", "a.factors"], { "a.factors": "a = close\nb = rank(a)\n" })).toEqual({
      exitCode: 0,
      stdout: "a.factors: 2 factors, no mistake\n",
      stderr: "",
    });
  });

  test("reports every mistake on stderr, in the order of the file", async () => {
    const { exitCode, stdout, stderr } = await runCli(["check", "a.factors"], { "a.factors": FIVE });
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr.match(/^E\d+ a\.factors:\d+:\d+/gm)).toEqual([
      "E205 a.factors:1:10",
      "E202 a.factors:2:5",
      "E103 a.factors:3:5",
      "E206 a.factors:4:18",
      "E201 a.factors:5:5",
    ]);
  });

  test("--json prints the mistakes on stdout, one object in one line", async () => {
    const { exitCode, stdout, stderr } = await runCli(["check", "a.factors", "--json"], {
      "a.factors": FIVE,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toBe("");
    expect(stdout.trimEnd()).not.toContain("\n");
    const result = JSON.parse(stdout);
    expect(result.file).toBe("a.factors");
    expect(result.diagnostics).toHaveLength(5);
    expect(result.diagnostics[0]).toEqual({
      code: "E205",
      message: "unknown name clsoe",
      remedy: "did you mean close?",
      file: "a.factors",
      line: 1,
      column: 10,
      snippet: "  | a = rank(clsoe)\n  |          ^^^^^ did you mean close?",
    });
  });

  test("--json of a file without a mistake tells dialect and number of factors", async () => {
    const files = { "a.factors": "dialect alpha101\na = close\n" };
    const { exitCode, stdout } = await runCli(["check", "a.factors", "--json"], files);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      file: "a.factors",
      dialect: "alpha101",
      factorCount: 1,
      diagnostics: [],
    });
  });

  test("knows the columns that it is told, and the dialect", async () => {
    const files = { "a.factors": "a = indneutralize(price, branch) + max(price, 2.5)\n" };
    const options = ["--fields", "price, size", "--groups", "branch", "--dialect", "alpha101"];
    expect((await runCli(["check", "a.factors", ...options], files)).exitCode).toBe(0);
    expect((await runCli(["check", "a.factors", ...options.slice(0, 4)], files)).exitCode).toBe(0);
    expect((await runCli(["check", "a.factors", ...options.slice(2)], files)).exitCode).toBe(1);
  });
});
