import { Command } from "commander";
import { packageVersion } from "../files/package_version.ts";
import { addBench } from "./bench/bench.ts";
import { addCheck } from "./commands/check.ts";
import { addCluster } from "./commands/cluster.ts";
import { addDiff } from "./commands/diff.ts";
import { addExplain } from "./commands/explain.ts";
import { addNulls } from "./commands/nulls.ts";
import { addOps } from "./commands/ops.ts";
import { addRepair, addRun } from "./commands/run.ts";
import { addStatus } from "./commands/status.ts";
import { addVerify } from "./commands/verify.ts";
import { addWhy } from "./commands/why.ts";
import { addEval } from "./eval/eval.ts";
import { addHelp } from "./terminal/help.ts";
import { prepare, runProgram } from "./terminal/run_program.ts";

const COMMANDS = [
  addEval,
  addCheck,
  addExplain,
  addOps,
  addBench,
  addVerify,
  addWhy,
  addNulls,
  addDiff,
  addRun,
  addStatus,
  addRepair,
  addCluster,
  addHelp,
];

/** The command line: every command with its options. */
export function factorloom(): Command {
  const program = prepare(new Command("factorloom"))
    .description("Compiles financial factor formulas and evaluates them over thousands of instruments.")
    .version(packageVersion())
    .showHelpAfterError("(factorloom --help lists the commands, factorloom COMMAND --help its options)");
  for (const add of COMMANDS) add(program);
  return program;
}

export async function run(): Promise<void> {
  await runProgram(factorloom());
}
