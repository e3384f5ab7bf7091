import { describe, expect, test } from "vitest";
import { BARS, runCli } from "../run_cli.ts";

const FILES = {
  // B has no bar on the second day.
  "bars.csv": BARS.replace("2020-01-02,B,4,3,190\n", ""),
  "a.factors": "a = close / 3\nb = 1 / (close - 2)\nc = ts_mean(close, 2)\n",
};

/** The printed rows: the lines before the summary. */
async function rowsOf(files: Readonly<Record<string, string>>, ...options: string[]): Promise<string[]> {
  const call = ["eval", "a.factors", "--data", "bars.csv", "--threads", "1", ...options];
  const { exitCode, stdout, stderr } = await runCli(call, { ...FILES, ...files });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const [table = ""] = stdout.split("\n\n");
  return table.startsWith("date") ? table.split("\n") : [];
}

describe("eval prints rows of the result", () => {
  test("the last five", async () => {
    expect(await rowsOf({})).toEqual([
      "date        symbol         a         b     c",
      "2020-01-01  A       0.666667      null  null",
      "2020-01-01  B       1.33333   0.5       null",
      "2020-01-02  A       1         1          2.5",
      "2020-01-03  A       1.66667   0.333333   4",
      "2020-01-03  B       0.666667      null  null",
    ]);
  });

  test.each([
    [["--tail", "1"], ["2020-01-03 B"]],
    [["--tail", "0"], []],
    [
      ["--head", "2"],
      ["2020-01-01 A", "2020-01-01 B"],
    ],
    [
      ["--head", "100"],
      ["2020-01-01 A", "2020-01-01 B", "2020-01-02 A", "2020-01-03 A", "2020-01-03 B"],
    ],
    [
      ["--symbols", "B"],
      ["2020-01-01 B", "2020-01-03 B"],
    ],
    [["--symbols", "B", "--tail", "1"], ["2020-01-03 B"]],
    [["--symbols", "B", "--head", "1"], ["2020-01-01 B"]],
    [
      ["--at", "2020-01-01"],
      ["2020-01-01 A", "2020-01-01 B"],
    ],
    [["--at", "2020-01-01", "--symbols", "B"], ["2020-01-01 B"]],
    [["--at", "2020-01-02", "--symbols", "B"], []],
    [["--from", "2020-01-02", "--to", "2020-01-02"], ["2020-01-02 A"]],
  ])("%j", async (options, expected) => {
    const rows = await rowsOf({}, ...options, "--block-rows", "1");
    const keys = rows.slice(1).map((row) => row.split(/ +/).slice(0, 2).join(" "));
    expect(keys).toEqual(expected);
  });

  test("as many of named symbols as there are names", async () => {
    const symbols = ["A", "B", "C", "D", "E", "F", "G"];
    const bars = ["date,symbol,close", ...symbols.map((symbol) => `2020-01-01,${symbol},1`)].join("\n");
    const rows = await rowsOf({ "bars.csv": `${bars}\n` }, "--symbols", symbols.join(","));
    expect(rows).toHaveLength(8);
  });

  test("infinities only where they are kept", async () => {
    const [, ...lost] = await rowsOf({}, "--head", "1");
    expect(lost).toEqual(["2020-01-01  A       0.666667  null  null"]);
    const [, ...kept] = await rowsOf({}, "--head", "1", "--keep-inf");
    expect(kept).toEqual(["2020-01-01  A       0.666667  inf  null"]);
  });

  test("with times of the type of the data", async () => {
    const bars = "time,symbol,close\n2020-01-01 09:30:00.5,A,1\n2020-01-01 09:31:00,A,2\n";
    const { stdout } = await runCli(["eval", "a.factors", "--data", "bars.csv"], {
      ...FILES,
      "bars.csv": bars,
    });
    expect(stdout).toMatch(/^2020-01-01 09:30:00\.500+ {2}A /m);
    expect(stdout).toMatch(/^2020-01-01 09:31:00 +A /m);
  });

  test("no rows with --json", async () => {
    const { stdout } = await runCli(["eval", "a.factors", "--data", "bars.csv", "--json"], FILES);
    expect(stdout).toMatch(/^\{.*\}\n$/);
  });
});
