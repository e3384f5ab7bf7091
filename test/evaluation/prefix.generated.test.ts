import type { Table } from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIALECTS } from "../../grammar/dialects.ts";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, type Program } from "../../src/compile.ts";
import type { FactorBlock } from "../../src/data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { Engine } from "../../src/engine.ts";
import { FormulaError } from "../../src/errors.ts";
import { LaneGroups } from "../../src/jobs/state/job_groups.ts";
import { JobState } from "../../src/jobs/state/job_state.ts";
import { isSeriesLike, type Operator } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { callText, columnsOf, exampleSettings } from "../conformance/applications.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { startHost } from "../execution/real_formulas.ts";
import { randomFormulas } from "../fuzz/random_formulas.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { panelWithGaps, pick, prefixOf, SERIES } from "./panels_with_gaps.ts";

/**
 * No future instrument changes the past: up to any row, results are those of the panel that ends there and has only the
 * instruments known by then.
 */

const ROWS = 26;
const LANES = 9;
const FORMULAS = trials(12, 200);
const CUTS = trials(2, 20);
const random = new Seeded();

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => await engine.close());

/** Each operator alone, over values that are never null, and below operators across the row. */
function applicationsOf(operator: Operator): string[] {
  const [settings = {}] = exampleSettings(operator);
  const usual = callText(operator, { settings });
  const series = columnsOf(operator).map(({ text }, index) => {
    const { kind } = operator.parameters.filter((one) => isSeriesLike(one.kind) || one.kind === "group")[
      index
    ]!;
    return kind === "series"
      ? `coalesce(${text}, ${index})`
      : kind === "condition"
        ? `is_null(${text})`
        : "h";
  });
  const filled = callText(operator, { settings, columns: series });
  return [usual, filled, `rank(${usual})`, `group_count(${filled}, h)`];
}

function programOf(formulas: readonly string[], dialect = "native", within?: string): Program {
  const lines = formulas.map((formula, index) => `f${index} = ${formula}`);
  const options = within === undefined ? {} : { universe: "members" };
  return compile(["param p = 0.94", `let members = ${within ?? 1}`, ...lines].join("\n"), {
    fields: FIELDS,
    groups: GROUPS,
    dialect,
    ...options,
  });
}

/** Universes that would include instruments without a row yet, or count them. */
const UNIVERSES = [
  undefined,
  "1",
  "p",
  `${SERIES} > 1`,
  "is_null(x)",
  "coalesce(x, 1)",
  "delay(x, 1) > 0",
  "rank(coalesce(x, 0)) > 0.3",
  "group_count(1, h) > 1",
];

/** Random formulas that a dialect accepts: names with another meaning there may not fit. */
function formulasOf(dialect: string, count: number): string[] {
  const found: string[] = [];
  for (let seed = random.below(2 ** 31); found.length < count; seed++) {
    for (const formula of fc.sample(randomFormulas, { seed, numRuns: count })) {
      try {
        programOf([formula], dialect);
        found.push(formula);
      } catch (error) {
        if (!(error instanceof FormulaError)) throw error;
      }
    }
  }
  return found.slice(0, count);
}

/** Number of cells compared. */
function expectPrefix(prefix: Table, whole: Table, formulas: readonly string[], what: string): number {
  let count = 0;
  formulas.forEach((formula, index) => {
    const [is, wanted] = [prefix, whole].map((table) => [
      ...(table.getChild(`f${index}`) as Iterable<unknown>),
    ]);
    for (const [cell, value] of is!.entries()) {
      count++;
      if (!Object.is(value, wanted![cell]))
        expect.fail(
          `seed ${random.seed}, ${what}: ${formula} is ${value} in line ${cell}, wanted ${wanted![cell]}`,
        );
    }
  });
  return count;
}

const cutRows = (count: number) => Array.from({ length: count }, () => 1 + random.below(ROWS));
const keepInfinite = true;

async function streamed(program: Program, panel: Panel): Promise<Table> {
  const stream = await engine.openStream(program, panelSource(panel), { blockRows: 1 + random.below(9) });
  return await tableOf(program, panel, stream.blocks());
}

async function tableOf(program: Program, { time, symbols }: Panel, blocks: AsyncIterable<FactorBlock>) {
  const factors = program.factors.map(({ name }) => name);
  return (await factorTableOfBlocks({ time, symbols, factors }, blocks, { keepInfinite })).table;
}

async function live(program: Program, panel: Panel): Promise<Table> {
  const middle = Math.floor(panel.rowCount / 2);
  const lanes = panel.symbols.map((_, lane) => lane);
  const groups = { h: labelsOf(panel) };
  await using session = await engine.openSession(program, {
    warmup: pick(panel, 0, middle, lanes),
    symbols: panel.symbols,
    groups,
    spareSymbols: random.below(3),
    keepInfinite,
  });
  return (await session.push(pick(panel, middle, panel.rowCount, lanes))).table;
}

function labelsOf({ groups, symbols }: Panel): Record<string, string | null> {
  const { labels, codes } = groups.get("h")!;
  return Object.fromEntries(symbols.map((symbol, lane) => [symbol, labels[codes[lane]!] ?? null]));
}

