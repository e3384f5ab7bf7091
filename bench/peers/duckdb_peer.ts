import { DOUBLE, type DuckDBConnection, DuckDBDataChunk, INTEGER, version } from "@duckdb/node-api";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import type { Panel } from "../../src/panel.ts";
import { DUCKDB_FACTORS, type SqlFactor } from "./duckdb_factors.ts";
import { type FactorName, FIELDS } from "./factors.ts";
import type { Peer, PeerRun } from "./peer.ts";

/** Rows that DuckDB takes at a time. */
const CHUNK_ROWS = 2048;

/** DuckDB in this process, on as many threads as it takes by itself; results go to tables in its memory. */
export const DUCKDB_PEER: Peer = {
  name: "duckdb",
  runningSums: [],
  measure: measureDuckdb,
};

async function measureDuckdb(panel: Panel, factors: readonly FactorName[], runs: number): Promise<PeerRun> {
  const database = await openDatabase();
  const { connection } = database;
  const close = async () => database[Symbol.dispose]();
  try {
    await loadBars(connection, panel);
    const queries = factors.map(
      (name) => `CREATE OR REPLACE TEMP TABLE ${name} AS ${factorQuery(DUCKDB_FACTORS[name])}`,
    );
    const wallMs: number[] = [];
    for (let run = 0; run <= runs; run++) {
      const started = performance.now();
      for (const sql of queries) await connection.run(sql);
      if (run > 0) wallMs.push(performance.now() - started);
    }
    const threads = await connection.runAndReadAll("SELECT current_setting('threads')");
    return {
      version: version(),
      threads: Number(threads.getRows()[0]?.[0]),
      wallMs,
      values: (factor) => readValues(connection, factor, panel.rowCount * panel.laneCount),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One query for all factors would take a quarter longer: its windows carry the columns of all factors along. */
function factorQuery({ first = {}, second = {}, value }: SqlFactor): string {
  const columns = (step: NonNullable<SqlFactor["first"]>) =>
    ["*", ...Object.entries(step).map(([name, sql]) => `${sql} AS ${name}`)].join(", ");
  return [
    `WITH first AS (SELECT ${columns(first)} FROM bars),`,
    `second AS (SELECT ${columns(second)} FROM first)`,
    `SELECT row, lane, ${value} AS value FROM second`,
  ].join(" ");
}

async function loadBars(connection: DuckDBConnection, { fields, rowCount, laneCount }: Panel): Promise<void> {
  const columns = FIELDS.map((name) => fields.get(name) as Float64Array);
  const declared = FIELDS.map((name) => `${name} DOUBLE`).join(", ");
  await connection.run(`CREATE TABLE bars (row INTEGER, lane INTEGER, ${declared})`);
  const appender = await connection.createAppender("bars");
  const chunk = DuckDBDataChunk.create([INTEGER, INTEGER, ...FIELDS.map(() => DOUBLE)], CHUNK_ROWS);
  for (let first = 0; first < rowCount * laneCount; first += CHUNK_ROWS) {
    const count = Math.min(CHUNK_ROWS, rowCount * laneCount - first);
    const fill = (column: number, numberOf: (cell: number) => number) => {
      const values = Array.from({ length: count }, (_, index) => numberOf(first + index));
      chunk.setColumnValues(
        column,
        values.map((value) => (Number.isNaN(value) ? null : value)),
      );
    };
    chunk.rowCount = count;
    fill(0, (cell) => Math.floor(cell / laneCount));
    fill(1, (cell) => cell % laneCount);
    for (const [index, values] of columns.entries()) fill(index + 2, (cell) => values[cell]!);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

async function readValues(
  connection: DuckDBConnection,
  factor: FactorName,
  cellCount: number,
): Promise<Float64Array> {
  const values = new Float64Array(cellCount);
  const sql = `SELECT value::DOUBLE FROM ${factor} ORDER BY row, lane`;
  let cell = 0;
  for await (const rows of await connection.stream(sql))
    for (const value of rows.getColumnValues(0)) values[cell++] = value === null ? Number.NaN : Number(value);
  return values;
}
