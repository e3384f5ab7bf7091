/** Checks panels that callers built. */
import type { GroupColumn, Panel, TimeColumn } from "../../panel.ts";
import { RECORD, TEXTS } from "../../text/argument_kinds.ts";
import { panelInvalid } from "../errors.ts";

const UNITS: readonly unknown[] = ["s", "ms", "us", "ns"];

/**
 * Checks that columns have the right lengths, times ascend and fit their type, symbols are distinct texts, marks of presence
 * are 0 or 1, and codes of groups have labels.
 *
 * @throws UsageError E522.
 */
export function checkPanel(panel: Panel): void {
  const { rowCount, laneCount, time, symbols, present, fields, groups } = panel;
  const cellCount = rowCount * laneCount;
  checkCount("rowCount", rowCount);
  checkCount("laneCount", laneCount);
  if (!RECORD.fits(time)) throw panelInvalid("time is not a time column");
  if (typeof time.name !== "string" || time.name === "")
    throw panelInvalid("time.name is not the name of a column");
  checkColumn("time.values", time.values, BigInt64Array, rowCount);
  checkAscending(time.values);
  checkTimesFit(time);
  checkSymbols(symbols, laneCount);
  checkColumn("present", present, Uint8Array, cellCount);
  const mark = present.find((isPresent) => isPresent > 1);
  if (mark !== undefined) throw panelInvalid(`present holds ${mark}, not 0 or 1`);
  for (const [name, values] of fields) checkColumn(`the field ${name}`, values, Float64Array, cellCount);
  for (const [name, group] of groups) checkGroup(name, group, laneCount, cellCount);
}

function checkCount(what: string, count: unknown): void {
  if (!Number.isSafeInteger(count) || (count as number) < 0)
    throw panelInvalid(`${what} is ${String(count)}, not a count`);
}

function checkColumn(
  what: string,
  values: { readonly length: number },
  kind: typeof BigInt64Array | typeof Uint8Array | typeof Float64Array | typeof Int32Array,
  length: number,
): void {
  if (!(values instanceof kind)) throw panelInvalid(`${what} is not a ${kind.name}`);
  if (values.length !== length) throw wrongLength(what, values.length, length);
}

function checkAscending(times: BigInt64Array): void {
  for (let row = 1; row < times.length; row += 1)
    if (times[row]! <= times[row - 1]!)
      throw panelInvalid(`the time of row ${row} is not after that of row ${row - 1}`);
}

/** Dates and integers of 32 bits are stored as such. */
function checkTimesFit({ type, values }: TimeColumn): void {
  const isKnown =
    type?.kind === "date" ||
    (type?.kind === "timestamp" && UNITS.includes(type.unit)) ||
    (type?.kind === "integer" && (type.bits === 32 || type.bits === 64));
  if (!isKnown) throw panelInvalid(`time.type is ${JSON.stringify(type)}`);
  const isShort = type.kind === "date" || (type.kind === "integer" && type.bits === 32);
  const wide = isShort ? values.find((time) => BigInt.asIntN(32, time) !== time) : undefined;
  if (wide !== undefined) throw panelInvalid(`the time ${wide} does not fit 32 bits`);
}

function checkSymbols(symbols: unknown, laneCount: number): void {
  if (!Array.isArray(symbols)) throw panelInvalid("symbols is not an array");
  if (symbols.length !== laneCount) throw wrongLength("symbols", symbols.length, laneCount);
  const lane = symbols.findIndex((symbol) => typeof symbol !== "string" || symbol === "");
  if (lane >= 0) throw panelInvalid(`the symbol of lane ${lane} is not a text, or is empty`);
  if (new Set(symbols).size !== laneCount) throw panelInvalid("a symbol occurs twice");
}

function checkGroup(name: string, group: GroupColumn, laneCount: number, cellCount: number): void {
  if (!RECORD.fits(group)) throw panelInvalid(`the group ${name} is not a group column`);
  const { codes, labels, changesOverTime } = group;
  checkColumn(`the group ${name}`, codes, Int32Array, changesOverTime ? cellCount : laneCount);
  if (!TEXTS.fits(labels)) throw panelInvalid(`the labels of the group ${name} are not a list of texts`);
  if (new Set(labels).size !== labels.length) throw panelInvalid(`the group ${name} has a label twice`);
  const wrong = codes.findIndex((code) => code < -1 || code >= labels.length);
  if (wrong >= 0)
    throw panelInvalid(
      `the group ${name} has the code ${codes[wrong]} at ${wrong}, and ${labels.length} labels`,
    );
}

function wrongLength(what: string, found: number, wanted: number): Error {
  return panelInvalid(`${what} has length ${found}, rowCount and laneCount make it ${wanted}`);
}
