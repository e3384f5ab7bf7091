import { type EvaluableProgram, finalDag, type Program, withOperators } from "../compile.ts";
import type { Output } from "../dag/dag.ts";
import type { PanelSource } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream } from "../evaluation/factor_stream.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { checkSelect } from "../evaluation/wanted_factors.ts";
import { TOLERANCE } from "./cell_tally.ts";
import { type DifferenceOrigin, findOrigins } from "./difference_origins.ts";
import { joinSides, type Side, sideName } from "./joined_program.ts";
import { type ColumnDifference, ResultComparison } from "./result_comparison.ts";
import { isSame, matchNames, nothingInCommon, type ResultDifference } from "./result_difference.ts";

/** What of two programs is compared, and the options of the call that computes both. */
export interface DiffOptions extends EvaluateOptions {
  /** As of `diffResults`. Default 0: bits are compared. */
  readonly tolerance?: number;
}

export const OWN_DIFF_OPTIONS = { tolerance: TOLERANCE };

/** The differing factors whose origins are looked for; it takes the values of all their sub-expressions. */
const FACTORS_TRACED_MAX = 20;

/** The cells of one factor that differ, and where that begins. */
export interface TracedDifference extends ColumnDifference {
  /**
   * The smallest sub-expressions that differ though what they read is equal, outermost first. None where the condition
   * of the factor alone differs. Null beyond the first 20 factors that differ: select those to have them.
   */
  readonly origins: readonly DifferenceOrigin[] | null;
}

/** How the factors of two programs differ over one panel. */
export interface ProgramDifference extends ResultDifference {
  readonly differences: readonly TracedDifference[];
}

/**
 * Compares two programs over one panel, cell by cell, in one evaluation (`joinSides`). Factors that have the same graph
 * in both are not computed: they cannot differ.
 */
export async function diffPrograms(
  host: EngineHost,
  a: Program,
  b: Program,
  source: PanelSource,
  options: DiffOptions,
): Promise<ProgramDifference> {
  const { tolerance = 0, select, keepInfinite = false, ...call } = options;
  const names = matchNames(selected(a, b, select), selected(b, a, select), "programs");
  const joined = joinSides(a, b, call);
  const differing = namesOfOtherGraphs(joined, names.compared);
  const outputs = differing.flatMap((name) => [sideName("a", name), sideName("b", name)]);
  const registry = withOperators(joined.operators);
  const stream = await FactorStream.open(host, registry, joined, source, { ...call, select: outputs });
  const lanes = [...source.symbols.keys()];
  const comparison = new ResultComparison(differing, lanes, { tolerance, keepInfinite });
  let rowCount = 0;
  for await (const { times, present, columns } of stream.blocks()) {
    const [ofA, ofB] = (["a", "b"] as const).map((side) => {
      return new Map(differing.map((name) => [name, columns.get(sideName(side, name)) ?? null]));
    });
    for (const [row, time] of times.entries()) {
      const cells = { present, start: row * lanes.length };
      rowCount += comparison.takeRow(time, { ...cells, columns: ofA! }, { ...cells, columns: ofB! });
    }
  }
  if (rowCount === 0) throw nothingInCommon("programs", "row", "give data with at least one row");
  const columns = comparison.differences({ symbols: source.symbols, timeType: source.time.type });
  const { from: _, onProgress: __, ...traceCall } = call;
  const traced = columns.slice(0, FACTORS_TRACED_MAX).map(({ name }) => name);
  const origins = await findOrigins(host, [a, b], traced, source, { ...traceCall, tolerance });
  const differences = columns.map((column): TracedDifference => {
    return { ...column, origins: origins.get(column.name) ?? null };
  });
  const found = { ...names, rowCount, rowsOnlyInA: 0, rowsOnlyInB: 0, differences };
  return { ...found, isSame: isSame(found) };
}

/** The names of a program's factors, of those that are selected in either program. */
function selected(program: Program, other: Program, select: readonly string[] | undefined): string[] {
  const names = program.factors.map(({ name }) => name);
  if (select === undefined) return names;
  const others = other.factors.filter(({ name }) => !names.includes(name));
  checkSelect({ ...program, factors: [...program.factors, ...others] }, select);
  return names.filter((name) => select.includes(name));
}

/** The factors whose tasks or conditions differ. */
function namesOfOtherGraphs(joined: EvaluableProgram, compared: readonly string[]): string[] {
  const { outputs, conditions } = finalDag(joined);
  const byName = new Map(outputs.map((output) => [output.name, output]));
  const of = (side: Side, name: string) => byName.get(sideName(side, name))!;
  const wanted = ({ condition }: Output) => JSON.stringify(condition === null ? null : conditions[condition]);
  return compared.filter((name) => {
    const [a, b] = [of("a", name), of("b", name)];
    return a.task !== b.task || wanted(a) !== wanted(b);
  });
}
