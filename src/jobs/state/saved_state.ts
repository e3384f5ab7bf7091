/** What a checkpoint of a job holds: kept rows of input and recurrences, of which its state is made again. */
import { deserialize, serialize } from "node:v8";
import type { SavedStream } from "../../evaluation/factor_stream.ts";
import type { GroupColumn } from "../../panel.ts";
import type { LaneSource } from "./lane_source.ts";

export interface SavedState extends SavedStream {
  /** Of the lanes, before the one that is absent in all rows. */
  readonly symbols: readonly string[];
  readonly labels: LaneSource["labels"];
}

export function packState(state: SavedState): Uint8Array {
  return serialize(state);
}

/** Null for bytes that another version wrote. */
export function unpackState(bytes: Uint8Array): SavedState | null {
  try {
    return deserialize(bytes) as SavedState;
  } catch {
    return null;
  }
}

/**
 * The state with a lane for each of these symbols, and one more. New symbols have been absent in all rows, as the last
 * lane was; its recurrences are theirs.
 *
 * @param groups groups that a lane has in all rows
 */
export function inLanes(
  { symbols: before, labels, kept, stretch }: SavedState,
  symbols: readonly string[],
  groups: ReadonlyMap<string, GroupColumn>,
): SavedState {
  if (kept === null) return { symbols, labels, kept, stretch };
  const laneBefore = new Map(before.map((symbol, lane) => [symbol, lane]));
  const lanes = Int32Array.from([...symbols, ""], (symbol) => laneBefore.get(symbol) ?? before.length);
  const moved = <T extends Lanes>(values: T): T => {
    const isSame = lanes.length === before.length + 1;
    return isSame ? values : spread(values, lanes, before.length + 1);
  };
  const rows = kept.rows.map(({ row, params }) => ({
    row: {
      time: row.time,
      present: moved(row.present!),
      fields: movedAll(row.fields as ReadonlyMap<string, Float64Array>, moved),
      groups: new Map([
        ...movedAll(row.groups, moved),
        ...[...groups].map(([name, { codes }]) => [name, codes] as const),
      ]),
    },
    params,
  }));
  const points = kept.points.map((point) => ({ ...point, values: movedAll(point.values, moved) }));
  return { symbols, labels, kept: { ...kept, rows, points }, stretch };
}

type Lanes = Float64Array | Int32Array | Uint8Array;

function movedAll<T extends Lanes>(columns: ReadonlyMap<string, T>, moved: (column: T) => T): Map<string, T> {
  return new Map([...columns].map(([name, column]) => [name, moved(column)]));
}

/** Vectors `[vectors x lanes]`, each with the values of these lanes of before. */
function spread<T extends Lanes>(values: T, lanes: Int32Array, laneCount: number): T {
  const vectorCount = values.length / laneCount;
  const target = new (values.constructor as new (length: number) => T)(vectorCount * lanes.length);
  for (let vector = 0; vector < vectorCount; vector++)
    for (let lane = 0; lane < lanes.length; lane++)
      target[vector * lanes.length + lane] = values[vector * laneCount + lanes[lane]!]!;
  return target;
}
