import type { RecurrenceValues } from "../kernel/recurrences.ts";
import type { InputRow } from "./bars.ts";
import type { GivenParams } from "./live_params.ts";

/** A row of input that is kept. */
export interface RetainedRow {
  readonly row: InputRow;
  readonly params: GivenParams | undefined;
  /** Symbols that the session had. */
  readonly symbolCount: number;
}

interface Slot {
  row: InputRow;
  readonly fields: Map<string, Float64Array>;
  readonly groups: Map<string, Int32Array>;
  params: GivenParams | undefined;
  symbolCount: number;
}

/** Parts that the rows are divided into: what recursive operators carry is kept where one begins. */
const PARTS = 3;

/**
 * The last rows of a session's input: all that bars have brought, so that a program that is opened later can be warmed up
 * with them. The memory of the oldest row is used again for the newest.
 */
export class RetainedRows {
  readonly #capacity: number;
  readonly #interval: number;
  #slots: readonly Slot[] = [];
  readonly #recurrences = new Map<number, RecurrenceValues>();
  #count = 0;
  #first = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#interval = Math.max(1, Math.floor(capacity / PARTS));
  }

  /** Rows so far; the newest has the number before. */
  get count(): number {
    return this.#count;
  }

  /** The number of the oldest row that is kept. */
  get oldest(): number {
    return Math.max(this.#first, this.#count - this.#capacity);
  }

  /** Begins anew: the rows that come do not follow those that are kept. */
  clear(): void {
    this.#first = this.#count;
    this.#recurrences.clear();
  }

  /** True if the next row begins a part: `noteRecurrences` keeps what it starts from. */
  get beginsPart(): boolean {
    return this.#capacity > 0 && (this.#count === this.#first || this.#count % this.#interval === 0);
  }

  /** @param values what recursive operators carry before the next row */
  noteRecurrences(values: RecurrenceValues): void {
    this.#recurrences.set(this.#count, values);
    for (const row of this.#recurrences.keys()) if (row < this.oldest) this.#recurrences.delete(row);
  }

  /** What recursive operators carried before a row, where that was kept. */
  recurrencesBefore(row: number): RecurrenceValues | undefined {
    return this.#recurrences.get(row);
  }

  append(row: InputRow, params: GivenParams | undefined, symbolCount: number): void {
    this.#count++;
    this.replaceNewest(row, params, symbolCount);
  }

  replaceNewest(row: InputRow, params: GivenParams | undefined, symbolCount: number): void {
    if (this.#capacity === 0) return;
    if (this.#slots.length === 0) this.#slots = this.#slotsLike(row);
    const slot = this.#slots[(this.#count - 1) % this.#capacity]!;
    copyColumns(row.fields, slot.fields, (length) => new Float64Array(length));
    copyColumns(row.groups, slot.groups, (length) => new Int32Array(length));
    const { time, lanes } = row;
    slot.row = {
      time,
      lanes,
      present: row.present?.slice() ?? null,
      fields: slot.fields,
      groups: slot.groups,
    };
    slot.params = params && { ...params };
    slot.symbolCount = symbolCount;
  }

  /** Memory for all rows at once, written so that it is there: a session does not grow for hours. */
  #slotsLike(row: InputRow): Slot[] {
    return Array.from({ length: this.#capacity }, () => ({
      row,
      fields: new Map(
        [...row.fields].map(([name, { length }]) => [name, new Float64Array(length).fill(NaN)]),
      ),
      groups: new Map([...row.groups].map(([name, { length }]) => [name, new Int32Array(length).fill(-1)])),
      params: undefined,
      symbolCount: 0,
    }));
  }

  /** A row that is kept; holds until as many rows have come as are kept. */
  get(row: number): RetainedRow {
    return this.#slots[row % this.#capacity]!;
  }
}

function copyColumns<T extends Float64Array | Int32Array>(
  from: ReadonlyMap<string, ArrayLike<number | null>>,
  to: Map<string, T>,
  create: (length: number) => T,
): void {
  for (const name of to.keys()) if (!from.has(name)) to.delete(name);
  for (const [name, values] of from) {
    let column = to.get(name);
    if (column?.length !== values.length) {
      column = create(values.length);
      to.set(name, column);
    }
    for (let i = 0; i < values.length; i++) column[i] = values[i] ?? Number.NaN;
  }
}
