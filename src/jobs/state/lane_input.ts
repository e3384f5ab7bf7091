/** Maps rows of a file, which has some of the symbols, to the lanes of a job, which has all of them. */
import { HAS_ROW } from "../../dag/row_members.ts";
import type { PanelBlock } from "../../data/panel/panel_source.ts";
import { broughtFields, fillHasRow } from "../../evaluation/has_row.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn } from "../../panel.ts";

/** Labels of group columns of files, numbered in the order of appearance. */
export type GroupLabels = Record<string, string[]>;

export interface LaneInputShape {
  readonly symbols: readonly string[];
  readonly rowCount: number;
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  /** Groups of the job's table of groups, one code per lane. */
  readonly ownGroups: ReadonlyMap<string, GroupColumn>;
}

/** Columns that the plans of a job read, one block long. */
export class LaneInput {
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  readonly times: BigInt64Array;
  readonly present: Uint8Array;
  /** Part of the state: a code has one meaning in all blocks. */
  labels: GroupLabels = {};
  readonly #laneCount: number;
  readonly #laneOf: ReadonlyMap<string, number>;
  readonly #ownGroups: ReadonlyMap<string, GroupColumn>;

  constructor({ symbols, rowCount, fields, groups, ownGroups }: LaneInputShape) {
    this.#laneCount = symbols.length;
    this.#laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
    this.#ownGroups = ownGroups;
    const cells = rowCount * symbols.length;
    this.fields = new Map(fields.map((name) => [name, sharedColumn(cells)]));
    this.groups = new Map(
      groups.map((name) => [name, { name, labels: [], codes: sharedCodes(cells), changesOverTime: true }]),
    );
    this.times = new BigInt64Array(rowCount);
    this.present = new Uint8Array(cells);
    for (const [name, group] of this.#ownGroups) {
      const codes = this.groups.get(name)?.codes;
      for (let cell = 0; codes && cell < cells; cell += this.#laneCount) codes.set(group.codes, cell);
    }
  }

  /** Fields that a file must have. */
  get fieldNames(): string[] {
    return broughtFields([...this.fields.keys()]);
  }

  /** Group columns that a file must have: those that the table of groups lacks. */
  get groupNames(): string[] {
    return [...this.groups.keys()].filter((name) => !this.#ownGroups.has(name));
  }

  /** The lane of each symbol of a file. */
  lanesOf(symbols: readonly string[]): Int32Array {
    return Int32Array.from(symbols, (symbol) => this.#laneOf.get(symbol)!);
  }

  /** Copies the rows `from` to `end` of a block; lanes that the file lacks are null. */
  stage(block: PanelBlock, lanes: Int32Array, from: number, end: number): void {
    this.times.set(block.times.subarray(from, end));
    spread(block.present, this.present, lanes, this.#laneCount, from, end, 0);
    const cellCount = (end - from) * this.#laneCount;
    for (const [name, column] of this.fields) {
      if (name === HAS_ROW) fillHasRow(column.subarray(0, cellCount), this.present);
      else spread(block.fields.get(name)!, column, lanes, this.#laneCount, from, end, Number.NaN);
    }
    for (const [name, { codes }] of this.groups) {
      if (this.#ownGroups.has(name)) continue;
      const group = block.groups.get(name)!;
      spread(this.#recode(group), codes, lanes, this.#laneCount, from, end, -1);
    }
  }

  /** Translates codes of the file to codes of the job. */
  #recode({ name, labels, codes }: GroupColumn): Int32Array {
    this.labels[name] ??= [];
    const known = this.labels[name];
    const codeOf = new Map(known.map((label, code) => [label, code]));
    const translated = labels.map((label) => codeOf.get(label) ?? known.push(label) - 1);
    return codes.map((code) => (code < 0 ? -1 : translated[code]!));
  }
}

/** Copies rows of a file's lanes to lanes of the job; other lanes get the value `absent`. */
function spread<T extends Float64Array | Int32Array | Uint8Array>(
  source: T,
  target: T,
  lanes: Int32Array,
  laneCount: number,
  from: number,
  end: number,
  absent: number,
): void {
  target.fill(absent, 0, (end - from) * laneCount);
  for (let row = from; row < end; row += 1) {
    const [sourceCell, targetCell] = [row * lanes.length, (row - from) * laneCount];
    for (let lane = 0; lane < lanes.length; lane += 1)
      target[targetCell + lanes[lane]!] = source[sourceCell + lane]!;
  }
}
