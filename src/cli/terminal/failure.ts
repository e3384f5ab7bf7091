import { CommanderError } from "commander";
import { DataError, EXIT_CODES, FactorloomError, UsageError } from "../../errors.ts";
import { visible } from "../../text/visible.ts";
import { Interruption } from "./interruption.ts";
import { printNote } from "./terminal.ts";

/** Exit code of an error: 1 the user's input, 2 resources, 3 a bug, 128 + number of a signal. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.input;
  return error instanceof FactorloomError ? error.exitCode : EXIT_CODES.internal;
}

/** Prints an error to stderr: the message of expected errors, the stack of bugs. */
export function reportError(error: unknown): void {
  if (error instanceof DataError || error instanceof UsageError) {
    // Escaped by itself, so that a line end in a name does not start a line.
    printNote(`${error.code} ${visible(error.problem)}\n  ${visible(error.remedy)}`);
  } else if (error instanceof Interruption || (error instanceof FactorloomError && !isBug(error))) {
    printNote(error.message);
  } else {
    printNote(String(error instanceof Error ? error.stack : error));
    printNote("This is a bug in factorloom; please report it with the formula and the data.");
  }
}

function isBug({ exitCode }: FactorloomError): boolean {
  return exitCode === EXIT_CODES.internal;
}
