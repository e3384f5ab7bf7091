/** Rows of a file on the lanes of a job: the file has some of its symbols, the job knows them all. */
import { HAS_ROW } from "../../dag/row_members.ts";
import type { PanelBlock } from "../../data/panel/panel_source.ts";
import { broughtFields, fillHasRow } from "../../evaluation/has_row.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn } from "../../panel.ts";

/** Labels of the groups that stand in the files, numbered as they come up. */
export type GroupLabels = Record<string, string[]>;

export interface LaneInputShape {
  readonly symbols: readonly string[];
  readonly rowCount: number;
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  /** Groups that a table of their own gives, one code per lane. */
  readonly ownGroups: ReadonlyMap<string, GroupColumn>;
}

/** The columns that the plans of a job read, with room for one block. */
export class LaneInput {
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  readonly times: BigInt64Array;
  readonly present: Uint8Array;
  /** Part of the state: codes must mean the same from block to block. */
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

  /** What a file must have. */
  get fieldNames(): string[] {
    return broughtFields([...this.fields.keys()]);
  }

  /** What a file must have; not those that a table of their own gives. */
  get groupNames(): string[] {
    return [...this.groups.keys()].filter((name) => !this.#ownGroups.has(name));
  }

  /** The lane of each symbol of a file. */
  lanesOf(symbols: readonly string[]): Int32Array {
    return Int32Array.from(symbols, (symbol) => this.#laneOf.get(symbol)!);
  }

  /** Takes the rows `from` to `end` of a block; lanes that the file lacks are null. */
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

  /** The file's codes in the numbers of the job. */
  #recode({ name, labels, codes }: GroupColumn): Int32Array {
    this.labels[name] ??= [];
    const known = this.labels[name];
    const codeOf = new Map(known.map((label, code) => [label, code]));
    const translated = labels.map((label) => codeOf.get(label) ?? known.push(label) - 1);
    return codes.map((code) => (code < 0 ? -1 : translated[code]!));
  }
}

/** Copies rows of a file's lanes to lanes of the job; the others hold the given value. */
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
