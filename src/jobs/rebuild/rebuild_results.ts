/** Makes the results of a job that has changed: columns that stay are read from those of before, others are evaluated. */

import type { OpenDatabase } from "../../data/duckdb/database.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { countBefore } from "../../evaluation/row_range.ts";
import type { Reading } from "../input/input_source.ts";
import { type TimeDigest, withUnread } from "../input/time_digests.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Universe } from "../ledger/records.ts";
import type { KnownTime } from "../ledger/time_table.ts";
import type { JobSink } from "../output/sink.ts";
import { rowsOf, type StagedResults } from "../output/staged_results.ts";
import { columnsOf, expectThere, historyOf } from "../state/history.ts";
import { LaneGroups } from "../state/job_groups.ts";
import type { JobChange, JobProgram } from "../state/job_program.ts";
import { JobState } from "../state/job_state.ts";
import { mergedResults } from "./merged_results.ts";

/** Values in a block, about. */
const BLOCK_CELLS = 1_000_000;

export const ALL_TIMES = [-(2n ** 63n), 2n ** 63n - 1n] as const;

/** Results from `from` to `to`, both included, are made again; `start` is the first time that they depend on. */
export interface RebuildRange {
  readonly start: bigint;
  readonly from: bigint;
  readonly to: bigint;
}

export interface RebuiltResults {
  readonly staged: StagedResults;
  /** Whether any result is not, bit by bit, the one of before. */
  readonly differs: boolean;
  /** The changed times, and digests of columns that were read for the first time. */
  readonly times: readonly KnownTime[];
}

export interface RebuildSpec {
  readonly ledger: Ledger;
  readonly sink: JobSink;
  /** The job as it is now. */
  readonly program: JobProgram;
  readonly change: JobChange;
  /** Times whose rows are others now, ascending. */
  readonly changed: readonly KnownTime[];
  readonly range: RebuildRange;
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
export async function rebuildResults(spec: RebuildSpec): Promise<RebuiltResults> {
  const { ledger, sink, program, change, universe, range, keepInfinite, reading, open, isRepair } = spec;
  const { begin } = ledger;
  const { symbols } = universe;
  const { columns, evaluated, kept } = change;
  const factors = [...columns];
  const staged = await sink.stageRebuild(
    { time: begin!.time, symbols, factors, origin: program.program.origin },
    program.isWritten,
  );
  const source = isRepair ? null : await sink.read(open);
  const times = [...spec.changed];
  let hasDiffering = false;
  try {
    const merged = mergedResults({
      symbols,
      columns,
      old: source && { source, nameOf: kept },
      evaluated: evaluated.length === 0 ? nothing() : evaluatedRows(spec, times),
      evaluatedColumns: new Set(evaluated),
      from: range.from,
      to: range.to,
      keepInfinite,
      blockRows: Math.max(1, Math.floor(BLOCK_CELLS / (symbols.length * Math.max(1, columns.length)))),
    });
    for await (const block of merged) {
      reading.signal.throwIfAborted();
      hasDiffering ||= block.differs.some((one, row) => one === 1 && program.isWritten(block.times[row]!));
      await staged.append(block);
    }
    await staged.finish();
    return { staged, differs: hasDiffering, times };
  } catch (error) {
    await staged.abort();
    throw error;
  } finally {
    await source?.close();
  }
}

async function* nothing(): AsyncGenerator<FactorBlock, void, void> {}

/** The columns that are evaluated, of the rows of the range. What digests lack is added to `times`. */
async function* evaluatedRows(
  { ledger, program, change, changed, range, universe, isRepair, host, reading }: RebuildSpec,
  times: KnownTime[],
): AsyncGenerator<FactorBlock, void, void> {
  const { fieldNames, groupNames, time } = ledger.begin!;
  const { symbols } = universe;
  const { seriesNames, options } = program;
  const ownGroups = new LaneGroups(universe.groups);
  const { digested } = columnsOf(ledger, program);
  const lanes = { symbols, time, fieldNames, groupNames, ownGroups, seriesNames, digested };
  const wanted = { ...program, options: { ...options, select: change.evaluated } };
  const state = await JobState.open(host, wanted, lanes);
  const isVerified = !isRepair && !change.changed.includes("renames");
  const onRead = (known: KnownTime, read: TimeDigest) => {
    const bytes = isVerified ? withUnread(read.bytes, known.bytes) : read.bytes;
    if (Buffer.compare(bytes, known.bytes) !== 0) times.push({ ...known, bytes });
  };
  try {
    const wantedTimes = timesBetween(ledger.times.from(range.start), changed, range.to);
    const files = historyOf(wantedTimes, { reading, type: time.type, isVerified, onRead });
    for await (const block of state.rows(files, reading.signal)) {
      const first = countBefore(block.times.subarray(0, block.rowCount), range.from);
      if (first < block.rowCount)
        yield rowsOf(block, first, block.rowCount, { symbols, factors: change.evaluated });
    }
  } finally {
    await state.close();
  }
}

/**
 * The files of the times that results from `start` to `to` depend on.
 *
 * @throws DataError E361 if one is missing
 */
export async function neededFiles(
  { times }: Ledger,
  changed: readonly KnownTime[],
  { start, to }: Omit<RebuildRange, "from">,
): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  for (const { path } of timesBetween(times.from(start), changed, to)) paths.add(path);
  for (const path of paths) await expectThere(path);
  return paths;
}

/** The known times up to the last one, with those that have changed in the place of those of before. */
function* timesBetween(
  known: Iterable<KnownTime>,
  changed: readonly KnownTime[],
  last: bigint,
): Generator<KnownTime, void, void> {
  let next = 0;
  for (const one of known) {
    for (; next < changed.length && changed[next]!.time < one.time; next++) yield changed[next]!;
    if (one.time > last) break;
    yield changed[next]?.time === one.time ? changed[next++]! : one;
  }
  yield* changed.slice(next);
}
