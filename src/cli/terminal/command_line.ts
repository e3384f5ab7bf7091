import { UsageError } from "../../errors.ts";

/** The code of what Commander refuses, and of options that do not go together. */
export const COMMAND_LINE = "E500";

export function commandLineWrong(problem: string, remedy: string): UsageError {
  return new UsageError(COMMAND_LINE, problem, remedy);
}
