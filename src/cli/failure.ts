import { CommanderError } from "commander";
import { EXIT_CODES, FactorloomError } from "../errors.ts";
import { Interruption } from "./interruption.ts";

/** Exit code for what went wrong: 1 the user's input, 2 resources, 3 a bug of ours; that of the signal if one ended it. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.input;
  return error instanceof FactorloomError ? error.exitCode : EXIT_CODES.internal;
}

/** Prints what went wrong to stderr: the message for expected errors, the stack for bugs. */
export function reportError(error: unknown): void {
  if (
    error instanceof Interruption ||
    (error instanceof FactorloomError && error.exitCode !== EXIT_CODES.internal)
  ) {
    process.stderr.write(`${error.message}\n`);
    return;
  }
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.stderr.write("This is a bug in factorloom; please report it with the formula and the data.\n");
}
