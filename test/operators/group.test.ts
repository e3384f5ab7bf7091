import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile } from "../../src/index.ts";
import type { CrossSectionDefinition } from "../../src/operator/definition.ts";
import { evaluateHere } from "../conformance/evaluation.ts";
import { panelOf } from "../panels.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
type Cell = number | null;

/** One row of a formula over x, y and the group g, null for NaN. */
function row(formula: string, g: (string | null)[], x: Cell[], y: Cell[] = x): Cell[] {
  const panel = panelOf({ x: [x], y: [y], g: [g] });
  const program = compile(`result = ${formula}`, { fields: ["x", "y"], groups: ["g"] });
  return [...evaluateHere(program, panel)[0]!].map((value) => (Number.isNaN(value) ? null : value));
}

/** One group of a group operator without other settings. */
function group(name: string, ...columns: number[][]): number[] {
  const { reference } = builtInRegistry.kernel(name) as CrossSectionDefinition;
  const output = new Float64Array(columns[0]!.length).fill(none);
  reference(
    columns.map((column) => Float64Array.from(column)),
    { scale: 1 },
    output,
  );
  return [...output];
}

const G = ["b", "a", null, "a", "b", "a", "c", "b", "a"];
const X = [3, 1, 5, 4, null, 4, -2, 8, 0.5];
const Y = [1, 2, 3, null, 5, -1, 4, 2, 7];

describe("a group operator is the cross-section of each group alone", () => {
  test.each([
    ["group_rank(x, g)", "rank(x)"],
    ["group_zscore(x, g)", "zscore(x)"],
    ["group_scale(x, g)", "scale_down(x)"],
    ["group_normalize(x, g, 3)", "scale(x, 3)"],
    ["group_neutralize(x, g)", "demean(x)"],
    ["group_vector_neut(x, y, g)", "vector_neut(x, y)"],
    ["group_sum(x, g)", "cs_sum(x)"],
  ])("%s and %s", (grouped, alone) => {
    const expected = X.map(() => null as Cell);
    for (const label of ["a", "b", "c"]) {
      const lanes = [...G.keys()].filter((lane) => G[lane] === label);
      const [x, y] = [lanes.map((lane) => X[lane]!), lanes.map((lane) => Y[lane]!)];
      const values = row(
        alone,
        lanes.map(() => "a"),
        x,
        y,
      );
      for (const [i, lane] of lanes.entries()) expected[lane] = values[i]!;
    }
    expect(row(grouped, G, X, Y)).toEqual(expected);
  });
});

describe("summaries of a group", () => {
  test("stand in every lane with a value, whatever the other lanes hold", () => {
    const names = ["mean", "median", "sum", "count", "max", "min", "std"];
    const a = [...G.keys()].filter((lane) => G[lane] === "a" && X[lane] !== null);
    for (const name of names) {
      const values = row(`group_${name}(x, g)`, G, X);
      expect(new Set(a.map((lane) => values[lane])).size, name).toBe(1);
      expect([values[2], values[4]], name).toEqual([null, null]);
    }
  });

  test("of one lane", () => {
    const summaries = ["mean", "median", "sum", "max", "min"].map((name) => group(`group_${name}`, [0.1]));
    expect(summaries).toEqual(new Array(5).fill([0.1]));
    expect([group("group_count", [5]), group("group_std", [5])]).toEqual([[1], [none]]);
  });

  test("of infinities", () => {
    const of = (name: string, ...values: number[]) => group(`group_${name}`, values)[0];
    expect(["mean", "sum", "max", "median"].map((name) => of(name, 1, inf, inf))).toEqual([
      inf,
      inf,
      inf,
      inf,
    ]);
    expect(["mean", "sum", "median"].map((name) => of(name, -inf, inf))).toEqual([none, none, none]);
    expect([of("std", 1, inf), of("count", 1, inf), of("min", 1, inf)]).toEqual([none, 2, 1]);
  });

  test("are exact", () => {
    expect(group("group_sum", [1e16, 1, -1e16])[0]).toBe(1);
    expect(group("group_mean", [1e308, 1e308])[0]).toBe(1e308);
    expect(group("group_median", [1e308, 1.5e308])[0]).toBe(1.25e308);
    expect(group("group_std", [1e9, 1e9 + 1, 1e9 + 2])[0]).toBe(1);
  });

  test("the median does not sort what it was given", () => {
    const values = Float64Array.of(3, 1, 2);
    (builtInRegistry.kernel("group_median") as CrossSectionDefinition).reference(
      [values],
      {},
      new Float64Array(3),
    );
    expect([...values]).toEqual([3, 1, 2]);
  });
});

describe("documented examples of BRAIN", () => {
  test("group_scale", () => {
    expect(row("group_scale(x, g)", ["a", "a", "a", "b", "b", "b"], [10, 20, 30, 5, 15, 25])).toEqual([
      0, 0.5, 1, 0, 0.5, 1,
    ]);
  });

  test("group_rank, which runs from 0 to 1 there and from 1/n to 1 here", () => {
    const ranks = row("group_rank(x, g)", ["t", "t", "t", "t", "t"], [10, 20, 30, 40, 50]);
    expect(ranks.map((rank) => ((rank as number) * 5 - 1) / 4)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });
});
