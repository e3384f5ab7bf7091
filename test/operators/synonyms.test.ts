import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import type { DialectName } from "../../src/operator/definition.ts";

/** The task of each factor of a file. */
function tasksOf(formulas: readonly string[], dialect: DialectName): number[] {
  const text = formulas.map((formula, i) => `f${i} = ${formula}`).join("\n");
  return finalDag(compile(text, { dialect })).outputs.map(({ task }) => task);
}

describe("two ways to write the same are one task", () => {
  test.each([
    ["native", "demean(close)", "normalize(close)"],
    ["native", "cs_3sigma(close)", "winsorize(close, 3)"],
    ["native", "cs_3sigma(close, 0.5)", "winsorize(close, 0.5)"],
    ["native", "sma(close, 5)", "ts_mean(close, 5)"],
    ["native", "sma(close, 5, min_periods=2)", "ts_mean(close, 5, min_periods=2)"],
    ["alpha101", "sma(close, 5.9)", "ts_mean(close, 5)"],
    ["qlib", "sma($close, 5)", "Mean($close, 5)"],
    ["native", "mom(close, 5)", "delta(close, 5)"],
    ["alpha101", "mom(close, 5)", "delta(close, 5)"],
    ["qlib", "mom($close, 5)", "Delta($close, 5)"],
    ["gtja191", "mom(close, 5)", "DELTA(close, 5)"],
  ] as const)("%s: %s, %s", (dialect, one, other) => {
    const [first, second] = tasksOf([one, other], dialect);
    expect(first).toBe(second);
  });

  test("gtja191 calls another average SMA", () => {
    expect(builtInRegistry.find("SMA", "gtja191")?.name).toBe("sma_cn");
  });
});

test("alpha101 has every name of native", () => {
  const differing = builtInRegistry
    .names("native")
    .filter((name) => builtInRegistry.find(name, "native") !== builtInRegistry.find(name, "alpha101"));
  expect(differing).toEqual([]);
  expect(builtInRegistry.find("clamp", "alpha101")?.name).toBe("clip");
});
