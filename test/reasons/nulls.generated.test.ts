import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Panel, type Program, readPanel } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { fileFolder } from "../support/file_folder.ts";
import { triesAll } from "../support/trials.ts";

const examples = join(import.meta.dirname, "../../examples");
const folder = fileFolder();
let engine: Engine;
let panel: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  const bars = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
  panel = triesAll ? bars : part(bars, 300, 5);
});
afterAll(async () => {
  await engine.close();
});

/** The first rows of the first instruments. */
function part({ fields, groups, present, ...whole }: Panel, rowCount: number, laneCount: number): Panel {
  const cells = Array.from({ length: rowCount * laneCount }, (_, i) => {
    return Math.floor(i / laneCount) * whole.laneCount + (i % laneCount);
  });
  const columns = [...fields].map(([name, values]) => {
    const column = new Float64Array(new SharedArrayBuffer(8 * cells.length));
    column.set(cells.map((cell) => values[cell]!));
    return [name, column] as const;
  });
  const labelled = [...groups].map(([name, group]) => {
    const codes = new Int32Array(new SharedArrayBuffer(4 * laneCount));
    codes.set(group.codes.subarray(0, laneCount));
    return [name, { ...group, codes }] as const;
  });
  return {
    ...whole,
    rowCount,
    laneCount,
    symbols: whole.symbols.slice(0, laneCount),
    time: { ...whole.time, values: whole.time.values.slice(0, rowCount) },
    fields: new Map(columns),
    groups: new Map(labelled),
    present: Uint8Array.from(cells, (cell) => present[cell]!),
  };
}

function published(name: string): Program {
  const file = `${name}.factors`;
  return compile(readFileSync(join(examples, file), "utf8"), { file, groups: [...panel.groups.keys()] });
}

const total = (counts: readonly { readonly cellCount: number }[]) =>
  counts.reduce((sum, { cellCount }) => sum + cellCount, 0);

test.each([
  "alpha101",
  "alpha158",
  "alpha360",
  "gtja191",
])("the causes of %s add up to the nulls of evaluate", async (name) => {
  const program = published(name);
  const { table } = await engine.evaluate(program, panel);
  const { factors, cellCount } = await engine.nulls(program, panel);
  expect(cellCount).toBe(table.numRows);
  expect(factors.map(({ factor }) => factor)).toEqual(program.factors.map((factor) => factor.name));
  for (const { factor, nullCount, causes, sources } of factors) {
    expect(nullCount, factor).toBe(table.getChild(factor)!.nullCount);
    expect([total(causes), total(sources)], factor).toEqual([nullCount, nullCount]);
  }
});

/** Three days of two symbols; B has no row on the second, A no volume on the first. */
const SMALL = `date,symbol,close,volume
2024-01-02,A,1,
2024-01-02,B,2,1
2024-01-03,A,3,1
2024-01-04,A,0,1
2024-01-04,B,4,1e999
`;

async function countsOf(formula: string, options = {}, compiling = {}): Promise<string[]> {
  const path = join(folder, "bars.csv");
  writeFileSync(path, SMALL);
  const { factors, cellCount } = await engine.nulls(
    compile(formula, compiling),
    await readPanel(path),
    options,
  );
  const [{ nullCount, sources }] = factors as [(typeof factors)[number]];
  return [
    `${nullCount} of ${cellCount}`,
    ...sources.map(({ cellCount, cause, formula, line, column }) => {
      return `${cellCount} ${cause} ${formula} ${line}:${column}`;
    }),
  ];
}

test.each([
  ["f = close", "0 of 5"],
  ["f = 1", "0 of 5"],
  ["f = null", "5 of 5", "5 null_written null 1:5"],
  ["f = 1 / close", "1 of 5", "1 division_by_zero 1 / close 1:5"],
  [
    "f = ts_mean(1 / close, 2)",
    "4 of 5",
    "2 too_few_rows ts_mean(1 / close, 2) 1:5",
    "1 division_by_zero 1 / close 1:13",
    "1 absent close 1:17",
  ],
  ["f = volume", "2 of 5", "1 missing_value volume 1:5", "1 infinite_value volume 1:5"],
  ["f = ema(volume, 2)", "2 of 5", "1 missing_value volume 1:9", "1 infinite_value volume 1:9"],
  ["f = rank(close) * volume", "2 of 5", "1 missing_value volume 1:19", "1 infinite_value volume 1:19"],
])("%s", async (formula, ...expected) => {
  expect(await countsOf(formula)).toEqual(expected);
});

test("infinities may be values; a range of times, a condition, a universe", async () => {
  expect(await countsOf("f = volume", { keepInfinite: true })).toEqual([
    "1 of 5",
    "1 missing_value volume 1:5",
  ]);
  expect(await countsOf("f = ts_mean(close, 2)", { from: "2024-01-03", to: "2024-01-03" })).toEqual([
    "0 of 1",
  ]);
  expect(await countsOf('param s = "open"\nwhen s == "close" { f = close }')).toEqual([
    "5 of 5",
    "5 condition_not_wanted close 2:25",
  ]);
  expect(await countsOf("let large = close > 2\nf = rank(close)", {}, { universe: "large" })).toEqual([
    "3 of 5",
    "3 outside_universe rank(close) 2:5",
  ]);
});

test("an infinity that a recursion has forgotten is not to blame for an overflow", async () => {
  const program = compile("f = affine_recurrence(x, y, 1)", { fields: ["x", "y"] });
  const forgetful = panelOf({ x: [[Infinity], [1e200], [1e200]], y: [[-Infinity], [0], [0]] });
  const { factors } = await engine.nulls(program, forgetful);
  expect(factors[0]!.sources).toMatchObject([{ cause: "overflow", cellCount: 1, column: 5 }]);
  const [symbol] = forgetful.symbols;
  const rows = await engine.whyRows(program, forgetful, { factor: "f", symbol: symbol! });
  expect(rows.map(({ cause }) => cause)).toEqual([null, null, "overflow"]);
});

test("an unknown factor and an unknown option are refused", async () => {
  await expect(countsOf("f = close", { select: ["g"] })).rejects.toThrow("E506 no factor g to select");
  await expect(countsOf("f = close", { factor: "f" })).rejects.toThrow("E527 unknown option factor of nulls");
});
