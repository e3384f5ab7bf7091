import { formatTime } from "../data/time/time_text.ts";
import { UsageError } from "../errors.ts";
import type { TimeType } from "../panel.ts";
import { type ArgumentKind, shownValue } from "../text/argument_kinds.ts";
import { isSameValue, relativeDistance, ulpDistance } from "./distance.ts";

/** A cell with two values; null for null, infinities are kept. */
export interface ValuePair {
  readonly time: string;
  readonly symbol: string;
  readonly a: number | null;
  readonly b: number | null;
}

/** The cells of two columns that differ beyond the tolerance. */
export interface DifferingCells {
  readonly cellCount: number;
  /** Differing cells that are null in one of the two. */
  readonly nullCount: number;
  /** Differing cells that are infinite in one of the two or both, and null in neither. */
  readonly infiniteCount: number;
  /** Largest `|a - b|` among cells that are finite on both sides, as are those of the other distances. */
  readonly absoluteMax: number;
  /** Largest `|a - b|` divided by the larger magnitude. */
  readonly relativeMax: number;
  /** In units in the last place: neighbouring doubles are 1 apart. */
  readonly ulpMax: number;
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
  readonly #tolerance: number;
  readonly #counts = {
    cellCount: 0,
    nullCount: 0,
    infiniteCount: 0,
    absoluteMax: 0,
    relativeMax: 0,
    ulpMax: 0,
  };
  #first: { readonly time: bigint; readonly lane: number; readonly a: number; readonly b: number } | null =
    null;

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  /** Takes a cell with its two values; NaN is null. */
  take(a: number, b: number, time: bigint, lane: number): void {
    if (isWithin(a, b, this.#tolerance)) return;
    const counts = this.#counts;
    this.#first ??= { time, lane, a, b };
    counts.cellCount++;
    if (Number.isNaN(a) || Number.isNaN(b)) counts.nullCount++;
    else if (!Number.isFinite(a) || !Number.isFinite(b)) counts.infiniteCount++;
    else {
      counts.absoluteMax = Math.max(counts.absoluteMax, Math.abs(a - b));
      counts.relativeMax = Math.max(counts.relativeMax, relativeDistance(a, b));
      counts.ulpMax = Math.max(counts.ulpMax, ulpDistance(a, b));
    }
  }

  /** Null if no cell differed. */
  found({ symbols, timeType }: CellNames): DifferingCells | null {
    if (this.#first === null) return null;
    const { time, lane, a, b } = this.#first;
    const cell = { time: formatTime(time, timeType), symbol: symbols[lane]! };
    return { ...this.#counts, first: { ...cell, a: nullable(a), b: nullable(b) } };
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

const REMEDY = "give a number that is not negative, e.g. 1e-9";

export const TOLERANCE: ArgumentKind = {
  what: "a number that is not negative",
  fits: (given) => Number.isFinite(given) && (given as number) >= 0,
  remedy: REMEDY,
  refuse: (_, given) => new UsageError("E528", `a tolerance of ${shownValue(given)}`, REMEDY),
};
