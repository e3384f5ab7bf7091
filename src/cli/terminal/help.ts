import type { Command } from "commander";
import { type ErrorEntry, exampleText } from "../../error_catalogue/entry.ts";
import { UsageError } from "../../errors.ts";
import { suggestion } from "../../text/suggest.ts";
import { print } from "./terminal.ts";

/** Replaces Commander's help command by one that also explains error codes. */
export function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .description("help for a command, or what the code of an error means")
    .argument("[name]", "a command, or a code such as E362")
    .action((name?: string) => help(program, name));
}

async function help(program: Command, name: string | undefined): Promise<void> {
  const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
  if (command) {
    command.outputHelp();
    return;
  }
  const { ERROR_CATALOGUE, entryOf } = await import("../../error_catalogue/catalogue.ts");
  const entry = entryOf(name!);
  if (!entry)
    throw unknownCode(name!, "command or code", [
      ...program.commands.map((one) => one.name()),
      ...ERROR_CATALOGUE.map(({ code }) => code),
    ]);
  print(entryText(entry));
}

/** An error for a name that the catalogue lacks. */
export function unknownCode(name: string, what: string, known: readonly string[]): UsageError {
  return new UsageError(
    "E563",
    `no ${what} ${name}`,
    suggestion(name, known, "docs/errors.md lists all codes"),
  );
}

function entryText({ code, title, happened, toDo, example }: ErrorEntry): string {
  return [
    `${code} ${title}`,
    "",
    `what happened  ${happened}`,
    `what to do     ${toDo}`,
    "",
    "for example",
    ...exampleText(example).map((line) => `  ${line}`.trimEnd()),
  ].join("\n");
}
