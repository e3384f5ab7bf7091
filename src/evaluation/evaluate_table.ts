import type { Table } from "apache-arrow";
import type { Program } from "../compile.ts";
import { type FactorBlock, outputColumns } from "../data/factors/factor_batches.ts";
import { type FactorTable, factorTableOfBlocks } from "../data/factors/factor_table.ts";
import type { PanelSource, RowRange } from "../data/panel/panel_source.ts";
import type { Registry } from "../operator/registry.ts";
import { buffersOf } from "./block_input.ts";
import type { EngineHost } from "./evaluation.ts";
import { FactorStream } from "./factor_stream.ts";
import type { EvaluateOptions } from "./options.ts";

/** What an evaluation runs, and what it has given. */
export interface StreamReport {
  /** Wall time of compiling the kernels, in ms. */
  readonly kernelMs: number;
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
  /** Nulls of each factor, by name, in the rows so far. */
  readonly nullCounts: Readonly<Record<string, number>>;
  /** Infinities of each factor, which are nulls in the result unless they are kept. */
  readonly nonFiniteCounts: Readonly<Record<string, number>>;
}

/** What an evaluation did. */
export interface EvaluationReport extends StreamReport {
  /** Wall time until the first row, in ms; `kernelMs` is a part of it. */
  readonly planMs: number;
  /** Wall time of all rows, in ms; meanwhile their values go into the table. */
  readonly computeMs: number;
  /** Wall time of making the table, in ms, most of it a part of `computeMs`. */
  readonly tableMs: number;
}

/** What `Engine.evaluate` gives. */
export interface Evaluated {
  readonly table: Table;
  readonly report: EvaluationReport;
}

/** Nulls and infinities by factor, as a table or its writer counts them. */
type FactorCounts = Pick<FactorTable, "nullCounts" | "nonFiniteCounts">;

/** The same in the form of reports. */
export function countsOf({ nullCounts, nonFiniteCounts }: FactorCounts) {
  return {
    nullCounts: Object.fromEntries(nullCounts),
    nonFiniteCounts: Object.fromEntries(nonFiniteCounts),
  } satisfies Partial<StreamReport>;
}

/** What a stream runs, and what it has given so far. */
export function reportOf({ evaluation, wanted }: FactorStream, counts: FactorCounts): StreamReport {
  return {
    kernelMs: evaluation?.kernelMs ?? 0,
    nodeCount: evaluation?.plan.nodes.length ?? 0,
    prunedTaskCount: wanted.prunedTaskCount,
    blockRows: evaluation?.plan.blockRows ?? 0,
    arenaCount: evaluation?.arenas.length ?? 0,
    arenaBytes: evaluation?.arenaBytes ?? 0,
    stateBytes: evaluation?.stateBytes ?? 0,
    unwantedFactors: wanted.factors.filter(({ output }) => output === null).map(({ name }) => name),
    ...countsOf(counts),
  };
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
): Promise<Evaluated> {
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
  source: PanelSource,
  { keepInfinite = false }: EvaluateOptions,
  started: number,
): Promise<Evaluated> {
  const { range } = stream;
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
  const options = { keepInfinite, rowCount: range.end - range.first };
  const { table, ...counts } = await factorTableOfBlocks(
    outputColumns(source, stream.wanted),
    timed(),
    options,
  );
  const report: EvaluationReport = {
    planMs: startedAt - started,
    computeMs: computedAt - startedAt,
    tableMs: performance.now() - startedAt - waitedMs,
    ...reportOf(stream, counts),
  };
  return { table, report };
}
