import type { ParamValue } from "../ast/param_value.ts";
import type { RecurrenceValues } from "../kernel/run/recurrences.ts";
import type { ExactPoint, RowRetention } from "./history.ts";

/** One row of input columns: of each a value, or a code, per cell. */
export interface ColumnRow {
  readonly time: bigint;
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

/** Carried values of recursive operators before a row. */
export interface RecurrencePoint extends ExactPoint {
  readonly values: RecurrenceValues;
}

/** Retained rows in a checkpoint. */
export interface SavedRows<Row extends ColumnRow> {
  /** Rows so far, including those that are not kept any more. */
  readonly count: number;
  readonly wanted: RowRetention;
  /** The newest rows. */
  readonly rows: readonly RetainedRow<Row>[];
  readonly points: readonly RecurrencePoint[];
}

interface Slot<Row extends ColumnRow> {
  row: Row;
  readonly fields: Map<string, Float64Array>;
  readonly groups: Map<string, Int32Array>;
  params: Params;
}

type Params = ReadonlyMap<string, ParamValue>;

/** The last rows of input, from which windows are made again. The newest row overwrites the memory of the oldest. */
export class RetainedRows<Row extends ColumnRow> {
  #capacity = 0;
  #parts = 1;
  #slots: readonly Slot<Row>[] = [];
  readonly #points = new Map<number, RecurrencePoint>();
  #count = 0;
  #first = 0;
  #renewals = 0;

  constructor(wanted: RowRetention) {
    this.grow(wanted);
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

  /** Raises the numbers of rows and parts from now on; never lowers them. */
  grow({ rows, parts }: RowRetention): void {
    const { oldest } = this;
    const slots = this.#slots;
    const before = this.#capacity;
    this.#capacity = Math.max(before, rows);
    this.#parts = Math.max(this.#parts, parts);
    if (slots.length === 0 || this.#capacity === before) return;
    const grown = this.#slotsLike(slots[0]!.row);
    for (let row = oldest; row < this.#count; row++) grown[row % this.#capacity] = slots[row % before]!;
    this.#slots = grown;
    this.#first = oldest;
  }

  /** Whether a part begins with the row: `addPoint` is then called. */
  beginsPart(row: number): boolean {
    return this.#capacity > 0 && row % Math.max(1, Math.floor(this.#capacity / this.#parts)) === 0;
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
    const slot = this.#slots[(this.#count - 1) % this.#capacity]!;
    copyColumns(row.fields, slot.fields, (length) => new Float64Array(length));
    copyColumns(row.groups, slot.groups, (length) => new Int32Array(length));
    const { fields, groups } = slot;
    slot.row = { ...row, present: row.present?.slice() ?? null, fields, groups };
    slot.params = params;
  }

  /** Allocates and fills the memory of all rows at once: else the process would grow for hours. */
  #slotsLike(row: Row): Slot<Row>[] {
    return Array.from({ length: this.#capacity }, () => ({
      row,
      fields: new Map(
        [...row.fields].map(([name, { length }]) => [name, new Float64Array(length).fill(NaN)]),
      ),
      groups: new Map([...row.groups].map(([name, { length }]) => [name, new Int32Array(length).fill(-1)])),
      params: NO_PARAMS,
    }));
  }

  /** A kept row; valid until a newer row overwrites it. */
  get(row: number): RetainedRow<Row> {
    return this.#slots[row % this.#capacity]!;
  }

  /** @param points further carried values, which are not kept here */
  save(points: readonly RecurrencePoint[]): SavedRows<Row> {
    const rows: RetainedRow<Row>[] = [];
    for (let row = this.oldest; row < this.#count; row++) {
      const { row: kept, params } = this.get(row);
      rows.push({ row: kept, params });
    }
    const wanted = { rows: this.#capacity, parts: this.#parts };
    const rowsOfPoints = new Set(points.map(({ row }) => row));
    const others = this.pointsFrom(this.oldest).filter(({ row }) => !rowsOfPoints.has(row));
    return { count: this.#count, wanted, rows, points: [...others, ...points] };
  }

  /** The next row has this number, and no earlier one is kept. */
  forget(count: number): void {
    this.#renewals++;
    this.#points.clear();
    this.#count = count;
    this.#first = count;
  }

  restore({ count, rows, points }: Omit<SavedRows<Row>, "wanted">): void {
    this.forget(count - rows.length);
    this.#slots = [];
    for (const { row, params } of rows) this.append(row, params);
    for (const point of points) if (point.row >= this.oldest) this.addPoint(point);
  }
}

const NO_PARAMS: Params = new Map();

function copyColumns<T extends Float64Array | Int32Array>(
  from: ReadonlyMap<string, ArrayLike<number | null>>,
  to: Map<string, T>,
  create: (length: number) => T,
): void {
  for (const name of to.keys()) if (!from.has(name)) to.delete(name);
  for (const [name, values] of from) {
    let column = to.get(name);
    if (column?.length !== values.length) {
      column = create(values.length);
      to.set(name, column);
    }
    for (let i = 0; i < values.length; i++) column[i] = values[i] ?? Number.NaN;
  }
}
