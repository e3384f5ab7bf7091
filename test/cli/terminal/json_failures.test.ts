import { expect, test } from "vitest";
import type { Diagnostic } from "../../../src/errors.ts";
import { runCli } from "../run_cli.ts";
import { USUAL_FILES } from "../wrong_input_cases.ts";

/** A call of each command with `--json` that fails, and the code of its error. */
const FAILURES: readonly (readonly [call: string, code: string])[] = [
  ["eval none.factors --data bars.csv", "E508"],
  ["eval a.factors --data none.csv", "E301"],
  ["eval bad.factors --data bars.csv", "E201"],
  ["eval a.factors", "E500"],
  ["check none.factors", "E508"],
  ["ops rnak", "E506"],
  ["bench none", "E506"],
  ["verify a.factors --data none.csv", "E301"],
  ["why a.factors --data bars.csv --factor a --symbol Z --at 2020-01-02", "E344"],
  ["nulls a.factors --data none.csv", "E301"],
  ["diff a.factors bars.csv", "E523"],
  ["run none.yaml --dry-run", "E508"],
  ["status none.yaml", "E508"],
  ["status bad.yaml", "E530"],
  ["run bad.yaml --dry-run", "E530"],
  ["run jobs.yaml", "E500"],
  ["check bad.factors", "E201"],
  ["cluster status", "E500"],
  ["none", "E500"],
];

test.each(FAILURES)("%s --json prints its error as one document: %s", async (call, code) => {
  const files = {
    ...USUAL_FILES,
    "bad.factors": "a = rnak(close)\nb = rnak(open)\n",
    "bad.yaml": "journal: journal\njobs:\n  - nam: daily\n    sink: { arrow: out }\n",
  };
  const { stdout, stderr, exitCode } = await runCli([...call.split(" "), "--json"], files);
  const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code, problem: expect.any(String), remedy: expect.any(String) });
  expect([error["problem"], error["remedy"]]).not.toContain("");
  // What is printed for people is there as well.
  if (!call.startsWith("check"))
    for (const text of [code, error["problem"], error["remedy"]]) expect(stderr).toContain(text);
  expect(exitCode).toBe(1);
  if (call.startsWith("eval bad")) expect(error["diagnostics"]).toHaveLength(2);
  if (call.includes("bad.yaml")) {
    const texts = (error["diagnostics"] as Diagnostic[]).map(({ message }) => message);
    expect(texts).toEqual([
      "jobs[0]: unknown key nam",
      ...["name", "formulas", "source", "schedule"].map((key) => `jobs[0]: ${key} is missing`),
    ]);
    expect(error["problem"]).toBe(texts[0]);
  }
});

test("a difference and a help text are no errors", async () => {
  const other = { ...USUAL_FILES, "other.csv": USUAL_FILES["bars.csv"].replace("100", "101") };
  const { stdout, exitCode } = await runCli(["diff", "bars.csv", "other.csv", "--json"], other);
  expect(JSON.parse(stdout)).toMatchObject({ isSame: false });
  expect(exitCode).toBe(1);
  expect((await runCli(["eval", "--help", "--json"], other)).stdout).not.toContain('"error"');
});
