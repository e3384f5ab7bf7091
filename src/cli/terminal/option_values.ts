/** How the values of options are read: parsers for Commander, and what it would silently take. */
import { type Command, InvalidArgumentError, type Option } from "commander";
import { commandLineWrong } from "./command_line.ts";

/** The largest count of options without another bound. */
const COUNT_MAX = 999_999_999;

/** A parser of numbers; `hint` says which texts it takes. */
export function numberWhere(
  pattern: RegExp,
  fits: (given: number) => boolean,
  hint: string,
): (text: string) => number {
  return (text) => {
    const given = pattern.test(text) ? Number(text) : Number.NaN;
    if (fits(given)) return given;
    throw new InvalidArgumentError(hint);
  };
}

/** A parser of whole numbers within these bounds, both inclusive. */
export function countTo(countMax = COUNT_MAX, countMin = 1): (text: string) => number {
  const fits = (count: number) => count >= countMin && count <= countMax;
  return numberWhere(/^-?\d{1,9}$/, fits, `A whole number from ${countMin} to ${countMax}.`);
}

/** `a,b` -> `["a", "b"]`. */
export function parseNames(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** A parser of at least one name. */
export function someNames(what: string): (text: string) => string[] {
  return (text) => {
    const names = parseNames(text);
    if (names.length === 0) throw new InvalidArgumentError(`Name at least one ${what}.`);
    return names;
  };
}

/** Names of columns. @throws UsageError E500 for a table, which `eval` takes in the same place. */
export function parseColumnNames(text: string): string[] {
  const names = parseNames(text);
  const table = names.find((name) => /\.(csv|tsv|parquet|arrow|feather|ipc)(\.gz)?$/i.test(name));
  if (table === undefined) return names;
  const remedy = "give names of its columns, e.g. sector; --groups takes the table, together with --data";
  throw commandLineWrong(`${table} is a table, where names of columns are expected`, remedy);
}

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
 * Refuses what Commander takes, in a command and its subcommands: a second value for an option that takes one, of which the
 * last would count, and an empty value, which comes of a variable of the shell that is not set, and as a path would be the
 * working directory.
 */
export function refuseWrongValues(command: Command): void {
  for (const option of command.options) {
    let isGiven = false;
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (isGiven && takesOneValue(option))
        command.error(`error: option '${option.flags}' is given twice. Give it once.`);
      isGiven = true;
      if (value === "") command.error(`error: option '${option.flags}' argument '' is invalid. It is empty.`);
    });
  }
  command.commands.forEach(refuseWrongValues);
}

function takesOneValue({ required, optional, parseArg }: Option): boolean {
  return (required || optional) && !COLLECTORS.has(parseArg);
}
