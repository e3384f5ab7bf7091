import { UsageError } from "../errors.ts";

/** The error for a missing file of formulas or jobs. */
export function noSuchFile(problem: string, remedy: string): UsageError {
  return new UsageError("E508", problem, remedy);
}
