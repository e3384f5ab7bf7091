import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { graph, mistakes, remedies } from "./rendered.ts";

/** The last task of a formula, e.g. `ts_max(%0, d=5)`. */
function root(formula: string, dialect?: string): string {
  const lines = graph(`a = ${formula}`, dialect === undefined ? {} : { dialect }).split("\n");
  return lines.at(-2)?.replace(/^%\d+ = /, "") ?? "";
}

describe("fractional windows", () => {
  test.each([
    ["ts_mean(close, 17.93)", "ts_mean(%0, d=17)"],
    ["ts_mean(close, 1.999999)", "ts_mean(%0, d=1)"],
    ["delay(close, 0.5)", "delay(%0, d=0)"],
    ["ts_mean(close, 65536.9)", "ts_mean(%0, d=65536)"],
    ["ts_mean(close, 5)", "ts_mean(%0, d=5)"],
  ])("alpha101 rounds down: %s", (formula, expected) => {
    expect(root(formula, "alpha101")).toBe(expected);
  });

  test.each([
    ["ts_mean(close, 0.5)", "E203 1:20 ts_mean expects a window of 1..65536 rows, got 0.5"],
    ["ts_mean(close, 65537.5)", "E203 1:20 ts_mean expects a window of 1..65536 rows, got 65537.5"],
    ["delay(close, -0.5)", "E206 1:18 delay by -0.5 rows would look ahead"],
  ])("alpha101 refuses what is out of range then: %s", (formula, expected) => {
    expect(mistakes(`a = ${formula}`, { dialect: "alpha101" })).toEqual([expected]);
  });

  test("native takes whole numbers only, however they are written", () => {
    expect(mistakes("a = ts_mean(close, 17.93)")).toEqual([
      "E203 1:20 ts_mean expects a whole number of rows, got 17.93",
    ]);
    expect(root("ts_mean(close, 5.0)")).toBe("ts_mean(%0, d=5)");
    expect(root("ts_mean(close, 10 / 2)")).toBe("ts_mean(%0, d=5)");
    expect(root("ts_mean(close, 2e1)")).toBe("ts_mean(%0, d=20)");
  });

  test("a constant that is no window stays as it is", () => {
    expect(root("scale(close, 2.5)", "alpha101")).toBe("scale(%0, a=2.5)");
  });
});

