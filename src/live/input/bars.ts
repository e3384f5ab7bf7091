import { checkPanel } from "../../data/panel/check_panel.ts";
import { PANEL } from "../../data/panel/panel_source.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import type { GroupColumn, Panel, TimeColumn, TimeType } from "../../panel.ts";
import {
  type ArgumentKind,
  checkArgument,
  decidedByData,
  hasAll,
  isRecord,
  RECORD,
} from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../../text/option_kinds.ts";
import { barColumnMissing, lengthWrong, timeTypesDiffer, valueInvalid } from "../errors.ts";
import { codesOfLabels, type GroupCodes } from "./group_codes.ts";
import type { SymbolLanes } from "./symbol_lanes.ts";
import { timeValue } from "./time_values.ts";

/** A value per symbol; null and NaN are both null. */
export type BarValues = ArrayLike<number | null>;

/**
 * One row of input.
 *
 * @example
 * const bar = { time: new Date(), fields: { close: [101.5, 20.25] }, symbols: ["AAPL", "F"] };
 */
export interface Bar {
  /** In units of the session's time type (a bigint or a whole number), or a date. */
  readonly time: bigint | number | Date;
  /** One value per symbol, in the order of `symbols`; fields that no formula reads are kept for `update`. */
  readonly fields: Readonly<Record<string, BarValues>>;
  /**
   * The symbols that have a row in this bar; other symbols are null. Default: `session.symbols`, of which a symbol has a
   * row if a field has a value for it.
   */
  readonly symbols?: readonly string[] | undefined;
  /** Labels of group columns, one per symbol. */
  readonly groups?: Readonly<Record<string, readonly (string | null)[]>> | undefined;
}

/** One bar, several, or a panel whose rows are bars. */
export type BarInput = Bar | readonly Bar[] | Panel;

/** A checked row of input. */
export interface InputRow {
  readonly time: bigint;
  /** Lane of each cell. */
  readonly lanes: Int32Array;
  /** 1 for cells that the input has; null if it has all. */
  readonly present: Uint8Array | null;
  /** False for a bar that does not list its symbols: a symbol without any value then has no row. */
  readonly saysSymbols: boolean;
  readonly fields: ReadonlyMap<string, BarValues>;
  /** Codes of the group columns that came with the bar. */
  readonly groups: ReadonlyMap<string, Int32Array>;
}

/** What a session needs to read bars. */
export interface BarFormat {
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly lanes: SymbolLanes;
  readonly groups: GroupCodes;
  /** Columns that the formulas read. */
  readonly read: { readonly fields: readonly string[]; readonly groups: readonly string[] };
  /** Fields that have one value for all symbols. */
  readonly shared: readonly string[];
}

const BAR: ArgumentKind = {
  what: "a bar",
  fits: (given) => hasAll(given, ["time", "fields"]) && isRecord((given as Bar).fields),
  remedy: "write { time, fields: { close: [...] } }, or give several, or a panel: await readPanel(path)",
};

/** What the values must be depends on the session. */
const KEYS: OptionKinds<Bar> = {
  time: decidedByData("a time", "give it in units of the session's time type, or as a Date"),
  fields: RECORD,
  symbols: decidedByData("names of symbols", "give an array of texts"),
  groups: {
    what: "an object",
    fits: isRecord,
    remedy: "write { sector: [...] }, one label per symbol",
  },
};

const VALUES: ArgumentKind = {
  what: "a list of numbers",
  fits: (given) => hasAll(given, ["length"]),
  remedy: "give one value per symbol, null where there is none",
};

/**
 * @throws DataError E372, E373, E383 for the first mistake in a bar; UsageError E528 for no bar, E527 for one
 *   with an unknown key, E522 for an inconsistent panel.
 */
export function inputRows(input: BarInput, format: BarFormat): InputRow[] {
  if (isPanel(input)) return panelRows(input, format);
  return (Array.isArray(input) ? input : [input]).map((bar: Bar) => barRow(bar, format));
}

/** The input with copies of all in its bars that its caller may change; a panel, and what is no bar, as it is. */
export function copyOf(input: BarInput): BarInput {
  if (isPanel(input)) return input;
  return Array.isArray(input) ? input.map(copyOfBar) : copyOfBar(input as Bar);
}

function copyOfBar(bar: Bar): Bar {
  if (!BAR.fits(bar)) return bar;
  const { time, fields, symbols, groups } = bar;
  return {
    ...bar,
    time: time instanceof Date ? new Date(time) : time,
    fields: copiesOf(fields),
    ...(symbols && { symbols: copyOfList(symbols) }),
    ...(groups && isRecord(groups) && { groups: copiesOf(groups) }),
  };
}

