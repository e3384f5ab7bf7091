import type { RowRetention } from "../../state/history.ts";
import { bytesOfRows, type RetainedRows, type RowColumns } from "../../state/retained_rows.ts";
import { inSteps } from "../../steps.ts";
import type { InputRow } from "../input/bars.ts";
import type { LiveProgram, SessionParts } from "../live_program.ts";

/** The memory of the kept rows of a session: reserved and laid out before they come. */
export class KeptMemory {
  readonly #parts: SessionParts;
  readonly #rows: RetainedRows<InputRow>;
  readonly #releases: (() => void)[] = [];
  #bytes = 0;

  constructor(parts: SessionParts, rows: RetainedRows<InputRow>) {
    this.#parts = parts;
    this.#rows = rows;
  }

  /**
   * Keeps as many rows as a program needs, or as `retainRows` says; never fewer than before.
   *
   * @param brought columns that bars bring beside those that its formulas read
   * @param saved by the session of a checkpoint, whose rows are kept as well unless `retainRows` says how many
   * @throws ResourceError E401, with rows, bytes and the factor that asks for most; the signal's reason when aborted.
   */
  async layOut(
    program: LiveProgram,
    brought: RowColumns,
    signal: AbortSignal | undefined,
    saved: RowRetention | null = null,
  ): Promise<void> {
    const { lanes, host, options } = this.#parts;
    const wanted = program.retention(options.retainRows);
    const other = options.retainRows === undefined ? saved : null;
    const rowCount = Math.max(wanted.rows, other?.rows ?? 0, this.#rows.retention.rows);
    const columns = program.columnsKept(brought);
    const bytes = bytesOfRows(rowCount, lanes.laneCount, columns) - this.#bytes;
    if (bytes > 0) {
      const remedy = `raise the memory limit, open the session for fewer symbols or without ${program.furthest}, which looks back furthest, or keep fewer rows (retainRows)`;
      const need = { bytes: { [`${rowCount} kept rows`]: bytes }, held: [], remedy, lasts: true };
      this.#releases.push(await host.budget.admit(() => host.budget.reserve(need), signal));
      this.#bytes += bytes;
    }
    this.#rows.grow(wanted);
    if (other) this.#rows.grow(other);
    await inSteps(this.#rows.layOut(columns));
  }

  /** May be called twice. */
  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }
}
