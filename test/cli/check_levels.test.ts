import { expect, test } from "vitest";
import { runCli } from "./run_cli.ts";

/** Two equal factors (S601) and a sum of a price and a volume (S604). */
const FILES = { "a.factors": "a = close + volume\nb = close + volume\n" };

test.each([
  ["without levels", [], 0, []],
  ["--strict", ["--strict"], 1, ["S604", "S601", "S604"]],
  ["one denied", ["--deny", "S601"], 1, ["S601"]],
  ["in lower case", ["--deny", "s601"], 1, ["S601"]],
  ["several denied", ["--deny", "S601", "--deny", "S604"], 1, ["S604", "S601", "S604"]],
  ["denied and not found", ["--deny", "S605"], 0, []],
  ["all but one", ["--strict", "--allow", "S604"], 1, ["S601"]],
  ["all allowed", ["--strict", "--allow", "S604", "--allow", "S601"], 0, []],
  ["one denied, one allowed", ["--deny", "S601", "--allow", "S604"], 1, ["S601"]],
  ["--strict shows what is not denied, too", ["--strict", "--deny", "S601"], 1, ["S604", "S601", "S604"]],
])("findings of check: %s", async (_, options, exitCode, codes) => {
  const result = await runCli(["check", "a.factors", ...options], FILES);
  expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode, stderr: "" });
  expect(result.stdout.match(/^S\d{3}/gm) ?? []).toEqual(codes);
  const json = JSON.parse((await runCli(["check", "a.factors", "--json", ...options], FILES)).stdout);
  expect(json.suspicions.map(({ code }: { code: string }) => code)).toEqual(codes);
});

test.each([
  ["S611", "E506 no finding S611\n  did you mean S601?\n"],
  ["E205", "E506 no finding E205\n  did you mean S605?\n"],
  ["units", "E506 no finding units\n  docs/errors.md lists all codes\n"],
])("--deny and --allow refuse %s with the nearest", async (code, message) => {
  for (const option of ["--deny", "--allow"]) {
    const { exitCode, stderr } = await runCli(["check", "a.factors", option, code], FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: message });
  }
});

test("a finding is not both denied and allowed", async () => {
  const options = ["--deny", "S601", "--allow", "S601"];
  expect(await runCli(["check", "a.factors", ...options], FILES)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "E500 S601 is denied and allowed\n  give it to one of --deny and --allow\n",
  });
});
