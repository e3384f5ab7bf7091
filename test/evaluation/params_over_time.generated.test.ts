import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Panel } from "../../src/index.ts";
import { compiled, FIELDS, type ProgramText, RandomPrograms } from "../live/lives/random_programs.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

/**
 * Under params that change over time a history runs what its blocks want. Values are those of a history that runs
 * everything: without the pass propagate_conditions.
 */

const PROGRAMS = trials(4, 500);

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

function panelOf(random: Seeded, rowCount: number): Panel {
  const symbols = ["A", "B", "C"];
  const column = () => {
    const values = new Float64Array(new SharedArrayBuffer(8 * rowCount * symbols.length));
    for (let cell = 0; cell < values.length; cell++)
      values[cell] = random.uniform() < 0.03 ? Number.NaN : 50 + 100 * random.uniform();
    return values;
  };
  const codes = new Int32Array(new SharedArrayBuffer(4 * symbols.length));
  codes.set([0, 1, 0]);
  return {
    rowCount,
    laneCount: symbols.length,
    time: {
      name: "time",
      type: { kind: "integer", bits: 64 },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols,
    fields: new Map(FIELDS.map((name) => [name, column()])),
    groups: new Map([["sector", { name: "sector", labels: ["x", "y"], codes, changesOverTime: false }]]),
    present: new Uint8Array(rowCount * symbols.length).fill(1),
  };
}

/** Params that stay for a few rows, or for some hundred. */
function scheduleFile(random: Seeded, rowCount: number): string {
  const changeShare = [0.5, 0.03, 0.005][random.below(3)]!;
  const lines = ["time,p,q"];
  let [p, q] = [0, 1];
  for (let row = 0; row < rowCount; row++) {
    if (random.uniform() < changeShare) [p, q] = [random.below(4), random.below(5) / 2];
    lines.push(`${row},${p},${q}`);
  }
  const path = join(folder, "params.csv");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

function bitsOf(table: Table): string[][] {
  return table.schema.fields.map((_, index) =>
    [...table.getChildAt(index)!].map((value) => (Object.is(value, -0) ? "-0" : String(value))),
  );
}

async function streamed(text: ProgramText, panel: Panel, options: object): Promise<string[][]> {
  const columns: string[][] = [];
  for await (const batch of engine.stream(compiled(text), panel, options))
    bitsOf(batch as unknown as Table).forEach((values, index) => {
      const column = columns[index] ?? [];
      columns[index] = column;
      column.push(...values);
    });
  return columns;
}

test(`${PROGRAMS} random programs`, { timeout: 20_000 * PROGRAMS }, async () => {
  const random = new Seeded();
  const programs = new RandomPrograms(random, 0.9);
  for (let index = 0; index < PROGRAMS; index++) {
    const text = programs.program();
    const panel = panelOf(random, 150 + random.below(400));
    const blockRows = [undefined, 1, 7, 64, 100][random.below(5)];
    const from = random.below(2) === 0 ? undefined : String(random.below(100));
    const options = {
      paramsByTime: scheduleFile(random, panel.rowCount),
      ...(blockRows === undefined ? {} : { blockRows }),
      ...(from === undefined ? {} : { from }),
    };
    const message = `program ${index} of seed ${random.seed}, blocks of ${blockRows} rows\n${text.factors.join("\n")}`;
    const expected = bitsOf(
      (await engine.evaluate(compiled(text, ["propagate_conditions"]), panel, options)).table,
    );
    expect(bitsOf((await engine.evaluate(compiled(text), panel, options)).table), message).toEqual(expected);
    if (index % 3 === 0) expect(await streamed(text, panel, options), message).toEqual(expected);
  }
});

test("a condition of a factor that is not selected may have a param without a value", async () => {
  const random = new Seeded();
  const panel = panelOf(random, 200);
  const options = { paramsByTime: scheduleFile(random, panel.rowCount), select: ["b"] };
  const [field = expect.fail()] = FIELDS;
  const valuesOf = async (first: string) => {
    const text = `param p\nparam q\nparam missing\n${first}\nb = ts_mean(${field}, 3) when q > 1`;
    return bitsOf((await engine.evaluate(compile(text, { fields: FIELDS }), panel, options)).table);
  };
  expect(await valuesOf(`a = ${field} when missing == 1`)).toEqual(
    await valuesOf(`a = ${field} when p == 1`),
  );
});
