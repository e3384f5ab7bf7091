import { type ArgumentKind, isRecord, PATH } from "../../text/argument_kinds.ts";
import { checkMemoryLimit } from "../../text/byte_size.ts";
import type { OptionKinds } from "../../text/option_kinds.ts";

export interface ReadPanelOptions {
  /** Path of a table with a symbol column and columns of groups that do not change over time, e.g. `sector`. */
  readonly groups?: string;
  /** Path of a table with a time column and numbers that apply to all symbols at that time, e.g. an index's close. */
  readonly series?: string;
  /**
   * Path of a table `old, new, from` of symbols that have changed: rows of `old` before the time `from` are of the instrument
   * that is called `new` later, and are in its lane.
   */
  readonly renames?: string;
  /** New names of columns: with `{ close: "px_last" }` the column `px_last` is the field `close`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Name of the time column, if it is not time, date, datetime or timestamp. */
  readonly timeColumn?: string;
  /** Name of the symbol column, if it is not symbol. */
  readonly symbolColumn?: string;
}

export interface PanelSourceOptions extends ReadPanelOptions {
  /** Memory of the whole process; a quarter of it is for reading. Default: the machine's, and all cores. */
  readonly memoryLimitBytes?: number;
}

const isText = (given: unknown) => typeof given === "string";
const COLUMN: ArgumentKind = { what: "the name of a column", fits: isText, remedy: "give it as a text" };

export const PANEL_SOURCE_OPTIONS: OptionKinds<PanelSourceOptions> = {
  groups: PATH,
  series: PATH,
  renames: PATH,
  rename: {
    what: "an object of texts",
    fits: (given) => isRecord(given) && Object.values(given as object).every(isText),
    remedy: "write { field: column }",
  },
  timeColumn: COLUMN,
  symbolColumn: COLUMN,
  memoryLimitBytes: {
    what: "a number",
    fits: (given) => {
      if (typeof given === "number") checkMemoryLimit(given);
      return typeof given === "number";
    },
    remedy: "give the bytes, e.g. 4 * 2 ** 30",
  },
};
