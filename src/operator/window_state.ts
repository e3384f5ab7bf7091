import type { WindowBuilder } from "./lowering.ts";

/** A ring of rows beside the columns of the plan: plain data. */
export interface Ring {
  readonly byteOffset: number;
  readonly ringRows: number;
  /** Value of every row before the first. */
  readonly initial: number;
}

/** Reserves what a state keeps for each lane. */
export interface StateLayout {
  readonly laneCount: number;
  /** Vectors, one double per lane each, that hold these values before the first row. Returns the number of the first. */
  vectors(initial: readonly number[]): number;
  /** A ring that keeps a value for the current row and the last `historyRows` before it. */
  ring(historyRows: number, initial: number): Ring;
}

/** What `rebuild` reads and writes, for one lane at a time. */
export interface StateRows {
  read(vector: number, lane: number): number;
  write(vector: number, lane: number, value: number): void;
  writeRing(ring: Ring, row: number, lane: number, value: number): void;
  /**
   * The last rows of a column up to `row`, oldest first, NaN for null and for rows before the first. The array is used
   * again for each `place`, and may be longer.
   */
  window(column: number, row: number, rowCount: number, lane: number, place?: number): Float64Array;
  /** Rows before the current one that the column keeps. */
  historyRows(column: number): number;
}

/**
 * What a window carries from row to row. It is a pure function of the rows in the columns, to the last bit, and of its
 * bounds if it has some: `emit` moves it on by the row that enters and the one that leaves, `rebuild` computes it from
 * the rows.
 *
 * @typeParam Of what the state is of, e.g. a series and a window
 * @typeParam Layout the numbers of its vectors and rings, and what `rebuild` has to know: plain data
 * @typeParam Now what operators read of it in the current row: values and masks in whatever object
 */
export interface WindowState<Of, Layout extends object, Now> {
  /** Name, one for each state of an engine. */
  readonly kind: string;
  /** Names what the state is of. */
  keyOf(of: Of): string;
  reserve(layout: StateLayout, of: Of): Layout;
  /** Emits the step to the current row. `state` is the number for `leaveOpen` and `ensureBounds`. */
  emit(on: WindowBuilder, layout: Layout, of: Of, state: number): Now;
  /** Writes the state of a lane as it is after `row`, with the bounds that it has, whatever else it was before. */
  rebuild(rows: StateRows, layout: Layout, row: number, lane: number): void;
  readonly bounds?: StateBounds<Layout>;
}

/** For states whose exactness depends on bounds of the values, which are chosen for each lane. */
export interface StateBounds<Layout extends object> {
  /** Whether the value of `row` reaches a bound: the state as it is before that row is then rebuilt with others. */
  isReached(rows: StateRows, layout: Layout, row: number, lane: number): boolean;
  /** Whether a bound is far above the values of the window that ends with `row`. */
  isWide(rows: StateRows, layout: Layout, row: number, lane: number): boolean;
  /** Writes bounds that hold for the window that ends with `row`, and for the row before it. */
  choose(rows: StateRows, layout: Layout, row: number, lane: number): void;
}

/** Any state: what it is of, and gives, is known to the operators that use it. */
export type AnyWindowState = Pick<WindowState<never, object, unknown>, "kind" | "rebuild" | "bounds">;
