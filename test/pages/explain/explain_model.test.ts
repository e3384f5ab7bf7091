import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compile, finalDag, type Program } from "../../../src/compile.ts";
import { countCalls } from "../../../src/dag/print.ts";
import type { Box, ExplainData } from "../../../src/pages/explain/explain_data.ts";
import { explainData } from "../../../src/pages/explain/explain_model.ts";
import { cases } from "../../support/trials.ts";

const dataOf = (text: string): ExplainData => explainData(compile(text));

function boxesOf({ factors, boxes }: ExplainData, name: string): Box[] {
  return factors.find((factor) => factor.name === name)!.boxes.map((id) => boxes[id]!);
}

const labelsOf = (data: ExplainData, name: string) => boxesOf(data, name).map(({ label }) => label);

function example(set: string): Program {
  return compile(readFileSync(new URL(`../../../examples/${set}.factors`, import.meta.url), "utf8"));
}

describe("boxes", () => {
  test("are written as in the file: order of operands, constants, names of definitions", () => {
    const data = dataOf(`let mean = ts_mean(close, 2 * 10) # slow
gap = rank((close / mean) - 1.50)
b = (open - ts_std(close, 5)) > 1 ? ts_std(close, 5) : gap`);
    expect(labelsOf(data, "gap")).toEqual(["rank(①)", "① - 1.50", "close / mean", "ts_mean(close, 2 * 10)"]);
    expect(labelsOf(data, "b").slice(0, 4)).toEqual(["① ? ② : gap", "① > 1", "open - ①", "ts_std(close, 5)"]);
    const [root] = boxesOf(data, "b");
    expect(root!.operands.map((id) => data.boxes[id]!.label)).toEqual([
      "① > 1",
      "ts_std(close, 5)",
      "rank(①)",
    ]);
  });

  test("have a place in the file", () => {
    const data = dataOf("a = open\n\nb = (1 +\n  rank(close))");
    const box = boxesOf(data, "b").at(-1)!;
    expect(box).toMatchObject({ label: "rank(close)", line: 4, column: 3 });
    expect(data.source.slice(box.start, box.end)).toBe("rank(close)");
    expect(data.factors[1]).toMatchObject({ line: 3, column: 1 });
  });

  test("a name of a dialect is one box, with the cost of what it stands for", () => {
    const data = dataOf("dialect alpha101\na = rank(returns)\nb = close / delay(close, 1) - 1");
    const [, returns] = boxesOf(data, "a");
    expect(returns).toMatchObject({ label: "returns", axis: "rolling", operands: [] });
    expect(returns!.costNs).toBeGreaterThan(0);
  });

  test("say whether an operator in them has no code", () => {
    const boxes = boxesOf(dataOf("a = ts_mean(ts_regresid3(close, open, high, low, 9) + 1, 5)"), "a");
    expect(boxes.map(({ isByReference }) => isByReference)).toEqual([false, false, true]);
    expect(boxesOf(dataOf("a = close"), "a")[0]!.isByReference).toBe(false);
  });

  test("a column alone is a box without cost", () => {
    expect(boxesOf(dataOf("a = close"), "a")).toMatchObject([{ label: "close", axis: "column", costNs: 0 }]);
  });

  test("an operand that is used twice is one edge with both numbers", () => {
    const [factor] = dataOf("a = rank(close) * rank(close)").factors;
    expect(factor!.drawing!.edges.map(({ label }) => label)).toEqual(["①②"]);
  });

  test("of a long chain are in the table and not in a picture", () => {
    const chain = Array.from({ length: 5000 }, (_, i) => `let l${i + 1} = rank(l${i})`).join("\n");
    const [factor] = dataOf(`let l0 = rank(close)\n${chain}\na = l5000`).factors;
    expect(factor).toMatchObject({ drawing: null });
    expect(factor!.boxes).toHaveLength(5001);
    expect(factor!.path).toHaveLength(5001);
  });
});

describe("factors", () => {
  test("the critical path is the chain of operands that costs most", () => {
    const data = dataOf("a = ts_corr(open, close, 20) + (-close)");
    expect(data.factors[0]!.path.map((id) => data.boxes[id]!.label)).toEqual([
      "① + ②",
      "ts_corr(open, close, 20)",
    ]);
  });

  test("share what several need, the largest expression of the same factors alone", () => {
    const data = dataOf("a = rank(ts_mean(close, 5))\nb = rank(ts_mean(close, 5)) + 1\nc = open");
    expect(data.shared.map(({ box }) => data.boxes[box]!.label)).toEqual(["rank(①)"]);
    const [{ costNs, savedNs, box }] = data.shared as [ExplainData["shared"][number]];
    expect(data.boxes[box]!.factors).toEqual([0, 1]);
    expect(savedNs).toBe(costNs);
    expect(data.factors[0]!.sharedNs).toBe(data.factors[0]!.costNs);
    expect(data.factors[2]!.sharedNs).toBe(0);
  });

  test("say how far they look back, what they keep and when they are computed", () => {
    const data = dataOf("param p = 1\na = ts_mean(close, 500) when p == 2\nb = ema(close, 3) priority 4");
    expect(data.factors).toMatchObject([
      { lookbackRows: 499, when: "p == 2", priority: 0 },
      { lookbackRows: null, when: "", priority: 4 },
    ]);
    expect(data.factors[0]!.bytes).toBeGreaterThan(499 * 8);
    expect(data.factors[0]!.bytes).toBeLessThanOrEqual(data.bytes);
  });
});

test.each(cases(["alpha101"], ["alpha101", "alpha158", "gtja191"]))("%s is described whole", (set) => {
  const program = example(set);
  const data = explainData(program);
  expect(data.factors.map(({ name }) => name)).toEqual(program.factors.map(({ name }) => name));
  expect(data.tasks).toBe(countCalls(finalDag(program)));
  expect(data.stages.at(-1)!.tasks).toBe(data.tasks);
  for (const { drawing, boxes } of data.factors) expect(drawing!.places).toHaveLength(boxes.length);
});

test("operands are drawn from left to right, but for those that several boxes use", () => {
  const { factors, boxes } = explainData(example("alpha101"));
  let [ordered, all] = [0, 0];
  for (const factor of factors) {
    const placeOf = (id: number) => factor.drawing!.places[factor.boxes.indexOf(id)]!;
    for (const id of factor.boxes) {
      const places = [...new Set(boxes[id]!.operands)].map(placeOf);
      places.slice(1).forEach(([x, y], i) => {
        if (y !== places[i]![1]) return;
        all += 1;
        if (x > places[i]![0]) ordered += 1;
      });
    }
  }
  expect(ordered / all).toBeGreaterThan(0.95);
});
