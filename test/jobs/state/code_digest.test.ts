import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileFolder } from "../../support/file_folder.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SCRIPT = `
  import { settingsOf } from "./src/jobs/state/job_program.ts";
  const job = { formulas: {}, program: {}, source: {}, sink: {}, call: {}, schedule: { calendar: {} } };
  console.log(JSON.stringify(settingsOf(job, new Map(), "")));`;

/** The settings of a job by a copy of the engine in which a file has changed. */
function settingsBy(changed: string): Record<string, string> {
  const copy = mkdtempSync(join(fileFolder(), "engine-"));
  for (const name of ["src", "grammar", "operators", "package.json"])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  appendFileSync(join(copy, changed), "\n// changed\n");
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", SCRIPT], { cwd: copy });
  return JSON.parse(out.toString()) as Record<string, string>;
}

test("the settings of a job change with what gives formulas their meaning, and with no other code", () => {
  const usual = settingsBy("src/cli/main.ts");
  expect(settingsBy("src/data/read/csv_text.ts")).toEqual(usual);
  const { "the code of operators": code, ...others } = settingsBy("grammar/dialects.ts");
  expect({ ...others, "the code of operators": usual["the code of operators"] }).toEqual(usual);
  expect(code).not.toBe(usual["the code of operators"]);
});
