/** The values of a panel: DuckDB says in which row and lane each value belongs, here they are put there. */
import { totalmem } from "node:os";
import type { DuckDBDataChunk, DuckDBVector } from "@duckdb/node-api";
import type { RoleColumn } from "./column_roles.ts";
import { panelTooLarge } from "./errors.ts";
import type { PanelLayout } from "./panel_layout.ts";
import type { Relation } from "./relation.ts";

/** The panel's arrays, all `[rows x lanes]`. */
export interface PanelCells {
  readonly fields: readonly Float64Array<SharedArrayBuffer>[];
  readonly groups: readonly Int32Array<SharedArrayBuffer>[];
  readonly present: Uint8Array<SharedArrayBuffer>;
}

/**
 * Allocates the arrays, all cells null and not present.
 *
 * @throws ResourceError E441 when they would not fit in the machine's memory.
 */
export function allocateCells(relation: Relation, { times, symbols, roles }: PanelLayout): PanelCells {
  const rowCount = times.column.values.length;
  const laneCount = symbols.sorted.length;
  const cellCount = rowCount * laneCount;
  const needBytes = cellCount * (8 * roles.fields.length + 4 * roles.groups.length + 1);
  const tooLarge = () => panelTooLarge(relation.file, rowCount, laneCount, needBytes, totalmem());
  if (needBytes > totalmem()) throw tooLarge();
  try {
    return {
      fields: roles.fields.map(() => new Float64Array(new SharedArrayBuffer(cellCount * 8)).fill(Number.NaN)),
      groups: roles.groups.map(() => new Int32Array(new SharedArrayBuffer(cellCount * 4)).fill(-1)),
      present: new Uint8Array(new SharedArrayBuffer(cellCount)),
    };
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(); // the operating system gives less than it has
    throw error;
  }
}

/**
 * Streams all rows into their cells; false as soon as a cell gets a second row. Nulls come as NaN (-1 for groups) and
 * all columns as DOUBLE, so that no null masks are looked at. 5 million rows x 6 fields from Parquet: 1.1 s on 2 cores.
 */
export async function scatterRows(
  relation: Relation,
  layout: PanelLayout,
  cells: PanelCells,
): Promise<boolean> {
  const { symbols, groupLabels } = layout;
  const laneCount = symbols.sorted.length;
  const result = await relation.database.connection.stream(rowsSql(layout));
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return true;
    const cellIndexes = locateCells(chunk, symbols.codeOfId, laneCount);
    if (!markPresent(cellIndexes, cells.present)) return false;
    cells.fields.forEach((values, index) => {
      scatter(chunk.getColumnVector(2 + index), cellIndexes, values);
    });
    cells.groups.forEach((codes, index) => {
      const ids = chunk.getColumnVector(2 + cells.fields.length + index);
      scatterCodes(ids, cellIndexes, groupLabels[index]!.codeOfId, codes);
    });
  }
}

function rowsSql({ times, symbolSql, roles }: PanelLayout): string {
  const value = ({ sql }: RoleColumn) => `coalesce(${sql}, 'nan'::DOUBLE)`;
  const groupId = (_: RoleColumn, index: number) => `CAST(group${index}.id AS DOUBLE)`;
  const groupJoin = ({ sql }: RoleColumn, index: number) =>
    `JOIN group${index} ON group${index}.label IS NOT DISTINCT FROM ${sql}`;
  return `SELECT ${[
    "CAST(times.panelRow AS DOUBLE)",
    "CAST(lanes.id AS DOUBLE)",
    ...roles.fields.map(value),
    ...roles.groups.map(groupId),
  ].join(", ")}
    FROM raw JOIN times ON times.key = ${times.keySql} JOIN lanes ON lanes.label = ${symbolSql}
    ${roles.groups.map(groupJoin).join(" ")}`;
}

function locateCells(chunk: DuckDBDataChunk, laneOfId: Int32Array, laneCount: number): Float64Array {
  const panelRows = chunk.getColumnVector(0);
  const laneIds = chunk.getColumnVector(1);
  const cellIndexes = new Float64Array(chunk.rowCount);
  for (let row = 0; row < cellIndexes.length; row += 1) {
    cellIndexes[row] = numberAt(panelRows, row) * laneCount + laneOfId[numberAt(laneIds, row)]!;
  }
  return cellIndexes;
}

function markPresent(cellIndexes: Float64Array, present: Uint8Array): boolean {
  for (const cell of cellIndexes) {
    if (present[cell] === 1) return false;
    present[cell] = 1;
  }
  return true;
}

function scatter(vector: DuckDBVector, cellIndexes: Float64Array, values: Float64Array): void {
  for (let row = 0; row < cellIndexes.length; row += 1) values[cellIndexes[row]!] = numberAt(vector, row);
}

function scatterCodes(
  ids: DuckDBVector,
  cellIndexes: Float64Array,
  codeOfId: Int32Array,
  codes: Int32Array,
): void {
  for (let row = 0; row < cellIndexes.length; row += 1)
    codes[cellIndexes[row]!] = codeOfId[numberAt(ids, row)]!;
}

/** All columns of `rowsSql` are DOUBLE without nulls. */
function numberAt(vector: DuckDBVector, row: number): number {
  return vector.getItem(row) as number;
}
