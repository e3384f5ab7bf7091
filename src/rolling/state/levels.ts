import type { Mask, Value } from "../../operator/lowering.ts";
import type { Ring, Series, StateRows, WindowBuilder, WindowState } from "../../operator/window_code.ts";

export type Extreme = "largest" | "smallest";

/** Extremes of a series. */
interface OfSeries {
  readonly extreme: Extreme;
  readonly series: Series;
  /** True if a null counts as the value that never wins; else it may spread: those windows are null anyway. */
  readonly skipsNulls: boolean;
}

interface OfLevel extends OfSeries {
  readonly level: number;
  /** Contents of the ring: the extremes, or the numbers of their rows. */
  readonly holds: "value" | "row";
}

interface Layout extends Omit<OfLevel, "series"> {
  readonly column: number;
  readonly ring: Ring;
}

/** A value whose earlier rows are kept in a ring. */
interface Kept {
  readonly today: Value;
  readonly ring: Ring;
}

/**
 * Extremes of windows by doubling: level k holds the extreme of the last 2^k rows, computed from two of level k - 1,
 * and a window of d rows is two overlapping ones of the level below. The cost does not depend on the window, no row
 * costs more than others, and all windows over one series share the levels.
 */
export const level: WindowState<OfLevel, Layout, Kept> = {
  kind: "level",
  keyOf: ({ extreme, series, skipsNulls, level: of, holds }) =>
    `${extreme} ${skipsNulls ? "skipping" : "spreading"} ${series.column} ${holds} ${of}`,
  reserve: (layout, { series, ...of }) => ({
    ...of,
    column: series.column,
    ring: layout.ring(2 ** of.level, of.holds === "value" ? neverWins(of.extreme) : 0),
  }),
  emit(on, { ring, level: of, holds }, series) {
    const today =
      holds === "value" ? valueOfToday(on, series, of) : rowOfTwo(on, series, of - 1, 2 ** (of - 1));
    on.storeRing(ring, today);
    return { today, ring };
  },
  rebuild,
};

/** The value that never wins. */
export const neverWins = (extreme: Extreme): number =>
  extreme === "largest" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;

/** The extreme of two values, +0 above -0; undefined with a null. */
function combine(on: WindowBuilder, extreme: Extreme, a: Value, b: Value): Value {
  // Both orders differ only in which of two equal values they take: joining their bits settles the sign of zero.
  return extreme === "largest"
    ? on.andBits(on.pmax(a, b), on.pmax(b, a))
    : on.orBits(on.pmin(a, b), on.pmin(b, a));
}

const beats = (on: WindowBuilder, extreme: Extreme, newer: Value, older: Value): Mask =>
  extreme === "largest" ? on.gt(newer, older) : on.lt(newer, older);

/** The extreme of the `2^level` rows that ended `rows` rows ago. */
function extremeValue(on: WindowBuilder, of: OfSeries, power: number, rows: number): Value {
  if (power === 0 && !of.skipsNulls) return rows === 0 ? of.series.now : on.lag(of.series, rows);
  return keptValue(on, on.state(level, { ...of, level: power, holds: "value" }), rows);
}

/** The number of its row, the oldest of ties. */
function extremeRow(on: WindowBuilder, of: OfSeries, power: number, rows: number): Value {
  if (power === 0) return on.sub(on.rowNumber, on.number(rows));
  return keptValue(on, on.state(level, { ...of, level: power, holds: "row" }), rows);
}

const keptValue = (on: WindowBuilder, { today, ring }: Kept, rows: number): Value =>
  rows === 0 ? today : on.loadRing(ring, rows);

/** The extreme of two windows of `2^level` rows: of today, and of `rows` rows ago. */
export function extremeOfTwo(on: WindowBuilder, of: OfSeries, power: number, rows: number): Value {
  const today = extremeValue(on, of, power, 0);
  return rows === 0 ? today : combine(on, of.extreme, today, extremeValue(on, of, power, rows));
}

/** The number of its row. */
export function rowOfTwo(on: WindowBuilder, of: OfSeries, power: number, rows: number): Value {
  if (rows === 0) return extremeRow(on, of, power, 0);
  const newerWins = beats(on, of.extreme, extremeValue(on, of, power, 0), extremeValue(on, of, power, rows));
  return on.select(newerWins, extremeRow(on, of, power, 0), extremeRow(on, of, power, rows));
}

function valueOfToday(on: WindowBuilder, of: OfSeries, power: number): Value {
  const { extreme, series } = of;
  if (power > 0) return extremeOfTwo(on, of, power - 1, 2 ** (power - 1));
  return on.select(on.isNull(series.now), on.number(neverWins(extreme)), series.now);
}

/** One lane's extremes and their row numbers; the arrays are used again. */
let values = new Float64Array(0);
let numbers = new Float64Array(0);

/** Fills the rows up to `row` that later rows read, as far as the column's history goes. */
function rebuild(rows: StateRows, layout: Layout, row: number, lane: number): void {
  const { column, level: power, holds, ring } = layout;
  const span = 2 ** power;
  const kept = Math.min(span, rows.historyRows(column) - span + 1);
  const count = kept + span - 1;
  const first = row - count + 1;
  load(rows, layout, row, count, lane);
  for (let half = 1; half < span; half *= 2) double(layout, half, count);
  const made = holds === "value" ? values : numbers;
  for (let i = span - 1; i < count; i++) rows.writeRing(ring, first + i, lane, made[i]!);
}

function load(
  rows: StateRows,
  { column, skipsNulls, extreme }: Layout,
  row: number,
  count: number,
  lane: number,
): void {
  if (values.length < count) {
    values = new Float64Array(count);
    numbers = new Float64Array(count);
  }
  const window = rows.window(column, row, count, lane);
  for (let i = 0; i < count; i++) {
    values[i] = skipsNulls && Number.isNaN(window[i]) ? neverWins(extreme) : window[i]!;
    numbers[i] = row - count + 1 + i;
  }
}

/** Turns extremes of `half` rows into those of twice as many, newest first, so that older ones still cover `half` rows. */
function double({ extreme, holds }: Layout, half: number, count: number): void {
  const isLargest = extreme === "largest";
  for (let i = count - 1; i >= half; i--) {
    const [newer, older] = [values[i]!, values[i - half]!];
    if (holds === "row" && !(isLargest ? newer > older : newer < older)) numbers[i] = numbers[i - half]!;
    values[i] = isLargest ? Math.max(newer, older) : Math.min(newer, older);
  }
}
