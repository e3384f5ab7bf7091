import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { compile, Engine, type Panel, readPanel } from "../../src/index.ts";
import { hasPandas, SYSTEM_PYTHON } from "../support/needs.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { here } from "./golden_file.ts";

/**
 * Dialect qlib against Qlib's definitions over pandas and numpy (qlib_pandas.py), which needs the system's Python with
 * pandas: Alpha158 and Alpha360 on real bars made awkward, then every operator on short awkward series.
 */
const RELATIVE = 1e-9;
/** What is left where a difference cancels to about nothing, of factors that are ratios; such cells are counted. */
const CANCELLED = 1e-11;

/** Every operator of Qlib that takes windows, and those that look at nulls. */
const SINGLE: readonly string[] = [
  ...[
    "Sum",
    "Mean",
    "Var",
    "Std",
    "Skew",
    "Kurt",
    "Max",
    "Min",
    "IdxMax",
    "IdxMin",
    "Med",
    "Mad",
    "Rank",
    "Count",
  ],
  ...["WMA", "EMA", "Slope", "Resi", "Rsquare", "Delta", "Ref"],
]
  .map((name) => `${name}($a, {d})`)
  .concat(["Quantile($a, {d}, 0.8)", "Quantile($a, {d}, 0.25)", "Corr($a, $b, {d})", "Cov($a, $b, {d})"])
  .concat(["Mean($a > $b, {d})", "Sum($a != $b, {d})", "Mean(Log($a), {d})", "Std($a / $b, {d})"])
  .concat(["Gt", "Ge", "Lt", "Le", "Eq", "Ne"].map((name) => `If(${name}($a, $b), 2, 3)`))
  .concat(["Add", "Sub", "Mul", "Div", "Greater", "Less"].map((name) => `${name}($a, $b)`))
  .concat(["Abs($a)", "Sign($a)", "Log($a)", "If(($a > $b) & ($b != 1) | ($a == $b), $a, $b)"]);

interface Comparison {
  readonly cells: number;
  readonly values: number;
  readonly infinite: number;
  readonly cancelled: number;
  /** Differing cells by factor. */
  readonly different: Map<string, number>;
  readonly first: string | undefined;
}

interface Oracle {
  readonly values: ReadonlyMap<string, Float64Array>;
  readonly control: Readonly<Record<string, { cells: number; nullsDiffer: number; valuesDiffer: number }>>;
}

interface Formulas {
  readonly factors: Readonly<Record<string, string>>;
  readonly lets: Readonly<Record<string, string>>;
}

let bars: Panel;
beforeAll(async () => {
  bars = await readPanel(here("../../examples/data/sp100_daily.csv.gz"));
});

const canRun = await hasPandas();

describe.runIf(canRun).each(["alpha158", "alpha360"])("%s", (set) => {
  const source = readFileSync(here(`../../examples/${set}.factors`), "utf8");
  const formulas = formulasOf(source);
  const names = Object.keys(formulas.factors);

  test("equals pandas on bars with infinities, zero volumes, nulls, constants and missing rows", async () => {
    expect(names).toHaveLength(set === "alpha158" ? 158 : 360);
    const random = new Seeded();
    const panel = awkwardBars(bars, trials(3, 20), trials(260, 700), random);
    const starts = Array.from({ length: panel.laneCount }, () => 0);
    const oracle = await pandas(panel, formulas, starts);
    const compared = await compare(source, names, panel, oracle.values);
    const where = `SEED=${random.seed}: ${compared.first}`;
    expect(Object.fromEntries(compared.different), where).toEqual({});
    expect(compared.values, where).toBeGreaterThan(0.5 * compared.cells);
    expect(compared.infinite, where).toBeGreaterThan(0);
    expect(compared.cancelled, where).toBeLessThan(0.001 * compared.cells);
  }, 600_000);
});

test.runIf(canRun)(
  "histories that begin later differ in positions and counted comparisons alone, until the window has filled",
  async () => {
    const formulas = formulasOf(readFileSync(here("../../examples/alpha158.factors"), "utf8"));
    const listing = bars.present.findIndex(
      (_, cell) => cell % bars.laneCount === bars.symbols.indexOf("ALLE") && bars.present[cell] === 1,
    );
    const first = Math.floor(listing / bars.laneCount) - 70;
    const panel = slice(bars, ["AAPL", "ALLE"], first, 180);
    const starts = [0, 70];
    const oracle = await pandas(panel, formulas, starts);
    const source = readFileSync(here("../../examples/alpha158.factors"), "utf8");
    const names = Object.keys(formulas.factors);
    const compared = await compare(source, names, panel, oracle.values);
    const affected = [...compared.different.keys()];
    expect(
      affected.filter((name) => !/^(IM(AX|IN|XD)|CNT[PND])\d+$/.test(name)),
      compared.first,
    ).toEqual([]);
    expect(affected).not.toEqual([]);
    for (const [name, count] of compared.different) expect(count).toBeLessThan(Number(/\d+/.exec(name)?.[0]));
  },
  600_000,
);

