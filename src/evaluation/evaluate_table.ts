import type { Table } from "apache-arrow";
import type { Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../data/factors/factor_table.ts";
import type { PanelSource, RowRange } from "../data/panel/panel_source.ts";
import type { Registry } from "../operator/registry.ts";
import { buffersOf } from "./block_input.ts";
import type { EngineHost } from "./evaluation.ts";
import { FactorStream } from "./factor_stream.ts";
import type { EvaluateOptions } from "./options.ts";

/** What an evaluation did. */
export interface EvaluationReport {
  /** Wall time until the first row, in ms. */
  readonly planMs: number;
  /** Wall time of compiling the kernels, a part of `planMs`. */
  readonly kernelMs: number;
  /** Wall time of all rows, in ms; meanwhile their values go into the table. */
  readonly computeMs: number;
  /** Wall time of making the table, in ms, most of it a part of `computeMs`. */
  readonly tableMs: number;
  /** Nodes of the plan. */
  readonly nodeCount: number;
  /** Operator applications left out because no wanted factor needs them. */
  readonly prunedTaskCount: number;
  /** Rows of a block. */
  readonly blockRows: number;
  /** Memories that the program takes, each of at most 4 GiB; what several of them need is computed in each. */
  readonly arenaCount: number;
  /** Memory of columns, operator state and scratch space. */
  readonly arenaBytes: number;
  /** Memory of operator state, a part of `arenaBytes`. */
  readonly stateBytes: number;
  /** Factors whose condition does not hold. */
  readonly unwantedFactors: readonly string[];
  /** Nulls of each factor. */
  readonly nullCounts: ReadonlyMap<string, number>;
  /** Infinities of each factor, which are nulls in the table unless they are kept. */
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

export interface PanelEvaluation {
  readonly table: Table;
  readonly report: EvaluationReport;
}

const REMEDY =
  "raise the memory limit, or take the result block by block: engine.stream, or --out on the command line";

/** Bytes of the values of one factor. */
export function factorBytes({ laneCount }: PanelSource, { first, end }: RowRange): number {
  return (end - first) * laneCount * Float64Array.BYTES_PER_ELEMENT;
}

/** Evaluates a program over all rows of a source into one table; see `Engine.evaluate`. */
export async function evaluateTable(
  host: EngineHost,
  registry: Registry,
  program: Program,
  source: PanelSource,
  options: EvaluateOptions,
): Promise<PanelEvaluation> {
  const started = performance.now();
  const stream = await FactorStream.open(host, registry, program, source, {
    ...options,
    reader: ({ wanted, range }) => ({
      bytes: { table: wanted.dag.outputs.length * factorBytes(source, range) },
      held: buffersOf(source),
      remedy: REMEDY,
    }),
  });
  try {
    return await host.budget.whileBusy(() => collected(stream, source, options, started));
  } finally {
    await stream.close();
  }
}

async function collected(
  stream: FactorStream,
  { time, symbols }: PanelSource,
  { keepInfinite = false }: EvaluateOptions,
  started: number,
): Promise<PanelEvaluation> {
  const { evaluation, range, wanted } = stream;
  const startedAt = performance.now();
  let computedAt = startedAt;
  let waitedMs = 0;
  const timed = async function* (): AsyncGenerator<FactorBlock> {
    let askedAt = startedAt;
    // The memory is the table's, too: it is given back when that is made.
    for await (const block of stream.blocks(false)) {
      computedAt = performance.now();
      waitedMs += computedAt - askedAt;
      yield block;
      askedAt = performance.now();
    }
  };
  const columns = { time, symbols, factors: wanted.factors.map(({ name }) => name) };
  const options = { keepInfinite, rowCount: range.end - range.first };
  const { table, nullCounts, nonFiniteCounts } = await factorTableOfBlocks(columns, timed(), options);
  const report: EvaluationReport = {
    planMs: startedAt - started,
    kernelMs: evaluation?.kernelMs ?? 0,
    computeMs: computedAt - startedAt,
    tableMs: performance.now() - startedAt - waitedMs,
    nodeCount: evaluation?.plan.nodes.length ?? 0,
    prunedTaskCount: wanted.prunedTaskCount,
    blockRows: evaluation?.plan.blockRows ?? 0,
    arenaCount: evaluation?.arenas.length ?? 0,
    arenaBytes: evaluation?.arenaBytes ?? 0,
    stateBytes: evaluation?.stateBytes ?? 0,
    unwantedFactors: wanted.factors.filter(({ output }) => output === null).map(({ name }) => name),
    nullCounts,
    nonFiniteCounts,
  };
  return { table, report };
}
