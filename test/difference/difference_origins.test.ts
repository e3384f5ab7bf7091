import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CompileOptions, compile, type DiffOptions, Engine, type Panel } from "../../src/index.ts";
import { smallPanel } from "./small_panel.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => await engine.close());

/** Four days of three symbols; B has no row on the second day. */
const BARS = smallPanel(3, {
  close: [1, 2, 3, 4, null, 6, 5, 0, 1, 7, 8, 9],
  volume: [1, 1, 2, 3, null, 8, 13, Number.POSITIVE_INFINITY, 21, 1, 2, 3],
});

/** The origins of factor `f`, as `a / b: cells, first time and symbol: value of a, value of b`. */
async function origins(
  a: string,
  b: string,
  { panel = BARS, ...options }: DiffOptions & { readonly panel?: Panel } = {},
  compileOptions: CompileOptions = {},
): Promise<string[]> {
  const found = await engine.diff(compile(a, compileOptions), compile(b, compileOptions), panel, options);
  const [difference] = found.differences.filter(({ name }) => name === "f");
  return difference!.origins!.map(({ a: left, b: right, cellCount, first }) => {
    const day = first.time.slice(-2);
    return `${left.formula} / ${right.formula}: ${cellCount}, ${day} ${first.symbol}: ${first.a}, ${first.b}`;
  });
}

