import { isDeepStrictEqual } from "node:util";
import { type LaneRow, paramsOf, type SavedParam, savedParams } from "../../checkpoint/lane_rows.ts";
import { readCheckpoint, type StoredCheckpoint } from "../../checkpoint/read_checkpoint.ts";
import type { Snapshot } from "../../checkpoint/state_file.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import type { TimeColumn } from "../../panel.ts";
import type { RowRetention } from "../../state/history.ts";
import type { HeldRows, RetainedRow, RowColumns } from "../../state/retained_rows.ts";
import { checkArgument } from "../../text/argument_kinds.ts";
import { checkpointOfOtherSession } from "../errors.ts";
import { areEqual, type InputRow } from "../input/bars.ts";
import type { SavedGroups } from "../input/group_codes.ts";
import type { SeriesFields } from "../input/live_input.ts";
import type { GivenParams } from "../live_params.ts";
import type { SessionParts } from "../live_program.ts";
import { CHECKPOINT } from "../options.ts";

/** The progress of a session: what its windows and recurrences are made from. */
export interface SavedProgress {
  readonly held: HeldRows;
  /** Time of the newest row; null before the first. */
  readonly lastTime: bigint | null;
  /** Time of the row at which history was last judged: see `StretchOf`; null before the first. */
  readonly judgedTime: bigint | null;
}

/** What a session says of itself in a checkpoint, beside rows and points: JSON has neither bigints nor infinities. */
export interface SavedSession {
  /** The symbol of each lane in use. */
  readonly byLane: readonly string[];
  /** In the order of a bar's values. */
  readonly symbols: readonly string[];
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly series: SeriesFields;
  readonly params: readonly SavedParam[];
  readonly groups: SavedGroups;
  /** `RetainedRows.retention`; JSON makes infinite `pointRows` null. */
  readonly retention: { readonly rows: number; readonly pointRows: number | null };
  readonly lastTime: string | null;
  readonly judgedTime: string | null;
}

export type StoredSession = StoredCheckpoint<SavedSession>;

/** The rows of a snapshot are held until its release. */
export type SessionSnapshot = Snapshot<SavedSession> & Pick<HeldRows, "release">;

export function snapshotOf(
  { lanes, groups, time, series }: SessionParts,
  params: GivenParams,
  { held, lastTime, judgedTime }: SavedProgress,
): SessionSnapshot {
  const description: SavedSession = {
    byLane: lanes.byLane,
    symbols: lanes.symbols,
    time,
    series,
    params: savedParams(Object.entries(params)),
    groups: groups.save(),
    retention: held.retention,
    lastTime: textOf(lastTime),
    judgedTime: textOf(judgedTime),
  };
  return {
    ...held,
    // Symbols may be added while it is written.
    description: structuredClone(description),
    // The last one is absent in all rows: symbols that are new where it is read go on from its recurrences.
    lanes: lanes.byLane.length + 1,
    laneCount: lanes.laneCount,
  };
}

/** @throws DataError as `LiveSession.restore`; UsageError E528 for what is neither a path nor bytes. */
export async function readSession(checkpoint: string | Uint8Array): Promise<StoredSession> {
  checkArgument("a session", checkpoint, CHECKPOINT);
  return await readCheckpoint<SavedSession>(checkpoint);
}

/** @throws DataError E352 for times of another type, or other fields that are the same for all symbols. */
export function expectSameColumns(
  saved: SavedSession,
  { time, series }: Pick<SessionParts, "time" | "series">,
): void {
  if (!areEqual(saved.time.type, time.type))
    throw checkpointOfOtherSession(`its times are each ${describeTimeType(saved.time.type)}`);
  if (!isDeepStrictEqual(saved.series, series))
    throw checkpointOfOtherSession("other fields are the same for all symbols");
}

export function retentionOf({ description }: StoredSession): RowRetention {
  const { rows, pointRows } = description.retention;
  return { rows, pointRows: pointRows ?? Number.POSITIVE_INFINITY };
}

export function openingOf({ params }: SavedSession): GivenParams {
  return Object.fromEntries(paramsOf(params));
}

const textOf = (time: bigint | null) => (time === null ? null : `${time}`);

/** The columns of the newest stored row. */
export function columnsOf(rows: readonly LaneRow[]): RowColumns {
  const newest = rows.at(-1);
  return { fields: [...(newest?.fields.keys() ?? [])], groups: [...(newest?.groups.keys() ?? [])] };
}

/** A stored row, whose cells are lanes. */
export function inputRowOf({ time, present, fields, groups, params }: LaneRow): RetainedRow<InputRow> {
  const length = present?.length ?? [...fields.values(), ...groups.values()][0]?.length ?? 0;
  const lanes = Int32Array.from({ length }, (_, lane) => lane);
  return { row: { time, lanes, present, saysSymbols: present !== null, fields, groups }, params };
}
