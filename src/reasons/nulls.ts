import type { Expression } from "../ast/nodes.ts";
import { CallParams } from "../call_params.ts";
import { finalDag, type Program, withOperators } from "../compile.ts";
import type { PanelSource, RowRange } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { rowRange } from "../evaluation/row_range.ts";
import { checkSelect } from "../evaluation/wanted_factors.ts";
import type { NullCause } from "../operator/null_causes.ts";
import type { WrittenPlace } from "./explanation.ts";
import { codeOf, type NullOrigins, originOf } from "./null_origins.ts";
import type { FactorNulls, NullReport, NullSource } from "./null_report.ts";
import type { TracedBlock } from "./row_blame.ts";
import { tracedBlocks } from "./traced_blocks.ts";
import { type TracedProgram, traceProgram } from "./traced_program.ts";
import { placeOf } from "./written_place.ts";

/** The options of the call whose nulls are counted. */
export type NullsOptions = EvaluateOptions;

/**
 * Counts the nulls of factors by first cause and by the sub-expression that has it: what `why` finds for each of them.
 *
 * @throws UsageError E506 for an unknown factor; else as `evaluate`.
 */
export async function countNulls(
  host: EngineHost,
  program: Program,
  source: PanelSource,
  options: NullsOptions,
): Promise<NullReport> {
  const { select } = options;
  checkSelect(program, select);
  const traced = traceProgram(program, select);
  const range = await rowRange(source.time, options);
  const registry = withOperators(program.operators);
  const callParams = await CallParams.of(program, source.time.type, options, registry);
  const factors = [...traced.roots].map(([name, root]) => new FactorCounter(program, traced, name, root));
  const counted = { range, keepsInfinite: options.keepInfinite === true };
  const part = { rows: { first: 0, end: range.end }, lane: null };
  let [cellCount, firstRow] = [0, 0];
  for await (const { block, origins } of tracedBlocks(host, traced, source, part, options)) {
    const sets = callParams.setsAt(block.results.times);
    const isWanted = (condition: number | null, row: number) => callParams.isWanted(condition, [sets[row]!]);
    cellCount += presentCount(block, firstRow, range);
    for (const factor of factors) factor.count(block, firstRow, origins, { ...counted, isWanted });
    firstRow += block.results.rowCount;
  }
  return { cellCount, factors: factors.map((factor) => factor.report()) };
}

function presentCount({ results, laneCount }: TracedBlock, firstRow: number, range: RowRange): number {
  const first = Math.max(0, range.first - firstRow);
  const cells = results.present.subarray(first * laneCount, results.rowCount * laneCount);
  return cells.reduce((sum, isPresent) => sum + isPresent, 0);
}

/** What counts as a null of a factor. */
interface Counted {
  readonly range: RowRange;
  readonly keepsInfinite: boolean;
  isWanted(condition: number | null, row: number): boolean;
}

/** Counts the nulls of one factor by origin. */
class FactorCounter {
  readonly #name: string;
  readonly #root: number;
  readonly #condition: number | null;
  readonly #program: Program;
  readonly #traced: TracedProgram;
  readonly #counts = new Map<number, number>();

  constructor(program: Program, traced: TracedProgram, name: string, root: number) {
    this.#name = name;
    this.#root = root;
    this.#condition = finalDag(program).outputs.find((output) => output.name === name)!.condition;
    this.#program = program;
    this.#traced = traced;
  }

  count(block: TracedBlock, firstRow: number, found: NullOrigins, counted: Counted): void {
    const { results, laneCount } = block;
    const { values, origins } = found.of(this.#root);
    const { range, keepsInfinite } = counted;
    // Neighbours often have one origin: a run of them is added up before the map is asked.
    let [run, runCode] = [0, -1];
    for (let row = Math.max(0, range.first - firstRow); row < results.rowCount; row++) {
      const isWanted = counted.isWanted(this.#condition, row);
      for (let cell = row * laneCount; cell < (row + 1) * laneCount; cell++) {
        const value = values[cell]!;
        const isNull = keepsInfinite ? Number.isNaN(value) : value - value !== 0;
        if (results.present[cell] === 0 || (isWanted && !isNull)) continue;
        const code = isWanted ? origins[cell]! : codeOf(this.#root, "condition_not_wanted");
        if (code !== runCode) {
          this.#add(runCode, run);
          [run, runCode] = [0, code];
        }
        run++;
      }
    }
    this.#add(runCode, run);
  }

  report(): FactorNulls {
    const places = placesOf(this.#program, this.#traced, this.#name);
    const sources = [...this.#counts].map(([code, cellCount]): NullSource => {
      const { task, cause } = originOf(code);
      return { ...places.get(task)!, cause, cellCount };
    });
    const byCause = new Map<NullCause, number>();
    for (const { cause, cellCount } of sources) byCause.set(cause, (byCause.get(cause) ?? 0) + cellCount);
    return {
      factor: this.#name,
      nullCount: sources.reduce((sum, { cellCount }) => sum + cellCount, 0),
      causes: [...byCause].map(([cause, cellCount]) => ({ cause, cellCount })).sort(mostFirst),
      sources: sources.sort(mostFirst),
    };
  }

  #add(code: number, count: number): void {
    if (count > 0) this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
  }
}

const mostFirst = (a: { readonly cellCount: number }, b: { readonly cellCount: number }) =>
  b.cellCount - a.cellCount;

/** Where each task of a factor is written; where several expressions are one task, the first. */
function placesOf(program: Program, { taskOf }: TracedProgram, factor: string): Map<number, WrittenPlace> {
  const { bound, source } = program.written;
  const root = bound.factors.find(({ name }) => name === factor)!.expression;
  const places = new Map<number, WrittenPlace>();
  const open: [Expression, Expression | null][] = [[root, null]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [expression, parent] = next;
    const task = taskOf.get(expression)!;
    if (places.has(task)) continue;
    places.set(task, placeOf(source, expression, parent));
    if (expression.kind === "call")
      for (const arg of expression.args.toReversed()) open.push([arg, expression]);
  }
  return places;
}