function copiesOf<List>(columns: Readonly<Record<string, List>>): Record<string, List> {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, copyOfList(values)]));
}

/** Lists of other kinds, such as vectors of Arrow, do not change. */
function copyOfList<List>(list: List): List {
  const isArray = Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
  return isArray ? (list as unknown as { slice(): List }).slice() : list;
}

const isPanel = (input: BarInput): input is Panel => PANEL.fits(input);

function barRow(bar: Bar, { time, lanes, groups, read, shared }: BarFormat): InputRow {
  checkArgument("a session", bar, BAR);
  checkedOptions("a bar", bar, KEYS, "key");
  const cellLanes = bar.symbols === undefined ? lanes.lanes : lanes.lanesOf(bar.symbols);
  for (const [name, values] of Object.entries(bar.fields)) {
    checkArgument(`the field ${name}`, values, VALUES);
    if (values.length !== cellLanes.length) throw lengthWrong(name, values.length, cellLanes.length);
    checkNumbers(name, values);
    if (shared.includes(name)) checkShared(name, values);
  }
  const codes = Object.entries(bar.groups ?? {}).map(([name, labels]) => {
    return [name, codesOfLabels(groups, name, labels, cellLanes.length)] as const;
  });
  const found = { fields: new Map(Object.entries(bar.fields)), groups: new Map(codes) };
  checkColumns(found, read, groups);
  return {
    time: timeValue(bar.time, time.type),
    lanes: cellLanes,
    present: null,
    saysSymbols: bar.symbols !== undefined,
    ...found,
  };
}

/** @throws DataError E383 if a column that formulas read is missing. */
function checkColumns(
  { fields, groups }: { fields: ReadonlyMap<string, unknown>; groups: ReadonlyMap<string, unknown> },
  read: BarFormat["read"],
  codes: GroupCodes,
): void {
  for (const name of read.fields) if (!fields.has(name)) throw barColumnMissing("field", name);
  for (const name of read.groups) {
    if (!groups.has(name) && !codes.ofLanes(name)) throw barColumnMissing("group column", name);
  }
}

function checkNumbers(name: string, values: BarValues): void {
  if (values instanceof Float64Array || values instanceof Float32Array) return;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== "number" && value !== null) throw valueInvalid(name, value, "a number");
  }
}

export const isValue = (cell: number | null | undefined): boolean => cell != null && !Number.isNaN(cell);

/** NaN if there is none. */
export function firstValue(values: BarValues): number {
  for (let i = 0; i < values.length; i++) if (isValue(values[i])) return values[i]!;
  return Number.NaN;
}

/** @throws DataError E383 unless all values that are there are the same. */
function checkShared(name: string, values: BarValues): void {
  const first = firstValue(values);
  for (let i = 0; i < values.length; i++)
    if (isValue(values[i]) && values[i] !== first)
      throw valueInvalid(name, values[i], `${first}, its value for other symbols`);
}

function panelRows(panel: Panel, { time, lanes, groups, read, shared }: BarFormat): InputRow[] {
  checkPanel(panel);
  const { laneCount, rowCount } = panel;
  if (!areEqual(panel.time.type, time.type))
    throw timeTypesDiffer(describeTimeType(panel.time.type), describeTimeType(time.type));
  const panelLanes = lanes.lanesOf(panel.symbols);
  checkColumns(panel, read, groups);
  const columns = [...panel.groups].map(
    ([name, group]) => [name, sessionCodes(name, group, groups)] as const,
  );
  return Array.from({ length: rowCount }, (_, row): InputRow => {
    const [first, end] = [row * laneCount, (row + 1) * laneCount];
    const ofRow = (codes: Int32Array) => (codes.length === laneCount ? codes : codes.subarray(first, end));
    const fields = new Map([...panel.fields].map(([name, values]) => [name, values.subarray(first, end)]));
    for (const name of shared) if (fields.has(name)) checkShared(name, fields.get(name)!);
    return {
      time: timeValue(panel.time.values[row]!, time.type),
      lanes: panelLanes,
      present: panel.present.subarray(first, end),
      saysSymbols: true,
      fields,
      groups: new Map(columns.map(([name, codes]) => [name, ofRow(codes)])),
    };
  });
}

function sessionCodes(name: string, { labels, codes }: GroupColumn, groups: GroupCodes): Int32Array {
  const known = labels.map((label) => groups.codeOf(name, label));
  return codes.map((code) => (code < 0 ? -1 : known[code]!));
}

export function areEqual(a: TimeType, b: TimeType): boolean {
  if (a.kind === "timestamp" && b.kind === "timestamp") return a.unit === b.unit && a.timezone === b.timezone;
  if (a.kind === "integer" && b.kind === "integer") return a.bits === b.bits;
  return a.kind === b.kind;
}
