import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { FormulaError } from "../../src/errors.ts";
import { evaluateTable } from "../../src/evaluation/evaluate_table.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { FactorStream } from "../../src/evaluation/factor_stream.ts";
import { ManyEvaluation } from "../../src/evaluation/many/evaluate_many.ts";
import { compile, type Program } from "../../src/index.ts";
import { countNulls } from "../../src/reasons/nulls.ts";
import { startHost } from "../execution/real_formulas.ts";
import { PANEL_NAMES, randomFormulas } from "../fuzz/random_formulas.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { arenaCounts, overSmallArenas } from "../support/small_arenas.ts";
import { trials } from "../support/trials.ts";
import { panelWithGaps } from "./panels_with_gaps.ts";

/** Random programs in memories of random size give what they give in one. */

const PROGRAMS = trials(3, 150);
const FORMULAS = 16;
const ROWS = 40;
const random = new Seeded();

let host: EngineHost;
const folder = fileFolder();
let counts: number[];
beforeAll(async () => {
  host = await startHost(2);
  counts = arenaCounts(host);
});
afterAll(async () => {
  await host.pool.close();
});

/** Formulas of all kinds, some of them under conditions. */
function randomProgram(): Program {
  const found: string[] = [];
  while (found.length < FORMULAS) {
    for (const formula of fc.sample(randomFormulas, { seed: random.below(2 ** 31), numRuns: FORMULAS })) {
      const condition = ["", " when p > 0.9", ' when s == "a"'][random.below(3)]!;
      try {
        compile(["param p = 0.94", 'param s = "a"', `f = ${formula}${condition}`].join("\n"), PANEL_NAMES);
        found.push(`f${found.length} = ${formula}${condition}`);
      } catch (error) {
        if (!(error instanceof FormulaError)) throw error;
      }
    }
  }
  return compile(["param p = 0.94", 'param s = "a"', ...found].join("\n"), PANEL_NAMES);
}

/** All bits of a table, -0 apart from 0. */
function shown(table: Table): string[] {
  return table.schema.names.map((name) => {
    const cells = [...table.getChild(name as string)!];
    return `${String(name)} ${cells.map((cell) => (Object.is(cell, -0) ? "-0" : String(cell))).join(" ")}`;
  });
}

describe(`seed ${random.seed}: ${PROGRAMS} programs`, () => {
  const cases = Array.from({ length: PROGRAMS }, (_, index) => index);
  test.each(cases)("%i", async () => {
    const program = randomProgram();
    const panel = panelWithGaps(random, ROWS, 3 + random.below(60));
    const bytes = 2 ** (17 + random.below(4));
    const dateOf = (row: number) => new Date(row * 86_400_000).toISOString().slice(0, 10);
    const paramsByTime = join(folder, "params.csv");
    const lines = Array.from({ length: ROWS }, (_, row) => {
      return `${dateOf(row)},${random.below(3) / 2},${"ab"[random.below(2)]}`;
    });
    writeFileSync(paramsByTime, ["date,p,s", ...lines, ""].join("\n"));
    const calls = [{ params: { p: 0.5 } }, { params: { p: 1, s: "b" } }, {}];
    const run = async (where: EngineHost) => {
      const setup = [where, builtInRegistry, program] as const;
      const results: Record<string, unknown> = {};
      results["whole"] = shown((await evaluateTable(...setup, panelSource(panel), {})).table);
      const by = await evaluateTable(...setup, panelSource(panel), {
        paramsByTime,
        from: dateOf(7),
        keepInfinite: true,
      });
      results["by time"] = [shown(by.table), by.report.nullCounts];
      const stream = await FactorStream.open(...setup, panelSource(panel), { blockRows: 7 });
      const factors = program.factors.map(({ name }) => name);
      const names = { time: panel.time, symbols: panel.symbols, factors };
      results["stream"] = shown(
        (await factorTableOfBlocks(names, stream.blocks(), { keepInfinite: false })).table,
      );
      const many = await ManyEvaluation.open(...setup, panelSource(panel), calls, {});
      results["many"] = [];
      for await (const table of many.tables()) (results["many"] as unknown[]).push(shown(table));
      results["nulls"] = await countNulls(where, program, panelSource(panel), {});
      return results;
    };
    const expected = await run(host);
    expect(await overSmallArenas(host, bytes, run)).toEqual(expected);
  });

  test("are divided", () => expect(Math.max(...counts)).toBeGreaterThan(1));
});
