import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { factorloom } from "../../../src/cli/program.ts";
import { errorSections } from "../../../src/cli/terminal/errors_page.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { runCli, runCliProcess } from "../run_cli.ts";

const root = join(import.meta.dirname, "../../..");

test.each(["E361", "e362"])("help %s prints the section of docs/errors.md", async (code) => {
  const { exitCode, stdout, stderr } = await runCli(["help", code]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const section = (await errorSections()).find((one) => one.code === "E361")!;
  expect(stdout).toContain(`E361 ${section.title}\n`);
  for (const text of [section.meaning, section.remedy]) expect(stdout).toContain(text);
  expect(stdout).toContain("\n  $ factorloom run jobs.yaml --once\n");
  expect(stdout).not.toContain("```");
});

test("help of a code of an earlier version prints the section that it is part of now", async () => {
  expect(await runCli(["help", "E563"])).toEqual(await runCli(["help", "E506"]));
});

test("help finds the page in a package that is installed", async () => {
  const folder = mkdtempSync(join(fileFolder(), "installed-"));
  const packed = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
  for (const { path } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const installed = await runCliProcess(
    ["help", "E101"],
    {},
    undefined,
    join(folder, "dist/src/cli/main.js"),
  );
  expect(installed).toEqual(await runCli(["help", "E101"]));
});

test.each([
  ["E4122", "E506 no command or code E4122\n  did you mean E412?\n"],
  ["evla", "E506 no command or code evla\n  did you mean eval?\n"],
  ["0", "E506 no command or code 0\n  docs/errors.md lists all codes\n"],
])("help %s is refused with the nearest", async (name, stderr) => {
  expect(await runCli(["help", name])).toEqual({ exitCode: 1, stdout: "", stderr });
});

test("help of a command is that of --help; without a name it is that of all", async () => {
  for (const name of ["check", "cluster"])
    expect(await runCli(["help", name])).toEqual(await runCli([name, "--help"]));
  expect(await runCli(["help"])).toEqual(await runCli(["--help"]));
});

test("the help of eval fits on a screen", () => {
  const command = factorloom().commands.find((one) => one.name() === "eval")!;
  const lines = command.configureHelp({ helpWidth: 100 }).helpInformation().trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(42);
});