describe.runIf(canRun)("single operators", () => {
  const random = new Seeded();
  const series = awkwardSeries(trials(12, 200), 60, random);
  const factors = Object.fromEntries(
    SINGLE.flatMap((formula, of) =>
      (formula.includes("{d}") ? windowsOf(formula) : [1]).map((d) => [
        `f${of}_${d}`,
        formula.replaceAll("{d}", `${d}`),
      ]),
    ),
  );
  const source = `dialect qlib\n${Object.entries(factors)
    .map(([name, formula]) => `${name} = ${formula}`)
    .join("\n")}\n`;
  let oracle: Oracle;
  beforeAll(async () => {
    const starts = Array.from({ length: series.laneCount }, () => 0);
    oracle = await pandas(series, { factors, lets: {} }, starts, ["a"]);
  }, 600_000);

  test("equal Qlib's definitions on awkward series", async () => {
    const compared = await compare(source, Object.keys(factors), series, oracle.values);
    const different = Object.fromEntries(
      [...compared.different].map(([name, count]) => [factors[name], count]),
    );
    expect(different, `SEED=${random.seed}: ${compared.first}`).toEqual({});
    expect(compared.values).toBeGreaterThan(0.3 * compared.cells);
  }, 600_000);

  test("the definitions are what pandas computes", () => {
    const { control } = oracle;
    expect(Object.keys(control)).toHaveLength(17);
    for (const [name, { cells, nullsDiffer, valuesDiffer }] of Object.entries(control)) {
      const what = `SEED=${random.seed}: ${name} ${JSON.stringify(control[name])}`;
      expect(cells, what).toBeGreaterThan(1000);
      // Where a window is constant its moments and covariances are 0 / 0: pandas gives 0, -3 or what rounding left.
      const isDrifting = ["Skew", "Kurt", "Corr", "Cov"].includes(name);
      expect(nullsDiffer, what).toBeLessThanOrEqual(isDrifting ? 0.12 * cells : 0);
      expect(valuesDiffer, what).toBeLessThanOrEqual(isDrifting ? 0.01 * cells : 0);
    }
  });
});

function windowsOf(formula: string): readonly number[] {
  if (formula.startsWith("Skew")) return [3, 5];
  return formula.startsWith("Kurt") ? [4, 6] : [1, 2, 3, 5, 8];
}

/** The `name = formula` and `let name = formula` lines of a file. */
function formulasOf(source: string): Formulas {
  const found: { factors: Record<string, string>; lets: Record<string, string> } = { factors: {}, lets: {} };
  for (const line of source.split("\n")) {
    const match = /^(let )?(\w+) = (.*)$/.exec(line);
    if (match) found[match[1] ? "lets" : "factors"][match[2] as string] = match[3] as string;
  }
  return found;
}

function panelOf(rowCount: number, symbols: readonly string[], names: readonly string[]): Panel {
  const cells = rowCount * symbols.length;
  return {
    rowCount,
    laneCount: symbols.length,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: [...symbols],
    fields: new Map(names.map((name) => [name, new Float64Array(new SharedArrayBuffer(cells * 8))])),
    groups: new Map(),
    present: new Uint8Array(cells).fill(1),
  };
}

/** Rows and symbols of a panel, copied. */
function slice(panel: Panel, symbols: readonly string[], first: number, rowCount: number): Panel {
  const part = panelOf(rowCount, symbols, [...panel.fields.keys()]);
  for (let row = 0; row < rowCount; row++) {
    symbols.forEach((symbol, lane) => {
      const [from, to] = [
        (first + row) * panel.laneCount + panel.symbols.indexOf(symbol),
        row * symbols.length + lane,
      ];
      for (const [name, column] of part.fields) column[to] = panel.fields.get(name)?.[from] as number;
      part.present[to] = panel.present[from] as number;
    });
  }
  return part;
}

