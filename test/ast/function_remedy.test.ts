import { describe, expect, test } from "vitest";
import { FOREIGN_FUNCTIONS } from "../../grammar/foreign_names.ts";
import { builtInRegistry } from "../../operators/index.ts";
import { functionRemedy } from "../../src/ast/function_remedy.ts";
import type { DialectName } from "../../src/operator/definition.ts";
import { mistakes, remedies } from "../compile/rendered.ts";
import { Seeded } from "../support/seeded.ts";

const DIALECTS = ["native", "alpha101", "qlib", "gtja191"] as const;
const FIELDS = ["x", "y", "high", "low", "close", "volume"];

const remedyFor = (name: string, dialect: DialectName = "native") =>
  functionRemedy(name, dialect, builtInRegistry);

describe("a function of another system", () => {
  test.each([
    ["ts_arg_max", "ts_arg_max of BRAIN counts rows since the maximum: high_day(x, d)"],
    ["TS_ARG_MIN", "ts_arg_min of BRAIN counts rows since the minimum: low_day(x, d)"],
    ["lag", "write delay(x, d)"],
    ["mean", "across the row x - demean(x), over the last d rows: ts_mean(x, d)"],
    ["log10", "write log(x) / log(10)"],
    ["cs_rank", "across the row: rank(x)"],
    [
      "ts_decay_exp_window",
      "weights factor^k over d rows have an equal for the factor 0.9 alone: wma_decay(x, d)",
    ],
    ["sin", "there are no trigonometric functions here"],
    ["if", "write c ? a : b"],
    ["Slope", "Slope of dialect qlib: ts_slope(x, d)"],
    ["SUMAC", "SUMAC of dialect gtja191: cum_sum(x)"],
  ])("%s has its meaning said", (name, expected) => {
    expect(remedyFor(name)).toBe(expected);
  });

  test("is spelt as the dialect of the file spells it", () => {
    expect(remedyFor("CSRank", "qlib")).toBe("across the row: rank(x) in dialect native");
    expect(remedyFor("maximum", "qlib")).toBe("write greater(x, y)");
    expect(remedyFor("stddev", "qlib")).toBe("stddev of dialect native: ts_std(x, d)");
    expect(remedyFor("ts_sma_cn", "gtja191")).toBe("write sma_cn(x, n, k)");
  });

  test("is no misspelling; one may still be of a function of the file", () => {
    const text =
      "let half(x) = x / 2\na = hlaf(close)\nb = ts_maen(close, 2)\nc = lag(close, 2)\nd = zzzz(close)";
    expect(remedies(text)).toEqual([
      "did you mean half?",
      "did you mean ts_mean?",
      "write delay(x, d)",
      "`factorloom ops` lists all functions",
    ]);
  });

  /** The formula that a remedy ends with, and the dialect in which it is to be read. */
  function suggested(remedy: string, dialect: DialectName): [formula: string, dialect: DialectName] {
    const said = remedy.replace(/^(?:write |.*?: )/, "");
    const native = said.replace(/ in dialect native$/, "");
    return [native, native === said ? dialect : "native"];
  }

  /** Compiles a formula over the letters of the table, those of numbers as parameters of a definition. */
  const mistakesOf = (formula: string, dialect: DialectName) =>
    mistakes(
      `let c = x > y\nlet f(a, b, d, k, n, q) = ${formula.replaceAll(/\bg\b/g, "sector")}\nr = f(1, 2, 3, 2, 5, 0.5)`,
      { dialect, fields: FIELDS, groups: ["sector"] },
    );

  const names = FOREIGN_FUNCTIONS.flatMap((row) => row.names.map((name) => [name, row] as const));

  test("stands in the table once, under a name that is not known to native", () => {
    expect(new Set(names.map(([name]) => name)).size).toBe(names.length);
    for (const [name] of names) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(builtInRegistry.find(name, "native"), name).toBeUndefined();
    }
  });

  test.each(DIALECTS)("leads to a formula that %s reads", (dialect) => {
    for (const [name, { formula }] of names) {
      if (builtInRegistry.find(name, dialect)) continue;
      const remedy = remedyFor(name, dialect);
      expect(remedies(`a = ${name}(close)`, { dialect })).toEqual([remedy]);
      expect(remedy, name).not.toContain("did you mean");
      if (formula === null) continue;
      const [written, inDialect] = suggested(remedy, dialect);
      expect(mistakesOf(written, inDialect), `${name}: ${written}`).toEqual([]);
    }
  });

  test("of another dialect leads to a formula too", () => {
    for (const from of DIALECTS) {
      for (const name of builtInRegistry.names(from)) {
        for (const dialect of DIALECTS) {
          if (builtInRegistry.find(name, dialect)) continue;
          const remedy = remedyFor(name, dialect);
          expect(remedy).toMatch(/: |^write /);
        }
      }
    }
  });
});

test("no misspelling is taken for a function of another family", () => {
  const random = new Seeded();
  const family = (name: string) => /^(ts|cs|group|gp|cum)_?/i.exec(name)?.[1]?.toLowerCase();
  const letters = "abcdefghijklmnopqrstuvwxyz_0123456789";
  const prefixes = ["", "ts_", "cs_", "group_", "gp_", "cum_", "ts", "Cs"];
  const foreign = new Set(FOREIGN_FUNCTIONS.flatMap((row) => row.names));
  let suggestions = 0;
  for (let trial = 0; trial < 3000; trial++) {
    const dialect = DIALECTS[random.below(4)]!;
    const known = builtInRegistry.names(dialect);
    const stem = known[random.below(known.length)]!.replace(/^(ts|cs|group|cum)_/, "");
    const at = random.below(stem.length + 1);
    const letter = letters[random.below(letters.length)]!;
    const misspelt = stem.slice(0, at) + letter + stem.slice(at + random.below(2));
    const name = prefixes[random.below(prefixes.length)]! + misspelt;
    if (builtInRegistry.find(name, dialect)) continue;
    const meant = /^did you mean (.*)\?$/.exec(remedyFor(name, dialect))?.[1];
    if (meant === undefined) continue;
    suggestions += 1;
    expect(family(meant), `SEED=${random.seed}: ${name} of ${dialect} -> ${meant}`).toBe(family(name));
    expect(foreign.has(name.toLowerCase())).toBe(false);
    expect(builtInRegistry.find(meant, dialect)).toBeDefined();
  }
  expect(suggestions).toBeGreaterThan(300);
});
