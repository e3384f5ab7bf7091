import { Command, CommanderError } from "commander";
import { packageVersion } from "../cluster/package_version.ts";
import { addBench } from "./bench.ts";
import { addCheck } from "./check.ts";
import { addCluster } from "./cluster.ts";
import { COMMAND_LINE } from "./command_line.ts";
import { addEval } from "./eval.ts";
import { addExplain } from "./explain.ts";
import { exitCodeOf, reportError } from "./failure.ts";
import { addHelp } from "./help.ts";
import { addOps } from "./ops.ts";
import { refuseRepeatedOptions } from "./repeated_options.ts";
import { addRun } from "./run.ts";
import { addStatus } from "./status.ts";
import { outliveReaders, write } from "./terminal.ts";
import { addVerify } from "./verify.ts";

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
