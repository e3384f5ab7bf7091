import { HAS_ROW } from "../../dag/row_members.ts";
import type { PlanBuffers } from "../../evaluation/evaluation.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { ColumnsRead } from "../../evaluation/wanted_factors.ts";
import type { GroupColumn } from "../../panel.ts";
import { firstValue, type InputRow, isValue } from "./bars.ts";

/** Fields that hold values where symbols have no row. */
export interface SeriesFields {
  readonly names: readonly string[];
  /** Those of them that have one value for all symbols, also for those that are added later. */
  readonly shared: readonly string[];
}

/**
 * The columns of a few rows in shared memory `[slots x lanes]`: executors read them in place. A row overwrites the row that
 * had its slot before.
 */
export class LiveInput {
  readonly #laneCount: number;
  readonly #fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly #groups: ReadonlyMap<string, GroupColumn>;
  readonly #params: Readonly<Record<string, Float64Array<SharedArrayBuffer>>>;

  static bytesOf(read: ColumnsRead, laneCount: number, slotCount: number): number {
    const rowBytes = laneCount * (8 * read.fields.length + 4 * read.groups.length) + 8 * read.params.length;
    return slotCount * rowBytes;
  }

  constructor(read: ColumnsRead, laneCount: number, slotCount: number) {
    const cellCount = slotCount * laneCount;
    this.#laneCount = laneCount;
    this.#fields = new Map(read.fields.map((name) => [name, sharedColumn(cellCount).fill(Number.NaN)]));
    this.#groups = new Map(
      read.groups.map((name) => {
        const codes = sharedCodes(cellCount).fill(-1);
        return [name, { name, labels: [], codes, changesOverTime: true }];
      }),
    );
    this.#params = Object.fromEntries(read.params.map((name) => [name, sharedColumn(slotCount)]));
  }

  get buffers(): Omit<PlanBuffers, "results"> {
    return { fields: this.#fields, groups: this.#groups, params: this.#params };
  }

  /**
   * @param codesOfLanes the static codes of a group column, null if it has none
   */
  stage(
    slot: number,
    row: InputRow,
    series: SeriesFields,
    codesOfLanes: (group: string) => Int32Array | null,
    numericParam: (name: string) => number,
  ): void {
    const { lanes, present } = row;
    const [start, end] = [slot * this.#laneCount, (slot + 1) * this.#laneCount];
    for (const [name, rows] of this.#fields) {
      const column = rows.subarray(start, end);
      column.fill(Number.NaN);
      if (name === HAS_ROW) markRows(row, series.names, column);
      const values = row.fields.get(name);
      // Rows that are older than the program may lack fields.
      if (!values) continue;
      if (series.shared.includes(name)) {
        column.fill(firstValue(values));
        continue;
      }
      const seen = series.names.includes(name) ? null : present;
      for (let i = 0; i < lanes.length; i++)
        if (seen === null || seen[i] === 1) column[lanes[i]!] = values[i] ?? Number.NaN;
    }
    for (const [name, group] of this.#groups) {
      const codes = group.codes.subarray(start, end);
      const cells = row.groups.get(name);
      if (cells) {
        codes.fill(-1);
        for (let i = 0; i < lanes.length; i++) codes[lanes[i]!] = cells[i]!;
      } else codes.set(codesOfLanes(name) ?? codes.fill(-1));
    }
    for (const [name, column] of Object.entries(this.#params)) column[slot] = numericParam(name);
  }
}

/** Writes 1 for lanes whose symbol has a row. Values of series, equal for all symbols, do not make a row. */
function markRows(
  { lanes, present, saysSymbols, fields }: InputRow,
  series: readonly string[],
  column: Float64Array,
): void {
  const own = [...fields].filter(([name]) => !series.includes(name)).map(([, values]) => values);
  for (let i = 0; i < lanes.length; i++) {
    const hasRow =
      present === null ? saysSymbols || own.some((values) => isValue(values[i])) : present[i] === 1;
    if (hasRow) column[lanes[i]!] = 1;
  }
}
