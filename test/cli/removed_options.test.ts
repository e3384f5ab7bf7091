import { expect, test } from "vitest";
import { BARS, runCli } from "./run_cli.ts";

/** What earlier versions had for clusters is refused by name, with what to use. */

const FILES = { "a.factors": "a = rank(close)\n", "bars.csv": BARS };
const EVAL = ["eval", "a.factors", "--data", "bars.csv"];
const DASK = ["cluster", ...EVAL, "--scheduler", "tcp://127.0.0.1:1"];
const DOCTOR = ["cluster", "doctor", "--scheduler", "tcp://127.0.0.1:1"];

const NO_STORE =
  "leave it out: a run needs no folder for values between tasks; with --out FOLDER/ workers write the result";
const NO_CUT =
  "leave it out: a task evaluates some factors over some rows; --slab-rows (slabRows) sets how many rows";
const NO_RESTRICTED =
  "resources and workers of Cluster.connect hold for a whole run: select these factors in a run of their own";
const NO_CLEAN =
  "a run leaves files in the folder of --out only: run it again to complete them, or delete the folder";
const OTHER_TRIAL = "give --out FOLDER, the folder in which workers are to write the result";

test.each([
  ["--store", [...DASK, "--store", "tiles"], NO_STORE],
  ["--store", [...DASK, "--store"], NO_STORE],
  ["--create-store", [...DASK, "--create-store"], NO_STORE],
  ["--cut", [...DASK, "--cut", "slabs"], NO_CUT],
  ["--shard-lanes", [...DASK, "--shard-lanes", "8"], NO_CUT],
  ["--restricted-factors", [...DASK, "--restricted-factors", "a"], NO_RESTRICTED],
  ["--store", [...DOCTOR, "--store", "tiles"], OTHER_TRIAL],
  ["cluster clean", ["cluster", "clean"], NO_CLEAN],
  ["cluster clean", ["cluster", "clean", "--store", "tiles", "--older-than", "7d", "--dry-run"], NO_CLEAN],
])("%s is refused: %j", async (what, args, remedy) => {
  const { exitCode, stdout, stderr } = await runCli(args, FILES);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `E527 ${what} no longer exists\n  ${remedy}\n`,
  });
});

test.each([
  ["--engine", "dask"],
  ["--scheduler", "tcp://127.0.0.1:1"],
  ["--scatter"],
  ["--slab-rows", "5"],
  ["--tls-ca", "ca.pem"],
])("eval refuses %s by name, with the command that has it", async (flag, ...value) => {
  expect(await runCli([...EVAL, flag, ...value], FILES)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: `E527 eval takes no ${flag}\n  on a Dask cluster: factorloom cluster eval FORMULAS --data BARS --scheduler ADDRESS\n`,
  });
});

test("the help of commands does not name them", async () => {
  for (const command of [["eval"], ["cluster"], ["cluster", "eval"], ["cluster", "doctor"]]) {
    const { exitCode, stdout } = await runCli([...command, "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(/--(store|create-store|cut|shard-lanes|restricted-factors)\b|\bclean\b/);
  }
});
