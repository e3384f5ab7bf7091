import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { publishedText } from "../../src/bench/open_formulas.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { evaluateTable } from "../../src/evaluation/evaluate_table.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { compile, type Panel } from "../../src/index.ts";
import { digestOf, realFormulas, startHost } from "../execution/real_formulas.ts";
import { rowsOf } from "../live/real_session.ts";
import { smallArenas } from "../support/small_arenas.ts";
import { cases, triesAll } from "../support/trials.ts";

/** The published formulas over the bundled bars: in several memories they have the bits that they have in one. */

let host: EngineHost;
let panel: Panel;
beforeAll(async () => {
  host = await startHost(2);
  const { panel: whole } = await realFormulas();
  panel = triesAll ? whole : rowsOf(whole, 0, 300);
});
afterAll(async () => await host.pool.close());

const SETS = ["alpha101", "gtja191", "alpha158", "alpha360"].flatMap((set) =>
  [4, 8, 16].map((size) => ({ set, size })),
);

test.each(
  cases(
    SETS.filter(({ set, size }) => set === "alpha101" && size === 8),
    SETS,
  ),
)("$set in memories of $size MiB", async ({ set, size }) => {
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  const program = compile(publishedText(set), names);
  const digests = async (where: EngineHost) => {
    const { table, report } = await evaluateTable(where, builtInRegistry, program, panelSource(panel), {});
    const byName = program.factors.map(({ name }) => [name, digestOf(table, name)]);
    return { arenaCount: report.arenaCount, nullCounts: report.nullCounts, byName };
  };
  const one = await digests(host);
  const several = await digests(smallArenas(host, size * 2 ** 20));
  expect(one.arenaCount).toBe(1);
  expect(several.arenaCount).toBeGreaterThan(1);
  expect({ ...several, arenaCount: 1 }).toEqual(one);
});