async function byJob(program: Program, panel: Panel): Promise<Table> {
  const host = await startHost(1);
  try {
    const { symbols, time, groups, fields } = panel;
    const joined = {
      program,
      options: {},
      factors: program.factors.map(({ name }) => name),
      read: { fields: FIELDS, groups: ["g"] },
      ownGroups: ["h"],
      historyRows: 0,
      seriesNames: [],
      isWritten: () => true,
    };
    const { labels, codes } = groups.get("h")!;
    const ownGroups = new LaneGroups([{ name: "h", labels, codes: [...codes], earlier: [] }]);
    const fieldNames = [...fields.keys()];
    const state = await JobState.open(host, joined, {
      symbols,
      time,
      fieldNames,
      groupNames: ["g"],
      ownGroups,
      seriesNames: [],
      digested: [],
    });
    const files = [{ path: "f", open: async () => panelSource(panel) }];
    const blocks = state.rows(files, new AbortController().signal);
    const table = await tableOf(program, panel, blocks);
    await state.close();
    return table;
  } finally {
    await host.pool.close();
  }
}

/** Lines of the rows from `first` on. */
function linesFrom(table: Table, panel: Panel, first: number): Table {
  return table.slice(panel.present.subarray(0, first * panel.laneCount).reduce((sum, one) => sum + one, 0));
}

describe(`results up to a row do not depend on what comes behind it, seed ${random.seed}`, () => {
  test("every operator of the registry", { timeout: 1_200_000 }, async () => {
    const operators = builtInRegistry.operators;
    const formulas = operators.flatMap(applicationsOf);
    expect(formulas).toHaveLength(4 * operators.length);
    const program = programOf(formulas);
    const panel = panelWithGaps(random, ROWS, LANES);
    const { table: whole } = await engine.evaluate(program, panel, { keepInfinite });
    let compared = 0;
    for (const cut of cutRows(CUTS)) {
      const { table: prefix } = await engine.evaluate(program, prefixOf(panel, cut), { keepInfinite });
      compared += expectPrefix(prefix, whole, formulas, `up to row ${cut}`);
    }
    expect(compared).toBeGreaterThanOrEqual(CUTS * formulas.length);
  });

  test.each(Object.keys(DIALECTS))("random formulas in dialect %s", {
    timeout: 1_200_000,
  }, async (dialect) => {
    // Without an operator across the row a difference would not show.
    const formulas = formulasOf(dialect, FORMULAS).flatMap((formula) => [formula, `demean(${formula})`]);
    const program = programOf(formulas, dialect);
    const panel = panelWithGaps(random, ROWS, LANES);
    const { table: whole } = await engine.evaluate(program, panel, { keepInfinite });
    let compared = 0;
    for (const cut of cutRows(CUTS)) {
      const { table: prefix } = await engine.evaluate(program, prefixOf(panel, cut), { keepInfinite });
      compared += expectPrefix(prefix, whole, formulas, `${dialect} up to row ${cut}`);
    }
    expect(compared).toBeGreaterThanOrEqual(CUTS * FORMULAS);
  });

  test("by stream, many calls, session and job, within universes", { timeout: 1_200_000 }, async () => {
    const rows = [
      "rank(coalesce(x, 0))",
      "rank(delay(x, 1))",
      "group_count(1, h)",
      `rank(${SERIES})`,
      "rank(p)",
    ];
    for (let trial = 0; trial < trials(3, 12); trial++) {
      const formulas = [...rows, ...formulasOf("native", 12)];
      const within = UNIVERSES[random.below(UNIVERSES.length)];
      const program = programOf(formulas, "native", within);
      const panel = panelWithGaps(random, ROWS, LANES);
      const { table: whole } = await engine.evaluate(program, panel, { keepInfinite });
      const cut = 2 + random.below(ROWS - 1);
      const prefix = prefixOf(panel, cut);
      const what = `trial ${trial} up to row ${cut}, within ${within}`;
      let compared = expectPrefix(await streamed(program, prefix), whole, formulas, `stream, ${what}`);
      expect(compared).toBeGreaterThan(0);
      const calls = [{ params: { p: 0.5 } }, {}];
      const many = engine.evaluateMany(program, prefix, calls, { keepInfinite });
      compared = expectPrefix((await Array.fromAsync(many))[1]!, whole, formulas, `many, ${what}`);
      expect(compared).toBeGreaterThan(0);
      const late = linesFrom(whole, panel, Math.floor(cut / 2));
      compared = expectPrefix(await live(program, prefix), late, formulas, `session, ${what}`);
      expect(compared).toBeGreaterThan(0);
      // A job's files have no series.
      const own = {
        ...panel,
        fields: new Map([...panel.fields].map(([name, values]) => [name, ownCells(panel, values)])),
      };
      const ofJob = await byJob(program, prefixOf(own, cut));
      const { table: wholeJob } = await engine.evaluate(program, own, { keepInfinite });
      compared = expectPrefix(ofJob, wholeJob, formulas, `job, ${what}`);
      expect(compared).toBeGreaterThan(0);
    }
  });
});

function ownCells({ present }: Panel, values: Float64Array): Float64Array<SharedArrayBuffer> {
  const own = new Float64Array(new SharedArrayBuffer(values.byteLength));
  own.set(values.map((value, cell) => (present[cell] === 1 ? value : Number.NaN)));
  return own;
}
