import type { Command } from "commander";
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

/**
 * Refuses an empty value of any option, in a command and its subcommands: it comes of a variable of the shell that is not
 * set, and as a path it would be the working directory.
 */
export function refuseEmptyValues(command: Command): void {
  for (const option of command.options)
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (value === "") command.error(`error: option '${option.flags}' argument '' is invalid. It is empty.`);
    });
  command.commands.forEach(refuseEmptyValues);
}
