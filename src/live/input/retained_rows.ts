import type { ParamValue } from "../../ast/param_value.ts";
import type { LaneRow } from "../../checkpoint/lane_rows.ts";
import type { RecurrencePoint } from "../../checkpoint/state_file.ts";
import type { BarValues, InputRow } from "./bars.ts";

/** A row of input that is kept for `update`, for checkpoints and for `why`. */
export interface RetainedRow {
  readonly row: InputRow;
  /** The params that it was run with. */
  readonly params: ReadonlyMap<string, ParamValue>;
}

/** Rows that stay as they are while they are written. */
export interface HeldRows {
  readonly firstRow: number;
  /** Rows so far. */
  readonly count: number;
  readonly retention: RowRetention;
  /** How often all rows had been replaced or forgotten. */
  readonly renewals: number;
  readonly rows: readonly LaneRow[];
  /** Call once: their memory may be used again. */
  readonly release: () => void;
}

/** How many rows are kept. */
export interface RowRetention {
  readonly rows: number;
  /** Carried values are kept before every so many rows. */
  readonly pointRows: number;
}

/** A row by lane. */
interface Slot {
  row: InputRow;
  readonly present: Uint8Array;
  readonly fields: Map<string, Float64Array>;
  readonly groups: Map<string, Int32Array>;
  params: RetainedRow["params"];
  /** By how many it is held. */
  holds: number;
}

/**
 * The last rows of a session's input, with all fields of the bars, by lane, from which windows are made again. The newest row
 * overwrites the memory of the oldest.
 */
export class RetainedRows {
  readonly #lanes: Int32Array;
  #capacity = 0;
  #pointRows = Number.POSITIVE_INFINITY;
  #slots: Slot[] = [];
  readonly #points = new Map<number, RecurrencePoint>();
  #count = 0;
  #first = 0;
  #renewals = 0;

  constructor(laneCount: number, wanted: RowRetention) {
    this.#lanes = Int32Array.from({ length: laneCount }, (_, lane) => lane);
    this.grow(wanted);
  }

