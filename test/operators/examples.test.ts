import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, Engine } from "../../src/index.ts";
import type { Example, Operator } from "../../src/operator/definition.ts";
import { panelOf } from "../panels.ts";

/** Every worked example of every operator goes through the whole engine, from text to Arrow. */

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

/** Vectors of an example run down the rows of one lane, or across the lanes of one row. */
function panelOfExample({ inputs }: Example, operator: Operator) {
  const runsAcross = operator.axis === "cross_section" || operator.axis === "group";
  const columns = Object.entries(inputs).map(([name, cells]) => {
    return [name, runsAcross ? [[...cells]] : cells.map((cell) => [cell])] as const;
  });
  return panelOf(Object.fromEntries(columns));
}

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
