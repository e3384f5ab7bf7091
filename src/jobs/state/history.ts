/** Reads rows that were evaluated before, each from the file that its time belongs to. */

import { formatTime } from "../../data/time/time_text.ts";
import { countBefore } from "../../evaluation/row_range.ts";
import type { TimeType } from "../../panel.ts";
import { inputGone } from "../errors.ts";
import { lookAt } from "../input/input_files.ts";
import { type DigestedColumns, openInput, type Reading } from "../input/input_source.ts";
import { isSameTime, type TimeDigest } from "../input/time_digests.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { KnownTime } from "../ledger/time_table.ts";
import type { JobProgram } from "./job_program.ts";
import type { LaneFile } from "./lane_source.ts";

/** The columns that formulas read, and those that digests are of then. Series are not of the input. */
export function columnsOf({ digested }: Ledger, { read, seriesNames }: JobProgram): DigestedColumns {
  const fields = read.fields.filter((name) => !seriesNames.includes(name));
  return { fields, groups: read.groups, digested: [...new Set([...digested, ...fields, ...read.groups])] };
}

export interface HistorySpec {
  readonly reading: Reading;
  readonly type: TimeType;
  /** False where symbols have other names now, and where rows are taken as they are. */
  readonly isVerified: boolean;
  readonly onRead?: (known: KnownTime, read: TimeDigest) => void;
}

/**
 * Consecutive times of one file are read together.
 *
 * @param times ascending
 * @throws in reading DataError E361 for a file that is missing, or has no longer the rows that the ledger knows.
 */
export function* historyOf(times: Iterable<KnownTime>, spec: HistorySpec): Generator<LaneFile, void, void> {
  let segment: KnownTime[] = [];
  for (const known of times) {
    if (segment.length > 0 && segment[0]!.path !== known.path) {
      yield fileOf(segment, spec);
      segment = [];
    }
    segment.push(known);
  }
  if (segment.length > 0) yield fileOf(segment, spec);
}

/** @throws DataError E361 for a file that is missing */
export async function expectThere(path: string): Promise<void> {
  const there = await lookAt(path);
  if (there === null || typeof there === "string") throw inputGone(path, there ?? "it is missing");
}

function fileOf(segment: readonly KnownTime[], { reading, type, isVerified, onRead }: HistorySpec): LaneFile {
  const { path, time: first } = segment[0]!;
  const differs = (time: bigint) =>
    inputGone(path, `its rows of ${formatTime(time, type)} are not those that the ledger knows`);
  return {
    path,
    open: async () => {
      await expectThere(path);
      return await openInput(path, reading.names, reading.open);
    },
    rowsOf: ({ time: { values } }) => {
      const start = countBefore(values, first);
      const wrong = segment.find(({ time }, index) => values[start + index] !== time);
      if (wrong !== undefined) throw differs(wrong.time);
      return { first: start, end: start + segment.length };
    },
    afterRead: async (digests) => {
      for (const [index, known] of segment.entries()) {
        const read = digests[index]!;
        if (isVerified && !isSameTime(known.bytes, read.bytes)) throw differs(known.time);
        onRead?.(known, read);
      }
    },
  };
}
