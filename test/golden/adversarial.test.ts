import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compile, Engine, readPanel } from "../../src/index.ts";
import { here, readGolden, TableReader } from "./golden_file.ts";

/**
 * Exact statistics on input that hurts (spikes of 1e15 that enter and leave windows, 1e9 with a variance of 1, values at
 * rounding ties, subnormals, infinities, constants, nulls) against the oracle in rational arithmetic, to the last bit.
 */
const golden = readGolden("adversarial");
const names = Object.keys(golden.factors);
const panel = await readPanel(here("adversarial.csv"));
const text = readFileSync(here("adversarial.factors"), "utf8");
const program = compile(text, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });
await using engine = await Engine.start({ threads: 2 });
const reader = new TableReader((await engine.evaluate(program, panel)).table);

test("the oracle covers the file", () => {
  expect(program.factors.map(({ name }) => name)).toEqual(names);
});

test.each(names)("%s", (name) => {
  expect(reader.mismatches(golden, name, 0)).toEqual([]);
});
