import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatTable } from "../../../src/cli/terminal/text_table.ts";
import { textWidth } from "../../../src/text/text_width.ts";
import { trials } from "../../support/trials.ts";
import { hostileText, UNSEEN } from "../../text/hostile_text.ts";
import { BARS, runCli, runCliProcess, runTwoAtATime } from "../run_cli.ts";
import { JOB_FILES } from "./job_files.ts";

describe("names that are made to do harm", () => {
  test("stay in their cells of a table", () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (names) => {
        const lines = formatTable(
          ["name", "n"],
          names.map((name) => [name, 1]),
        ).split("\n");
        expect(lines).toHaveLength(names.length + 1);
        expect(lines.join("")).not.toMatch(UNSEEN);
        expect(new Set(lines.slice(1).map(textWidth)).size).toBe(1);
      }),
    );
  });

  test("reach no terminal, wherever they stand", async () => {
    const names = fc.sample(hostileText, trials(2, 10)).map((name) => name.replaceAll(/[\0/]/g, "_"));
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const calls = names.flatMap((name) => [
      { args: ["check", `${name}.factors`], files: {} },
      { args: ["eval", "a.factors", "--data", `${name}.csv`], files: JOB_FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", "--select", name], files: JOB_FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", `--${name}`], files: JOB_FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", `--universe=${name}`], files: JOB_FILES },
      { args: ["eval", "a.factors", "--data", "bars.csv", "--out", `${name}.xyz`], files: JOB_FILES },
      {
        args: ["eval", "a.factors", "--data", "b.csv"],
        files: { ...JOB_FILES, "b.csv": BARS.replaceAll("A", cell(name)).replace("2,100", "x,100") },
      },
      {
        args: ["eval", "a.factors", "--data", "b.csv"],
        files: { ...JOB_FILES, "b.csv": BARS.replace("close", cell(name)) },
      },
      { args: ["check", "b.factors"], files: { "b.factors": `a = ${name}\n` } },
      { args: ["ops", name], files: {} },
      { args: [name], files: {} },
    ]);
    const results = await runTwoAtATime(calls, ({ args, files }) => runCli(args, files));
    for (const [i, { stdout, stderr, exitCode }] of results.entries()) {
      const call = JSON.stringify(calls[i]);
      expect(exitCode, call).not.toBe(3);
      expect((stdout + stderr).replaceAll(/[\n\t]/g, ""), call).not.toMatch(UNSEEN);
    }
  });

  test("reach no log", async () => {
    const name = "z\x9b31m\u202e";
    const files = { ...JOB_FILES, [`${name}.csv`]: "date,symbol,close\n2020-01-04,A\n" };
    const { stderr, exitCode } = await runCliProcess(["run", "jobs.yaml", "--once"], files);
    expect({ exitCode, names: stderr.includes("z\\u009b31m\\u202e.csv") }).toEqual({
      exitCode: 1,
      names: true,
    });
    expect(stderr.replaceAll("\n", "")).not.toMatch(UNSEEN);
  });

  test("are in files and in JSON what they were", async () => {
    const name = "A\x1b[2J\u202e\x9b";
    const { stdout, written } = await runCli(
      ["eval", "a.factors", "--data", "bars.csv", "--out", "out.csv", "--json"],
      { ...JOB_FILES, "bars.csv": BARS.replaceAll(",A,", `,${name},`) },
      "out.csv",
    );
    expect(written).toContain(name);
    expect(JSON.parse(stdout).out).toBe("out.csv");
    const checked = await runCli(["check", `${name}.factors`, "--json"], {
      [`${name}.factors`]: "a = close\n",
    });
    expect(JSON.parse(checked.stdout).file).toBe(`${name}.factors`);
    expect(checked.stdout.trimEnd()).not.toMatch(UNSEEN);
  });
});
