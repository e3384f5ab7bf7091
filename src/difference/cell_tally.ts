import { formatTime } from "../data/time/time_text.ts";
import { UsageError } from "../errors.ts";
import type { TimeType } from "../panel.ts";
import { type ArgumentKind, shownValue } from "../text/argument_kinds.ts";
import { type Distances, isSameValue, NO_DISTANCES, withCell } from "./distance.ts";

/** A cell with two values; null for null, infinities are kept. */
export interface ValuePair {
  readonly time: string;
  readonly symbol: string;
  readonly a: number | null;
  readonly b: number | null;
}

/** The cells of two columns that differ beyond the tolerance. */
export interface DifferingCells extends Distances {
  readonly cellCount: number;
  /** Differing cells that are null in one of the two. */
  readonly nullCount: number;
  /** Largest `|a - b|` among cells that are finite on both sides. */
  readonly absoluteMax: number;
  /** The first in the order of time, then symbol. */
  readonly first: ValuePair;
}

/** What the cells of a tally are named by. */
export interface CellNames {
  readonly symbols: readonly string[];
  readonly timeType: TimeType;
}

/** Counts and measures the cells of two columns that differ. */
export class CellTally {
  #first: { readonly time: bigint; readonly lane: number; readonly a: number; readonly b: number } | null =
    null;
  #cellCount = 0;
  #nullCount = 0;
  #absoluteMax = 0;
  #distances = NO_DISTANCES;

  /** Adds a cell that differs; NaN is null. */
  add(a: number, b: number, time: bigint, lane: number): void {
    this.#first ??= { time, lane, a, b };
    this.#cellCount++;
    if (Number.isNaN(a) || Number.isNaN(b)) this.#nullCount++;
    if (!Number.isFinite(a) || !Number.isFinite(b)) return;
    this.#absoluteMax = Math.max(this.#absoluteMax, Math.abs(a - b));
    this.#distances = withCell(this.#distances, a, b);
  }

  /** Null if no cell was added. */
  found({ symbols, timeType }: CellNames): DifferingCells | null {
    if (this.#first === null) return null;
    const { time, lane, a, b } = this.#first;
    return {
      cellCount: this.#cellCount,
      nullCount: this.#nullCount,
      absoluteMax: this.#absoluteMax,
      ...this.#distances,
      first: { time: formatTime(time, timeType), symbol: symbols[lane]!, a: nullable(a), b: nullable(b) },
    };
  }
}

const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value);

/**
 * Whether two values agree. A tolerance of 0 compares bits; else `|a - b| <= tolerance + tolerance * |b|`. A null and a value
 * never agree, nor do an infinity and any other value.
 */
export function isWithin(a: number, b: number, tolerance: number): boolean {
  if (isSameValue(a, b)) return true;
  if (tolerance === 0 || !Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= tolerance + tolerance * Math.abs(b);
}

export const TOLERANCE: ArgumentKind = {
  what: "a number that is not negative",
  fits: (given) => Number.isFinite(given) && (given as number) >= 0,
  remedy: "give a number that is not negative, e.g. 1e-9",
  refuse: (_, given) =>
    new UsageError(
      "E566",
      `a tolerance of ${shownValue(given)}`,
      "give a number that is not negative, e.g. 1e-9",
    ),
};
