import { UsageError } from "../../errors.ts";

/** The code of errors of Commander, and of options that exclude each other. */
export const COMMAND_LINE = "E500";

/** The flag of an option by its name in code: `timeColumn` -> `--time-column`. */
export function flagOf(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function commandLineWrong(problem: string, remedy: string): UsageError {
  return new UsageError(COMMAND_LINE, problem, remedy);
}
