/** The flags of commands, as the table of options has them. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CompileOptions } from "../../compile.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { RESTARTS, type Restarts } from "../../evaluation/options.ts";
import { loadOperators } from "../../operator/load_operators.ts";
import type { CommandDoor, OptionRow, Spec } from "../../options/doors.ts";
import { optionsAt } from "../../options/option_table.ts";
import type { ChoiceKind, NumberKind } from "../../text/argument_kinds.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { notAnOption } from "../../text/option_kinds.ts";
import { collect, collectAssignment, countTo, someNames } from "../terminal/option_values.ts";

/** The values of flags, by the names of Commander. */
export type Flags = Readonly<Record<string, unknown>>;

/** What flags say; params are still texts. */
export interface Specs {
  readonly source: PanelSourceOptions;
  readonly program: CompileOptions;
  readonly call: Omit<EvaluateOptions, "params"> & { readonly params?: Readonly<Record<string, string>> };
  readonly engine: { readonly threads?: number; readonly memoryLimit?: number };
}

/** Adds the flags that a command takes, and those that it refuses with the reason. */
export function addFlags(command: Command, door: CommandDoor): Command {
  const { taken, refused } = optionsAt(door);
  for (const row of taken) if (row.flag !== null) command.addOption(optionOf(row));
  for (const { flag, refusal } of refused)
    if (flag !== null) refuseFlag(command, flag, refusal.problem!, refusal.remedy);
  return command;
}

/** Refuses a flag by name; the help does not show it. */
export function refuseFlag(command: Command, flags: string, problem: string, remedy: string): void {
  const option = named(flags).hideHelp();
  command.addOption(option);
  command.on(`option:${option.name()}`, () => {
    throw notAnOption(problem, remedy);
  });
}

function optionOf({ flag, help, kind, written }: OptionRow): Option {
  const option = named(flag!, help);
  switch (written) {
    case "names":
      return option.argParser(someNames("factor"));
    case "list":
      return option.argParser(collect);
    case "pairs":
      return option.argParser(collectAssignment);
    case "choice":
      return option.choices((kind as ChoiceKind).choices);
    case "count": {
      const { min, max } = kind as NumberKind;
      return option.argParser(countTo(max, min));
    }
    case "restarts":
      return option.argParser(parseRestarts);
    case "size":
      return option.argParser(parseByteSize);
    default:
      return option;
  }
}

/** `2020-01-02,2020-02-03`, or sessions: `09:30-11:30,13:00-15:00@Asia/Shanghai`. */
function parseRestarts(text: string): Restarts {
  const [times = "", ...zones] = text.split("@");
  const names = someNames("time")(times);
  const pairs = names.map((name) => /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(name));
  if (zones.length === 0 && pairs.every((pair) => pair === null)) return names;
  const sessions = pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""] as const);
  const restarts: Restarts = { sessions, ...(zones.length > 0 && { timezone: zones.join("@") }) };
  try {
    RESTARTS.fits(restarts);
  } catch {
    throw new InvalidArgumentError("Times, or sessions in order such as 09:30-16:00@America/New_York.");
  }
  return restarts;
}

function restartsText(restarts: Restarts): string {
  if (!("sessions" in restarts)) return restarts.join(",");
  const { sessions, timezone } = restarts;
  const text = sessions.map(([start, end]) => `${start}-${end}`).join(",");
  return timezone === undefined ? text : `${text}@${timezone}`;
}

/** The name by which Commander gives the value of a flag. */
export const attributeOf = (flag: string): string => named(flag).attributeName();

/** Commander takes `--no-pass` for the negation of another option, and would set that to true. */
function named(flag: string, help?: string): Option {
  const option = new Option(flag, help);
  option.negate = false;
  return option;
}

/** What the flags of a command say, as the library's options. @throws as `loadOperators`. */
export async function specsOf(door: CommandDoor, flags: Flags): Promise<Specs> {
  const specs: Record<Spec, Record<string, unknown>> = { source: {}, program: {}, call: {}, engine: {} };
  for (const { name, spec, flag } of optionsAt(door).taken) {
    const value = flag === null ? undefined : flags[attributeOf(flag)];
    if (value === undefined) continue;
    specs[spec][name] = name === "operators" ? await loadOperators(value as string[]) : value;
  }
  const { memoryLimit } = specs.engine;
  if (memoryLimit !== undefined) specs.source["memoryLimitBytes"] = memoryLimit;
  return specs as unknown as Specs;
}

/** The flags of these specs that are given, as words for a shell, as far as another command takes them. */
export function flagWords(door: CommandDoor, flags: Flags, specs: readonly Spec[]): string[] {
  const rows = optionsAt(door).taken.filter(({ spec, flag }) => flag !== null && specs.includes(spec));
  return rows.flatMap(({ flag, written }): string[] => {
    const value = flags[attributeOf(flag!)];
    const [name] = flag!.split(" ") as [string];
    if (value === undefined) return [];
    if (written === "switch") return [name];
    if (written === "pairs")
      return Object.entries(value as object).map(([key, one]) => `${name} ${quoted(`${key}=${one}`)}`);
    if (written === "restarts") return [`${name} ${quoted(restartsText(value as Restarts))}`];
    return [value].flat().map((one) => `${name} ${quoted(String(one))}`);
  });
}

/** A word for a shell. */
export function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
