import { type Command, CommanderError } from "commander";
import { EXIT_CODES } from "../../errors.ts";
import { COMMAND_LINE } from "./command_line.ts";
import { exitCodeOf, failureReport, reportError } from "./failure.ts";
import { refuseWrongValues } from "./option_values.ts";
import { ignoreClosedPipes, print, printsSoFar, write } from "./terminal.ts";
import { printWarnings } from "./warnings.ts";

/** Configures the program. Commands copy these settings when they are added, so call it first. */
export function prepare(program: Command): Command {
  return program.exitOverride().configureOutput({
    writeOut: (text) => write(process.stdout, text),
    writeErr: (text) => write(process.stderr, text),
    outputError: (text, writeError) => writeError(text.replace(/^error: /, `${COMMAND_LINE} `)),
  });
}

/** Runs the command that the arguments name, prints an error and sets the exit code. */
export async function runProgram(program: Command, args = process.argv.slice(2)): Promise<void> {
  refuseWrongValues(program);
  ignoreClosedPipes();
  printWarnings();
  const before = printsSoFar();
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has printed its own message, or the help that was asked for.
    if (!(error instanceof CommanderError)) reportError(error);
    process.exitCode = exitCodeOf(error);
    // Scripts that read JSON find one document on stdout, whatever happens.
    const isFailed = process.exitCode !== EXIT_CODES.done;
    if (isFailed && args.includes("--json") && printsSoFar() === before)
      print(JSON.stringify(failureReport(error)));
  }
}
