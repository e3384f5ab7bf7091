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
