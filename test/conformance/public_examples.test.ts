import { expect, test } from "vitest";
import { compile } from "../../src/compile.ts";
import { runProgram } from "../kernel/run_plan.ts";
import { panelOf } from "../panels.ts";

/**
 * Numeric examples that others publish (facts, cited by page): what our operators give, at the digits printed there.
 * API reference of pandas: https://pandas.pydata.org/docs/reference/api/ + page.
 */
interface PublicExample {
  readonly page: string;
  readonly formula: string;
  readonly dialect?: string;
  readonly x: readonly (number | null)[];
  readonly y?: readonly number[];
  readonly expected: readonly (number | null)[];
}

const EXAMPLES: readonly PublicExample[] = [
  {
    page: "pandas.core.window.rolling.Rolling.skew",
    formula: "ts_skew(x, 3)",
    x: [1, 5, 2, 7, 15, 6],
    expected: [null, null, 1.293343, -0.585583, 0.670284, 1.652317],
  },
  {
    page: "pandas.core.window.rolling.Rolling.kurt",
    formula: "ts_kurt(x, 4)",
    x: [1, 2, 3, 4, 999],
    expected: [null, null, null, -1.2, 3.999946],
  },
  {
    page: "pandas.core.window.rolling.Rolling.std",
    formula: "ts_std(x, 3)",
    x: [5, 5, 6, 7, 5, 5, 5],
    expected: [null, null, 0.57735, 1, 1, 1.154701, 0],
  },
  {
    page: "pandas.core.window.rolling.Rolling.var",
    formula: "ts_var(x, 3)",
    x: [5, 5, 6, 7, 5, 5, 5],
    expected: [null, null, 0.333333, 1, 1, 1.333333, 0],
  },
  {
    page: "pandas.core.window.rolling.Rolling.median",
    formula: "ts_median(x, 3)",
    x: [0, 1, 2, 3, 4],
    expected: [null, null, 1, 2, 3],
  },
  {
    page: "pandas.core.window.rolling.Rolling.corr",
    formula: "correlation(x, y, 4)",
    x: [3, 3, 3, 5, 8],
    y: [3, 4, 4, 4, 8],
    expected: [null, null, null, 0.333333, 0.916949],
  },
  {
    page: "pandas.core.window.rolling.Rolling.rank (here divided by the window)",
    formula: "ts_rank(x, 3) * 3",
    x: [1, 4, 2, 3, 5, 3],
    expected: [null, null, 2, 2, 3, 1.5],
  },
  {
    page: "pandas.DataFrame.ewm, com=0.5, that is span=2",
    formula: "EMA(x, 2)",
    dialect: "qlib",
    x: [0, 1, 2, null, 4],
    expected: [0, 0.75, 1.615385, 1.615385, 3.670213],
  },
];

test.each(EXAMPLES)("$formula gives what $page shows", ({ formula, dialect = "native", x, y, expected }) => {
  const columns = { x: x.map((value) => [value]), ...(y ? { y: y.map((value) => [value]) } : {}) };
  const panel = panelOf(columns);
  const program = compile(`result = ${formula}`, { fields: Object.keys(columns), dialect });
  for (const reference of [true, false]) {
    const values = [...runProgram(program, panel, { reference })[0]!];
    expect(values.map((value) => (Number.isNaN(value) ? null : Number(value.toFixed(6))))).toEqual(expected);
  }
});
