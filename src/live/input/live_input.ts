import { HAS_ROW } from "../../dag/row_members.ts";
import type { PlanBuffers } from "../../evaluation/evaluation.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { ColumnsRead } from "../../evaluation/wanted_factors.ts";
import type { GroupColumn } from "../../panel.ts";
import type { InputRow } from "./bars.ts";

/** The columns of one row in shared memory: executors read them in place, every row overwrites them. */
export class LiveInput {
  readonly #fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly #groups: ReadonlyMap<string, GroupColumn>;
  readonly #params: Readonly<Record<string, Float64Array<SharedArrayBuffer>>>;
  /** Values of each column before the row was staged. */
  #saved: readonly (Float64Array | Int32Array)[] = [];

  static bytesOf(read: ColumnsRead, laneCount: number): number {
    return laneCount * (8 * read.fields.length + 4 * read.groups.length) + 8 * read.params.length;
  }

  constructor(read: ColumnsRead, laneCount: number) {
    this.#fields = new Map(read.fields.map((name) => [name, sharedColumn(laneCount).fill(Number.NaN)]));
    this.#groups = new Map(
      read.groups.map((name) => {
        const codes = sharedCodes(laneCount).fill(-1);
        return [name, { name, labels: [], codes, changesOverTime: true }];
      }),
    );
    this.#params = Object.fromEntries(read.params.map((name) => [name, sharedColumn(1)]));
  }

  get buffers(): Omit<PlanBuffers, "results"> {
    return { fields: this.#fields, groups: this.#groups, params: this.#params };
  }

  /**
   * @param series fields that hold values where symbols have no row
   * @param codesOfLanes the static codes of a group column, null if it has none
   */
  stage(
    row: InputRow,
    series: readonly string[],
    codesOfLanes: (group: string) => Int32Array | null,
    numericParam: (name: string) => number,
  ): void {
    const { lanes, present } = row;
    for (const [name, column] of this.#fields) {
      column.fill(Number.NaN);
      if (name === HAS_ROW) markRows(row, series, column);
      const values = row.fields.get(name);
      // Rows that are older than the program may lack fields.
      if (!values) continue;
      const seen = series.includes(name) ? null : present;
      for (let i = 0; i < lanes.length; i++)
        if (seen === null || seen[i] === 1) column[lanes[i]!] = values[i] ?? Number.NaN;
    }
    for (const [name, { codes }] of this.#groups) {
      const cells = row.groups.get(name);
      if (cells) {
        codes.fill(-1);
        for (let i = 0; i < lanes.length; i++) codes[lanes[i]!] = cells[i]!;
      } else codes.set(codesOfLanes(name) ?? codes.fill(-1));
    }
    for (const [name, column] of Object.entries(this.#params)) column[0] = numericParam(name);
  }

  /** Copies the staged row. */
  save(): void {
    const columns = this.#columns();
    this.#saved = columns.map((column, index) => {
      const copy = this.#saved[index] ?? column.slice();
      copy.set(column);
      return copy;
    });
  }

  /** Stages the saved row again. */
  restore(): void {
    this.#columns().forEach((column, index) => {
      column.set(this.#saved[index]!);
    });
  }

  #columns(): (Float64Array | Int32Array)[] {
    return [
      ...this.#fields.values(),
      ...[...this.#groups.values()].map(({ codes }) => codes),
      ...Object.values(this.#params),
    ];
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

const isValue = (cell: number | null | undefined): boolean => cell != null && !Number.isNaN(cell);
