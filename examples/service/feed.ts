/** A feed of bars that can be asked again: here it replays a panel. */
import type { Bar, Panel } from "factorloom";

export type TimedBar = Bar & { readonly time: bigint };

/** So often it gives the last bars again, as a feed does whose connection was lost. */
const AGAIN_EVERY = 7;
const AGAIN_BARS = 3;

/**
 * The bars from a time on, oldest first. Each comes at least once: those of the last `AGAIN_BARS` again and again.
 *
 * @param from a time in units of the panel's times; the bar of this time is among them
 */
export function* feed(panel: Panel, from: bigint): Generator<TimedBar, void, void> {
  const first = panel.time.values.findIndex((time) => time >= from);
  if (first < 0) return;
  for (let row = first; row < panel.rowCount; row++) {
    yield barOf(panel, row);
    if (row % AGAIN_EVERY > 0) continue;
    for (let again = Math.max(first, row - AGAIN_BARS + 1); again <= row; again++) yield barOf(panel, again);
  }
}

/** One bar: only the symbols that have a row of that time. */
function barOf(panel: Panel, row: number): TimedBar {
  const { laneCount, symbols, present, fields, time } = panel;
  const lanes = symbols.map((_, lane) => lane).filter((lane) => present[row * laneCount + lane] === 1);
  const valuesOf = (values: Float64Array) => lanes.map((lane) => values[row * laneCount + lane]!);
  return {
    time: time.values[row]!,
    symbols: lanes.map((lane) => symbols[lane]!),
    fields: Object.fromEntries([...fields].map(([name, values]) => [name, valuesOf(values)])),
  };
}
