/**
 * The panel: rows (times, ascending) x lanes (instruments in code-unit order of their symbols).
 * A field is one Float64 column of the panel in row-major order: `values[row * laneCount + lane]`.
 * NaN stands for null.
 */

/** Type of the input's time column; the output keeps it. */
export type TimeType =
  | { readonly kind: "date" }
  | {
      readonly kind: "timestamp";
      readonly unit: "s" | "ms" | "us" | "ns";
      readonly timezone: string | null;
    }
  | { readonly kind: "integer"; readonly bits: 32 | 64 };

export type TimestampType = Extract<TimeType, { kind: "timestamp" }>;

export const UNITS_PER_SECOND = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n } as const;

/** The distinct times of the panel, strictly ascending, one per row. */
export interface TimeColumn {
  readonly name: string;
  readonly type: TimeType;
  /** Of dates the days since 1970-01-01, of timestamps the units since 1970-01-01T00:00:00 UTC, else the integers. */
  readonly values: BigInt64Array;
}

/** A dictionary-encoded group column, e.g. `sector`. */
export interface GroupColumn {
  readonly name: string;
  readonly labels: readonly string[];
  /**
   * Index into `labels`, -1 for null. Length `laneCount` if the group of a lane is the same on every row,
   * `rowCount * laneCount` (row-major) if it changes over time. Backed by shared memory.
   */
  readonly codes: Int32Array<SharedArrayBuffer>;
  readonly changesOverTime: boolean;
}

/** Bars as matrices: rows are times, ascending; lanes are instruments. */
export interface Panel {
  /** Number of times. */
  readonly rowCount: number;
  /** Number of instruments. */
  readonly laneCount: number;
  readonly time: TimeColumn;
  /** The symbol of each lane. In code-unit order, as readers give them, rows of a result are sorted by symbol. */
  readonly symbols: readonly string[];
  /**
   * Numeric columns by name, `[rows x lanes]`: `values[row * laneCount + lane]`, NaN for null. Backed by shared memory, so
   * that executors read them in place.
   */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /**
   * 1 where the input has a row for (row, lane), 0 where the dense panel was filled with nulls. Operators across the row
   * ignore an instrument without a row, whatever the other columns hold.
   */
  readonly present: Uint8Array;
  /** Fields with one value per row for all instruments, also for those without a row. Default: none. */
  readonly seriesNames?: readonly string[] | undefined;
  /** By name, why a column that holds numbers is a group, for messages. */
  readonly groupReasons?: ReadonlyMap<string, string> | undefined;
}
