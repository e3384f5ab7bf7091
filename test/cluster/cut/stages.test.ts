import { describe, expect, test } from "vitest";
import { type ClusterStage, cutStages } from "../../../src/cluster/cut/stages.ts";
import { PANEL_STAGE } from "../../../src/cluster/protocol/tiles.ts";
import { compile, finalDag } from "../../../src/compile.ts";
import { columnsOf } from "../../../src/evaluation/wanted_factors.ts";

function cut(text: string) {
  const dag = finalDag(compile(text));
  const panel = columnsOf(dag);
  return { ...cutStages(dag, panel), panel };
}

/** `lanes: ts_mean -> 1` for a stage whose exports are one series. */
const shown = ({ kind, dag }: ClusterStage) => {
  const calls = dag.tasks.flatMap((task) => (task.kind === "call" ? [task.operator.name] : []));
  return `${kind}: ${calls.join(" ")} -> ${dag.outputs.length}`;
};

describe("stages", () => {
  test("are cut where values pass from lanes to rows and back", () => {
    const { stages, outputs } = cut("a = ts_mean(rank(ts_sum(close, 5)), 3)\nb = rank(a)");
    expect(stages.map(shown)).toEqual([
      "lanes: ts_sum -> 1",
      "rows: rank -> 1",
      "lanes: ts_mean -> 1",
      "rows: rank -> 1",
    ]);
    expect(outputs).toEqual([
      { stage: 2, series: 0 },
      { stage: 3, series: 0 },
    ]);
  });

  test("elementwise tasks go with what they read; those of the panel alone with whoever uses them", () => {
    const { stages } = cut("a = rank(ts_sum(high - low, 5) * 2) + (high - low)");
    expect(stages.map(shown)).toEqual([
      "lanes: subtract ts_sum multiply -> 1",
      "rows: subtract rank add -> 1",
    ]);
  });

  test("import from the panel and from earlier stages only, also where factors are elementwise, constants, fields", () => {
    const texts = [
      "a = close * 2\nb = ts_mean(close * 2, 5)\nc = rank(ts_mean(close, 5))",
      "a = 1\nb = ts_mean(close, 5)",
      "param k = 2\na = k\nb = close\nc = rank(close) * k",
      "a = close\nb = close",
      "a = group_rank(ts_sum(close, 3), sector) + ts_sum(volume, 3)\nb = a > 0 ? close : open",
    ];
    for (const text of texts) {
      const { stages, outputs } = cut(text);
      stages.forEach(({ imports }, index) => {
        for (const { stage } of imports.values()) expect(stage, text).toBeLessThan(index);
      });
      for (const { stage, series } of outputs) {
        expect(series, text).toBeGreaterThanOrEqual(0);
        if (stage !== PANEL_STAGE) expect(series, text).toBeLessThan(stages[stage]!.dag.outputs.length);
      }
    }
  });

  test("a graph of elementwise factors alone is one stage of rows, one of fields none", () => {
    expect(cut("a = close - open\nb = 3").stages.map(shown)).toEqual(["rows: subtract -> 2"]);
    expect(cut("a = close").stages).toEqual([]);
  });
});
