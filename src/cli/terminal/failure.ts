import { CommanderError } from "commander";
import {
  DataError,
  type Diagnostic,
  EXIT_CODES,
  FactorloomError,
  InternalError,
  ResourceError,
  UsageError,
} from "../../errors.ts";
import { visible } from "../../text/visible.ts";
import { COMMAND_LINE } from "./command_line.ts";
import { Interruption } from "./interruption.ts";
import { namingStdin } from "./standard_input.ts";
import { printNote } from "./terminal.ts";

/** Exit code of an error: 1 the user's input, 2 resources, 3 a bug, 128 + number of a signal. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.input;
  if (error instanceof ResourceError) return EXIT_CODES.resources;
  return isExpected(error) ? EXIT_CODES.input : EXIT_CODES.internal;
}

/** Prints an error to stderr: the message of expected errors, the stack of bugs. */
export function reportError(error: unknown): void {
  if (error instanceof DataError || error instanceof UsageError) {
    // Escaped by itself, so that a line end in a name does not start a line.
    printNote(`${error.code} ${visible(namingStdin(error.problem))}\n  ${visible(error.remedy)}`);
  } else if (error instanceof Interruption || isExpected(error)) {
    printNote(namingStdin(error.message));
  } else {
    printNote(String(error instanceof Error ? error.stack : error));
    printNote("This is a bug in factorloom; please report it with the formula and the data.");
  }
}

/** What `--json` prints of a command that fails. */
export interface FailureReport {
  readonly error: {
    /** Null for a signal. */
    readonly code: string | null;
    readonly problem: string;
    readonly remedy: string | null;
    /** Every mistake of a formula file or a configuration, the first of which is above. */
    readonly diagnostics?: readonly Diagnostic[];
  };
}

export function failureReport(error: unknown): FailureReport {
  if (error instanceof FactorloomError) {
    const { code, problem, remedy } = error;
    const all = "diagnostics" in error ? { diagnostics: error.diagnostics as readonly Diagnostic[] } : {};
    return { error: { code, problem: namingStdin(problem), remedy, ...all } };
  }
  const problem = error instanceof Error ? error.message : String(error);
  if (error instanceof Interruption) return { error: { code: null, problem, remedy: null } };
  if (error instanceof CommanderError)
    return {
      error: {
        code: COMMAND_LINE,
        problem: problem.replace(/^error: /, ""),
        remedy: "factorloom --help lists the commands, factorloom COMMAND --help its options",
      },
    };
  return failureReport(new InternalError(problem));
}

function isExpected(error: unknown): error is FactorloomError {
  return error instanceof FactorloomError && !(error instanceof InternalError);
}
