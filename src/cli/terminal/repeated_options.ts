import { type Command, InvalidArgumentError, type Option } from "commander";

/** Collects the values of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** Collects `name=value` of an option that may be repeated, each name once. */
export function collectAssignment(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Write it as name=value.");
  const name = text.slice(0, equals).trim();
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`Give ${name} once.`);
  return { ...earlier, [name]: text.slice(equals + 1).trim() };
}

/** Parsers of options that may be repeated: only these use the earlier values. */
const COLLECTORS: ReadonlySet<unknown> = new Set([collect, collectAssignment]);

/**
 * Refuses a second value for an option that takes one, in a command and its subcommands: Commander silently takes the
 * last one.
 */
export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) if (takesOneValue(option)) refuseSecondValue(command, option);
  command.commands.forEach(refuseRepeatedOptions);
}

function takesOneValue({ required, optional, parseArg }: Option): boolean {
  return (required || optional) && !COLLECTORS.has(parseArg);
}

function refuseSecondValue(command: Command, option: Option): void {
  let isGiven = false;
  command.on(`option:${option.name()}`, () => {
    if (isGiven) command.error(`error: option '${option.flags}' is given twice. Give it once.`);
    isGiven = true;
  });
}
