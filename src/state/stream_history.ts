import type { Dag } from "../dag/dag.ts";
import type { PanelBlock } from "../data/panel/panel_source.ts";
import type { RecurrenceValues, RecurrentPlan } from "../kernel/run/recurrences.ts";
import { exactRowOfOutput, exactRows, historyNeedOf, pointOf, retentionFor } from "./history.ts";
import { type ColumnRow, type RetainedRow, RetainedRows, type SavedRows } from "./retained_rows.ts";

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

  /** The kept rows and points, the last one before the next row. Views of memory that the next row changes. */
  async save(): Promise<SavedRows<ColumnRow>> {
    const { count } = this.#rows;
    const isKnown = !this.#hasRecursions || this.#rows.pointBefore(count) !== undefined;
    return this.#rows.save(isKnown ? [] : [this.#pointOf(count, await this.#recurrences.read())]);
  }

  /**
   * Takes over what another stream has kept; the kept rows are then to be run, and are added again.
   *
   * @returns false, and nothing has changed, if a factor needs more history from the next row on
   */
  restore({ count, rows, points }: SavedRows<ColumnRow>): boolean {
    const first = count - rows.length;
    const taskRows = exactRows(
      this.#plan,
      first,
      points.toSorted((a, b) => a.row - b.row),
    );
    const { plan } = this.#plan;
    if (plan.outputs.some((_, output) => exactRowOfOutput(plan, taskRows, output) > count)) return false;
    this.#exactRows = taskRows;
    this.#rows.forget(first);
    for (const point of points) this.#rows.addPoint(point);
    return true;
  }

  #pointOf(row: number, values: RecurrenceValues) {
    return pointOf(this.#plan.plan, this.#exactRows, row, values);
  }
}

/** Kept rows as blocks, whose arrays are used again for the next one. */
export async function* blocksOfRows(
  rows: readonly RetainedRow<ColumnRow>[],
  blockRows: number,
  laneCount: number,
): AsyncGenerator<PanelBlock, void, void> {
  const [newest] = rows.slice(-1);
  if (newest === undefined) return;
  const cells = blockRows * laneCount;
  const doubles = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));
  const fields = new Map([...newest.row.fields.keys()].map((name) => [name, doubles(cells)]));
  const groups = new Map(
    [...newest.row.groups.keys()].map((name) => {
      const codes = new Int32Array(new SharedArrayBuffer(4 * cells));
      return [name, { name, labels: [], codes, changesOverTime: true }];
    }),
  );
  const params = new Map([...newest.params.keys()].map((name) => [name, doubles(blockRows)]));
  const times = new BigInt64Array(blockRows);
  const present = new Uint8Array(cells);
  for (let first = 0; first < rows.length; first += blockRows) {
    const taken = rows.slice(first, first + blockRows);
    for (const [at, { row, params: ofRow }] of taken.entries()) {
      times[at] = row.time;
      present.set(row.present!, at * laneCount);
      for (const [name, column] of fields) column.set(row.fields.get(name) as Float64Array, at * laneCount);
      for (const [name, { codes }] of groups) codes.set(row.groups.get(name)!, at * laneCount);
      for (const [name, column] of params) column[at] = ofRow.get(name) as number;
    }
    yield { rowCount: taken.length, times, fields, groups, present, params };
  }
}
