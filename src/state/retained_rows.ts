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

/** Names of the columns that rows bring. */
export interface RowColumns {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** Bytes of kept rows. */
export function bytesOfRows(rowCount: number, laneCount: number, { fields, groups }: RowColumns): number {
  return rowCount * laneCount * (8 * fields.length + 4 * groups.length + 1);
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
  readonly #lanes: Int32Array;
  #capacity = 0;
  #pointRows = Number.POSITIVE_INFINITY;
  /** By row modulo the capacity; empty before the first one. */
  #slots: (Slot<Row> | undefined)[] = [];
  /** Memory of rows to come. */
  readonly #free: Slot<Row>[] = [];
  /** Both. */
  #slotCount = 0;
  readonly #points = new Map<number, RecurrencePoint>();
  #count = 0;
  #first = 0;
  #renewals = 0;

  constructor(wanted: RowRetention, laneCount: number) {
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

  /** How often all rows were replaced or forgotten, if there were any. */
  get renewals(): number {
    return this.#renewals;
  }

  /** Those of the newest row; none before the first. */
  get columns(): RowColumns {
    const newest = this.#slots[(this.#count - 1) % this.#capacity];
    return { fields: [...(newest?.fields.keys() ?? [])], groups: [...(newest?.groups.keys() ?? [])] };
  }

  /** The number of the oldest kept row. */
  get oldest(): number {
    return Math.max(this.#first, this.#count - this.#capacity);
  }

  /** Keeps more rows from now on, and more points; never fewer. Their memory comes with them, or before: `layOut`. */
  grow({ rows, pointRows }: RowRetention): void {
    const { oldest } = this;
    const before = this.#slots;
    this.#pointRows = Math.min(this.#pointRows, pointRows);
    if (rows <= this.#capacity) return;
    this.#slots = [];
    for (let row = oldest; row < this.#count; row++) {
      const at = row % this.#capacity;
      this.#slots[row % rows] = before[at];
      before[at] = undefined;
    }
    this.#free.push(...before.filter((slot) => slot !== undefined));
    this.#capacity = rows;
    this.#first = oldest;
  }

  /** Allocates and fills the memory of all rows before they come, a row a step: else the process would grow for hours. */
  *layOut(columns: RowColumns): Generator<void, void> {
    for (; this.#slotCount < this.#capacity; yield) this.#free.push(this.#slotOf(columns));
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
    const at = (this.#count - 1) % this.#capacity;
    const slot = this.#slotAt(at, row);
    const { lanes } = row;
    const { length } = this.#lanes;
    copyColumns(row.fields, lanes, slot.fields, () => new Float64Array(length), Number.NaN);
    copyColumns(row.groups, lanes, slot.groups, () => new Int32Array(length), -1);
    const cells = row.present ?? (row.saysSymbols === true ? new Uint8Array(lanes!.length).fill(1) : null);
    if (cells) copyCells(cells, lanes, slot.present.fill(0), 0);
    const { fields, groups } = slot;
    const present = cells && slot.present;
    slot.row = { ...row, ...(lanes && { lanes: this.#lanes }), present, fields, groups };
    slot.params = params;
  }

  /** The memory of a place: other one if what lies there is held. */
  #slotAt(at: number, { fields, groups }: Row): Slot<Row> {
    const known = this.#slots[at];
    if (known?.holds === 0) return known;
    if (known) this.#slotCount--;
    const slot = this.#free.pop() ?? this.#slotOf({ fields: [...fields.keys()], groups: [...groups.keys()] });
    this.#slots[at] = slot;
    return slot;
  }

  #slotOf({ fields, groups }: RowColumns): Slot<Row> {
    const { length } = this.#lanes;
    this.#slotCount++;
    return {
      row: null as unknown as Row,
      present: new Uint8Array(length),
      fields: new Map(fields.map((name) => [name, new Float64Array(length).fill(Number.NaN)])),
      groups: new Map(groups.map((name) => [name, new Int32Array(length).fill(-1)])),
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
    for (const { row, params } of rows) this.append(row, params);
    for (const point of points) if (point.row >= this.oldest) this.addPoint(point);
  }
}

const NO_PARAMS: Params = new Map();

function copyColumns<T extends Float64Array | Int32Array>(
  from: ReadonlyMap<string, ArrayLike<number | null>>,
  lanes: Int32Array | undefined,
  to: Map<string, T>,
  create: () => T,
  none: number,
): void {
  for (const name of to.keys()) if (!from.has(name)) to.delete(name);
  for (const [name, values] of from) {
    const column = to.get(name) ?? create();
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
