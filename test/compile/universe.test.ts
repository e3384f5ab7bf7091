import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { printDag } from "../../src/dag/print.ts";
import { FormulaError } from "../../src/errors.ts";

const graphOf = (text: string, universe: string) =>
  printDag(finalDag(compile(text, { universe }))).split("\n");

describe("universe", () => {
  test("is a definition, computed over all that have a row", () => {
    expect(graphOf("let liquid = rank(volume) > 0.5\na = rank(close)", "liquid")).toEqual([
      "%0 = volume",
      "%1 = rank(%0)",
      "%2 = 0.5",
      "%3 = greater(%1, %2)",
      "%4 = 0",
      "%5 = not_equal(%3, %4)",
      "%6 = 1",
      "%7 = filter(%6, %5)",
      "%8 = close",
      "%9 = multiply(%8, %7)",
      "%10 = rank(%9)",
      "a = %10",
    ]);
  });

  test("hides only what may have a value outside it", () => {
    const graph = graphOf("a = rank(rank(close) + 1) + ts_mean(close, 5)", "volume").join("\n");
    expect(graph.match(/multiply/g)).toHaveLength(1);
  });

  test("that may be there without a row is one with a row", () => {
    expect(graphOf("let u = is_null(close)\na = rank(close)", "u")).toContain("%5 = filter(%4, %3)");
  });

  test.each([
    ["let u = sector\na = rank(close)", "is a group"],
    ["let u(x) = x > 1\na = rank(close)", "takes arguments"],
  ])("%j has no value per symbol", (text, problem) => {
    const run = () => compile(text, { universe: "u" });
    expect(run).toThrow(FormulaError);
    expect(run).toThrow(`E204`);
    expect(run).toThrow(problem);
  });
});
