import { type RecordBatch, Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectPanel } from "../../src/data/panel/panel_source.ts";
import { Engine, type Panel } from "../../src/index.ts";
import { DOORS, type Door } from "../../src/options/doors.ts";
import { type OptionName, optionsAt } from "../../src/options/option_table.ts";
import { errorOf } from "../engine/fixtures/wrong_values.ts";
import { bitsOfTable, PROBES, type ProbedName, prepared, writeFiles } from "./probes.ts";

/** Every option of the table at every door of the library that takes it gives the bits of `evaluate`. */

let engine: Engine;
beforeAll(async () => {
  writeFiles();
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

type Prepared = Awaited<ReturnType<typeof prepared>>;
type Bits = Record<string, unknown>;

async function evaluated({ program, source, call }: Prepared): Promise<Table> {
  return (await engine.evaluate(program, await collectPanel(source), call)).table;
}

const floats = new BigUint64Array(1);
const bits = (value: number) => {
  new Float64Array(floats.buffer)[0] = Number.isNaN(value) ? Number.NaN : value;
  return floats[0]!;
};

/** What a door gives with these options, as far as it can be compared with the table of `evaluate`. */
const DOOR: Readonly<
  Partial<Record<Door, (of: Prepared, table: Table) => Promise<[found: unknown, expected: unknown]>>>
> = {
  stream: async ({ program, source, call }, table) => {
    const batches: RecordBatch[] = [];
    for await (const batch of engine.stream(program, source, call)) batches.push(batch);
    return [bitsOfTable(new Table(batches)), bitsOfTable(table)];
  },
  evaluateMany: async ({ program, source, call }, table) => {
    const [first] = await Array.fromAsync(
      engine.evaluateMany(program, await collectPanel(source), [{}], call),
    );
    return [bitsOfTable(first!), bitsOfTable(table)];
  },
  whyRows: async ({ program, source, call }, table) => {
    const values: Bits = {};
    const names = table.schema.names.slice(2) as string[];
    for (const name of names) {
      const explained: Awaited<ReturnType<typeof engine.whyRows>>[] = [];
      // A file has one reading at a time.
      for (const symbol of source.symbols)
        explained.push(await engine.whyRows(program, source, { ...call, factor: name, symbol }));
      const rows = explained[0]!.map((_, row) => explained.map((of) => of[row]!.value));
      values[name] = rows.flat().map((value) => bits(value ?? Number.NaN));
    }
    const {
      [table.schema.names[0] as string]: _,
      [table.schema.names[1] as string]: __,
      ...expected
    } = bitsOfTable(table);
    return [values, expected];
  },
  why: async ({ program, source, call }, table) => {
    const name = String(table.schema.names.at(-1));
    const [row, symbol] = [table.numRows - 1, source.symbols.at(-1)!];
    const found = await engine.why(program, source, { ...call, factor: name, symbol, time: "2020-01-04" });
    return [found.value, table.getChild(name)!.get(row)];
  },
  nulls: async ({ program, source, call }, table) => {
    const { factors, cellCount } = await engine.nulls(program, source, call);
    const names = table.schema.names.slice(2) as string[];
    return [
      [cellCount, factors.map(({ factor, nullCount }) => [factor, nullCount])],
      [table.numRows, names.map((name) => [name, table.getChild(name)!.nullCount])],
    ];
  },
  diff: async ({ program, source, call }, table) => {
    const { isSame, rowCount, compared } = await engine.diff(program, program, source, call);
    return [
      [isSame, rowCount, compared.toSorted()],
      [true, table.numRows, (table.schema.names.slice(2) as string[]).toSorted()],
    ];
  },
  openSession: async ({ program, source, call }, table) => {
    const panel: Panel = await collectPanel(source);
    await using session = await engine.openSession(program, {
      ...call,
      symbols: panel.symbols,
      time: panel.time,
      spareSymbols: 0,
    });
    const tables: Table[] = [];
    for (let row = 0; row < panel.rowCount; row++) {
      const fields = [...panel.fields].map(([name, values]) => {
        return [name, values.subarray(row * panel.laneCount, (row + 1) * panel.laneCount)] as const;
      });
      const bar = { time: panel.time.values[row]!, fields: Object.fromEntries(fields) };
      tables.push((await session.push(bar)).table);
    }
    return [bitsOfTable(new Table(tables.flatMap(({ batches }) => batches))), bitsOfTable(table)];
  },
};

const CELL = { factor: "a", symbol: "A" };

/** A call with these options. */
const CALL: Readonly<Partial<Record<Door, (of: Prepared, call: object) => Promise<unknown>>>> = {
  evaluate: ({ program, source }, call) => engine.evaluate(program, source, call),
  stream: ({ program, source }, call) => Array.fromAsync(engine.stream(program, source, call)),
  evaluateMany: ({ program, source }, call) =>
    Array.fromAsync(engine.evaluateMany(program, source, [{}], call)),
  nulls: ({ program, source }, call) => engine.nulls(program, source, call),
  diff: ({ program, source }, call) => engine.diff(program, program, source, call),
  why: ({ program, source }, call) => engine.why(program, source, { ...CELL, time: "2020-01-04", ...call }),
  whyRows: ({ program, source }, call) => engine.whyRows(program, source, { ...CELL, ...call }),
  openSession: async ({ program }, call) =>
    await (await engine.openSession(program, { symbols: ["A"], ...call })).close(),
};

const libraryDoors = (Object.keys(DOORS) as Door[]).filter(
  (door) => (DOORS[door] as readonly string[]).includes("call") && DOOR[door],
);

describe.each(libraryDoors)("%s", (door) => {
  const { taken, refused } = optionsAt(door);
  const probed = taken
    .filter(({ name }) => Object.hasOwn(PROBES, name))
    .map(({ name }) => name as ProbedName);

  test.each(probed)("takes %s with the bits of evaluate", async (name) => {
    const of = await prepared(name, "call");
    const [found, expected] = await DOOR[door]!(of, await evaluated(of));
    expect(found).toEqual(expected);
  });

  test.each(refused.map(({ name, refusal }) => ({ name, refusal })))("refuses $name with the reason", async ({
    name,
    refusal,
  }) => {
    const of = await prepared("priority", "call");
    const value = Object.hasOwn(PROBES, name) ? PROBES[name as ProbedName].value : () => {};
    expect(await errorOf(() => CALL[door]!(of, { [name]: value }))).toMatchObject({
      name: "UsageError",
      code: "E527",
      problem: refusal.problem,
      remedy: refusal.remedy,
    });
  });
});

const ROWS = optionsAt("factorloom eval").taken.flatMap(({ name, spec }) =>
  Object.hasOwn(PROBES, name) && spec !== "engine" ? [{ name: name as ProbedName, spec }] : [],
);

test.each(ROWS)("evaluate: $name decides values, or no bit of them", async ({ name, spec }) => {
  const given = bitsOfTable(await evaluated(await prepared(name, spec)));
  const { decides } = PROBES[name];
  const without = await errorOf(async () => {
    const { source, program } = await prepared(name, "engine");
    expect(given).toEqual(bitsOfTable(await evaluated({ source, program, call: {} })));
  });
  expect(without !== null, without?.message).toBe(decides);
});

test.each(
  Object.keys(CALL) as Door[],
)("%s ends when its signal is aborted, and tells its progress", async (door) => {
  const of = await prepared("priority", "call");
  const reason = new Error("enough");
  await expect(CALL[door]!(of, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  if (door === "openSession") return;
  const counts: number[] = [];
  await CALL[door]!(of, { onProgress: (done: number) => counts.push(done) });
  expect(counts.length).toBeGreaterThan(0);
});

test("every option has a probe, but those of which only the effect shows", () => {
  const names = Object.keys(PROBES) as OptionName[];
  const all = optionsAt("factorloom eval").taken.map(({ name }) => name);
  expect(all.filter((name) => !names.includes(name))).toEqual(["signal", "onProgress"]);
});