describe("the smallest sub-expressions that differ", () => {
  test.each<[string, string, readonly string[]]>([
    // Windows and numbers are settings of the call.
    [
      "f = rank(ts_mean(close, 2))",
      "f = rank(ts_mean(close, 3))",
      ["ts_mean(close, 2) / ts_mean(close, 3): 7, 03 A: 2.5, null"],
    ],
    ["f = rank(close * 2) + 1", "f = rank(close * -2) + 1", ["close * 2 / close * -2: 11, 02 A: 2, -2"]],
    ["f = 1", "f = 2", ["1 / 2: 11, 02 A: 1, 2"]],
    [
      "f = close + 1 / 3",
      "f = close + 1 / 4",
      ["close + 1 / 3 / close + 1 / 4: 11, 02 A: 1.3333333333333333, 1.25"],
    ],
    // Other operators are not looked into.
    ["f = -rank(close)", "f = -close", ["rank(close) / close: 11, 02 A: 0.3333333333333333, 1"]],
    [
      "f = ts_max(close + volume, 2)",
      "f = ts_max(close * volume, 2)",
      ["close + volume / close * volume: 11, 02 A: 2, 1"],
    ],
    // Two changes in one formula.
    [
      "f = ts_sum(close, 2) - ts_max(volume, 2)",
      "f = ts_sum(close, 3) - ts_max(volume, 3)",
      [
        "ts_sum(close, 2) / ts_sum(close, 3): 7, 03 A: 5, null",
        "ts_max(volume, 2) / ts_max(volume, 3): 3, 03 A: 3, null",
      ],
    ],
    // One above the other: the outer one differs in cells whose windows read no difference.
    [
      "f = ts_sum(close > 6 ? 0 : 1, 1)",
      "f = ts_sum(close > 7 ? 0 : 1, 2)",
      [
        "ts_sum(close > 6 ? 0 : 1, 1) / ts_sum(close > 7 ? 0 : 1, 2): 10, 02 A: 1, null",
        "close > 6 / close > 7: 1, 05 A: 1, 0",
      ],
    ],
    // Definitions are read through, and a sub-expression that stands twice is reported once.
    [
      "let m = delay(close, 1)\nf = m / (m + 1)",
      "let m = delay(close, 2)\nf = m / (m + 1)",
      ["delay(close, 1) / delay(close, 2): 8, 03 A: 1, null"],
    ],
    // What differs below an equal value is no origin.
    [
      "f = sign(close * 2) + close",
      "f = sign(close * 3) - close",
      ["sign(close * 2) + close / sign(close * 3) - close: 10, 02 A: 2, 0"],
    ],
    ["f = sign(close * 2) + close", "f = sign(close * 3) + volume", ["close / volume: 10, 02 B: 2, 1"]],
    // Operands that may be swapped are.
    [
      "f = close + ts_mean(volume, 1)",
      "f = ts_mean(volume, 2) + close",
      ["ts_mean(volume, 1) / ts_mean(volume, 2): 11, 02 A: 1, null"],
    ],
    // So of two changed operands, one that became what the other was is no origin.
    [
      "f = rank(ts_max(close, 2)) + rank(ts_min(close, 2))",
      "f = rank(ts_min(close, 2)) + sign(ts_min(close, 2))",
      ["rank(ts_max(close, 2)) / sign(ts_min(close, 2)): 4, 03 A: 0.5, 1"],
    ],
    // A difference that begins where an instrument has no row.
    [
      "f = delay(coalesce(close, 1), 1)",
      "f = delay(coalesce(close, 2), 1)",
      ["coalesce(close, 1) / coalesce(close, 2): 1, 03 B: 1, 2"],
    ],
    // What an instrument without a row has is not read across the row: scale differs in all rows by itself.
    [
      "f = scale(coalesce(close, 1), 1)",
      "f = scale(coalesce(close, 2), 2)",
      [
        "scale(coalesce(close, 1), 1) / scale(coalesce(close, 2), 2): 10, 02 A: 0.16666666666666666, 0.3333333333333333",
        "coalesce(close, 1) / coalesce(close, 2): 1, 03 B: 1, 2",
      ],
    ],
    // Nulls, infinities and the sign of zero are values that differ.
    ["f = 1 / (0 * close)", "f = 1 / (-0 * close)", ["0 * close / -0 * close: 11, 02 A: 0, 0"]],
    ["f = close", "f = null", ["close / null: 11, 02 A: 1, null"]],
    ["f = ema(close, 2)", "f = ema(close, 3)", ["ema(close, 2) / ema(close, 3): 8, 03 A: 3, 2.5"]],
  ])("%s and %s", async (a, b, expected) => {
    expect(await origins(a, b, { keepInfinite: true })).toEqual(expected);
  });

  test("a difference may begin before the rows that are compared", async () => {
    const [a, b] = ["f = delay(close * 2, 2)", "f = delay(close * 3, 2)"];
    expect(await origins(a, b, { from: "2024-01-05" })).toEqual(["close * 2 / close * 3: 10, 02 A: 2, 3"]);
  });

  test("a condition that alone differs has no origin", async () => {
    const k = "param k = 1\n";
    expect(await origins(`${k}f = close when k == 1`, `${k}f = close when k == 2`)).toEqual([]);
  });

  test("params with other defaults", async () => {
    expect(await origins("param k = 1\nf = close * k", "param k = 2\nf = close * k")).toEqual([
      "k / k: 11, 02 A: 1, 2",
    ]);
  });

  test("the universe counts as an input of operators across the row", async () => {
    const [a, b] = ["let u = close > 1\nf = rank(close) * 2", "let u = close > 2\nf = rank(close) * 2"];
    expect(await origins(a, b, {}, { universe: "u" })).toEqual(["close > 1 / close > 2: 1, 02 B: 1, null"]);
    const other = "let u = close > 2\nf = -rank(close) * 2";
    expect(await origins(a, other, {}, { universe: "u" })).toHaveLength(1);
  });

  test("inputs that agree within the tolerance are equal", async () => {
    const [a, b] = ["f = sign(close - 1)", "f = sign(close * 1.0001 - 1)"];
    expect(await origins(a, b, { tolerance: 0.01 })).toEqual([
      "sign(close - 1) / sign(close * 1.0001 - 1): 2, 02 A: 0, 1",
    ]);
    expect(await origins(a, b)).toEqual(["close / close * 1.0001: 10, 02 A: 1, 1.0001"]);
  });

  test("one lane and one row", async () => {
    const panel = smallPanel(1, { close: [2] });
    expect(await origins("f = rank(close) + 1", "f = rank(close) + 2", { panel })).toEqual([
      "rank(close) + 1 / rank(close) + 2: 1, 02 A: 2, 3",
    ]);
  });

  test("equal texts of two dialects are printed as what they mean", async () => {
    const text = "f = max(close, 3)\ng = ts_mean(close, 2)";
    const [a, b, c] = ["native", "alpha101", "qlib"].map((dialect) => compile(text, { dialect }));
    const formulas = async (other: typeof a) => {
      const { differences } = await engine.diff(a!, other!, BARS);
      return differences.map(({ origins: found }) => found!.map((one) => [one.a.formula, one.b.formula]));
    };
    expect(await formulas(b)).toEqual([[["max(close, 3)", "ts_max(close, 3)"]]]);
    expect((await formulas(c)).at(-1)).toEqual([
      ["ts_mean(close, 2)", "ts_mean(purify(close), 2, min_periods=1)"],
    ]);
  });

  test("places are those of each text; what a name stands for is printed", async () => {
    const a = "f = rank(returns)";
    const b = "let returns = delta(close, 1)\n# ...\nf = rank(returns)";
    const { differences } = await engine.diff(compile(a), compile(b), BARS);
    const [{ a: left, b: right } = expect.fail()] = differences[0]!.origins!;
    expect(left).toEqual({ formula: "returns", line: 1, column: 10 });
    expect(right).toEqual({ formula: "delta(close, 1)", line: 1, column: 15 });
  });

  test("formulas of 3,000 levels", async () => {
    const deep = (n: number) =>
      [`let x0 = close * ${n}`, ...Array.from({ length: 3000 }, (_, i) => `let x${i + 1} = -x${i} + 1`)].join(
        "\n",
      );
    expect(await origins(`${deep(2)}\nf = x3000`, `${deep(3)}\nf = x3000`)).toEqual([
      "close * 2 / close * 3: 10, 02 A: 2, 3",
    ]);
  });
});

test("the origins of the first 20 factors are looked for", async () => {
  const text = (d: number) =>
    Array.from({ length: 22 }, (_, i) => `f${i} = delay(close, ${d}) + ${i}`).join("\n");
  const { differences } = await engine.diff(compile(text(1)), compile(text(2)), BARS);
  expect(differences.map(({ origins: found }) => found?.length)).toEqual([
    ...Array<number>(20).fill(1),
    undefined,
    undefined,
  ]);
  const select = ["f21"];
  const selected = await engine.diff(compile(text(1)), compile(text(2)), BARS, { select });
  expect(selected.differences.map(({ origins: found }) => found?.length)).toEqual([1]);
});
