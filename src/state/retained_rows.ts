import type { ParamValue } from "../ast/param_value.ts";
import type { LaneRow } from "../checkpoint/lane_rows.ts";
import type { RecurrencePoint } from "../checkpoint/state_file.ts";
import type { RowRetention } from "./history.ts";

/** One row of input columns: of each a value, or a code, per cell. */
export interface ColumnRow {
  readonly time: bigint;
  /** The lane of each cell; without it the cells are lanes. */
  readonly lanes?: Int32Array;
  /** Whether all cells have a row if `present` is null: else values decide. */
  readonly saysSymbols?: boolean;
  /** 1 for cells that the input has; null if it has all. */
  readonly present: Uint8Array | null;
  readonly fields: ReadonlyMap<string, ArrayLike<number | null>>;
  readonly groups: ReadonlyMap<string, Int32Array>;
}

/** A kept row of input. */
export interface RetainedRow<Row extends ColumnRow> {
  readonly row: Row;
  /** The params that it was run with. */
  readonly params: ReadonlyMap<string, ParamValue>;
}

/** Rows that stay as they are while they are written, and the points between them. */
export interface HeldRows {
  readonly firstRow: number;
  readonly rows: readonly LaneRow[];
  readonly points: readonly RecurrencePoint[];
  readonly retention: RowRetention;
  /** See `RetainedRows.renewals`. */
  readonly renewals: number;
  /** Call once: their memory may be used again. */
  readonly release: () => void;
}

interface Slot<Row extends ColumnRow> {
  row: Row;
  readonly present: Uint8Array;
  readonly fields: Map<string, Float64Array>;
  readonly groups: Map<string, Int32Array>;
  params: Params;
  /** By how many it is held. */
  holds: number;
}

type Params = ReadonlyMap<string, ParamValue>;

/**
 * The last rows of input, by lane, from which windows are made again. The newest row overwrites the memory of the oldest.
 */
export class RetainedRows<Row extends ColumnRow> {
  readonly #lanes: Int32Array | null;
  #capacity = 0;
  #pointRows = Number.POSITIVE_INFINITY;
  #slots: Slot<Row>[] = [];
  readonly #points = new Map<number, RecurrencePoint>();
  #count = 0;
  #first = 0;
  #renewals = 0;

