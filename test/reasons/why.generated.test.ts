import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Vector } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, Engine, type Explanation, type Panel, type Program, readPanel } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { cases, trials } from "../support/trials.ts";

const examples = join(import.meta.dirname, "../../examples");
const LINKS = ["null_input", "null_in_window", "null_today", "infinite_input"];
let engine: Engine;
let panel: Panel;
/** Rows of tables are the cells that have a row. */
let cellOfRow: number[];
let rowOfCell: Int32Array;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
  cellOfRow = [...panel.present.keys()].filter((cell) => panel.present[cell] === 1);
  rowOfCell = new Int32Array(panel.present.length);
  for (const [row, cell] of cellOfRow.entries()) rowOfCell[cell] = row;
});
afterAll(async () => await engine.close());

function published(name: string): Program {
  const file = `${name}.factors`;
  return compile(readFileSync(join(examples, file), "utf8"), { file, groups: [...panel.groups.keys()] });
}

const dayOf = (value: bigint) => new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
/** Rows of an instrument before a drawn cell that are explained with it. */
const ROWS_BEFORE = 20;

/** Factors whose values cells are drawn from: `evaluate` of all of a set takes a second. */
function drawnFactors(program: Program, random: Seeded): readonly string[] {
  const names = program.factors.map(({ name }) => name);
  return cases(
    Array.from({ length: 3 }, () => names[random.below(names.length)]!),
    names,
  );
}

/** A random row of a table; one where the column is null if that is wanted and found. */
function randomRow(column: Vector, wantsNull: boolean, random: Seeded): number {
  let row = random.below(column.length);
  for (let tries = 0; wantsNull && tries < 500 && column.get(row) !== null; tries++)
    row = random.below(column.length);
  return row;
}

/** The panel with every cell changed that the explanation does not name. */
function changedElsewhere({ symbol, dependsOn }: Explanation): Panel {
  const { laneCount, time, symbols } = panel;
  const lane = symbols.indexOf(symbol);
  const days = Array.from(time.values, dayOf);
  const fields = new Map(
    [...panel.fields].map(([name, values]) => {
      const changed = new Float64Array(new SharedArrayBuffer(values.byteLength));
      for (let cell = 0; cell < values.length; cell++) changed[cell] = values[cell]! * 1.25 + 1;
      const of = dependsOn.find(({ field }) => field === name);
      const [first, end] = of ? [days.indexOf(of.from), days.indexOf(of.to) + 1] : [0, 0];
      if (of?.ofAllSymbols)
        changed.set(values.subarray(first * laneCount, end * laneCount), first * laneCount);
      else
        for (let cell = first * laneCount + lane; cell < end * laneCount; cell += laneCount)
          changed[cell] = values[cell]!;
      return [name, changed] as const;
    }),
  );
  return { ...panel, fields };
}

/** What holds for every explanation of a cell with this value. */
function checkExplanation(found: Explanation, value: number | null, what: string): void {
  expect(Object.is(found.value, value), what).toBe(true);
  expect(found.cause === null, what).toBe(value !== null);
  if (value !== null) expect(Object.is(found.expression.value, value), what).toBe(true);
  const causes = found.chain.map(({ cause }) => cause);
  expect(
    causes.slice(0, -1).every((cause) => LINKS.includes(cause)),
    what,
  ).toBe(true);
  expect(causes.at(-1) ?? null, what).toBe(found.cause);
  expect(causes, what).not.toContain("undeclared");
}

describe.each(["alpha101", "alpha158", "gtja191"])("cells of %s on real bars", (name) => {
  test("have the bits of evaluate, a first cause where they are null, and depend on what is named", async () => {
    const random = new Seeded();
    const program = published(name);
    const select = drawnFactors(program, random);
    const { table } = await engine.evaluate(program, panel, { select });
    const { laneCount, symbols, time } = panel;
    for (let i = 0; i < trials(6, 200); i++) {
      const factor = select[random.below(select.length)]!;
      const column = table.getChild(factor)!;
      const cell = cellOfRow[randomRow(column, i % 4 > 0, random)]!;
      const [row, lane] = [Math.floor(cell / laneCount), cell % laneCount];
      const [symbol, first] = [symbols[lane]!, Math.max(0, row - ROWS_BEFORE)];
      const [from, to] = [dayOf(time.values[first]!), dayOf(time.values[row]!)];
      const what = `seed ${random.seed}: ${factor} of ${symbol} on ${to}`;
      const rows = await engine.whyRows(program, panel, { factor, symbol, from, to });
      const ofLane = Array.from({ length: row - first + 1 }, (_, at) => (first + at) * laneCount + lane);
      const expected = ofLane.flatMap((at) => (panel.present[at] === 1 ? [column.get(rowOfCell[at]!)] : []));
      expect(rows, what).toHaveLength(expected.length);
      for (const [at, found] of rows.entries())
        checkExplanation(found, expected[at]!, `${what}, explained for ${found.time}`);
      const found = rows.at(-1)!;
      const elsewhere = await engine.why(program, changedElsewhere(found), { factor, symbol, time: to });
      expect(elsewhere.value, what).toBe(found.value);
      expect(elsewhere.cause, what).toBe(found.cause);
    }
  });
});

test("alpha096 is null for a correlation of ranks that do not move", async () => {
  const { chain } = await engine.why(published("alpha101"), panel, {
    factor: "alpha096",
    symbol: "AAPL",
    time: "2018-02-07",
  });
  expect(chain.map(({ time, cause }) => `${time} ${cause}`)).toEqual([
    "2018-02-07 null_input",
    "2018-02-07 null_input",
    "2018-02-07 null_in_window",
    "2018-02-06 null_in_window",
    "2018-02-01 constant_window",
  ]);
  const last = chain.at(-1)!;
  expect([last.formula, last.line, last.column]).toEqual([
    "correlation(rank(vwap), rank(volume), 3.83878)",
    108,
    38,
  ]);
  expect(last.window.values).toEqual([
    [0.79, 0.79, 0.81],
    [0.97, 0.97, 0.97],
  ]);
});

