import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { loadOperators } from "../../operators/files.ts";
import { builtInRegistry } from "../../operators/index.ts";
import type {
  CrossSectionDefinition,
  DialectName,
  ElementwiseDefinition,
  Example,
  RollingDefinition,
  Settings,
} from "../../src/operator/definition.ts";

/** More than fit at a glance: then a folder is split by topic. */
const FILES_MAX = 18;
/** The functions that the formulas of each dialect are written with. */
const FUNCTIONS: readonly (readonly [DialectName, string])[] = [
  [
    "alpha101",
    "abs Log sign max min rank delay correlation covariance scale delta SignedPower decay_linear indneutralize " +
      "ts_min ts_max Ts_ArgMax Ts_ArgMin Ts_Rank sum product stddev",
  ],
  [
    "qlib",
    "Ref Max Min Sum Mean Std Var Skew Kurt Med Mad Slope Rsquare Resi Rank Quantile Count EMA WMA Corr Cov Delta " +
      "Abs Sign Log Power Add Sub Mul Div Greater Less And Or Not Gt Ge Lt Le Eq Ne IdxMax IdxMin If IsNull IsInf",
  ],
  [
    "gtja191",
    "RANK MAX MIN STD CORR DELTA LOG SUM ABS MEAN TSRANK SIGN COVIANCE DELAY TSMIN TSMAX PROD COUNT REGBETA REGRESI " +
      "SMA SUMIF WMA DECAYLINEAR FILTER HIGHDAY LOWDAY SUMAC MA",
  ],
];
const { operators } = builtInRegistry;
const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** The value of one cell of an elementwise operator. */
function cell(name: string, ...cells: number[]): number {
  return (builtInRegistry.kernel(name) as ElementwiseDefinition).reference(...cells);
}

/** The value of one full window of a rolling operator. */
function window(name: string, ...columns: number[][]): number {
  const settings = { d: columns[0]?.length ?? 0 };
  const windows = columns.map((column) => Float64Array.from(column));
  const rows = { positions: Float64Array.from(columns[0] ?? [], (_, row) => row), last: settings.d - 1 };
  return (builtInRegistry.kernel(name) as RollingDefinition).reference(windows, settings, rows);
}

/** The values of one row of a cross-section operator. */
function row(name: string, column: number[], settings: Settings): number[] {
  const output = new Float64Array(column.length);
  const { reference } = builtInRegistry.kernel(name) as CrossSectionDefinition;
  reference([Float64Array.from(column)], settings, output);
  return [...output];
}