  /** @param laneCount of rows whose cells have lanes */
  constructor(wanted: RowRetention, laneCount: number | null = null) {
    this.#lanes = laneCount === null ? null : Int32Array.from({ length: laneCount }, (_, lane) => lane);
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

  /** How often all rows were replaced or forgotten, if there were any. */
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

  append(row: Row, params: Params): void {
    this.#count++;
    this.replaceNewest(row, params);
  }

  replaceNewest(row: Row, params: Params): void {
    if (this.#capacity === 0) return;
    if (this.#slots.length === 0) this.#slots = this.#slotsLike(row);
    const at = (this.#count - 1) % this.#capacity;
    if (this.#slots[at]!.holds > 0) this.#slots[at] = this.#slotLike(row);
    const slot = this.#slots[at]!;
    const lanes = this.#lanes === null ? undefined : row.lanes;
    const laneCount = this.#lanes?.length;
    copyColumns(
      row.fields,
      lanes,
      slot.fields,
      (length) => new Float64Array(laneCount ?? length),
      Number.NaN,
    );
    copyColumns(row.groups, lanes, slot.groups, (length) => new Int32Array(laneCount ?? length), -1);
    const cells = row.present ?? (row.saysSymbols === true ? new Uint8Array(lanes!.length).fill(1) : null);
    if (cells) copyCells(cells, lanes, slot.present.fill(0), 0);
    const { fields, groups } = slot;
    const present = cells && slot.present;
    slot.row = { ...row, ...(this.#lanes && { lanes: this.#lanes }), present, fields, groups };
    slot.params = params;
  }

  /** Allocates and fills the memory of all rows at once: else the process would grow for hours. */
  #slotsLike(row: Row): Slot<Row>[] {
    return Array.from({ length: this.#capacity }, () => this.#slotLike(row));
  }

  #slotLike(row: Row): Slot<Row> {
    const of = (length: number) => this.#lanes?.length ?? length;
    const [column] = [...row.fields.values(), ...row.groups.values()];
    const { fields, groups } = row;
    return {
      row,
      present: new Uint8Array(of(row.present?.length ?? column?.length ?? 0)),
      fields: new Map(
        [...fields].map(([name, { length }]) => [name, new Float64Array(of(length)).fill(NaN)]),
      ),
      groups: new Map([...groups].map(([name, { length }]) => [name, new Int32Array(of(length)).fill(-1)])),
      params: NO_PARAMS,
      holds: 0,
    };
  }

  /** A kept row; valid until a newer row overwrites it. */
  get(row: number): RetainedRow<Row> {
    return this.#slots[row % this.#capacity]!;
  }

  /**
   * All kept rows: newer ones do not overwrite them until they are released. Points that lie between two others that are
   * near enough are left out: else what goes on from checkpoint to checkpoint would collect them.
   *
   * @param newest further points, the last ones, which are not kept here
   */
  hold(newest: readonly RecurrencePoint[]): HeldRows {
    const firstRow = this.oldest;
    const slots = Array.from({ length: this.#count - firstRow }, (_, index) => {
      return this.#slots[(firstRow + index) % this.#capacity]!;
    });
    for (const slot of slots) slot.holds++;
    return {
      firstRow,
      rows: slots.map(({ row: { time, present }, fields, groups, params }) => {
        return { time, present, fields, groups, params };
      }),
      points: this.#pointsTo(newest),
      retention: this.retention,
      renewals: this.#renewals,
      release: () => {
        for (const slot of slots) slot.holds--;
      },
    };
  }

  #pointsTo(newest: readonly RecurrencePoint[]): RecurrencePoint[] {
    const kept: RecurrencePoint[] = [];
    const end = newest[0]?.row ?? Number.POSITIVE_INFINITY;
    const others = this.pointsFrom(this.oldest).filter(({ row }) => row < end);
    for (const [index, point] of others.entries()) {
      const next = others[index + 1] ?? newest[0];
      const isBetween = next && next.row - (kept.at(-1)?.row ?? Number.NEGATIVE_INFINITY) <= this.#pointRows;
      if (!(isBetween && point.exact.isSubsetOf(next.exact))) kept.push(point);
    }
    return [...kept, ...newest];
  }

  /** The next row has this number, and no earlier one is kept. */
  forget(count: number): void {
    if (this.#count > 0) this.#renewals++;
    this.#points.clear();
    this.#count = count;
    this.#first = count;
  }

  restore(firstRow: number, rows: readonly RetainedRow<Row>[], points: readonly RecurrencePoint[]): void {
    this.forget(firstRow);
    this.#slots = [];
    for (const { row, params } of rows) this.append(row, params);
    for (const point of points) if (point.row >= this.oldest) this.addPoint(point);
  }
}

const NO_PARAMS: Params = new Map();

function copyColumns<T extends Float64Array | Int32Array>(
  from: ReadonlyMap<string, ArrayLike<number | null>>,
  lanes: Int32Array | undefined,
  to: Map<string, T>,
  create: (length: number) => T,
  none: number,
): void {
  for (const name of to.keys()) if (!from.has(name)) to.delete(name);
  for (const [name, values] of from) {
    const column = to.get(name) ?? create(values.length);
    to.set(name, column);
    copyCells(values, lanes, column.fill(none), none);
  }
}

function copyCells(
  from: ArrayLike<number | null>,
  lanes: Int32Array | undefined,
  to: Float64Array | Int32Array | Uint8Array,
  none: number,
): void {
  for (let i = 0; i < from.length; i++) to[lanes ? lanes[i]! : i] = from[i] ?? none;
}
