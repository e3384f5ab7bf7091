import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../../src/compile.ts";
import type { Dag } from "../../../src/dag/dag.ts";
import { PASS_NAMES } from "../../../src/dag/passes/order.ts";
import { pruneDag } from "../../../src/dag/prune.ts";
import type { Panel } from "../../../src/panel.ts";
import { AWKWARD_NUMBERS } from "../../conformance/awkward_series.ts";
import { expectCells } from "../../conformance/same_cells.ts";
import { formulaBatches, PANEL_NAMES } from "../../fuzz/random_formulas.ts";
import { Draws, randomPanel } from "../../kernel/random_panel.ts";
import { runDag } from "../../kernel/run_plan.ts";
import { panelOf } from "../../panels.ts";
import { testSeed } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

const seed = testSeed();

const SUBSETS = 4;
const FACTORS = 24;
const RANDOM_BATCHES = trials(10, 30);
const PARAMS = { p: 0.94 };

/** Prices that move a little, mixed with nulls, infinities, zeros of both signs and other awkward numbers. */
function bars(draws: Draws, rowCount: number, laneCount: number): Panel {
  const fields = ["open", "high", "low", "close", "volume", "vwap", "amount", "cap"].map((name) => {
    const last = Array.from({ length: laneCount }, () => 100);
    const rows = Array.from({ length: rowCount }, () =>
      last.map((value, lane) => {
        last[lane] = Math.round(value * (0.97 + 0.06 * draws.next()) * 100) / 100;
        return draws.happens(0.004) ? draws.pick(AWKWARD_NUMBERS) : last[lane];
      }),
    );
    return [name, rows] as const;
  });
  const groups = ["sector", "industry", "subindustry"].map((name) => {
    const row = Array.from({ length: laneCount }, () => draws.pick(["A", "B", "C"]));
    return [name, Array.from({ length: rowCount }, () => row)] as const;
  });
  return panelOf(Object.fromEntries([...fields, ...groups]));
}

/** Every graph must give the results of the first one, bit for bit. */
function expectSame(dags: readonly (readonly [string, Dag])[], panel: Panel): void {
  const [[, usual], ...others] = dags as readonly [readonly [string, Dag], ...(readonly [string, Dag])[]];
  const expected = runDag(usual, panel, { params: PARAMS });
  for (const [how, dag] of others) {
    runDag(dag, panel, { params: PARAMS }).forEach((column, i) => {
      const label = `${dag.outputs[i]?.name} ${how} (seed ${seed})`;
      expectCells({ label, column, panel }, (row, lane) => expected[i]![row * panel.laneCount + lane]);
    });
  }
}

const without = (left: readonly string[]) => `without ${left.join(", ") || "nothing"}`;

describe(`any subset of passes gives the same bits, seed ${seed}`, () => {
  const draws = new Draws(seed);
  const history = bars(draws, 280, 9);

  test.each(["alpha101", "gtja191"])("on formulas of %s", (set) => {
    const text = readFileSync(new URL(`../../../examples/${set}.factors`, import.meta.url), "utf8");
    const graph = (left: readonly string[]) => finalDag(compile(text, { disabledPasses: left }));
    const { outputs } = graph([]);
    const isWanted = outputs.map(() => draws.happens(FACTORS / outputs.length));
    const subsets = Array.from({ length: SUBSETS }, () => PASS_NAMES.filter(() => draws.happens(0.5)));
    const dags = [[], PASS_NAMES, ...subsets].map(
      (left) => [without(left), pruneDag(graph(left), (_, index) => isWanted[index]!)] as const,
    );
    expectSame(dags, history);
  });

  test("on random formulas", () => {
    const property = fc.property(
      formulaBatches,
      fc.nat(),
      fc.subarray([...PASS_NAMES]),
      fc.subarray([...PASS_NAMES]),
      (formulas, panelSeed, ...subsets) => {
        const text = [`param p = ${PARAMS.p}`, ...formulas.map((formula, i) => `f${i} = ${formula}`)].join(
          "\n",
        );
        const dags = [[], ...subsets].map(
          (left) =>
            [without(left), finalDag(compile(text, { ...PANEL_NAMES, disabledPasses: left }))] as const,
        );
        expectSame(dags, randomPanel(panelSeed, 24, 8));
      },
    );
    expect(() => fc.assert(property, { seed, numRuns: RANDOM_BATCHES })).not.toThrow();
  });
});
