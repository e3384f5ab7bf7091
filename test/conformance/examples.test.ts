import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile } from "../../src/compile.ts";
import { runProgram } from "../kernel/run_plan.ts";
import { panelOfExample } from "../operators/example_panel.ts";

const examples = builtInRegistry.operators.flatMap((operator) =>
  operator.examples.map((example) => ({ formula: example.formula, operator, example })),
);

describe.each([
  { how: "by reference", reference: true },
  { how: "compiled", reference: false },
])("worked examples $how", ({ reference }) => {
  test.each(examples)("$formula", ({ formula, operator, example }) => {
    const panel = panelOfExample(example, operator);
    const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
    const [column] = runProgram(compile(`result = ${formula}`, names), panel, { reference, blockRows: 2 });
    expect([...column!].map((cell) => (Number.isNaN(cell) ? null : cell))).toEqual(example.output);
  });
});
