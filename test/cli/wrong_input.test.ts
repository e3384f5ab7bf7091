import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { type CliResult, runCli, runTwoAtATime } from "./run_cli.ts";
import { USUAL_FILES, WRONG_INPUTS } from "./wrong_input_cases.ts";

/**
 * What the command line says to each kind of wrong input, whole: command, stderr and an exit code other than 1, in the order
 * of the cases. The golden file is rewritten with UPDATE_GOLDEN=1; read the difference as a user would.
 */

const GOLDEN = new URL("wrong_input.golden.txt", import.meta.url);
const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
let golden: readonly string[];
let results: readonly CliResult[];

beforeAll(async () => {
  results = await runTwoAtATime(WRONG_INPUTS, ({ args, files }) =>
    runCli(args, { ...USUAL_FILES, ...files }),
  );
  if (process.env["UPDATE_GOLDEN"])
    writeFileSync(GOLDEN, WRONG_INPUTS.map((_, at) => sectionOf(at)).join("\n"));
  golden = readFileSync(GOLDEN, "utf8").split(/^(?=\$ )/m);
});

function sectionOf(at: number): string {
  const { exitCode, stderr } = results[at]!;
  const code = exitCode === 1 ? "" : `exit code ${exitCode}\n`;
  const section = `$ factorloom ${WRONG_INPUTS[at]!.args.join(" ")}\n${code}${stderr.trimEnd()}\n`;
  return section.replaceAll(EXAMPLES, "examples");
}

test.each(WRONG_INPUTS.map(({ what, args }, at) => ({ what, args, at })))("$what", ({ args, at }) => {
  const { stdout, stderr, exitCode } = results[at]!;
  expect(sectionOf(at).trimEnd(), "if this is meant, run with UPDATE_GOLDEN=1").toBe(golden[at]?.trimEnd());
  if (args.includes("--json")) expect(JSON.parse(stdout)).toHaveProperty("error.code");
  else expect(stdout).toBe("");
  expect(stderr).toMatch(/^E\d{3} /);
  expect(stderr).not.toContain("bug in factorloom");
  expect(exitCode, "but for what the machine lacks").toBe(args.includes("20kB") ? 2 : 1);
});

test("nothing else is on record", () => {
  expect(golden).toHaveLength(WRONG_INPUTS.length);
});