/** Real bars with infinities, zero volumes, nulls, stretches of constants, and rows that are missing. */
function awkwardBars(panel: Panel, laneCount: number, rowCount: number, random: Seeded): Panel {
  const full = panel.symbols.filter((_, lane) => panel.present[lane] === 1);
  const from = random.below(full.length - laneCount);
  const part = slice(
    panel,
    full.slice(from, from + laneCount),
    random.below(panel.rowCount - rowCount),
    rowCount,
  );
  for (let lane = 0; lane < laneCount; lane++) {
    const still = random.below(rowCount - 70);
    const stillRows = 20 + random.below(50);
    for (let row = 0; row < rowCount; row++) {
      const cell = row * laneCount + lane;
      for (const [name, column] of part.fields) {
        if (row > still && row < still + stillRows) column[cell] = column[cell - laneCount] as number;
        const chance = random.uniform();
        if (chance < 0.002) column[cell] = Number.POSITIVE_INFINITY;
        else if (chance < 0.003) column[cell] = Number.NEGATIVE_INFINITY;
        else if (chance < 0.01) column[cell] = Number.NaN;
        else if (chance < 0.04 && name === "volume") column[cell] = 0;
      }
      if (random.uniform() < 0.01) {
        part.present[cell] = 0;
        for (const column of part.fields.values()) column[cell] = Number.NaN;
      }
    }
  }
  return part;
}

/** Short series a and b of few or of many values, with nulls, infinities, zeros and constant stretches. */
function awkwardSeries(laneCount: number, rowCount: number, random: Seeded): Panel {
  const panel = panelOf(
    rowCount,
    Array.from({ length: laneCount }, (_, lane) => `S${lane}`),
    ["a", "b"],
  );
  for (const column of panel.fields.values()) {
    column.forEach((_, cell) => {
      const chance = random.uniform();
      const before = column[cell - laneCount] ?? 1;
      const value = cell % 2 ? random.below(4) - 1 : 100 * random.uniform() - 30;
      column[cell] =
        chance < 0.12
          ? Number.NaN
          : chance < 0.17
            ? Number.POSITIVE_INFINITY
            : chance < 0.2
              ? Number.NEGATIVE_INFINITY
              : chance < 0.35
                ? before
                : value;
    });
  }
  return panel;
}

/** The values of Qlib's definitions, by factor. */
async function pandas(
  panel: Panel,
  { factors, lets }: Formulas,
  starts: readonly number[],
  control: readonly string[] = [],
): Promise<Oracle> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-qlib-"));
  const file = (name: string) => join(folder, `${name}.f64`);
  try {
    for (const [name, column] of panel.fields) writeFileSync(file(name), column);
    const request = {
      folder,
      rows: panel.rowCount,
      lanes: panel.laneCount,
      fields: [...panel.fields.keys()],
    };
    const child = spawn(SYSTEM_PYTHON, ["-B", here("qlib_pandas.py")]);
    child.stdin.end(JSON.stringify({ ...request, starts, factors, lets, control }));
    const ended = once(child, "close");
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    expect(status, stderr).toBe(0);
    const read = (name: string) => new Float64Array(new Uint8Array(readFileSync(file(name))).buffer);
    const values = new Map(Object.keys(factors).map((name) => [name, read(name)]));
    return { values, control: (JSON.parse(stdout) as Pick<Oracle, "control">).control };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares all cells that have a row in the bars. */
async function compare(
  source: string,
  names: readonly string[],
  panel: Panel,
  expected: ReadonlyMap<string, Float64Array>,
): Promise<Comparison> {
  await using engine = await Engine.start({ threads: 1 });
  const program = compile(source, { fields: [...panel.fields.keys()] });
  const { table } = await engine.evaluate(program, panel, { keepInfinite: true });
  const cells = Array.from(panel.present.keys()).filter((cell) => panel.present[cell] === 1);
  expect(table.numRows).toBe(cells.length);
  const different = new Map<string, number>();
  let [values, infinite, cancelled] = [0, 0, 0];
  let first: string | undefined;
  for (const name of names) {
    const [column, wanted] = [table.getChild(name), expected.get(name) as Float64Array];
    cells.forEach((cell, row) => {
      const [got, want] = [(column?.get(row) ?? Number.NaN) as number, wanted[cell] as number];
      if (!Number.isNaN(want)) values += 1;
      if (Math.abs(want) === Number.POSITIVE_INFINITY) infinite += 1;
      if (Object.is(got, want) || got === want) return;
      const distance = Math.abs(got - want);
      if (distance <= RELATIVE * Math.abs(want)) return;
      if (distance <= CANCELLED) {
        cancelled += 1;
        return;
      }
      different.set(name, (different.get(name) ?? 0) + 1);
      first ??= `${name} row ${Math.floor(cell / panel.laneCount)} lane ${cell % panel.laneCount}: ${got}, pandas ${want}`;
    });
  }
  return { cells: cells.length * names.length, values, infinite, cancelled, different, first };
}
