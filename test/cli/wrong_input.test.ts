import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { type CliResult, runCli, runTwoAtATime } from "./run_cli.ts";
import { USUAL_FILES, WRONG_INPUTS, type WrongInput } from "./wrong_input_cases.ts";

/**
 * What the command line says to each kind of wrong input, whole: command, exit code and stderr. The golden file is
 * rewritten with UPDATE_GOLDEN=1; read the difference as a user would.
 */

const GOLDEN = new URL("wrong_input.golden.txt", import.meta.url);
const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));

function sectionOf({ what, args }: WrongInput, { exitCode, stderr }: CliResult): string {
  const section = `== ${what}\n$ factorloom ${args.join(" ")}\nexit code ${exitCode}\n${stderr.trimEnd()}\n`;
  return section.replaceAll(EXAMPLES, "examples");
}

const results = new Map<WrongInput, CliResult>();

beforeAll(async () => {
  await runTwoAtATime(WRONG_INPUTS, async (input) => {
    results.set(input, await runCli(input.args, { ...USUAL_FILES, ...input.files }));
  });
  if (process.env["UPDATE_GOLDEN"]) {
    const sections = WRONG_INPUTS.map((input) => sectionOf(input, results.get(input) as CliResult));
    writeFileSync(GOLDEN, sections.join("\n"));
  }
});

describe("wrong input", () => {
  const golden = () => (existsSync(GOLDEN) ? readFileSync(GOLDEN, "utf8") : "");

  test.each(WRONG_INPUTS)("$what", (input) => {
    const result = results.get(input) as CliResult;
    const recorded = golden()
      .split(/^(?=== )/m)
      .find((section) => section.startsWith(`== ${input.what}\n`));
    expect(sectionOf(input, result).trimEnd(), "if this is meant, run with UPDATE_GOLDEN=1").toBe(
      recorded?.trimEnd(),
    );
    if (input.args.includes("--json")) expect(JSON.parse(result.stdout)).toHaveProperty("error.code");
    else expect(result.stdout).toBe("");
    expect(result.stderr).toMatch(/^E\d{3} /);
    expect(result.stderr).not.toContain("bug in factorloom");
  });

  test("is named once each, and nothing else is on record", () => {
    const recorded = [...golden().matchAll(/^== (.*)$/gm)].map((match) => match[1]);
    expect(recorded).toEqual(WRONG_INPUTS.map(({ what }) => what));
    expect(new Set(recorded).size).toBe(recorded.length);
  });

  test("ends with exit code 1, but for what the machine lacks: 2", () => {
    const lacking = WRONG_INPUTS.filter((input) => results.get(input)?.exitCode !== 1).map(
      ({ what }) => what,
    );
    expect(lacking).toEqual(["memory limit that is too small"]);
    const result = results.get(WRONG_INPUTS.at(-1) as WrongInput);
    expect(result?.exitCode).toBe(2);
  });
});
