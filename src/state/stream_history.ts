import { copyLanes, type LaneRow } from "../checkpoint/lane_rows.ts";
import { type Checkpoint, withLanes } from "../checkpoint/state_file.ts";
import type { Dag } from "../dag/dag.ts";
import type { PanelBlock } from "../data/panel/panel_source.ts";
import type { RecurrenceValues, RecurrentPlan } from "../kernel/run/recurrences.ts";
import type { GroupColumn } from "../panel.ts";
import { exactRowOfOutput, exactRows, historyNeedOf, pointOf, retentionFor } from "./history.ts";
import { type ColumnRow, type HeldRows, type RetainedRow, RetainedRows } from "./retained_rows.ts";

/** The recurrences of an open plan before its next row. No run is under way. */
export interface Recurrences {
  read(): Promise<RecurrenceValues>;
  write(values: RecurrenceValues): Promise<void>;
}

/**
 * What a stream of blocks can be continued from: its last rows of input, and points of its recurrences. Another stream
 * runs the kept rows again, and takes over the recurrences at the points.
 */
export class StreamHistory {
  readonly #plan: RecurrentPlan;
  readonly #recurrences: Recurrences;
  readonly #hasRecursions: boolean;
  readonly #rows: RetainedRows<ColumnRow>;
  /** For each task its first exact row: see `exactRows`. */
  #exactRows: readonly number[];

  /** Bytes of the rows that are kept, with these bytes of a row. */
  static bytesOf(dag: Dag, rowBytes: number): number {
    return retentionFor(historyNeedOf(dag)).rows * rowBytes;
  }

  constructor(plan: RecurrentPlan, dag: Dag, recurrences: Recurrences) {
    const need = historyNeedOf(dag);
    this.#plan = plan;
    this.#recurrences = recurrences;
    this.#hasRecursions = need.recursions > 0;
    this.#rows = new RetainedRows(retentionFor(need), plan.plan.laneCount);
    this.#exactRows = exactRows(plan, 0, []);
  }

  /** The next row has no history. */
  restart(): void {
    this.#rows.forget(0);
    this.#exactRows = exactRows(this.#plan, 0, []);
  }

  /** Adds the next row; its columns are copied. */
  append({ row, params }: RetainedRow<ColumnRow>): void {
    for (const _ of this.#rows.layOut({ fields: [...row.fields.keys()], groups: [...row.groups.keys()] }));
    this.#rows.append(row, params);
  }

  /** What is to be done before the next row, once the rows before it have ended: recurrences are kept, or taken over. */
  handOver(): (() => Promise<void>) | null {
    const { count, renewals } = this.#rows;
    if (!this.#hasRecursions || count === 0) return null;
    const point = this.#rows.pointBefore(count);
    if (point) return async () => await this.#recurrences.write(point.values);
    if (!this.#rows.beginsPart(count)) return null;
    return async () => {
      const values = await this.#recurrences.read();
      // Meanwhile the next rows were added, and history may begin again among them.
      if (this.#rows.renewals === renewals) this.#rows.addPoint(this.#pointOf(count, values));
    };
  }

  /** The kept rows and points, the last one before the next row. */
  async hold(): Promise<HeldRows> {
    const { count } = this.#rows;
    const isKnown = !this.#hasRecursions || this.#rows.pointBefore(count) !== undefined;
    return this.#rows.hold(isKnown ? [] : [this.#pointOf(count, await this.#recurrences.read())]);
  }

  /**
   * Takes over what another stream has kept; its rows are then to be run, and are added again.
   *
   * @param from which of the stored lanes each lane is
   * @returns false, and nothing has changed, if a factor needs more history from the next row on
   */
  restore({ firstRow, rows, points, lanes }: Checkpoint<unknown>, from: Int32Array): boolean {
    const taskRows = exactRows(this.#plan, firstRow, points);
    const { plan } = this.#plan;
    const next = firstRow + rows.length;
    if (plan.outputs.some((_, output) => exactRowOfOutput(plan, taskRows, output) > next)) return false;
    this.#exactRows = taskRows;
    this.#rows.forget(firstRow);
    for (const point of points) this.#rows.addPoint(withLanes(point, lanes, from));
    return true;
  }

  #pointOf(row: number, values: RecurrenceValues) {
    return pointOf(this.#plan.plan, this.#exactRows, row, values);
  }
}

/** How the lanes of stored rows become those of a stream. */
export interface RestoredLanes {
  /** Which of the stored lanes each lane is. */
  readonly from: Int32Array;
  /** Groups that rows of these times have, whatever is stored. */
  readonly groupsAt: (times: BigInt64Array) => ReadonlyMap<string, GroupColumn>;
}

/** Stored rows as blocks, whose arrays are used again for the next one. */
export async function* blocksOfRows(
  rows: readonly LaneRow[],
  blockRows: number,
  { from, groupsAt }: RestoredLanes,
): AsyncGenerator<PanelBlock, void, void> {
  const { fields, groups, params } = rows.at(-1)!;
  const cells = blockRows * from.length;
  const doubles = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));
  const fieldColumns = new Map([...fields.keys()].map((name) => [name, doubles(cells)]));
  const groupColumns = new Map(
    [...groups.keys()].map((name) => {
      const codes = new Int32Array(new SharedArrayBuffer(4 * cells));
      return [name, { name, labels: [], codes, changesOverTime: true }];
    }),
  );
  const paramColumns = new Map([...params.keys()].map((name) => [name, doubles(blockRows)]));
  const times = new BigInt64Array(blockRows);
  const present = new Uint8Array(cells);
  for (let first = 0; first < rows.length; first += blockRows) {
    const taken = rows.slice(first, first + blockRows);
    for (const [at, row] of taken.entries()) {
      const start = at * from.length;
      times[at] = row.time;
      copyLanes(row.present!, from, present, start);
      for (const [name, column] of fieldColumns) copyLanes(row.fields.get(name)!, from, column, start);
      for (const [name, { codes }] of groupColumns) copyLanes(row.groups.get(name)!, from, codes, start);
      for (const [name, column] of paramColumns) column[at] = row.params.get(name) as number;
    }
    yield {
      rowCount: taken.length,
      times,
      fields: fieldColumns,
      groups: new Map([...groupColumns, ...groupsAt(times.subarray(0, taken.length))]),
      present,
      params: paramColumns,
    };
  }
}
