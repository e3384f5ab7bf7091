import { HAS_ROW } from "../../dag/row_members.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn, Panel } from "../../panel.ts";
import type { RetainedRows } from "../../state/retained_rows.ts";
import type { InputRow } from "../input/bars.ts";
import { LiveInput } from "../input/live_input.ts";
import type { SessionParts } from "../live_program.ts";

/** The kept rows of a session as a panel: what `evaluate` would read. There must be one. */
export function retainedPanel(parts: SessionParts, retained: RetainedRows<InputRow>): Panel {
  const { lanes, groups, series, time } = parts;
  const { oldest, count } = retained;
  const rowCount = count - oldest;
  const laneCount = lanes.sorted.length;
  const newest = retained.get(count - 1).row;
  const read = { fields: [...newest.fields.keys(), HAS_ROW], groups: groups.columns, params: [] };
  const input = new LiveInput(read, lanes.laneCount, 1);
  const { fields: staged, groups: stagedGroups } = input.buffers;
  const fields = new Map(read.fields.map((name) => [name, sharedColumn(rowCount * laneCount)]));
  const codes = new Map(read.groups.map((name) => [name, sharedCodes(rowCount * laneCount)]));
  const times = new BigInt64Array(rowCount);
  const copy = (row: number, from: ArrayLike<number>, to: Float64Array | Int32Array) => {
    for (const [i, lane] of lanes.sortedLanes.entries()) to[row * laneCount + i] = from[lane]!;
  };
  for (let row = 0; row < rowCount; row++) {
    const kept = retained.get(oldest + row).row;
    input.stage(
      0,
      kept,
      series,
      (name) => groups.ofLanes(name),
      () => 0,
    );
    times[row] = kept.time;
    for (const [name, column] of fields) copy(row, staged.get(name)!, column);
    for (const [name, column] of codes) copy(row, stagedGroups.get(name)!.codes, column);
  }
  const present = Uint8Array.from(fields.get(HAS_ROW)!, (hasRow) => (hasRow === 1 ? 1 : 0));
  fields.delete(HAS_ROW);
  const labelled = [...codes].map(([name, column]): [string, GroupColumn] => [
    name,
    { name, labels: groups.labelsOf(name), codes: column, changesOverTime: true },
  ]);
  return {
    rowCount,
    laneCount,
    time: { ...time, values: times },
    symbols: lanes.sorted,
    fields,
    groups: new Map(labelled),
    present,
    seriesNames: series.names,
  };
}