  /** How many rows it may keep. */
  get retention(): RowRetention {
    return { rows: this.#capacity, pointRows: this.#pointRows };
  }

  /** Rows so far; the newest has the number `count - 1`. */
  get count(): number {
    return this.#count;
  }

  /** How often all rows were replaced or forgotten. */
  get renewals(): number {
    return this.#renewals;
  }

  /** The number of the oldest kept row. */
  get oldest(): number {
    return Math.max(this.#first, this.#count - this.#capacity);
  }

  /** Keeps more rows from now on, and more points; never fewer. */
  grow({ rows, pointRows }: RowRetention): void {
    const { oldest } = this;
    const slots = this.#slots;
    const before = this.#capacity;
    this.#capacity = Math.max(before, rows);
    this.#pointRows = Math.min(this.#pointRows, pointRows);
    if (slots.length === 0 || this.#capacity === before) return;
    const grown = this.#slotsLike(slots[0]!.row);
    for (let row = oldest; row < this.#count; row++) grown[row % this.#capacity] = slots[row % before]!;
    this.#slots = grown;
    this.#first = oldest;
  }

  /** Whether carried values are kept before the row: `addPoint` is then called. */
  beginsPart(row: number): boolean {
    return this.#capacity > 0 && row % this.#pointRows === 0;
  }

  /** Adds carried values. Values that are known for the row already are replaced only by exact ones. */
  addPoint({ row, values, exact }: RecurrencePoint): void {
    const known = this.#points.get(row);
    const kept = [...(known?.values ?? [])].filter(([task]) => known!.exact.has(task) || !exact.has(task));
    this.#points.set(row, {
      row,
      values: new Map([...values, ...kept]),
      exact: new Set([...exact, ...(known?.exact ?? [])]),
    });
    for (const one of this.#points.keys()) if (one < this.oldest) this.#points.delete(one);
  }

  /** Forgets carried values before a row, because an earlier row is run again. */
  forgetPoint(row: number): void {
    this.#points.delete(row);
  }

  /** Carried values before a row, if they were kept. */
  pointBefore(row: number): RecurrencePoint | undefined {
    return this.#points.get(row);
  }

  /** All points from a row on, ascending. */
  pointsFrom(row: number): RecurrencePoint[] {
    return [...this.#points.values()].filter((point) => point.row >= row).sort((a, b) => a.row - b.row);
  }

  /**
   * The points for a checkpoint, ascending. Those between two that are near enough are left out: else sessions that go on
   * from checkpoint to checkpoint would collect them.
   *
   * @param newest further carried values, which are not kept here
   */
  pointsTo(newest: readonly RecurrencePoint[]): RecurrencePoint[] {
    const kept: RecurrencePoint[] = [];
    const others = this.pointsFrom(this.oldest).filter(({ row }) => row < newest[0]!.row);
    for (const [index, point] of others.entries()) {
      const next = others[index + 1] ?? newest[0]!;
      const isBetween = next.row - (kept.at(-1)?.row ?? Number.NEGATIVE_INFINITY) <= this.#pointRows;
      if (!(isBetween && point.exact.isSubsetOf(next.exact))) kept.push(point);
    }
    return [...kept, ...newest];
  }

  append(row: InputRow, params: RetainedRow["params"]): void {
    this.#count++;
    this.replaceNewest(row, params);
  }

  replaceNewest(row: InputRow, params: RetainedRow["params"]): void {
    if (this.#capacity === 0) return;
    if (this.#slots.length === 0) this.#slots = this.#slotsLike(row);
    const at = (this.#count - 1) % this.#capacity;
    if (this.#slots[at]!.holds > 0) this.#slots[at] = this.#slotLike(row);
    const slot = this.#slots[at]!;
    const { time, lanes, saysSymbols } = row;
    const laneCount = this.#lanes.length;
    copyColumns(row.fields, lanes, slot.fields, () => new Float64Array(laneCount), Number.NaN);
    copyColumns(row.groups, lanes, slot.groups, () => new Int32Array(laneCount), -1);
    slot.present.fill(0);
    for (let i = 0; i < lanes.length; i++) slot.present[lanes[i]!] = row.present?.[i] ?? 1;
    const present = saysSymbols ? slot.present : null;
    const { fields, groups } = slot;
    slot.row = { time, lanes: this.#lanes, saysSymbols, present, fields, groups };
    slot.params = params;
  }

  /** Allocates and fills the memory of all rows at once: else the process would grow for hours. */
  #slotsLike(row: InputRow): Slot[] {
    return Array.from({ length: this.#capacity }, () => this.#slotLike(row));
  }

  #slotLike(row: InputRow): Slot {
    const { length } = this.#lanes;
    return {
      row,
      present: new Uint8Array(length),
      fields: new Map(
        [...row.fields.keys()].map((name) => [name, new Float64Array(length).fill(Number.NaN)]),
      ),
      groups: new Map([...row.groups.keys()].map((name) => [name, new Int32Array(length).fill(-1)])),
      params: NO_PARAMS,
      holds: 0,
    };
  }

  /** A kept row; valid until a newer row overwrites it. */
  get(row: number): RetainedRow {
    return this.#slots[row % this.#capacity]!;
  }

  /** All kept rows: newer ones do not overwrite them until they are released. */
  hold(): HeldRows {
    const firstRow = this.oldest;
    const slots = Array.from({ length: this.#count - firstRow }, (_, index) => {
      return this.#slots[(firstRow + index) % this.#capacity]!;
    });
    for (const slot of slots) slot.holds++;
    return {
      firstRow,
      count: this.#count,
      retention: this.retention,
      renewals: this.#renewals,
      rows: slots.map(({ row, fields, groups, params }) => {
        return {
          time: row.time,
          present: row.present,
          fields: new Map(fields),
          groups: new Map(groups),
          params,
        };
      }),
      release: () => {
        for (const slot of slots) slot.holds--;
      },
    };
  }

  /** The next row has this number, and no earlier one is kept. */
  forget(count: number): void {
    this.#renewals++;
    this.#points.clear();
    this.#count = count;
    this.#first = count;
  }

  /**
   * @param count rows so far, of which `rows` are the newest
   * @param points with as many lanes as the session has
   */
  restore(count: number, rows: readonly LaneRow[], points: readonly RecurrencePoint[]): void {
    this.forget(count - rows.length);
    this.#slots = [];
    for (const { time, present, fields, groups, params } of rows) {
      const [column] = [...fields.values(), ...groups.values()];
      const lanes = this.#lanes.subarray(0, present?.length ?? column?.length);
      this.append({ time, lanes, present, saysSymbols: present !== null, fields, groups }, params);
    }
    for (const point of points) if (point.row >= this.oldest) this.addPoint(point);
  }
}

const NO_PARAMS: RetainedRow["params"] = new Map();

function copyColumns<T extends Float64Array | Int32Array>(
  from: ReadonlyMap<string, BarValues>,
  lanes: Int32Array,
  to: Map<string, T>,
  create: () => T,
  none: number,
): void {
  for (const name of to.keys()) if (!from.has(name)) to.delete(name);
  for (const [name, values] of from) {
    const column = to.get(name) ?? create();
    to.set(name, column);
    column.fill(none);
    for (let i = 0; i < lanes.length; i++) column[lanes[i]!] = values[i] ?? none;
  }
}
