/** Whether a panel holds what it says: those made by hand may not. */
import type { GroupColumn, Panel } from "../panel.ts";
import { panelInvalid } from "./errors.ts";

/**
 * Checks the lengths of all columns, that times ascend, that symbols differ and that codes of groups have labels.
 *
 * @throws UsageError E522.
 */
export function checkPanel(panel: Panel): void {
  const { rowCount, laneCount, time, symbols, present, fields, groups } = panel;
  const cellCount = rowCount * laneCount;
  checkCount("rowCount", rowCount);
  checkCount("laneCount", laneCount);
  checkColumn("time.values", time.values, BigInt64Array, rowCount);
  checkAscending(time.values);
  if (symbols.length !== laneCount) throw wrongLength("symbols", symbols.length, laneCount);
  if (new Set(symbols).size !== laneCount) throw panelInvalid("a symbol is there twice");
  checkColumn("present", present, Uint8Array, cellCount);
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
  if (!(values instanceof kind)) throw panelInvalid(`${what} is no ${kind.name}`);
  if (values.length !== length) throw wrongLength(what, values.length, length);
}

function checkAscending(times: BigInt64Array): void {
  for (let row = 1; row < times.length; row += 1)
    if (times[row]! <= times[row - 1]!)
      throw panelInvalid(`the time of row ${row} is not after that of row ${row - 1}`);
}

function checkGroup(name: string, group: GroupColumn, laneCount: number, cellCount: number): void {
  const { codes, labels, changesOverTime } = group;
  checkColumn(`the group ${name}`, codes, Int32Array, changesOverTime ? cellCount : laneCount);
  const wrong = codes.findIndex((code) => code < -1 || code >= labels.length);
  if (wrong >= 0)
    throw panelInvalid(
      `the group ${name} has the code ${codes[wrong]} at ${wrong}, and ${labels.length} labels`,
    );
}

function wrongLength(what: string, found: number, wanted: number): Error {
  return panelInvalid(`${what} has length ${found}, rowCount and laneCount make it ${wanted}`);
}
