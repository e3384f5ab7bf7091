/**
 * Healthy input files that are damaged: each is refused, or gives what the healthy one gives. Only damage that can be seen in
 * a file as such is made: another digit in a CSV file, and flipped bits inside the pages of a Parquet file (which carry no
 * checksums), are other data.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { tableFromIPC, tableToIPC } from "apache-arrow";
import { expect, test } from "vitest";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { runSql, scratchPath, writeScratch } from "./scratch.ts";

const FORMATS = ["csv", "csv.gz", "parquet", "arrow"] as const;
type Format = (typeof FORMATS)[number];

const random = new Seeded();
const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;

/** Bars of five symbols over forty days; a cell in ten is empty. */
const BARS = `SELECT DATE '2020-01-01' + CAST(d AS INTEGER) AS date, 'S' || s AS symbol,
    CASE WHEN (d * 5 + s) % 10 = 3 THEN NULL ELSE 100 + d + s / 7 END AS close,
    CAST(1000 * s + d AS BIGINT) AS volume, ['tech', 'bank'][1 + s % 2] AS sector
  FROM range(40) AS days(d), range(5) AS symbols(s)`;

/** The rows of a query as the bytes of a file. */
async function bytesOf(format: Format, query: string): Promise<Buffer> {
  const path = scratchPath(format === "parquet" ? "made.parquet" : "made.csv");
  await runSql(`COPY (${query}) TO '${path}' (FORMAT ${format === "parquet" ? "parquet" : "csv"})`);
  const bytes = readFileSync(path);
  if (format === "csv.gz") return gzipSync(bytes);
  return format === "arrow" ? await arrowOf(query) : bytes;
}

/** By way of JSON: DuckDB does not write Arrow here. */
async function arrowOf(query: string): Promise<Buffer> {
  const { tableFromJSON } = await import("apache-arrow");
  const columns = (await runSql(`SELECT column_name FROM (DESCRIBE ${query})`)).map(([name]) => String(name));
  const rows = (await runSql(query)).map((row) =>
    Object.fromEntries(
      row.map((value, at) => [columns[at]!, typeof value === "bigint" ? Number(value) : value]),
    ),
  );
  return Buffer.from(tableToIPC(tableFromJSON(rows), "file"));
}

/** Changes of the content of a file; other symbols, times or values are expected to be refused. */
const QUERIES: Readonly<Record<string, string>> = {
  "a row twice": `(${BARS}) UNION ALL (FROM (${BARS}) WHERE symbol = 'S3' AND date = DATE '2020-01-11')`,
  "all rows twice": `(${BARS}) UNION ALL (${BARS})`,
  "no times": `SELECT * EXCLUDE (date) FROM (${BARS})`,
  "no symbols": `SELECT * EXCLUDE (symbol) FROM (${BARS})`,
  "an empty time": `SELECT * REPLACE (CASE WHEN symbol = 'S2' AND date = DATE '2020-01-07' THEN NULL ELSE date END AS date) FROM (${BARS})`,
  "an empty symbol": `SELECT * REPLACE (nullif(symbol, 'S4') AS symbol) FROM (${BARS})`,
  "text among numbers": `SELECT * REPLACE (CASE WHEN close > 130 THEN 'n/a' ELSE CAST(close AS VARCHAR) END AS close) FROM (${BARS})`,
  "a column of lists for times": `SELECT * REPLACE ([date] AS date) FROM (${BARS})`,
  "times that are texts of another kind": `SELECT * REPLACE (CASE WHEN symbol = 'S1' THEN 'soon' ELSE CAST(date AS VARCHAR) END AS date) FROM (${BARS})`,
  "no rows": `FROM (${BARS}) LIMIT 0`,
};

/** Changes that say the same. */
const SAME: Readonly<Record<string, string>> = {
  "as it is": BARS,
  "columns in another order": `SELECT volume, sector, symbol, close, date FROM (${BARS})`,
  "rows in another order": `FROM (${BARS}) ORDER BY symbol, date DESC`,
};

