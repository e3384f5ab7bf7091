import { describe, expect, test } from "vitest";
import { BARS, runCli } from "../run_cli.ts";

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

  test("--json of a file without a mistake has dialect and number of factors", async () => {
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

  test("knows the columns of the data, with the words of eval", async () => {
    const files = {
      "bars.csv": BARS,
      "groups.csv": "symbol,sector\nA,Tech\nB,Bank\n",
      "a.factors": "a = rank(clse) + vwap\nb = group_rank(open, sector)\n",
    };
    const checked = await runCli(["check", "a.factors", "--data", "bars.csv"], files);
    expect(checked).toEqual(await runCli(["eval", "a.factors", "--data", "bars.csv"], files));
    expect(checked.exitCode).toBe(1);
    expect(checked.stderr).toContain("did you mean close?");
    expect(checked.stderr).toContain("fields: open, close, volume;");
    expect(checked.stderr).toContain("^^^^^^ a group column: give the table that has it with --groups PATH");
    const named = [
      "--data",
      "bars.csv",
      "--groups",
      "groups.csv",
      "--field",
      "vwap=volume",
      "--field",
      "clse=close",
    ];
    expect(await runCli(["check", "a.factors", ...named], files)).toEqual({
      exitCode: 0,
      stdout: "a.factors: 2 factors, no mistake\n",
      stderr: "",
    });
  });

  test("refuses what says how data are read without data, and fields beside data", async () => {
    const files = { "bars.csv": BARS, "a.factors": "a = close\n" };
    for (const options of [
      ["--time-column", "day"],
      ["--data", "bars.csv", "--fields", "close"],
    ]) {
      const { exitCode, stderr } = await runCli(["check", "a.factors", ...options], files);
      expect({ exitCode, code: stderr.slice(0, 4) }).toEqual({ exitCode: 1, code: "E500" });
    }
  });

  test("--strict shows what is suspicious where it stands", async () => {
    const files = { "a.factors": "a = close == null ? 1 : 1\nb = ts_std(close, 1)\n" };
    const { exitCode, stdout } = await runCli(["check", "a.factors", "--strict"], files);
    expect(exitCode).toBe(1);
    expect(
      stdout,
    ).toBe(`S606 a.factors:1:5: '==' with null is null, never true: null is not even equal to itself
  | a = close == null ? 1 : 1
  |     ^^^^^^^^^^^^^ write is_null(x) or !is_null(x)
S607 a.factors:1:5: '?:' of equal operands is 1 wherever it is not null
  | a = close == null ? 1 : 1
  |     ^^^^^^^^^^^^^^^^^^^^^ is one of the operands meant to be another one?
S609 a.factors:2:5: ts_std of 1 row is null everywhere
  | b = ts_std(close, 1)
  |     ^^^^^^^^^^^^^^^^ give it more rows
a.factors: 2 factors, no mistake, 3 findings
`);
    const { stdout: json } = await runCli(["check", "a.factors", "--strict", "--json"], files);
    expect(JSON.parse(json).suspicions[2]).toMatchObject({ code: "S609", factor: "b", line: 2, column: 5 });
  });

  test("counts one factor as one", async () => {
    const { stdout } = await runCli(["check", "a.factors", "--strict"], { "a.factors": "a = rank(close)\n" });
    expect(stdout).toBe("a.factors: 1 factor, no mistake, 0 findings\n");
  });

  test("uses the columns of the options, and the dialect", async () => {
    const files = { "a.factors": "a = indneutralize(price, branch) + max(price, 2.5)\n" };
    const options = ["--fields", "price, size", "--group-columns", "branch", "--dialect", "alpha101"];
    expect((await runCli(["check", "a.factors", ...options], files)).exitCode).toBe(0);
    expect((await runCli(["check", "a.factors", ...options.slice(0, 4)], files)).exitCode).toBe(0);
    expect((await runCli(["check", "a.factors", ...options.slice(2)], files)).exitCode).toBe(1);
  });
});
