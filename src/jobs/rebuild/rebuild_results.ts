/** Makes the results of a job that has changed: columns that stay are read from those of before, others are evaluated. */

import type { OpenDatabase } from "../../data/duckdb/database.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import type { Reading } from "../input/new_inputs.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Universe } from "../ledger/records.ts";
import type { JobSink } from "../output/sink.ts";
import type { StagedResults } from "../output/staged_results.ts";
import { LaneGroups } from "../state/job_groups.ts";
import type { JobChange, JobProgram } from "../state/job_program.ts";
import { consumedFiles, JobState } from "../state/job_state.ts";
import { mergedResults } from "./merged_results.ts";

/** Values in a block, about. */
const BLOCK_CELLS = 1_000_000;

export interface RebuildSpec {
  readonly ledger: Ledger;
  readonly sink: JobSink;
  /** The job as it is now. */
  readonly program: JobProgram;
  readonly change: JobChange;
  /** With the groups that it reads. */
  readonly universe: Universe;
  readonly keepInfinite: boolean;
  /** Whether results of before are not to be read. */
  readonly isRepair: boolean;
  readonly host: EngineHost;
  readonly reading: Reading;
  readonly open: OpenDatabase;
}

/**
 * Writes the results of all rows beside those of before; the caller publishes them.
 *
 * @throws DataError E361 if input that is needed is missing or has changed, UsageError E536 where a sink of files cannot have
 *   another generation; as `JobState`; the reason of the reading's signal.
 */
export async function rebuildResults(spec: RebuildSpec): Promise<StagedResults> {
  const { ledger, sink, program, change, universe, keepInfinite, reading, open, isRepair } = spec;
  const { begin } = ledger;
  const { symbols } = universe;
  const { columns, evaluated, kept } = change;
  const factors = [...columns];
  const staged = await sink.stageRebuild(
    { time: begin!.time, symbols, factors, origin: program.program.origin },
    program.isWritten,
  );
  const source = isRepair ? null : await sink.read(open);
  try {
    const merged = mergedResults({
      symbols,
      columns,
      old: source && { source, rows: { first: 0, end: source.rowCount }, nameOf: kept },
      evaluated: evaluated.length === 0 ? nothing() : evaluatedRows(spec),
      evaluatedColumns: new Set(evaluated),
      // Rows that were not written before may be now, and the other way round.
      from: evaluated.length === 0 ? 1n : -(2n ** 63n),
      to: evaluated.length === 0 ? 0n : 2n ** 63n - 1n,
      keepInfinite,
      blockRows: Math.max(1, Math.floor(BLOCK_CELLS / (symbols.length * Math.max(1, columns.length)))),
    });
    for await (const block of merged) {
      reading.signal.throwIfAborted();
      await staged.append(block);
    }
    await staged.finish();
    return staged;
  } catch (error) {
    await staged.abort();
    throw error;
  } finally {
    await source?.close();
  }
}

async function* nothing(): AsyncGenerator<FactorBlock, void, void> {}

/** The columns that are evaluated, over all input. */
async function* evaluatedRows({
  ledger,
  program,
  change,
  universe,
  host,
  reading,
}: RebuildSpec): AsyncGenerator<FactorBlock, void, void> {
  const { fieldNames, groupNames, time } = ledger.begin!;
  const { symbols } = universe;
  const { seriesNames, options } = program;
  const ownGroups = new LaneGroups(universe.groups);
  const lanes = { symbols, time, fieldNames, groupNames, ownGroups, seriesNames };
  const wanted = { ...program, options: { ...options, select: change.evaluated } };
  const state = await JobState.open(host, wanted, lanes);
  try {
    const inputs = [...ledger.consumed.pages()].flat().reverse();
    yield* state.rows(consumedFiles(inputs, reading), reading.signal);
  } finally {
    await state.close();
  }
}
