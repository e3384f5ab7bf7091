import type { Value } from "../../operator/lowering.ts";
import type { KeptValue, LaneKernel } from "../emit/lane_kernel.ts";
import type { Ring } from "../memory/state_layout.ts";

export type Extreme = "largest" | "smallest";

/** What the host needs of the ring of one level. */
export interface LevelSite {
  readonly kind: "level";
  readonly extreme: Extreme;
  /** Contents of the ring: the extremes, or the numbers of their rows. */
  readonly holds: "value" | "row";
  readonly skipsNulls: boolean;
  readonly column: number;
  /** Each row of the ring covers the last `2^level` rows of the column. */
  readonly level: number;
  readonly ring: Ring;
}

/**
 * Extremes of windows by doubling: level k holds the extreme of the last 2^k rows, computed from two of level k - 1,
 * and a window of d rows is two overlapping ones of the level below. The cost does not depend on the window, no row
 * costs more than others, and all windows over one series share the levels. With nulls two kinds of levels are kept: in
 * one a null counts as the value that never wins, in the other it may spread (those windows are null anyway).
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

/** Row number of the window's extreme, the oldest of ties. */
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
    return nothingOf(this.#extreme);
  }

  /** The extreme of two values, +0 above -0; undefined with a null. */
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

  /** The extreme of the `2^level` rows that ended `lagRows` rows ago. */
  value(level: number, lagRows: number): Value {
    if (level === 0 && !this.#skipsNulls) {
      return lagRows === 0 ? this.#now : this.#on.load(this.#column, lagRows);
    }
    const { today, ring } = this.#valueLevel(level);
    return lagRows === 0 ? today : this.#on.loadRow(ring, lagRows);
  }

  row(level: number, lagRows: number): Value {
    const on = this.#on;
    if (level === 0) return on.sub(on.rowNumber, on.number(lagRows));
    const { today, ring } = this.#rowLevel(level);
    return lagRows === 0 ? today : on.loadRow(ring, lagRows);
  }

  #valueLevel(level: number): KeptValue {
    const on = this.#on;
    return this.#once("value", level, this.#nothing, () => {
      if (level === 0) return on.select(on.isNull(this.#now), on.number(this.#nothing), this.#now);
      return this.combine(this.value(level - 1, 0), this.value(level - 1, 2 ** (level - 1)));
    });
  }

  #rowLevel(level: number): KeptValue {
    const on = this.#on;
    return this.#once("row", level, 0, () => {
      const half = 2 ** (level - 1);
      const newerWins = this.beats(this.value(level - 1, 0), this.value(level - 1, half));
      return on.select(newerWins, this.row(level - 1, 0), this.row(level - 1, half));
    });
  }

  #once(holds: LevelSite["holds"], level: number, initial: number, emit: () => Value): KeptValue {
    const [extreme, skipsNulls, column] = [this.#extreme, this.#skipsNulls, this.#column];
    const siteOf = (ring: Ring): LevelSite => ({
      kind: "level",
      extreme,
      holds,
      skipsNulls,
      column,
      level,
      ring,
    });
    return this.#on.onceKept(`${this.#key} ${holds} ${level}`, 2 ** level, initial, siteOf, emit);
  }
}

/** The value that never wins. */
export function nothingOf(extreme: Extreme): number {
  return extreme === "largest" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
