import { type Command, CommanderError, type Option } from "commander";
import { expect, test } from "vitest";
import { factorloom } from "../../src/cli/program.ts";
import { collect, collectAssignment, refuseWrongValues } from "../../src/cli/terminal/option_values.ts";
import { FactorloomError } from "../../src/errors.ts";
import { Seeded } from "../support/seeded.ts";

/** Each option of each command with wrong values, as the command line's own definitions say; no command is run. */

function commandsOf(
  command: Command,
  path: readonly string[],
): { path: readonly string[]; command: Command }[] {
  const below = command.commands.flatMap((each) => commandsOf(each, [...path, each.name()]));
  return path.length > 0 && command.commands.length === 0 ? [{ path, command }] : below;
}

/** Wrong values of options by what stands in their flags. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  "<count>": ["few", "1.5", "-1", "1e3", "9999999999"],
  "<counts>": ["few", "1,x", "0", "1.5"],
  "<n>": ["few", "0", "1.5"],
  "<number>": ["few", "-1001", "NaN"],
  "--priority <number>": ["few", "-1001", "0.5"],
  "--worker-saturation <number>": ["few", "-1", "0"],
  "<seconds>": ["soon", "0", "-1"],
  "<share>": ["few", "1", "-0.1"],
  "<times>": [",", "2020-01-01@UTC", "09:30-16:00@Nowhere", "16:00-09:30"],
  "<ratio>": ["few", "0.5"],
  "<size>": ["plenty", "-1", "4XB"],
  "<names>": [","],
  "--fields <names>": ["bars.csv"],
  "--group-columns <names>": ["bars.csv"],
  "<sets>": [","],
  "<name=value>": ["lambda", "=1"],
  "<name=column>": ["close", "=px"],
  "<name=number>": ["GPU", "GPU=few", "GPU=-1"],
  "--name <name>": ["a/b", ""],
  "--older-than <time>": ["soon", "-1h"],
};

/** A right value of each. */
const RIGHT: Readonly<Record<string, string>> = {
  "<share>": "0.5",
  "<size>": "1GiB",
  "<name=value>": "a=1",
  "<name=column>": "a=b",
  "<name=number>": "GPU=1",
  "<time>": "1h",
};

const placeholderOf = ({ flags }: Option) => flags.split(" ")[1]!;
const rightValueOf = (option: Option) => option.argChoices?.[0] ?? RIGHT[placeholderOf(option)] ?? "1";

/** What a call says that does nothing but read its arguments; null where they are right. */
async function refusalOf(path: readonly string[], args: readonly string[]): Promise<string | null> {
  const program = factorloom();
  refuseWrongValues(program);
  let said = "";
  const silence = (command: Command) => {
    command.configureOutput({
      writeErr: (text) => {
        said += text;
      },
    });
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(silence);
  };
  silence(program);
  try {
    await program.parseAsync([...path, ...args], { from: "user" });
    return null;
  } catch (error) {
    if (error instanceof FactorloomError) return error.message;
    expect(error).toBeInstanceOf(CommanderError);
    expect((error as CommanderError).exitCode).toBe(1);
    expect(said).toContain("(factorloom --help lists the commands, factorloom COMMAND --help its options)");
    return said;
  }
}

const commands = commandsOf(factorloom(), []).map(({ path, command }) => {
  const needed = [
    ...command.registeredArguments.filter(({ required }) => required).map(() => "a"),
    ...command.options.filter(({ mandatory }) => mandatory).map(({ long }) => `${long}=a`),
  ];
  return { name: path.join(" "), path, command, needed };
});
/** Flags that are refused by name have no description. */
const options = commands.flatMap((of) =>
  of.command.options
    .filter(({ description }) => description !== "")
    .map((option) => ({ ...of, option, flags: option.flags })),
);
const takesValue = ({ option }: { readonly option: Option }) => option.required || option.optional;
const withValue = options.filter(takesValue);

test.each(withValue)("$name refuses wrong values of $flags", async ({ path, needed, option, flags }) => {
  const choices = option.argChoices?.map((choice) => `${choice}x`);
  const isChecked = option.parseArg !== undefined && option.parseArg !== collect;
  const wrong = isChecked ? (choices ?? WRONG[flags] ?? WRONG[placeholderOf(option)] ?? []) : [];
  expect(wrong.length > 0, `WRONG says which values ${flags} does not take`).toBe(isChecked);
  const given = needed.filter((arg) => !arg.startsWith(`${option.long}=`));
  for (const value of ["", ...wrong]) {
    const said = await refusalOf(path, [...given, `${option.long}=${value}`]);
    const takes = choices ? `Allowed choices are ${option.argChoices!.join(", ")}.` : "[^\\n]";
    const invalid = `E500 option '${RegExp.escape(flags)}' argument '${RegExp.escape(value)}' is invalid. (${takes}|It is empty)`;
    const others =
      "E528 .* is not a size of memory\n  write e.g.|E500 bars.csv is a table, where names of columns";
    expect(said, value).toMatch(new RegExp(`^(${invalid}|${others})`));
  }
});

test.each(withValue.filter(({ option }) => option.parseArg !== collect))("$name takes $flags once", async ({
  path,
  needed,
  option,
}) => {
  const given = needed.filter((arg) => !arg.startsWith(`${option.long}=`));
  const once = [...given, `${option.long}=${rightValueOf(option)}`];
  expect(await refusalOf(path, once)).toBeNull();
  const [value, isNamed] = [rightValueOf(option), option.parseArg === collectAssignment];
  expect(await refusalOf(path, [...once, option.long!, value])).toMatch(
    isNamed
      ? `E500 option '${option.flags}' argument '${value}' is invalid. Give a once.`
      : `E500 option '${option.flags}' is given twice. Give it once.\n`,
  );
});

test.each(commands)("$name says what it lacks, what excludes each other and which option is meant", async ({
  path,
  command,
  needed,
}) => {
  const random = new Seeded();
  for (const [at, lacking] of needed.entries()) {
    const said = await refusalOf(
      path,
      needed.filter((_, other) => other !== at),
    );
    const flags = command.options.find(({ long }) => lacking === `${long}=a`)?.flags;
    expect(said).toMatch(
      flags === undefined
        ? /^E500 missing required argument '/
        : `E500 required option '${flags}' not specified`,
    );
  }
  for (const option of command.options.filter(({ description }) => description !== "")) {
    const [long, at] = [option.long!, 3 + random.below(option.long!.length - 3)];
    const mistyped = `${long.slice(0, at)}${long[at]}${long.slice(at)}`;
    expect(await refusalOf(path, [...needed, mistyped]), `seed ${random.seed}`).toMatch(
      // Where two options are as near, both are named.
      new RegExp(`^E500 unknown option '${mistyped}'\\n\\(Did you mean (one of )?([^)]*, )?${long}[,?]`),
    );
    for (const other of (option as Option & { readonly conflictsWith: readonly string[] }).conflictsWith) {
      const rival = command.options.find((each) => each.attributeName() === other)!;
      const args = [option, rival].map((each) =>
        takesValue({ option: each }) ? `${each.long}=${rightValueOf(each)}` : each.long!,
      );
      expect(await refusalOf(path, [...needed, ...args])).toMatch(
        `E500 option '${option.flags}' cannot be used with option '${rival.flags}'`,
      );
    }
  }
});
