import type { Command } from "commander";
import type { CompileOptions } from "../../compile.ts";
import type { CommandDoor } from "../../options/doors.ts";
import { optionsAt } from "../../options/option_table.ts";
import { commandLineWrong } from "../terminal/command_line.ts";
import { parseColumnNames } from "../terminal/option_values.ts";
import { addFlags, attributeOf, type Flags, specsOf } from "./option_flags.ts";
import { columnsOf } from "./with_program.ts";

/** Flags of commands that need no bars, only their columns. */
export interface ColumnFlags extends Flags {
  readonly data?: string;
  readonly fields?: readonly string[];
  readonly groupColumns?: readonly string[];
}

/** Adds what says which columns formulas may use. */
export function addColumnFlags(command: Command, door: CommandDoor): Command {
  command
    .option("--data <path>", "bars that have the columns, as for eval")
    .option("--fields <names>", "without --data: numeric columns, e.g. open,close", parseColumnNames)
    .option("--group-columns <names>", "without --data: group columns, e.g. sector", parseColumnNames);
  return addFlags(command, door);
}

/** How a file is compiled: for the columns of the data, as `eval` finds them, or for those that flags name. */
export async function compileOptionsOf(
  door: CommandDoor,
  file: string,
  flags: ColumnFlags,
): Promise<CompileOptions> {
  const { data, fields, groupColumns } = flags;
  const { program, source: reading } = await specsOf(door, flags);
  if (data === undefined) {
    refuseReading(door, flags);
    const named = { ...(fields && { fields }), ...(groupColumns && { groups: groupColumns }) };
    return { file, ...named, ...program };
  }
  if (fields !== undefined || groupColumns !== undefined)
    throw commandLineWrong(
      `--data has the columns, and ${fields === undefined ? "--group-columns" : "--fields"} names them`,
      "give one of the two",
    );
  const { openPanelSource } = await import("../../data/source/open_panel_source.ts");
  const source = await openPanelSource(data, reading);
  try {
    return { file, ...columnsOf(source), ...program };
  } finally {
    await source.close();
  }
}

function refuseReading(door: CommandDoor, flags: ColumnFlags): void {
  for (const { spec, flag, name } of optionsAt(door).taken) {
    if (spec !== "source" || flag === null || flags[attributeOf(flag)] === undefined) continue;
    const [long] = flag.split(" ");
    const names = name === "groups" ? "; --group-columns names columns without it" : "";
    throw commandLineWrong(`${long} says how --data is read, which is not given`, `add --data PATH${names}`);
  }
}
