import type { Expression } from "../ast/nodes.ts";
import { type Program, withOperators } from "../compile.ts";
import type { PanelSource } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream } from "../evaluation/factor_stream.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import type { WrittenPlace } from "../reasons/explanation.ts";
import { traceProgram } from "../reasons/traced_program.ts";
import { placeOf } from "../reasons/written_place.ts";
import type { CellNames, DifferingCells } from "./cell_tally.ts";
import { joinSides } from "./joined_program.ts";
import { PairTally } from "./pair_tally.ts";
import { type ExpressionPair, PairedTrees } from "./paired_trees.ts";

/** Two sub-expressions at the same place of two formulas, with the cells in which they differ though what they read is equal. */
export interface DifferenceOrigin extends DifferingCells {
  readonly a: WrittenPlace;
  readonly b: WrittenPlace;
}

/** Of the call that computed the factors; without `from`, since a difference may begin before it. */
export interface OriginOptions extends Omit<EvaluateOptions, "select" | "from" | "onProgress"> {
  readonly tolerance: number;
}

/**
 * Finds where the differences of factors begin: the smallest sub-expressions that differ in a cell although all cells that
 * they read there are equal, beyond the tolerance. Every cell in which a factor differs goes back to one of them, through
 * cells of sub-expressions that differ.
 *
 * Algorithm: the written trees are paired from the roots down (`PairedTrees`). All sub-expressions of pairs that may differ
 * are computed as written, in one evaluation block by block, and compared row by row (`PairTally`). Then each factor's tree
 * is walked down through its pairs, and those with such cells are reported.
 *
 * Limits: infinities are values here. Where operators differ, the pair is not looked into. A universe is compared as a whole.
 * A pair is reported for every factor that reads it, also where a condition in between hides its cells; one whose every
 * cell reads a difference of its inputs is found once that one is mended.
 *
 * @returns by factor its origins, outermost first; none where the factor's condition alone differs
 */
export async function findOrigins(
  host: EngineHost,
  [a, b]: readonly [Program, Program],
  factors: readonly string[],
  source: PanelSource,
  { tolerance, ...call }: OriginOptions,
): Promise<Map<string, DifferenceOrigin[]>> {
  if (factors.length === 0) return new Map();
  const [tracedA, tracedB] = [traceProgram(a, factors), traceProgram(b, factors)];
  const joined = joinSides(tracedA.program, tracedB.program, call);
  const trees = new PairedTrees(tracedA, tracedB, joined);
  const roots = new Map(factors.map((name) => [name, trees.root(name)]));
  const tallies = talliesOf(trees, [...roots.values()], { laneCount: source.laneCount, tolerance });
  const select = [...new Set([...tallies.values()].flatMap(({ outputs }) => outputs))];
  const registry = withOperators(joined.operators);
  const stream = await FactorStream.open(host, registry, joined, source, { ...call, select });
  const restartRows = new Set(stream.restartRows);
  let row = 0;
  for await (const block of stream.blocks()) {
    const { rowCount, times, present } = block;
    for (const tally of tallies.values()) tally.open(block);
    for (let at = 0; at < rowCount; at++, row++) {
      if (restartRows.has(row)) for (const tally of tallies.values()) tally.restart();
      const taken = { row, time: times[at]!, start: at * source.laneCount, present };
      for (const tally of tallies.values()) tally.takeRow(taken);
    }
  }
  const names = { symbols: source.symbols, timeType: source.time.type };
  return new Map(
    [...roots].map(([name, root]) => [name, root ? originsBelow(root, trees, tallies, [a, b], names) : []]),
  );
}

/** One tally for each pair of sub-expressions below the roots, inputs before what reads them; an explicit stack. */
function talliesOf(
  trees: PairedTrees,
  roots: readonly (ExpressionPair | null)[],
  shape: { readonly laneCount: number; readonly tolerance: number },
): Map<string, PairTally> {
  const tallies = new Map<string, PairTally>();
  const stack = roots.filter((root) => root !== null);
  for (let pair = stack.at(-1); pair; pair = stack.at(-1)) {
    const key = trees.key(pair);
    const inputs = tallies.has(key) ? [] : trees.inputs(pair);
    const missing = inputs.filter((input) => !tallies.has(trees.key(input)));
    if (missing.length > 0) {
      stack.push(...missing);
      continue;
    }
    stack.pop();
    if (tallies.has(key)) continue;
    const read = inputs.map((input) => tallies.get(trees.key(input))!);
    const columns = [trees.column("a", pair), trees.column("b", pair)] as const;
    tallies.set(key, new PairTally(read, columns, trees.reach(pair), shape));
  }
  return tallies;
}

/** The pairs below a root that have cells of their own, each once, at its first place in the formula. */
function originsBelow(
  root: ExpressionPair,
  trees: PairedTrees,
  tallies: ReadonlyMap<string, PairTally>,
  [a, b]: readonly [Program, Program],
  names: CellNames,
): DifferenceOrigin[] {
  const origins: DifferenceOrigin[] = [];
  const seen = new Set<string>();
  const stack = [root];
  for (let pair = stack.pop(); pair; pair = stack.pop()) {
    const key = trees.key(pair);
    if (seen.has(key)) continue;
    seen.add(key);
    const tally = tallies.get(key)!;
    if (!tally.isDifferent) continue;
    const cells = tally.found(names);
    if (cells !== null) origins.push({ ...placesOf(pair, a, b), ...cells });
    stack.push(...trees.inputs(pair).reverse());
  }
  return origins;
}

/** The texts as written; where those are equal, what each means in dialect `native`. */
function placesOf(pair: ExpressionPair, a: Program, b: Program): Pick<DifferenceOrigin, "a" | "b"> {
  const places = (parentA: Expression | null, parentB: Expression | null) => ({
    a: placeOf(a.written.source, pair.a, parentA),
    b: placeOf(b.written.source, pair.b, parentB),
  });
  const written = places(pair.parentA, pair.parentB);
  // An expression with a parent at its own place is printed.
  return written.a.formula === written.b.formula ? places(pair.a, pair.b) : written;
}