describe("max and min", () => {
  test.each([
    ["max(close, 5)", "ts_max(%0, d=5)"],
    ["MIN(close, 5)", "ts_min(%0, d=5)"],
    ["max(close, (5))", "ts_max(%0, d=5)"],
    ["max(close, 5.7)", "ts_max(%0, d=5)"],
    ["max(close, 5, min_periods=2)", "ts_max(%0, d=5, min_periods=2)"],
    ["max(close, open)", "max(%0, %1)"],
    ["min(close, open)", "min(%0, %1)"],
    ["max(5, close)", "max(%0, %1)"],
  ])("of alpha101 are rolling if and only if the second argument is a literal: %s", (formula, expected) => {
    expect(root(formula, "alpha101")).toBe(expected);
  });

  test("of alpha101 are pairwise with a number that is no literal", () => {
    expect(root("max(close, -5)", "alpha101")).toMatch(/^max\(/);
    expect(root("max(close, 2 + 3)", "alpha101")).toMatch(/^max\(/);
    expect(graph("let d = 5\na = max(close, d)", { dialect: "alpha101" })).toContain("= max(%0, %1)");
  });

  test("of alpha101 with a literal that is no window say what is rolling", () => {
    const text = "a = max(close, 0)";
    expect(mistakes(text, { dialect: "alpha101" })).toEqual([
      "E203 1:16 ts_max expects a window of 1..65536 rows, got 0",
    ]);
    expect(remedies(text, { dialect: "alpha101" })).toEqual([
      "with a number last max is rolling in alpha101; put the number first to compare with it",
    ]);
  });

  test.each([
    "max(close, 5)",
    "min(close, 5)",
    "max(5, close)",
    "max(close, open)",
  ])("of native are never rolling: %s", (formula) => {
    expect(root(formula)).toMatch(/^(max|min)\(%0, %1\)$/);
  });
});

describe("windows of less than one row in qlib", () => {
  const remedyFor = (formula: string) => remedies(`a = ${formula}`, { dialect: "qlib" })[0];

  test.each([
    ["EMA($close, 0.1)", "0.1 is the alpha of an exponential mean in Qlib, 2 / (N + 1): write EMA(x, 19)"],
    ["Std($close, 0.5)", "0.5 is the alpha of an exponential mean in Qlib, 2 / (N + 1): write EMA(x, 3)"],
    [
      "Mean($close, 0.3)",
      "0.3 is the alpha of an exponential mean in Qlib, 2 / (N + 1): no whole N has it, EMA(x, 6) has 0.2857",
    ],
    [
      "EMA($close, 1e-9)",
      "1e-9 is the alpha of an exponential mean in Qlib, 2 / (N + 1): no whole N has it, EMA(x, 65536) has 0.00003052",
    ],
    ["Mean($close, 0)", "0 is all of history in Qlib: write cum_sum(x) / cum_count(x)"],
    ["Sum($close, 0)", "0 is all of history in Qlib: write cum_sum(x)"],
    ["Std($close, 0)", "0 is all of history in Qlib: that has no equal here, write how many rows"],
    ["EMA($close, 0)", "0 is all of history in Qlib: that has no equal here, write how many rows"],
    ["Corr($close, $open, 0)", "0 is all of history in Qlib: that has no equal here, write how many rows"],
    ["Slope($close, 0.5)", "use 1 for no smoothing"],
    ["rsi($close, 0)", "use 1 for no smoothing"],
    ["Mean($close, -1)", "windows count back from the current row: write how many rows they have"],
  ])("%s says what it means there", (formula, expected) => {
    expect(remedyFor(formula)).toBe(expected);
  });

  test("every alpha of a whole span leads to it, and what is to be written can be read", () => {
    for (const n of [2, 3, 7, 19, 60, 250, 9999, 65_536]) {
      expect(remedyFor(`EMA($close, ${2 / (n + 1)})`)).toMatch(new RegExp(`: write EMA\\(x, ${n}\\)$`));
    }
    for (const name of ["Mean", "Sum", "Max", "Min", "Count"]) {
      const formula = /write (.*)$/.exec(remedyFor(`${name}($close, 0)`)!)![1]!;
      expect(mistakes(`a = ${formula}`, { dialect: "qlib", fields: ["x"] })).toEqual([]);
    }
  });

  test("Delta(x, 0) is the change since the first value, as Ref(x, 0) is that value", () => {
    const since = graph("a = Delta($close * 2, 0)", { dialect: "qlib" });
    expect(since).toBe(graph("a = close * 2 - first_value(close * 2)"));
    expect(since).toBe(graph("a = $close * 2 - Ref($close * 2, 0)", { dialect: "qlib" }));
    expect(root("Delta($close, 5)", "qlib")).toBe("delta(%0, d=5)");
  });
});

describe("group columns", () => {
  test.each([
    "IndClass.sector",
    "indclass.sector",
    "IndClass.SECTOR",
    "sector",
    "Sector",
  ])("of alpha101 may be called %s", (name) => {
    expect(root(`indneutralize(close, ${name})`, "alpha101")).toBe("group_neutralize(%0, sector)");
  });

  test("of alpha101 may be given by a let of their name", () => {
    const text = "let industry = sector\na = indneutralize(close, IndClass.industry)";
    expect(graph(text, { dialect: "alpha101", groups: ["sector"] })).toContain(
      "group_neutralize(%0, sector)",
    );
  });

  test("have no prefix in native", () => {
    expect(mistakes("a = indneutralize(close, IndClass.sector)")).toEqual([
      "E205 1:26 unknown name IndClass.sector",
    ]);
    expect(mistakes("a = indneutralize(close, Other.sector)", { dialect: "alpha101" })).toEqual([
      "E205 1:26 unknown name Other.sector",
    ]);
  });
});

describe("spellings", () => {
  test("qlib writes $ before fields, & and | for && and ||", () => {
    const text = "a = ($close > 1 & $open > 2) | $low > 3 ? 1 : 0";
    expect(mistakes(text)).toEqual([expect.stringMatching(/^E101 1:6 '\$' has no meaning/)]);
    expect(mistakes("a = ($close > 1) & ($open > 2)", { dialect: "qlib" })).toEqual([]);
    expect(mistakes("a = $clsoe", { dialect: "qlib" })).toEqual(["E205 1:5 unknown name $clsoe"]);
  });

  test("no name that is defined begins with $", () => {
    const text = "$a = $close\nlet $b = 1\nparam $c = 1\nlet f($x) = $x\nd = $b * $c + f($a)";
    expect(mistakes(text, { dialect: "qlib" }).map((line) => line.slice(0, 8))).toEqual([
      "E207 1:1",
      "E207 2:5",
      "E207 3:7",
      "E207 4:7",
    ]);
  });

  test("gtja191 compares with =, but for the first of a definition", () => {
    const text = "param p = 1\nwhen p = 1 {\n a = close = open ? 1 : 2\n}\nb = close when p = 2";
    const native = "param p = 1\nwhen p == 1 {\n a = close == open ? 1 : 2\n}\nb = close when p == 2";
    expect(graph(text, { dialect: "gtja191" })).toBe(graph(native));
    expect(mistakes(text)).toHaveLength(3);
  });
});

describe("names of functions", () => {
  test.each([
    "SignedPower",
    "signed_power",
    "SIGNEDPOWER",
  ])("of the paper are known to alpha101: %s", (name) => {
    expect(root(`${name}(close, 2)`, "alpha101")).toBe("signed_power(%0, %1)");
  });

  test.each(["Ts_Mean", "TS_MEAN", "ts_mean", "tS_mEaN"])("may be in any letter case: %s", (name) => {
    expect(root(`${name}(close, 5)`)).toBe("ts_mean(%0, d=5)");
  });

  test.each([
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "valueOf",
  ])("do not come from JavaScript: %s", (name) => {
    for (const dialect of ["native", "alpha101", "qlib", "gtja191"]) {
      expect(mistakes(`a = ${name}(close, 5)`, { dialect })).toEqual([`E201 1:5 unknown function ${name}`]);
    }
  });
});

describe("the dialect", () => {
  const fractional = "a = ts_mean(close, 2.5)";

  test("is native unless something else is said", () => {
    expect(compile("a = close").dialect).toBe("native");
  });

  test("may be stated anywhere in the file, in any letter case", () => {
    expect(compile(`dialect alpha101\n${fractional}`).dialect).toBe("alpha101");
    expect(compile(`${fractional}\ndialect ALPHA101 # below`).dialect).toBe("alpha101");
  });

  test("of the option goes before that of the file", () => {
    expect(compile("dialect alpha101\na = close", { dialect: "native" }).dialect).toBe("native");
    expect(mistakes(`dialect alpha101\n${fractional}`, { dialect: "native" })).toHaveLength(1);
    expect(compile(`dialect native\n${fractional}`, { dialect: "Alpha101" }).dialect).toBe("alpha101");
  });

  test("if unknown in the file is the only mistake reported, but for the syntax", () => {
    const text = `dialect alpha11\n${fractional}\nb = nonsense(1)\nc = (close`;
    expect(mistakes(text)).toEqual(["E108 1:9 unknown dialect alpha11", "E103 4:5 '(' is never closed"]);
    expect(mistakes(`dialect = alpha101\n${fractional}`)).toEqual([
      "E102 1:9 expected a name, but found '='",
    ]);
  });

  test.each([
    "nonsense",
    "__proto__",
    "constructor",
    "toString",
    "",
  ])("%j as option is no dialect", (dialect) => {
    expect(() => compile("a = close", { dialect })).toThrow(/^E506 unknown dialect /);
    if (dialect !== "") expect(mistakes(`dialect ${dialect}\na = close`)[0]).toMatch(/^E108 1:9 /);
  });
});

test("the 101 formulas of the paper compile, each a factor", () => {
  const text = readFileSync(new URL("../../examples/alpha101.factors", import.meta.url), "utf8");
  const program = compile(text, { fields: ["open", "high", "low", "close", "volume"], groups: ["sector"] });
  const names = Array.from({ length: 101 }, (_, i) => `alpha${String(i + 1).padStart(3, "0")}`);
  expect(program.factors.map(({ name }) => name)).toEqual(names);
  expect(finalDag(program).outputs).toHaveLength(101);
});
