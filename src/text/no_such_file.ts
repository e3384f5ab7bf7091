import { UsageError } from "../errors.ts";

/** A file of formulas or jobs that was named and is not there. */
export function noSuchFile(problem: string, remedy: string): UsageError {
  return new UsageError("E508", problem, remedy);
}
