import type { GroupColumn, Panel } from "../src/panel.ts";

type Cell = number | string | null;

/**
 * A small panel from vectors: `fields.x[row][lane]`. Columns of texts become groups that change over time.
 * Rows are days from 1970-01-01, lanes are called L0, L1, ...; every cell is present.
 */
export function panelOf(columns: Readonly<Record<string, readonly (readonly Cell[])[]>>): Panel {
  const first = Object.values(columns)[0] ?? [];
  const [rowCount, laneCount] = [first.length, first[0]?.length ?? 0];
  const fields = new Map<string, Float64Array<SharedArrayBuffer>>();
  const groups = new Map<string, GroupColumn>();
  for (const [name, rows] of Object.entries(columns)) {
    const cells = rows.flat();
    if (cells.some((cell) => typeof cell === "string")) groups.set(name, groupOf(name, cells));
    else fields.set(name, sharedFloats(cells.map((cell) => (cell === null ? Number.NaN : Number(cell)))));
  }
  return {
    rowCount,
    laneCount,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `L${lane}`),
    fields,
    groups,
    present: new Uint8Array(rowCount * laneCount).fill(1),
  };
}

function sharedFloats(values: readonly number[]): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(values.length * 8));
  column.set(values);
  return column;
}

function groupOf(name: string, cells: readonly Cell[]): GroupColumn {
  const labels = [...new Set(cells.filter((cell) => cell !== null))].map(String).sort();
  const codes = new Int32Array(new SharedArrayBuffer(cells.length * 4));
  codes.set(cells.map((cell) => (cell === null ? -1 : labels.indexOf(String(cell)))));
  return { name, labels, codes, changesOverTime: true };
}
