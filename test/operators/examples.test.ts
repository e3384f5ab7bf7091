import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, Engine } from "../../src/index.ts";
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
    const table = await engine.evaluate(program, panel, { keepInfinite: true });
    expect([...(table.getChild("result") ?? [])].map((cell) => cell)).toEqual(
      example.output.map((cell) => cell),
    );
  });
});
