import type { Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../lane_kernel.ts";
import type { Ring } from "../state_layout.ts";

export type Extreme = "largest" | "smallest";

/**
 * Extremes of windows by doubling: level k holds the extreme of the last 2^k rows, made from two of level k - 1, and
 * a window of d rows is two overlapping ones of the level below. Flat in the window, no row on which more is done than
 * on others, and all windows over one series share the levels. With nulls present two kinds of levels are kept: in
 * one a null counts as nothing, in the other it may spread (those windows are null anyway).
 */
export function extremeOf(
  on: LaneKernel,
  extreme: Extreme,
  column: number,
  now: Value,
  rows: number,
  skipsNulls: boolean,
): Value {
  const levels = new Levels(on, extreme, column, now, skipsNulls);
  const level = Math.floor(Math.log2(rows));
  const today = levels.value(level, 0);
  const rest = rows - 2 ** level;
  return rest === 0 ? today : levels.combine(today, levels.value(level, rest));
}

/** Number of the row of the window's extreme, the oldest of ties. */
export function rowOfExtreme(
  on: LaneKernel,
  extreme: Extreme,
  column: number,
  now: Value,
  rows: number,
  skipsNulls: boolean,
): Value {
  const levels = new Levels(on, extreme, column, now, skipsNulls);
  const level = Math.floor(Math.log2(rows));
  const rest = rows - 2 ** level;
  const today = levels.row(level, 0);
  if (rest === 0) return today;
  const newerWins = levels.beats(levels.value(level, 0), levels.value(level, rest));
  return on.select(newerWins, today, levels.row(level, rest));
}

class Levels {
  readonly #on: LaneKernel;
  readonly #extreme: Extreme;
  readonly #column: number;
  readonly #now: Value;
  readonly #skipsNulls: boolean;
  readonly #key: string;

  constructor(on: LaneKernel, extreme: Extreme, column: number, now: Value, skipsNulls: boolean) {
    this.#on = on;
    this.#extreme = extreme;
    this.#column = column;
    this.#now = now;
    this.#skipsNulls = skipsNulls;
    this.#key = `${extreme} ${skipsNulls ? "skipping" : "spreading"} ${column}`;
  }

  /** The value that never wins. */
  get #nothing(): number {
    return this.#extreme === "largest" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  /** The extreme of two values, +0 above -0; a null may give anything. */
  combine(a: Value, b: Value): Value {
    const on = this.#on;
    // Both orders differ only in which of two equal values they take: joining their bits settles the sign of zero.
    return this.#extreme === "largest"
      ? on.andBits(on.pmax(a, b), on.pmax(b, a))
      : on.orBits(on.pmin(a, b), on.pmin(b, a));
  }

  beats(newer: Value, older: Value) {
    return this.#extreme === "largest" ? this.#on.gt(newer, older) : this.#on.lt(newer, older);
  }

  /** The extreme of the `2^level` rows that end so many rows ago. */
  value(level: number, lagRows: number): Value {
    if (level === 0 && !this.#skipsNulls) {
      return lagRows === 0 ? this.#now : this.#on.load(this.#column, lagRows);
    }
    const { today, ring } = this.#valueLevel(level);
    return lagRows === 0 ? today : this.#on.loadRow(ring, lagRows);
  }

  /** The number of that extreme's row. */
  row(level: number, lagRows: number): Value {
    const on = this.#on;
    if (level === 0) return on.sub(on.rowNumber, on.number(lagRows));
    const { today, ring } = this.#rowLevel(level);
    return lagRows === 0 ? today : on.loadRow(ring, lagRows);
  }

  #valueLevel(level: number): { today: Value; ring: Ring } {
    const on = this.#on;
    return on.onceKept(`${this.#key} value ${level}`, 2 ** level, this.#nothing, () => {
      if (level === 0) return on.select(on.isNull(this.#now), on.number(this.#nothing), this.#now);
      return this.combine(this.value(level - 1, 0), this.value(level - 1, 2 ** (level - 1)));
    });
  }

  #rowLevel(level: number): { today: Value; ring: Ring } {
    const on = this.#on;
    return on.onceKept(`${this.#key} row ${level}`, 2 ** level, 0, () => {
      const half = 2 ** (level - 1);
      const newerWins = this.beats(this.value(level - 1, 0), this.value(level - 1, half));
      return on.select(newerWins, this.row(level - 1, 0), this.row(level - 1, half));
    });
  }
}
