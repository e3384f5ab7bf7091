import { formatTime } from "../../data/time/time_text.ts";
import type { StretchOf } from "../../evaluation/restarts.ts";
import type { TimeColumn } from "../../panel.ts";
import { nothingToRevise, timeBeforeRestart, timeNotAfter, timeNotNewest } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";

/** The order of a session's rows, and the stretches between restarts to which they belong. */
export class RowTimes {
  /** Of the newest row; null before the first. */
  last: bigint | null = null;
  /** Of a row whose stretch is under way, also if the row has failed; null before the first. */
  judged: bigint | null = null;
  readonly #type: TimeColumn["type"];
  readonly #stretchOf: StretchOf | null;

  constructor(type: TimeColumn["type"], stretchOf: StretchOf | null) {
    this.#type = type;
    this.#stretchOf = stretchOf;
  }

  /** Whether windows and recurrences restart with a row of this time. @throws DataError E371 for one of an earlier stretch. */
  restartsAt(time: bigint): boolean {
    if (this.#stretchOf === null || this.judged === null) return false;
    const stretches = this.#stretchOf(time) - this.#stretchOf(this.judged);
    if (stretches < 0) throw timeBeforeRestart(this.#textOf(time), this.#textOf(this.judged));
    return stretches > 0;
  }

  /** @throws DataError E371 unless each of the rows of a push is later than the one before it. */
  checkOrder(rows: readonly InputRow[]): void {
    for (const [at, { time }] of rows.entries()) this.expectLater(time, rows[at - 1]?.time ?? null);
  }

  /** @throws DataError E371. */
  expectLater(time: bigint, last: bigint | null): void {
    if (last !== null && time <= last) throw timeNotAfter(this.#textOf(time), this.#textOf(last));
  }

  /** @throws DataError E371 for rows that are not the newest one alone. */
  checkNewest(rows: readonly InputRow[]): void {
    const [row] = rows;
    if (rows.length !== 1 || !row) throw nothingToRevise(`it takes one bar, got ${rows.length}`);
    if (row.time !== this.last) throw timeNotNewest(this.#textOf(row.time), this.#textOf(this.last!));
  }

  #textOf(time: bigint): string {
    return formatTime(time, this.#type);
  }
}
