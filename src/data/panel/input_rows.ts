/** Reads rows of a relation with the panel row and lane of each, in chunks of columns. */
import type { DuckDBDataChunk } from "@duckdb/node-api";
import type { Labels } from "../duckdb/labels.ts";
import { bigintWordsOf, doublesOf, integersOf } from "../duckdb/raw_values.ts";
import { changedMeanwhile, type Relation } from "../duckdb/relation.ts";
import type { FieldRole } from "../read/column_roles.ts";
import type { InputRows } from "./block_cells.ts";
import type { RowRange } from "./panel_source.ts";
import { RowIndex } from "./row_index.ts";
import type { PanelTimes } from "./time_column.ts";

export interface RowQuery {
  readonly times: PanelTimes;
  readonly symbols: Labels;
  readonly fields: readonly FieldRole[];
  readonly groups: readonly Labels[];
  /** Panel rows to read. */
  readonly rows: RowRange;
  /** Whether DuckDB sorts the rows by time; otherwise they are in the order of the file. */
  readonly sorted: boolean;
}

/**
 * Streams the rows. DuckDB works on the next chunk while the caller uses one. Measured with 8 fields in Parquet: 13 million
 * rows per second and core, 4 million if DuckDB has to sort them.
 */
export async function* readRows(
  relation: Relation,
  query: RowQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<InputRows> {
  const { connection } = relation.database;
  signal?.throwIfAborted();
  const interrupt = () => connection.interrupt();
  signal?.addEventListener("abort", interrupt, { once: true });
  let pending: Promise<DuckDBDataChunk | null> = Promise.resolve(null);
  try {
    // On one thread DuckDB sorts 1.5 GB in 128 MiB; on two it runs out of memory, and is hardly faster.
    if (query.sorted) await connection.run("SET threads = 1");
    const result = await connection.stream(rowsSql(query, await query.times.inputOf(query.rows)));
    const locate = rowLocator(relation, query);
    pending = result.fetchChunk();
    for (;;) {
      const chunk = await pending;
      signal?.throwIfAborted();
      if (chunk === null || chunk.rowCount === 0) return;
      pending = result.fetchChunk();
      pending.catch(() => {}); // it may never be awaited
      yield rowsOf(chunk, relation, query, locate);
    }
  } finally {
    signal?.removeEventListener("abort", interrupt);
    await pending.catch(() => {});
  }
}

/** NaN and -1 replace nulls: DuckDB computes them for free, while reading null masks would cost more than the values. */
function rowsSql({ times, symbols, fields, groups, sorted }: RowQuery, input: string): string {
  const columns = [
    times.rankSql,
    `coalesce(${symbols.codeSql}, -1)`,
    ...fields.map(({ sql }) => `coalesce(${sql}, 'nan'::DOUBLE)`),
    ...groups.map(({ codeSql }) => `coalesce(${codeSql}, -1)`),
  ];
  return `SELECT ${columns.join(", ")} FROM ${input}${sorted ? ` ORDER BY ${times.rankSql}` : ""}`;
}

function rowsOf(
  chunk: DuckDBDataChunk,
  relation: Relation,
  { symbols, fields, groups }: RowQuery,
  locate: (chunk: DuckDBDataChunk) => Int32Array,
): InputRows {
  const lanes = positionsOf(integersOf(chunk, 1), symbols);
  if (lanes.includes(-1)) throw changedMeanwhile(relation);
  return {
    rowCount: chunk.rowCount,
    panelRows: locate(chunk),
    lanes,
    fields: fields.map((_, index) => doublesOf(chunk, 2 + index)),
    groups: groups.map((labels, index) => positionsOf(integersOf(chunk, 2 + fields.length + index), labels)),
  };
}

function positionsOf(codes: Int32Array, { positionOfCode }: Labels): Int32Array {
  if (positionOfCode === null) return codes;
  const positions = new Int32Array(codes.length);
  for (let row = 0; row < codes.length; row += 1) positions[row] = positionOfCode[codes[row]!] ?? -1;
  return positions;
}

/** A function that finds the panel rows of a chunk. */
function rowLocator(relation: Relation, { times, rows }: RowQuery): (chunk: DuckDBDataChunk) => Int32Array {
  const { panelRowOfCode, column } = times;
  if (panelRowOfCode !== null) return (chunk) => integersOf(chunk, 0).map((code) => panelRowOfCode[code]!);
  const index = new RowIndex(column.values.subarray(rows.first, rows.end));
  return (chunk) => {
    const words = bigintWordsOf(chunk, 0);
    const panelRows = new Int32Array(words.length / 2);
    for (let row = 0; row < panelRows.length; row += 1) {
      const panelRow = index.rowOf(words[row * 2]!, words[row * 2 + 1]!);
      if (panelRow < 0) throw changedMeanwhile(relation);
      panelRows[row] = rows.first + panelRow;
    }
    return panelRows;
  };
}
