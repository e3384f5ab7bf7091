import { Command, CommanderError } from "commander";
import { packageVersion } from "../cluster/protocol/package_version.ts";
import { addBench } from "./bench/bench.ts";
import { addCheck } from "./commands/check.ts";
import { addCluster } from "./commands/cluster.ts";
import { addExplain } from "./commands/explain.ts";
import { addOps } from "./commands/ops.ts";
import { addRun } from "./commands/run.ts";
import { addStatus } from "./commands/status.ts";
import { addVerify } from "./commands/verify.ts";
import { addEval } from "./eval/eval.ts";
import { COMMAND_LINE } from "./terminal/command_line.ts";
import { exitCodeOf, reportError } from "./terminal/failure.ts";
import { addHelp } from "./terminal/help.ts";
import { refuseRepeatedOptions } from "./terminal/repeated_options.ts";
import { outliveReaders, write } from "./terminal/terminal.ts";

const program = new Command("factorloom")
  .description("Compiles financial factor formulas and evaluates them over thousands of instruments.")
  .version(packageVersion())
  .showHelpAfterError("(factorloom --help lists the commands and their options)")
  .exitOverride()
  .configureOutput({
    writeOut: (text) => write(process.stdout, text),
    writeErr: (text) => write(process.stderr, text),
    outputError: (text, writeError) => writeError(text.replace(/^error: /, `${COMMAND_LINE} `)),
  });
const commands = [
  addEval,
  addCheck,
  addExplain,
  addOps,
  addBench,
  addVerify,
  addRun,
  addStatus,
  addCluster,
  addHelp,
];
for (const add of commands) add(program);
refuseRepeatedOptions(program);

outliveReaders();
try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its own message, or the help that was asked for.
  if (!(error instanceof CommanderError)) reportError(error);
  process.exitCode = exitCodeOf(error);
}
