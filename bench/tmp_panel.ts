import { openDatabase } from "../src/data/duckdb/database.ts";
const WRITER_MEMORY_BYTES = 512 * 2 ** 20;
/** Writes the panel; each number follows from its minute and symbol alone, so that it needs no memory. */
async function writePanel(path: string, rowCount: number, symbols: number): Promise<void> {
  using database = await openDatabase({ memoryBytes: WRITER_MEMORY_BYTES });
  const uniform = (column: number) => `(hash(i * 8 + ${column}) / 18446744073709551616.0)`;
  await database.connection.run(`
    COPY (
      SELECT time, symbol, open, greatest(open, close) * (1 + 0.002 * u3) AS high,
             least(open, close) * (1 - 0.002 * u4) AS low, close, volume,
             (open + close) / 2 * (1 + 0.0001 * u5) AS vwap, volume * close AS amount, close * (1e6 + lane) AS cap
      FROM (
        SELECT TIMESTAMP '2020-01-01' + to_minutes(i // ${symbols}) AS time,
               'S' || lpad((i % ${symbols})::VARCHAR, 6, '0') AS symbol, i % ${symbols} AS lane,
               level * (1 + 0.01 * ${uniform(1)}) AS open, level * (1 + 0.01 * ${uniform(2)}) AS close,
               ${uniform(3)} AS u3, ${uniform(4)} AS u4, ${uniform(5)} AS u5,
               exp(8 + 3 * ${uniform(6)}) AS volume
        FROM (
          SELECT i, (20 + i % ${symbols} / 50) * exp(0.2 * sin(i // ${symbols} / 97 + i % ${symbols})) AS level
          FROM range(${rowCount}) AS rows(i)
        )
      )
    ) TO '${path.replaceAll("'", "''")}' (FORMAT parquet)`);
}


await writePanel("/tmp/w/s4/big/panel.parquet", Math.floor(19*2**30/63/5000)*5000, 5000);
