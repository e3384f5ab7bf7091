import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Panel } from "../../src/index.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { formulaBatches } from "../fuzz/random_formulas.ts";
import { randomPanel } from "../kernel/random_panel.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

/** Formulas of all operators over awkward panels: their nulls are counted, and explained, as `evaluate` gives them. */

const ROWS_MAX = 40;
const LANES_MAX = 9;
const CELLS = 4;
let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => await engine.close());

/** The panel with rows of some instruments left out, but for the first of all. */
function withAbsences(panel: Panel, random: Seeded): Panel {
  const share = random.uniform() ** 2;
  const present = panel.present.map((_, cell) => Number(cell === 0 || random.uniform() >= share));
  for (const column of panel.fields.values())
    present.forEach((isPresent, cell) => {
      if (!isPresent) column[cell] = Number.NaN;
    });
  return { ...panel, present };
}

test("nulls are as many as evaluate gives, and why gives its values and a cause for each null", async () => {
  const random = new Seeded();
  for (let i = 0; i < trials(4, 200); i++) {
    const seed = random.below(2 ** 31);
    const formulas = fc.sample(formulaBatches, { seed, numRuns: 1 })[0]!;
    const what = `seed ${random.seed}, trial ${i}: ${formulas.join(", ")}`;
    const program = compile(["param p = 0.94", ...formulas.map((text, f) => `f${f} = ${text}`)].join("\n"), {
      fields: FIELDS,
      groups: GROUPS,
    });
    const drawn = randomPanel(seed, 1 + random.below(ROWS_MAX), 1 + random.below(LANES_MAX));
    const panel = withAbsences(drawn, random);
    const { table } = await engine.evaluate(program, panel);
    const { factors } = await engine.nulls(program, panel);
    for (const { factor, nullCount, causes } of factors) {
      expect(nullCount, `${what} ${factor}`).toBe(table.getChild(factor)!.nullCount);
      expect(
        causes.map(({ cause }) => cause),
        `${what} ${factor}`,
      ).not.toContain("undeclared");
    }
    for (let k = 0; k < CELLS; k++) {
      const factor = `f${random.below(formulas.length)}`;
      const row = random.below(table.numRows);
      const time = new Date(Number(table.getChildAt(0)!.get(row))).toISOString().slice(0, 10);
      const symbol = String(table.getChild("symbol")!.get(row));
      const { value, cause } = await engine.why(program, panel, { factor, symbol, time });
      expect(value, `${what} ${factor} ${symbol} ${time}`).toBe(table.getChild(factor)!.get(row));
      expect(cause === null, `${what} ${factor} ${symbol} ${time}`).toBe(value !== null);
    }
  }
});
