import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { publishedText } from "../../src/bench/open_formulas.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { type CostChoice, type CostModel, compile, Engine } from "../../src/index.ts";
import { trials } from "../support/trials.ts";

const panel = syntheticPanel({ lanes: 29, rows: 90, nullShare: 0.02 });
const program = compile(publishedText("alpha101"), { groups: ["sector"] });
const select = ["alpha001", "alpha004", "alpha011", "alpha026", "alpha036", "alpha040", "alpha088"];
const names = builtInRegistry.operators.map(({ name }) => name);

/** Values by factor, as the engine gives them with these costs. */
async function evaluate(costs: CostChoice, threads: number, blockRows = 64) {
  await using engine = await Engine.start({ threads, costs });
  const { table } = await engine.evaluate(program, panel, { select, blockRows });
  return Object.fromEntries(select.map((name) => [name, [...(table.getChild(name) ?? [])]]));
}

function modelOf(nsOf: (index: number) => number): CostModel {
  const costOf = (index: number) => [{ windowRows: 1, nsPerCell: nsOf(index) }];
  return { machine: null, operators: Object.fromEntries(names.map((name, index) => [name, costOf(index)])) };
}

describe("costs", () => {
  test("however wrong, change no bit", async () => {
    const usual = await evaluate("default", 1);
    expect(usual["alpha001"]?.some((value) => value !== null)).toBe(true);
    expect(
      await evaluate(
        modelOf(() => 1e6),
        3,
      ),
    ).toEqual(usual);
    expect(
      await evaluate(
        modelOf(() => 1e-3),
        3,
      ),
    ).toEqual(usual);
    const wrong = fc.record({
      ns: fc.array(fc.constantFrom(1e-3, 0.1, 1, 40, 1e6), { minLength: 40, maxLength: 40 }),
      threads: fc.integer({ min: 1, max: 4 }),
      blockRows: fc.integer({ min: 1, max: 90 }),
    });
    await fc.assert(
      fc.asyncProperty(wrong, async ({ ns, threads, blockRows }) => {
        const costs = modelOf((index) => ns[index % ns.length] as number);
        expect(await evaluate(costs, threads, blockRows)).toEqual(usual);
      }),
      { numRuns: trials(2, 40) },
    );
  });

  test("are reported by the engine that uses them", async () => {
    const costs = modelOf(() => 2);
    await using engine = await Engine.start({ threads: 1, costs });
    expect(engine.costs).toEqual({ model: costs, origin: "given", reason: null });
  });

  test("that are none are refused", async () => {
    const costs = { machine: null, operators: { add: 3 } } as unknown as CostModel;
    await expect(Engine.start({ threads: 1, costs })).rejects.toThrow("E528 not a cost model");
  });
});
