import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase, queryRows } from "../../../src/data/duckdb/database.ts";
import { compile, Engine, readPanel } from "../../../src/index.ts";
import { trials } from "../../support/trials.ts";
import { JobFolder, keptLog, realBars, SECTORS, SILENT, type Sink } from "../job_folder.ts";

/** Random lives of a job whose formulas change: after each run its sink has the values of one evaluation of all rows. */

const EXPRESSIONS = [
  "rank(delta(close, 3))",
  "ema(close, 5)",
  "ts_mean(high - low, 4) / close",
  "group_neutralize(rank(volume), sector)",
  "cum_sum(volume)",
  "ts_max(ema(close, 3), 4)",
  "close * k",
  "log(close - close)",
];
const FILES = 12;
const BARS = realBars(FILES, 2, 6);

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return ((state >>> 8) % below) as number;
  };
}

/** Values by `date symbol`, of each column. */
type Columns = Map<string, Map<string, number | null>>;

function columnsOf(names: readonly string[], rows: readonly (readonly unknown[])[]): Columns {
  const columns: Columns = new Map(names.slice(2).map((name) => [name, new Map()]));
  for (const [date, symbol, ...values] of rows)
    for (const [index, value] of values.entries())
      columns.get(names[index + 2]!)!.set(`${date} ${symbol}`, value as number | null);
  return columns;
}

/** What a reader sees that resolves the sink once. */
async function resultsOf({ path, sink }: JobFolder): Promise<Columns> {
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

async function expectedOf(path: string, bars: readonly string[], text: string, k: number): Promise<Columns> {
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

async function live(seed: number, sink: Sink): Promise<void> {
  const below = random(seed);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const factors = new Map([
    ["a", EXPRESSIONS[0]!],
    ["b", EXPRESSIONS[1]!],
  ]);
  const removed: Columns = new Map();
  let [k, names, given] = [2, 2, 1];
  const textOf = () =>
    `param k = 1\n${[...factors].map(([name, expression]) => `${name} = ${expression}\n`).join("")}a_last = close * k\n`;
  using folder = new JobFolder({ sink, formulas: textOf(), job: `params: { k: ${k} }` });
  folder.addBars(BARS[0]!);
  expect(await folder.run()).toBeNull();
  const events: Record<string, () => void> = {
    bars: () => {
      if (given < FILES) folder.addBars(BARS[given++]!);
    },
    reorder: () => {
      const [first, ...others] = [...factors];
      factors.clear();
      for (const entry of [...others, first!]) factors.set(...entry);
    },
    add: () => factors.set(`f${names++}`, pick(EXPRESSIONS)),
    change: () => factors.set(pick([...factors.keys()]), pick(EXPRESSIONS)),
    remove: () => {
      if (factors.size > 1) factors.delete(pick([...factors.keys()]));
    },
    rename: () => {
      const name = pick([...factors.keys()]);
      factors.set(`f${names++}`, factors.get(name)!);
      factors.delete(name);
    },
    param: () => {
      k = below(5);
    },
  };
  const history: string[] = [];
  for (let step = 0; step < 6; step++) {
    const before = await resultsOf(folder);
    for (let count = 1 + below(2); count > 0; count--) {
      const event = pick(Object.keys(events));
      history.push(event);
      events[event]!();
    }
    const comment = below(3) === 0 ? "# a comment\r\n" : "";
    folder.configure({ sink, formulas: comment + textOf(), job: `params: { k: ${k} }` });
    const killedAt = below(3) === 0 ? pick(["staged", "prepared", "published"]) : null;
    const kill = (fields: object) => {
      if ((fields as { step?: string }).step === killedAt) throw new Error("killed");
    };
    const failure = await folder.run({ ...SILENT, debug: kill });
    if (failure !== null) {
      expect(String(failure)).toContain("killed");
      expect(await folder.run(), history.join()).toBeNull();
    }
    const found = await resultsOf(folder);
    const expected = await expectedOf(folder.path, BARS.slice(0, given), textOf(), k);
    for (const [name, values] of expected)
      expect(found.get(name), `${name} after ${history}`).toEqual(values);
    for (const name of removed.keys()) if (expected.has(name)) removed.delete(name);
    for (const [name, values] of found) {
      if (expected.has(name)) continue;
      const last = removed.get(name) ?? before.get(name)!;
      const rows = [...values].map(([key, value]) => [key, last.get(key) ?? null, value] as const);
      for (const [key, was, is] of rows) expect(is, `${name} of ${key}, removed, after ${history}`).toBe(was);
      removed.set(name, values);
    }
    const kept = [...found.keys()].filter((name) => !expected.has(name));
    expect([...removed.keys()].sort()).toEqual(kept.sort());
  }
}

describe.each(["parquet", "arrow", "duckdb"] as const)("a sink of %s", (sink) => {
  test.each(Array.from({ length: trials(2, 60) }, (_, index) => index + 1))("life %i", async (seed) => {
    await live(seed, sink);
  }, 120_000);
});

test("formulas may change as long as there are no results", async () => {
  using folder = new JobFolder({ formulas: "param k = 1\na = log(close) * k\n" });
  const path = folder.addBars(BARS[0]!.replace(/\d+\.\d+/, "none"));
  expect(String(await folder.run())).toContain("E3");
  const now = "param k = 1\nb = ema(close, 5) * k\n";
  folder.configure({ formulas: now });
  writeFileSync(path, BARS[0]!);
  expect(await folder.run()).toBeNull();
  expect(await folder.run()).toBeNull();
  expect(await resultsOf(folder)).toEqual(await expectedOf(folder.path, BARS.slice(0, 1), now, 1));
});

test("a large rebuild waits, and new rows go on with the formulas of before", async () => {
  using folder = new JobFolder({ formulas: "param k = 1\na = ema(close, 5) * k\n", job: "limit: 10" });
  folder.addBars(BARS[0]!);
  expect(await folder.run()).toBeNull();
  const now = "param k = 1\na = ema(close, 7) * k\n";
  folder.configure({ formulas: now, job: "limit: 10" });
  folder.addBars(BARS[1]!);
  const { log, messages } = keptLog();
  expect(await folder.run(log)).toBeNull();
  expect(messages.join("\n")).toContain(
    'waiting {"job":"bars","changed":"formulas","factors":["a"],"cells":24}',
  );
  expect(await resultsOf(folder)).toEqual(
    await expectedOf(folder.path, BARS.slice(0, 2), "param k = 1\na = ema(close, 5) * k\n", 1),
  );
  expect(await folder.run(SILENT, {}, { apply: "bars" })).toBeNull();
  expect(await resultsOf(folder)).toEqual(await expectedOf(folder.path, BARS.slice(0, 2), now, 1));
});