/** Three days of two symbols; B has no row on the second, A no volume on the first. */
function smallPanel(): Panel {
  const column = (values: readonly number[]) => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * values.length));
    shared.set(values);
    return shared;
  };
  return {
    rowCount: 3,
    laneCount: 2,
    symbols: ["A", "B"],
    time: { name: "date", type: { kind: "date" }, values: BigInt64Array.of(19_724n, 19_725n, 19_726n) },
    fields: new Map([
      ["close", column([1, 2, 3, Number.NaN, 0, 4])],
      ["volume", column([Number.NaN, 1, 1, Number.NaN, 1, Infinity])],
    ]),
    groups: new Map(),
    present: Uint8Array.of(1, 1, 1, 0, 1, 1),
  };
}

const CAUSES: readonly (readonly [formula: string, symbol: string, time: string, cause: string | null])[] = [
  ["volume", "A", "2024-01-02", "missing_value"],
  ["volume * 2", "B", "2024-01-04", "infinite_value"],
  ["ts_mean(close, 2)", "A", "2024-01-02", "too_few_rows"],
  ["ts_mean(close, 2)", "B", "2024-01-04", "absent"],
  ["1 / close", "A", "2024-01-04", "division_by_zero"],
  ["ts_mean(1 / close, 2)", "A", "2024-01-04", "division_by_zero"],
  ["log(close - 5)", "A", "2024-01-03", "domain"],
  ["close * 1e308 * 10", "A", "2024-01-03", "overflow"],
  ["close > 2 ? null : close", "A", "2024-01-03", "null_written"],
  ["close > 2 ? volume : close", "A", "2024-01-02", null],
  ["ema(volume, 3)", "A", "2024-01-02", "missing_value"],
  ["rank(close)", "A", "2024-01-03", null],
  ["cs_sum(volume)", "A", "2024-01-04", "infinite_input"],
  ["cs_sum(volume)", "B", "2024-01-04", "infinite_value"],
  ["ts_rank(sqrt(close - 0.5), 2, min_periods=1)", "A", "2024-01-04", "domain"],
  ["zscore(close > 0 ? 7 : 7)", "A", "2024-01-02", "constant_row"],
  ["trade_when(close - 5, close, -1)", "A", "2024-01-04", "no_value_yet"],
  ["kth_element(volume, 3, 2)", "A", "2024-01-03", "too_few_values"],
  ["ts_sum(1, 2)", "A", "2024-01-02", "too_few_rows"],
  ["ts_sum(1, 3) + close", "A", "2024-01-04", null],
  ["cum_sum(2)", "A", "2024-01-04", null],
];

test.each(CAUSES)("%s for %s on %s: %s", async (formula, symbol, time, cause) => {
  const program = compile(`f = ${formula}`);
  const found = await engine.why(program, smallPanel(), { factor: "f", symbol, time });
  expect(found.cause).toBe(cause);
  expect(found.value === null).toBe(cause !== null);
});

test("windows of numbers and of params have the rows before the cell", async () => {
  const program = compile("param p = 2\nf = ts_sum(1, 3) + cum_sum(p) + close");
  const asked = { factor: "f", symbol: "B", time: "2024-01-04" };
  expect((await engine.why(program, smallPanel(), asked)).value).toBe(3 + 6 + 4);
});

test("a factor whose condition does not hold, and a universe", async () => {
  const asked = { factor: "f", symbol: "A", time: "2024-01-03" };
  const conditional = compile('param session = "open"\nwhen session == "close" { f = close }');
  expect((await engine.why(conditional, smallPanel(), asked)).cause).toBe("condition_not_wanted");
  const params = { session: "close" };
  expect((await engine.why(conditional, smallPanel(), { ...asked, params })).value).toBe(3);
  const inside = compile("let large = close > 100\nf = rank(close)", { universe: "large" });
  expect((await engine.why(inside, smallPanel(), asked)).cause).toBe("outside_universe");
});

test.each([
  [{ symbol: "C" }, "E344 the data have no symbol C"],
  [{ time: "2024-02-01" }, "E344 the data have no time 2024-02-01\n  the nearest are 2024-01-04"],
  [
    { symbol: "B", time: "2024-01-03" },
    "E344 B has no row on 2024-01-03\n  its nearest rows are those of 2024-01-02 and 2024-01-04",
  ],
  [{ factor: "g" }, "E506 no factor g to select"],
  [{ factors: "f" }, "E527 unknown option factors of why"],
])("%o is refused with what exists", async (wrong, message) => {
  const asked = { factor: "f", symbol: "A", time: "2024-01-02", ...wrong };
  await expect(engine.why(compile("f = close"), smallPanel(), asked)).rejects.toThrow(message);
});

test("a range of rows has the explanations of its cells", async () => {
  const program = compile("f = ts_mean(close, 2) + cum_sum(volume)");
  const asked = { factor: "f", symbol: "B" };
  const rows = await engine.whyRows(program, smallPanel(), asked);
  const cells = await Promise.all(
    ["2024-01-02", "2024-01-04"].map((time) => engine.why(program, smallPanel(), { ...asked, time })),
  );
  expect(rows).toEqual(cells);
  const last = await engine.whyRows(program, smallPanel(), { ...asked, from: "2024-01-03" });
  expect(last).toEqual(cells.slice(1));
  const none = { ...asked, from: "2024-01-03", to: "2024-01-03" };
  expect(await engine.whyRows(program, smallPanel(), none)).toEqual([]);
});
