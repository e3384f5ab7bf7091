import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, Engine } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { panelOfExample } from "./example_panel.ts";

/** Every worked example of every operator goes through the whole engine, from text to Arrow. */

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

describe.each(
  builtInRegistry.operators.map((operator) => [operator.name, operator] as const),
)("%s", (_, operator) => {
  test.each(
    operator.examples.map((example) => [example.formula, example] as const),
  )("%s", async (formula, example) => {
    const panel = panelOfExample(example, operator);
    const program = compile(`result = ${formula}`, {
      fields: [...panel.fields.keys()],
      groups: [...panel.groups.keys()],
    });
    const { table } = await engine.evaluate(program, panel, { keepInfinite: true });
    expect([...(table.getChild("result") ?? [])].map((cell) => cell)).toEqual(
      example.output.map((cell) => cell),
    );
  });
});

test("SELF of gtja191 is carried over wherever the formula is null, beside a branch without it too", async () => {
  const close = [null, 3, 4, null, 2, 5, 1, null, 6];
  const open = [1, 2, 5, 3, null, 4, 2, 7, null];
  const program = compile("f = CLOSE > 3 ? SELF + OPEN : CLOSE < 2 ? SELF : OPEN * 2", {
    dialect: "gtja191",
  });
  const { table } = await engine.evaluate(
    program,
    panelOf({ close: close.map((cell) => [cell]), open: open.map((cell) => [cell]) }),
  );
  expect([...(table.getChild("f") ?? [])]).toEqual([1, 4, 9, 9, 9, 13, 13, 13, 13]);
});

test.each([
  "null",
  "0 / 0",
  "OPEN",
])("SELF of gtja191 is carried over by the null branch %s", async (branch) => {
  const program = compile(`f = CLOSE > 2 ? SELF * 2 : ${branch}`, { dialect: "gtja191" });
  const close = [3, 3, 1, 3, 3];
  const panel = panelOf({ close: close.map((cell) => [cell]), open: close.map(() => [null]) });
  const { table } = await engine.evaluate(program, panel);
  expect([...(table.getChild("f") ?? [])]).toEqual([2, 4, 4, 8, 16]);
});
