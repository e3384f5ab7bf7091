import type { Panel } from "../../src/panel.ts";

/** Rows of a panel without groups that change, by views of its memory. */
export function rowsOf(panel: Panel, first: number, end: number): Panel {
  const { laneCount, time, fields, present } = panel;
  const cut = <T extends Float64Array | Uint8Array>(values: T) =>
    values.subarray(first * laneCount, end * laneCount) as T;
  return {
    ...panel,
    rowCount: end - first,
    time: { ...time, values: time.values.subarray(first, end) },
    fields: new Map([...fields].map(([name, values]) => [name, cut(values)])),
    present: cut(present),
  };
}
