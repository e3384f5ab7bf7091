import type { Command } from "commander";
import { UsageError } from "../../errors.ts";
import { suggestion } from "../../text/suggest.ts";
import type { ErrorSection } from "./errors_page.ts";
import { print } from "./terminal.ts";

/** Replaces Commander's help command by one that also explains error codes. */
export function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .description("help for a command, or what the code of an error means")
    .argument("[name]", "a command, or a code such as E361")
    .action((name?: string) => help(program, name));
}

async function help(program: Command, name: string | undefined): Promise<void> {
  const command = name === undefined ? program : program.commands.find((one) => one.name() === name);
  if (command) {
    command.outputHelp();
    return;
  }
  const { errorSections } = await import("./errors_page.ts");
  const sections = await errorSections();
  const code = name!.toUpperCase();
  const section = sections.find((one) => one.code === code || one.former.includes(code));
  if (!section)
    throw unknownCode(name!, "command or code", [
      ...program.commands.map((one) => one.name()),
      ...sections.map((one) => one.code),
    ]);
  print(sectionText(section));
}

/** An error for a name that the page of errors lacks. */
export function unknownCode(name: string, what: string, known: readonly string[]): UsageError {
  return new UsageError(
    "E506",
    `no ${what} ${name}`,
    suggestion(name, known, "docs/errors.md lists all codes"),
  );
}

function sectionText({ code, title, meaning, remedy, examples }: ErrorSection): string {
  return [
    `${code} ${title}`,
    "",
    `what happened  ${meaning}`,
    `what to do     ${remedy}`,
    "",
    "for example",
    ...examples
      .replace(/^For example:\s/, "")
      .split("\n")
      .filter((line) => !line.startsWith("```"))
      .map((line) => `  ${line}`.trimEnd()),
  ].join("\n");
}
