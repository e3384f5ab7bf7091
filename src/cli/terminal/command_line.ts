import { UsageError } from "../../errors.ts";

/** The code of errors of Commander, and of options that exclude each other. */
export const COMMAND_LINE = "E500";

export function commandLineWrong(problem: string, remedy: string): UsageError {
  return new UsageError(COMMAND_LINE, problem, remedy);
}
