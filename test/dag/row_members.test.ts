import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { printDag } from "../../src/dag/print.ts";
import { HAS_ROW, hideAbsent } from "../../src/dag/row_members.ts";
import { nullForNulls } from "../../src/operator/certain_nulls.ts";
import { isSeriesLike, kernelOperators } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { callText, columnsOf, exampleSettings } from "../conformance/applications.ts";
import { FIELDS, GROUPS, panels, replaceCells, SERIES_FIELDS } from "../conformance/awkward_panels.ts";
import { hashed } from "../conformance/awkward_series.ts";
import { evaluateHere } from "../conformance/evaluation.ts";

const dagOf = (formula: string) => finalDag(compile(`a = ${formula}`));
const graph = (formula: string) => printDag(dagOf(formula)).split("\n");

describe("hideAbsent", () => {
  test("hides what is not null where an instrument has no row", () => {
    expect(graph("rank(coalesce(close, 0))")).toEqual([
      "%0 = close",
      "%1 = 0",
      "%2 = coalesce(%0, %1)",
      "%3 = has a row",
      "%4 = multiply(%2, %3)",
      "%5 = rank(%4)",
      "a = %5",
    ]);
  });

  test.each([
    "rank(delay(close, 1))",
    "rank(ema(close, 5))",
    "group_count(1, sector)",
    "rank(is_null(close))",
    "rank(ts_mean(close, 5, min_periods=1))",
    "rank(close > 1 ? 1 : 0)".replace("close > 1", "is_null(close)"),
    "regression_neut(ffill(close), cum_sum(open))",
  ])("%s sees those with a row only", (formula) => {
    expect(graph(formula)).toContainEqual(expect.stringContaining("= has a row"));
  });

  test.each([
    "rank(close)",
    "rank(ts_mean(close, 5) + 1)",
    "rank(delta(close, 5))",
    "rank(close > open ? 1 : -1)",
    "group_rank(rank(close) * 2, sector)",
    "regression_neut(ffill(close), open)",
  ])("%s stays as it is", (formula) => {
    const dag = dagOf(formula);
    expect(printDag(dag)).not.toContain("has a row");
    expect(hideAbsent(dag, { isSharing: true })).toBe(dag);
  });

  test("a column may be called as the field that says where", () => {
    const program = compile("a = rank(coalesce(`has a row`, 0))", { fields: ["has a row"] });
    const fields = finalDag(program).tasks.filter(({ kind }) => kind === "field");
    expect(fields).toEqual([
      { kind: "field", name: "has a row" },
      { kind: "field", name: HAS_ROW },
    ]);
    expect(printDag(finalDag(program))).toContain("%0 = `has a row`\n");
  });

  test("a series is no null where an instrument has no row", () => {
    const dag = dagOf("rank(vwap) + rank(close)");
    const shown = printDag(hideAbsent(dag, { isSharing: true, series: ["vwap"] }));
    expect(shown.match(/multiply/g)).toHaveLength(1);
  });
});

/** Nulls of one argument in cells that depend on the name of its field. */
function withNulls(field: string): { panel: Panel; isNull: (cell: number) => boolean } {
  const isNull = (cell: number) => hashed(SERIES_FIELDS.length + field.charCodeAt(0), cell) < 0.4;
  const { laneCount } = panels.history;
  const series = replaceCells(panels.history, (row, lane, name) =>
    name === field && isNull(row * laneCount + lane) ? Number.NaN : undefined,
  );
  const column = series.fields.get(field)!.slice() as unknown as Float64Array<SharedArrayBuffer>;
  const shared = new Float64Array(new SharedArrayBuffer(column.byteLength));
  shared.set(column.map((value, cell) => (isNull(cell) ? Number.NaN : value)));
  return { panel: { ...series, fields: new Map(series.fields).set(field, shared) }, isNull };
}

describe("nullForNulls", () => {
  const operators = kernelOperators(builtInRegistry.operators);
  test.each(operators.map((operator) => [operator.name, operator] as const))("of %s", (_, operator) => {
    const columns = columnsOf(operator).filter(({ field }) => FIELDS.includes(field));
    expect(columns).toHaveLength(operator.parameters.filter(({ kind }) => isSeriesLike(kind)).length);
    const [settings = {}] = exampleSettings(operator);
    // Conditions as fields: a comparison of null is null in this dialect.
    const program = compile(`a = ${callText(operator, { settings })}`, { fields: FIELDS, groups: GROUPS });
    for (const [index, { field }] of columns.entries()) {
      const areNull = columns.map((_column, other) => other === index);
      if (!nullForNulls(operator, areNull, false)) continue;
      const { panel, isNull } = withNulls(field);
      const [values] = evaluateHere(program, panel);
      const wrong = [...values!.keys()].filter((cell) => isNull(cell) && !Number.isNaN(values![cell]));
      expect(wrong).toEqual([]);
    }
  });

  test("operators that see nulls say which of them make a null", () => {
    const said = operators.flatMap((operator) => ("nullFor" in operator ? [operator.name] : []));
    expect(said).toEqual(["delta", "where"]);
  });
});
