import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Schema, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase, queryRows } from "../../src/data/duckdb/database.ts";
import { packageVersion } from "../../src/files/package_version.ts";
import { compile, Engine, openResultWriter, writeTable } from "../../src/index.ts";
import { FIELDS, GROUPS, panels } from "../conformance/awkward_panels.ts";
import { fileFolder } from "../support/file_folder.ts";

const folder = fileFolder();
const panel = panels.rows;
const TEXT = "# of rows\nlet ranks = rank(x)\na = ranks + 1\nb = ema(y, 3)\n";
const program = compile(TEXT, { fields: FIELDS, groups: GROUPS });

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => await engine.close());

/** Those of the table, then the fingerprint of each factor. */
function namesIn({ metadata, fields }: Schema): unknown[] {
  const fingerprints = fields.map((field) => [field.name, field.metadata.get("fingerprint")]);
  return [Object.fromEntries(metadata), Object.fromEntries(fingerprints.slice(2))];
}

const NAMES = [
  { factorloom: packageVersion(), dialect: "native", formulas: TEXT },
  Object.fromEntries(program.origin().fingerprints.factors),
];

test("a file of a result says which formulas it is of", async () => {
  const { table } = await engine.evaluate(program, panel);
  const [arrow, parquet, streamed] = ["a.arrow", "a.parquet", "b.parquet"].map((name) => join(folder, name));
  for (const path of [arrow!, parquet!]) await writeTable(table, path, program);
  expect(namesIn(tableFromIPC(readFileSync(arrow!)).schema)).toEqual(NAMES);
  await using writer = await openResultWriter(streamed!, program);
  for await (const batch of engine.stream(program, panel)) await writer.write(batch);
  await writer.commit();
  expect(readFileSync(streamed!).equals(readFileSync(parquet!))).toBe(true);
  await engine.write(program, panel, streamed!);
  expect(readFileSync(streamed!).equals(readFileSync(parquet!))).toBe(true);
  using database = await openDatabase();
  const rows = await queryRows(
    database,
    `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${parquet}')`,
  );
  const { "ARROW:schema": schema, ...keys } = Object.fromEntries(rows) as Record<string, string>;
  expect(keys).toEqual(NAMES[0]);
  expect(namesIn(tableFromIPC(Buffer.from(schema!, "base64")).schema)[1]).toEqual(NAMES[1]);
});

test("a file names the factors that it has; without a program it names none", async () => {
  for await (const table of engine.evaluateMany(program, panel, [{}, {}], { select: ["b"] })) {
    const [named, unnamed] = ["c.arrow", "d.arrow"].map((name) => join(folder, name));
    await writeTable(table, named!, program);
    const { schema } = tableFromIPC(readFileSync(named!));
    expect(namesIn(schema)).toEqual([NAMES[0], { b: program.origin().fingerprints.factors.get("b") }]);
    await writeTable(table, unnamed!);
    expect(namesIn(tableFromIPC(readFileSync(unnamed!)).schema)).toEqual([{}, { b: undefined }]);
  }
});

test("tables in memory carry no formulas: they are sent whole, again and again", async () => {
  await using session = await engine.openSession(program, { warmup: panel });
  const { table: pushed } = await session.push({
    time: session.lastTime! + 1n,
    symbols: [],
    fields: { x: [], y: [] },
  });
  const { table } = await engine.evaluate(program, panel);
  const batches = await Array.fromAsync(engine.stream(program, panel));
  const tables = await Array.fromAsync(engine.evaluateMany(program, panel, [{}]));
  for (const { schema } of [table, pushed, ...batches, ...tables]) {
    expect(schema.metadata.size).toBe(0);
    for (const { metadata } of schema.fields)
      expect([...metadata.keys()].filter((key) => key !== "nonFinite")).toEqual([]);
  }
});
