import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine } from "../../src/index.ts";
import { panelOf } from "../panels.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => await engine.close());

test.each([
  // The logarithm of 0 is null, and so is that of a value that is missing.
  ["delay(log(x), 2)", { too_few_rows: 2, domain: 1, missing_value: 1 }],
  ["ts_mean(x, 4, min_periods=4)", { too_few_rows: 3, missing_value: 3 }],
  ["ts_mean(log(x), 2)", { too_few_rows: 1, domain: 2, missing_value: 2 }],
])("a null of a window has the cause of the row that it comes from: %s", async (formula, expected) => {
  const panel = panelOf({ x: [[1], [0], [3], [null], [5], [6]] });
  const report = await engine.nulls(compile(`a = ${formula}`, { fields: ["x"] }), panel);
  const causes = report.factors[0]!.causes.map(({ cause, cellCount }) => [cause, cellCount]);
  expect(Object.fromEntries(causes)).toEqual(expected);
});

test("why gives each null the cause and the place that nulls counts", async () => {
  const panel = panelOf({
    x: [
      [1, 5],
      [0, 2],
      [3, null],
      [null, 1],
      [5, 0],
      [6, 3],
    ],
  });
  const text = "a = ts_mean(log(x), 2) + ema(1 / x, 3) + rank(x)";
  const program = compile(text, { fields: ["x"] });
  const { sources } = (await engine.nulls(program, panel)).factors[0]!;
  const counts = new Map<string, number>();
  for (const symbol of panel.symbols)
    for (const { cause, chain } of await engine.whyRows(program, panel, { factor: "a", symbol })) {
      const key = `${cause} in ${chain.at(-1)?.formula}`;
      if (cause !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  expect(counts).toEqual(new Map(sources.map((at) => [`${at.cause} in ${at.formula}`, at.cellCount])));
  expect(counts.size).toBeGreaterThan(3);
});