describe("the registry", () => {
  const folder = new URL("../../operators/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && dirname(path) !== ".")
    .map((path) => ({ path, topic: dirname(path), stem: basename(path, ".ts") }));

  test.each(files)("$path is registered under its file stem", ({ topic, stem }) => {
    const operator = builtInRegistry.find(stem, "native");
    expect(operator?.name).toBe(stem);
    // Rewrites lie in the room of what they stand for.
    if (operator?.axis !== "rewrite") expect(operator?.axis).toBe(topic.split("/")[0]);
  });

  test("finds no folder that is too full", () => {
    const topics = Map.groupBy(files, ({ topic }) => topic);
    const full = [...topics].filter(([, inside]) => inside.length > FILES_MAX).map(([topic]) => topic);
    expect(full, "split the folder by topic").toEqual([]);
  });

  test("executors load the operators of a plan only", () => {
    const loaded = loadOperators(new Set(["rank", "ts_mean"]));
    expect(loaded).toEqual([builtInRegistry.kernel("rank"), builtInRegistry.kernel("ts_mean")]);
    expect(loadOperators([])).toEqual([]);
    expect(() => loadOperators(["rank", "no_such"])).toThrow("E900 no built-in operator no_such");
  });

  test("holds nothing but the files", () => {
    expect(operators.map((operator) => operator.name)).toEqual(files.map((file) => file.stem).sort());
  });

  test.each([
    ["native", FUNCTIONS[0]![1]] as const,
    ...FUNCTIONS,
  ])("knows the functions of %s", (dialect, names) => {
    for (const name of names.split(" ")) expect(builtInRegistry.find(name, dialect), name).toBeDefined();
  });

  test.each([
    ["qlib", "Greater", "max"],
    ["qlib", "Less", "min"],
    ["qlib", "Max", "ts_max"],
    ["qlib", "Rank", "ts_rank"],
    ["qlib", "Count", "ts_count_values"],
    ["qlib", "Gt", "greater"],
    ["qlib", "WMA", "wma_mean"],
    ["gtja191", "WMA", "wma_decay"],
    ["gtja191", "COUNT", "ts_count"],
    ["gtja191", "RANK", "rank"],
    ["alpha101", "greater", "greater"],
  ] as const)("%s calls by %s what is printed as %s", (dialect, name, printed) => {
    expect(builtInRegistry.find(name, dialect)?.name).toBe(printed);
  });

  test("knows every symbol of the grammar", () => {
    const infix = "+ - * / % ^ < <= > >= == != && ||".split(" ");
    for (const symbol of infix) expect(builtInRegistry.findSymbol(symbol, 2), symbol).toBeDefined();
    expect(builtInRegistry.findSymbol("-", 1)?.name).toBe("negate");
    expect(builtInRegistry.findSymbol("!", 1)?.name).toBe("not");
    expect(builtInRegistry.findSymbol("?:", 3)?.name).toBe("where");
  });
});

describe.each(operators)("$name", (operator) => {
  test("is documented", () => {
    for (const text of [operator.summary, operator.nulls]) expect(text).toMatch(/^[A-Z0-9].*[^.]\.$/);
    expect(operator.source).not.toBe("");
    if (operator.axis === "rewrite") return;
    expect(operator.costNs(1)).toBeGreaterThan(0);
    expect(operator.costNs(250)).toBeGreaterThanOrEqual(operator.costNs(5));
  });

  test("has examples of one length, one of them with a null", () => {
    for (const { inputs, output } of operator.examples) {
      for (const input of Object.values(inputs)) expect(input).toHaveLength(output.length);
    }
    const hasNull = ({ inputs, output }: Example) =>
      output.includes(null) || Object.values(inputs).some((cells) => cells.includes(null));
    expect(operator.examples.some(hasNull)).toBe(true);
    if (operator.axis === "rolling" && operator.allowsMinPeriods) {
      expect(operator.examples.some((example) => example.formula.includes("min_periods"))).toBe(true);
    }
  });

  test("owns its aliases", () => {
    for (const [dialect, aliases] of Object.entries(operator.aliases ?? {})) {
      for (const alias of aliases) {
        expect(builtInRegistry.find(alias, dialect as DialectName)).toBe(operator);
        expect(alias).toMatch(/^[a-z][a-z0-9_]*$/);
        expect(alias).not.toBe(operator.name);
      }
    }
  });

  test("obeys its laws to the last bit", () => {
    if (!operator.laws?.includes("commutative")) return;
    const nasty = [0, -0, 1, -1, 0.1, 1e300, -1e300, 5e-324, inf, -inf];
    for (const x of nasty) {
      for (const y of nasty) {
        if (operator.axis === "elementwise") {
          expect(operator.reference(x, y)).toBe(operator.reference(y, x));
        } else {
          const columns = [
            [x, 1, y],
            [y, 2, x],
          ];
          expect(window(operator.name, ...columns)).toBe(window(operator.name, ...columns.reverse()));
        }
      }
    }
  });
});

describe("logic", () => {
  test.each([
    [1, 1, 1, 1],
    [1, 0, 0, 1],
    [1, none, none, 1],
    [0, 0, 0, 0],
    [0, none, 0, none],
    [none, none, none, none],
  ])("of %d and %d: and gives %d, or gives %d", (x, y, and, or) => {
    expect([cell("and", x, y), cell("and", y, x)]).toEqual([and, and]);
    expect([cell("or", x, y), cell("or", y, x)]).toEqual([or, or]);
  });

  test("not", () => {
    expect([cell("not", 1), cell("not", 0)]).toEqual([0, 1]);
  });

  test("where looks at the chosen branch only", () => {
    expect(cell("where", 1, 5, none)).toBe(5);
    expect(cell("where", 0, none, 7)).toBe(7);
    expect(cell("where", 1, none, 7)).toBeNaN();
    expect(cell("where", none, 5, 5)).toBeNaN();
  });

  test("comparisons hold -0 equal to 0 and infinity equal to itself", () => {
    const names = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"];
    expect(names.map((name) => cell(name, -0, 0))).toEqual([0, 1, 0, 1, 1, 0]);
    expect(names.map((name) => cell(name, inf, inf))).toEqual([0, 1, 0, 1, 1, 0]);
    expect(names.map((name) => cell(name, 0.1 + 0.2, 0.3))).toEqual([0, 0, 1, 1, 0, 1]);
  });
});

describe("arithmetic", () => {
  test.each([
    [7, 3, 1],
    [-7, 3, 2],
    [7, -3, -2],
    [-7, -3, -1],
    [6, 3, 0],
    [-6, 3, 0],
    [6, -3, -0],
    [5, inf, 5],
    [-5, inf, inf],
    [5, -inf, -inf],
    [inf, 3, none],
    [1, 0, none],
    [0, 0, none],
  ])("remainder of %d by %d is %d, as in Python", (x, y, rest) => {
    expect(cell("remainder", x, y)).toBe(rest);
  });

  test("small whole exponents are products, whatever the base", () => {
    for (const x of [0.1, 1.1, -1.1, 3.7e-5, 1e200, -inf, -0]) {
      expect(cell("power", x, 1)).toBe(x);
      expect(cell("power", x, 2)).toBe(x * x);
      expect(cell("power", x, 3)).toBe(x * x * x);
    }
  });

  test("other powers", () => {
    expect(cell("power", 2, 10)).toBe(1024);
    expect(cell("power", 9, 0.5)).toBe(3);
    expect(cell("power", 0, 0)).toBe(1);
    expect(cell("power", 0, -1)).toBe(inf);
    expect(cell("power", -8, 0.5)).toBeNaN();
    expect(cell("power", inf, -1)).toBe(0);
  });

  test("signed_power keeps the sign", () => {
    expect(cell("signed_power", -3, 2)).toBe(-9);
    expect(cell("signed_power", 3, 2)).toBe(9);
    expect(cell("signed_power", -4, 0.5)).toBe(-2);
    expect(cell("signed_power", -5, 0)).toBe(-1);
    expect(cell("signed_power", -inf, 3)).toBe(-inf);
    expect([cell("signed_power", -0, 2), cell("signed_power", 0, 0)]).toEqual([0, 0]);
    expect(cell("signed_power", 0, -1)).toBeNaN();
  });

  test("signs of zero", () => {
    expect([cell("sign", -0), cell("sign", 0), cell("abs", -0)]).toEqual([0, 0, 0]);
    expect(cell("negate", 0)).toBe(-0);
    expect([cell("max", -0, 0), cell("max", 0, -0)]).toEqual([0, 0]);
    expect([cell("min", -0, 0), cell("min", 0, -0)]).toEqual([-0, -0]);
  });

  test("edges of the domains", () => {
    expect(cell("log", 0)).toBe(-inf);
    expect(cell("log", -0)).toBe(-inf);
    expect(cell("log", -1)).toBeNaN();
    expect(cell("sqrt", -1)).toBeNaN();
    expect([cell("divide", 1, 0), cell("divide", 1, -0)]).toEqual([inf, -inf]);
    expect(cell("divide", 0, 0)).toBeNaN();
    expect(cell("exp", -inf)).toBe(0);
  });
});

describe("windows", () => {
  test("delay and delta look at the ends only", () => {
    expect(window("delay", [3, none, 8])).toBe(3);
    expect(window("delta", [3, none, 8])).toBe(5);
    expect(window("delta", [8])).toBe(0);
    expect(window("delta", [none, 3, 8])).toBeNaN();
  });

  test("a delay of d needs d + 1 rows", () => {
    for (const name of ["delay", "delta"]) {
      const { windowRows } = builtInRegistry.kernel(name) as RollingDefinition;
      expect([windowRows({ d: 0 }), windowRows({ d: 5 })]).toEqual([1, 6]);
    }
  });

  test("ts_rank averages ties and counts today among them", () => {
    expect(window("ts_rank", [1, 2, 3, 4])).toBe(1);
    expect(window("ts_rank", [4, 3, 2, 1])).toBe(0.25);
    expect(window("ts_rank", [1, 3, 3, 3])).toBe(0.75);
    expect(window("ts_rank", [5, 5, 5, 5])).toBe(0.625);
    expect(window("ts_rank", [0, 1, -0])).toBe(0.5);
    expect(window("ts_rank", [1, inf, inf])).toBe(2.5 / 3);
    expect(window("ts_rank", [7])).toBe(1);
  });

  test("the first of tied extremes counts, from the oldest", () => {
    expect(window("ts_argmax", [1, 9, 9, 2])).toBe(2);
    expect(window("ts_argmin", [4, 1, 3, 1])).toBe(2);
    expect([window("ts_argmax", [5, 5]), window("ts_argmin", [5, 5])]).toEqual([1, 1]);
    expect([window("ts_argmax", [-0, 0]), window("ts_argmin", [0, -0])]).toEqual([1, 1]);
    expect(window("ts_argmax", [1, 2, inf])).toBe(3);
  });

  test("extremes", () => {
    expect([window("ts_max", [-5, -3, -4]), window("ts_min", [-5, -3, -4])]).toEqual([-3, -5]);
    expect([window("ts_max", [-0, 0]), window("ts_max", [0, -0])]).toEqual([0, 0]);
    expect([window("ts_min", [-0, 0]), window("ts_min", [0, -0])]).toEqual([-0, -0]);
    expect([window("ts_max", [-inf, 1]), window("ts_min", [-inf, 1])]).toEqual([1, -inf]);
  });

  test("decay_linear by hand", () => {
    expect(window("decay_linear", [4, 7, 10])).toBe((1 * 4 + 2 * 7 + 3 * 10) / 6);
    expect(window("decay_linear", [0.1, 0.1, 0.1])).toBe(0.1);
    expect(window("decay_linear", [3])).toBe(3);
    expect(window("decay_linear", [-inf, 1])).toBe(-inf);
  });

  test("sums and products", () => {
    expect(window("ts_sum", [1e16, 1, -1e16])).toBe(1);
    expect(window("ts_sum", [inf, 1, -inf])).toBeNaN();
    expect(window("ts_product", [2, 0, 5])).toBe(0);
    expect(window("ts_product", [1e200, 1e200, 1e-200, 1e-200])).toBeCloseTo(1, 12);
    expect(window("ts_product", [inf, 0])).toBeNaN();
  });

  test("spread of constant, short and infinite windows", () => {
    expect([window("ts_std", [0.1, 0.1, 0.1]), window("ts_var", [0.1, 0.1, 0.1])]).toEqual([0, 0]);
    expect([window("ts_std", [2, 4]), window("ts_var", [2, 4])]).toEqual([Math.SQRT2, 2]);
    for (const name of ["ts_std", "ts_var"]) {
      expect(window(name, [5])).toBeNaN();
      expect(window(name, [1, inf])).toBeNaN();
      expect(window(name, [inf, inf])).toBeNaN();
    }
    expect(window("covariance", [1, 2, 3], [5, 5, 5])).toBe(0);
    expect(window("covariance", [1], [1])).toBeNaN();
    expect(window("covariance", [1, 1], [1, inf])).toBeNaN();
  });
});

describe("scale", () => {
  test("shares add up in absolute value", () => {
    expect(row("scale", [1, -1, 2], { a: 1 })).toEqual([0.25, -0.25, 0.5]);
    expect(row("scale", [1, -1, 2], { a: 100 })).toEqual([25, -25, 50]);
  });

  test("a row whose sum is zero has no shares", () => {
    expect(row("scale", [0, -0, 0], { a: 1 })).toEqual([none, none, none]);
  });

  test("an empty row is left alone", () => {
    expect(row("scale", [], { a: 1 })).toEqual([]);
  });
});
