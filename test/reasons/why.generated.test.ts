import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, Engine, type Explanation, type Panel, type Program, readPanel } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const examples = join(import.meta.dirname, "../../examples");
const LINKS = ["null_input", "null_in_window", "null_today", "infinite_input"];
let engine: Engine;
let panel: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
});
afterAll(async () => await engine.close());

function published(name: string): Program {
  const file = `${name}.factors`;
  return compile(readFileSync(join(examples, file), "utf8"), { file, groups: [...panel.groups.keys()] });
}

interface Cell {
  readonly factor: string;
  readonly symbol: string;
  readonly time: string;
  readonly value: number | null;
}

const dayOf = (value: bigint) => new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);

/** Random cells that have a row, three of four null. */
async function randomCells(program: Program, count: number, random: Seeded): Promise<Cell[]> {
  const table = await engine.evaluate(program, panel);
  const [times, symbols] = [table.getChildAt(0)!, table.getChild("symbol")!];
  return Array.from({ length: count }, (_, i) => {
    const { name } = program.factors[random.below(program.factors.length)]!;
    const column = table.getChild(name)!;
    let row = random.below(table.numRows);
    for (let tries = 0; i % 4 > 0 && tries < 500 && column.get(row) !== null; tries++)
      row = random.below(table.numRows);
    const time = new Date(Number(times.get(row))).toISOString().slice(0, 10);
    return { factor: name, symbol: String(symbols.get(row)), time, value: column.get(row) as number | null };
  });
}

/** The panel with every cell changed that the explanation does not name. */
function changedElsewhere({ symbol, dependsOn }: Explanation): Panel {
  const { rowCount, laneCount, time, symbols } = panel;
  const lane = symbols.indexOf(symbol);
  const fields = new Map(
    [...panel.fields].map(([name, values]) => {
      const of = dependsOn.find(({ field }) => field === name);
      const changed = new Float64Array(new SharedArrayBuffer(values.byteLength));
      for (let row = 0; row < rowCount; row++) {
        const day = dayOf(time.values[row]!);
        const isIn = of !== undefined && of.from <= day && day <= of.to;
        for (let at = 0; at < laneCount; at++) {
          const cell = row * laneCount + at;
          changed[cell] = isIn && (of.ofAllSymbols || at === lane) ? values[cell]! : values[cell]! * 1.25 + 1;
        }
      }
      return [name, changed] as const;
    }),
  );
  return { ...panel, fields };
}

describe.each(["alpha101", "alpha158", "gtja191"])("cells of %s on real bars", (name) => {
  test("have the bits of evaluate, a first cause where they are null, and depend on what is named", async () => {
    const random = new Seeded();
    const program = published(name);
    for (const { value, ...cell } of await randomCells(program, trials(4, 700), random)) {
      const what = `seed ${random.seed}: ${JSON.stringify(cell)}`;
      const found = await engine.why(program, panel, cell);
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
      const elsewhere = await engine.why(program, changedElsewhere(found), cell);
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
  [{ symbol: "C" }, "E345 the data have no symbol C"],
  [{ time: "2024-02-01" }, "E344 the data have no time 2024-02-01\n  the nearest are 2024-01-04"],
  [
    { symbol: "B", time: "2024-01-03" },
    "E346 B has no row on 2024-01-03\n  its nearest rows are those of 2024-01-02 and 2024-01-04",
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
