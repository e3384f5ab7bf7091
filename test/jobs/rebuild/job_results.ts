/** What the sink of a job shows, and what it should. */
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { openDatabase, queryRows } from "../../../src/data/duckdb/database.ts";
import { compile, type Engine, readPanel } from "../../../src/index.ts";
import { type JobFolder, SECTORS } from "../job_folder.ts";

/** Whole numbers below a bound. */
export function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return ((state >>> 8) % below) as number;
  };
}

/** Values by `date symbol`, of each column. */
export type Columns = Map<string, Map<string, number | null>>;

function columnsOf(names: readonly string[], rows: readonly (readonly unknown[])[]): Columns {
  const columns: Columns = new Map(names.slice(2).map((name) => [name, new Map()]));
  for (const [date, symbol, ...values] of rows)
    for (const [index, value] of values.entries())
      columns.get(names[index + 2]!)!.set(`${date} ${symbol}`, value as number | null);
  return columns;
}

/** What a reader sees that resolves the sink once. */
export async function resultsOf({ path, sink }: JobFolder): Promise<Columns> {
  if (sink === "arrow") {
    const folder = realpathSync(join(path, "out"));
    const found: Columns = new Map();
    for (const name of readdirSync(folder).filter((one) => one.startsWith("part-"))) {
      const table = tableFromIPC(readFileSync(join(folder, name)));
      const rows = table.toArray().map((row) => {
        const [time, ...others] = row.toArray() as [number, ...unknown[]];
        return [new Date(time).toISOString().slice(0, 10), ...others];
      });
      for (const [column, values] of columnsOf(table.schema.names as string[], rows)) {
        if (!found.has(column)) found.set(column, new Map());
        for (const entry of values) found.get(column)!.set(...entry);
      }
    }
    return found;
  }
  using database = await openDatabase();
  if (sink === "duckdb") await database.connection.run(`ATTACH '${path}/out.duckdb' AS out (READ_ONLY)`);
  const parts = `read_parquet('${realpathSync(path)}/out/date=*/part-*.parquet', hive_partitioning = false)`;
  const from = sink === "duckdb" ? "out.factors" : parts;
  const described = await queryRows(database, `SELECT column_name FROM (DESCRIBE FROM ${from})`);
  const names = described.map(([name]) => String(name));
  const rows = `SELECT CAST(date AS VARCHAR), * EXCLUDE (date) FROM ${from}`;
  return columnsOf(names, await queryRows(database, rows));
}

/** The values of one evaluation of all bars. */
export async function expectedOf(
  engine: Engine,
  path: string,
  bars: readonly string[],
  text: string,
  k: number,
): Promise<Columns> {
  const all = join(path, "all.csv");
  const [header] = bars[0]!.split("\n");
  writeFileSync(all, [header, ...bars.flatMap((one) => one.trim().split("\n").slice(1))].join("\n"));
  const panel = await readPanel(all, { groups: SECTORS });
  const program = compile(text, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });
  const { table } = await engine.evaluate(program, panel, { params: { k } });
  const rows = table.toArray().map((row) => {
    const [time, ...others] = row.toArray() as [number, ...unknown[]];
    return [new Date(time).toISOString().slice(0, 10), ...others];
  });
  return columnsOf(table.schema.names as string[], rows);
}
