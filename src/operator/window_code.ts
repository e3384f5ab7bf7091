import type { Mask, StepBuilder, Value } from "./lowering.ts";

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
  /** Slots that hold a 32-bit key of a value each, for nulls at first. Returns the number of the first vector. */
  keys(slots: number): number;
  /** A ring that keeps a value for the current row and the last `historyRows` before it. */
  ring(historyRows: number, initial: number): Ring;
}

/** What `rebuild` reads and writes, for one lane at a time. */
export interface StateRows {
  read(vector: number, lane: number): number;
  write(vector: number, lane: number, value: number): void;
  /** Writes the key of a value. */
  writeKey(first: number, slot: number, lane: number, value: number): void;
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
  /**
   * Emits the step to the current row, once for all operators that share the state: the result must not hold values of
   * `of`, which are those of the first operator. `state` is the number for `leaveOpen` and `ensureBounds`.
   */
  emit(on: WindowBuilder, layout: Layout, of: Of, state: number): Now;
  /** Writes the state of a lane as it is after `row`, with the bounds that it has, whatever else it was before. */
  rebuild(rows: StateRows, layout: Layout, row: number, lane: number): void;
  readonly bounds?: StateBounds<Layout>;
}

/** For states whose exactness depends on bounds of the values, which are chosen for each lane. */
export interface StateBounds<Layout extends object> {
  /** Numbers of the vectors that hold bounds. */
  vectors(layout: Layout): readonly number[];
  /** Whether the value of `row` reaches a bound: the state as it is before that row is then rebuilt with others. */
  isReached(rows: StateRows, layout: Layout, row: number, lane: number): boolean;
  /** Whether a bound is far above the values of the window that ends with `row`. */
  isWide(rows: StateRows, layout: Layout, row: number, lane: number): boolean;
  /** Writes bounds that hold for the window that ends with `row`, and for the row before it. */
  choose(rows: StateRows, layout: Layout, row: number, lane: number): void;
}

/** Any state: what it is of, and gives, is known to the operators that use it. */
export type AnyWindowState = Pick<WindowState<never, object, unknown>, "kind" | "rebuild" | "bounds">;

/** A series argument of a rolling operator: today's value, and the rows before it. */
export interface Series {
  readonly now: Value;
  /** The column of the plan that holds its rows: series with the same number are the same. */
  readonly column: number;
  /** The range of all its values, if it is known: 0..1 or -1..1. */
  readonly range: "unit" | "signed_unit" | null;
}

/** The last rows of some series, for code in a function of its own. */
export interface RowWalk {
  /** Number of rows. */
  readonly rowCount: Value;
  /** Emits a loop over the rows, newest first, with the values of the series. */
  each(emit: (...values: Value[]) => void): void;
}

/**
 * Emits the code of a rolling operator, of primitives: what windows carry from row to row, and the rows themselves. The
 * statistics over them are the functions of `rolling`, which `lower` may compose: their results are exact values rounded
 * once, null rule included. Where the code leaves a cell undecided, it gets the value of the operator's reference, and
 * what the lowering makes of it is ignored.
 */
export interface WindowBuilder extends StepBuilder {
  readonly laneCount: number;
  /** The number of the current row, from 0. */
  readonly rowNumber: Value;
  /** The value `rows` rows ago; null before the first row. */
  lag(x: Series, rows: number): Value;
  /** What the state gives in the current row; equal keys share one state. */
  state<Of, Layout extends object, Now>(state: WindowState<Of, Layout, Now>, of: Of): Now;
  /** A value that several operators share, by its key. */
  once<T>(key: string, emit: () => T): T;
  /**
   * Emits a function, once per module, that goes over the last rows of the series: for loops in code that seldom runs.
   * Values reach it through `passed`, and leave it as results. It is recognised by the identity of `emit`, so define
   * that once, outside of `lower`.
   */
  walkRows(
    name: string,
    series: readonly Series[],
    rows: number,
    passed: readonly Value[],
    emit: (on: StepBuilder, walk: RowWalk, ...passed: Value[]) => readonly Value[],
  ): readonly Value[];
  /**
   * Leaves lanes undecided: the operator's reference gives their result.
   *
   * @param state the state whose bounds may be too wide; null if none of yours has `bounds`
   */
  leaveOpen(mask: Mask, state: number | null): void;
  /** Vectors of the state that is emitted, by the numbers of its layout. */
  loadVector(vector: number): Value;
  storeVector(vector: number, x: Value): void;
  /** Loads vector `first + index` per lane; a null or negative index loads `first`. */
  loadVectorAt(first: number, index: Value): Value;
  /**
   * 1 plus twice the number of keys in the slots that belong to values below `x`, whose key then goes to the slot whose
   * turn it is. Keys of different values may be equal: where one equals that of `x`, `ofTied` gives the result.
   */
  countKeysBelow(first: number, slots: number, x: Value, ofTied: () => Value): Value;
  /** The value that a ring got `rows` rows ago. */
  loadRing(ring: Ring, rows: number): Value;
  storeRing(ring: Ring, x: Value): void;
  /** Calls `bounds.ensure` of a state for the lanes side by side. */
  ensureBounds(state: number): void;
}
