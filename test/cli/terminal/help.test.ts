import { expect, test } from "vitest";
import { ERROR_CATALOGUE } from "../../../src/error_catalogue/catalogue.ts";
import { runCli } from "../run_cli.ts";

test.each(["E362", "e362"])("help %s prints the entry", async (code) => {
  const { exitCode, stdout, stderr } = await runCli(["help", code]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const entry = ERROR_CATALOGUE.find((one) => one.code === "E362")!;
  expect(stdout).toContain(`E362 ${entry.title}\n`);
  for (const text of [entry.happened, entry.toDo]) expect(stdout).toContain(text);
  expect(stdout).toContain("$ factorloom run jobs.yaml --once\n");
});

test.each([
  ["E4122", "E563 no command or code E4122\n  did you mean E412?\n"],
  ["evla", "E563 no command or code evla\n  did you mean eval?\n"],
  ["0", "E563 no command or code 0\n  docs/errors.md lists all codes\n"],
])("help %s is refused with the nearest", async (name, stderr) => {
  expect(await runCli(["help", name])).toEqual({ exitCode: 1, stdout: "", stderr });
});

test("help of a command is that of --help; without a name it is that of all", async () => {
  for (const name of ["check", "cluster"])
    expect(await runCli(["help", name])).toEqual(await runCli([name, "--help"]));
  expect(await runCli(["help"])).toEqual(await runCli(["--help"]));
});