/** Damage to the bytes of a file. */
const DAMAGES: Readonly<Record<string, (bytes: Buffer, format: Format) => Buffer | null>> = {
  "cut off": (bytes, format) => {
    // A CSV file without compression that ends with a line is a shorter table.
    if (format === "csv")
      return bytes.subarray(0, bytes.lastIndexOf(",", 1 + random.below(bytes.length - 60) + 50));
    return bytes.subarray(0, 1 + random.below(bytes.length - 1));
  },
  "without its start": (bytes) => bytes.subarray(1 + random.below(bytes.length - 2)),
  "a flip in what tells its structure": (bytes, format) => {
    if (format === "csv") return null;
    const copy = Buffer.from(bytes);
    // Of gzip any byte behind the header; of Parquet and Arrow the magic and the length of the footer at the end.
    const at =
      format === "csv.gz"
        ? 10 + random.below(bytes.length - 10)
        : bytes.length - 1 - random.below(format === "parquet" ? 8 : 10);
    copy[at]! ^= 1 << random.below(8);
    return copy;
  },
  "named as another format": (bytes, format) => (format === "csv" ? gzipSync(bytes) : bytes),
  empty: () => Buffer.alloc(0),
};

async function contentOf(path: string): Promise<unknown> {
  const { time, symbols, fields, groups, present } = await readPanel(path);
  const columns = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  const labels = [...groups.values()].map(({ name, labels, codes }) => [
    name,
    [...codes].map((code) => labels[code]),
  ]);
  return { time: [time.type, [...time.values].map(String)], symbols, columns, labels, present: [...present] };
}

/** The error's code, null where the file was read. */
async function codeOf(path: string, healthy: unknown, say: string): Promise<string | null> {
  try {
    expect(await contentOf(path), say).toEqual(healthy);
    return null;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || !/^E\d{3}$/.test(code)) throw error;
    return code;
  }
}

test("a damaged input is refused or read as the healthy one", async () => {
  const counts = { refused: 0, same: 0, controls: 0 };
  const healthy = new Map<Format, { bytes: Buffer; content: unknown }>();
  for (const format of FORMATS) {
    const bytes = await bytesOf(format, BARS);
    healthy.set(format, { bytes, content: await contentOf(writeScratch(`healthy.${format}`, bytes)) });
  }
  expect(tableFromIPC(healthy.get("arrow")!.bytes).numRows).toBe(200);
  for (let trial = 0; trial < trials(40, 400); trial += 1) {
    const format = FORMATS[trial % FORMATS.length]!;
    const { bytes, content } = healthy.get(format)!;
    const kind = trial % 5 === 4 ? "same" : pick(["query", "query", "damage", "damage", "damage"]);
    const [name, made] = await (async () => {
      if (kind === "damage") {
        const damage = pick(Object.keys(DAMAGES));
        return [damage, DAMAGES[damage]!(bytes, format)] as const;
      }
      const queries = kind === "query" ? QUERIES : SAME;
      const query = pick(Object.keys(queries));
      const isUnsaid = /lists|no rows/.test(query) && format !== "parquet"; // CSV has no types; JSON needs a row
      return [query, isUnsaid ? null : await bytesOf(format, queries[query]!)] as const;
    })();
    if (made === null) continue;
    const other = { csv: "parquet", "csv.gz": "csv", parquet: "arrow", arrow: "csv.gz" }[format];
    const ending = name === "named as another format" ? other : format;
    const say = `seed ${random.seed}, trial ${trial}: ${format}, ${name}`;
    const code = await codeOf(writeScratch(`mutated.${ending}`, made), content, say);
    if (kind === "same") {
      expect(code, say).toBeNull();
      counts.controls += 1;
    } else if (kind === "query") expect(code, say).not.toBeNull();
    counts[code === null ? "same" : "refused"] += 1;
  }
  expect(counts.refused, `seed ${random.seed}`).toBeGreaterThan(10);
  expect(counts.controls, `seed ${random.seed}`).toBeGreaterThan(5);
});
