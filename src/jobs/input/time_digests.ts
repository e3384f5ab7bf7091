/**
 * Digests of input by time and column. They depend on the symbols that have a row and on their values alone: not on the order
 * of rows, on other symbols, on the format or the type of a column, or on how many files the rows come in.
 */
import { hash } from "node:crypto";
import type { PanelBlock } from "../../data/panel/panel_source.ts";
import type { GroupColumn } from "../../panel.ts";

/** Of each digest. */
export const DIGEST_BYTES = 16;

/** The digests of one time: first of the symbols that have a row, then of each column. */
export interface TimeDigest {
  readonly time: bigint;
  /** `[1 + columns][DIGEST_BYTES]`, zeros for a column that was not read. */
  readonly bytes: Uint8Array;
}

/** Digests the times of blocks of one source. */
export class TimeDigests {
  readonly #symbols: readonly string[];
  readonly #fields: readonly string[];
  readonly #groups: readonly string[];
  readonly #columns: readonly string[];
  /** Lanes that have a row at the time that is digested, and the digest of their symbols. */
  #present: Uint8Array = new Uint8Array(0);
  #lanes = new Int32Array(0);
  #symbolsDigest: Uint8Array = new Uint8Array(DIGEST_BYTES);

  /** @param columns what digests have a place for, in this order */
  constructor(
    symbols: readonly string[],
    fields: readonly string[],
    groups: readonly string[],
    columns: readonly string[] = [...fields, ...groups],
  ) {
    this.#symbols = symbols;
    this.#columns = columns;
    this.#fields = fields;
    this.#groups = groups;
  }

  *of({ rowCount, times, present, fields, groups }: PanelBlock): Generator<TimeDigest> {
    const laneCount = this.#symbols.length;
    for (let row = 0; row < rowCount; row++) {
      const [first, end] = [row * laneCount, (row + 1) * laneCount];
      this.#take(present.subarray(first, end));
      const bytes = new Uint8Array(DIGEST_BYTES * (1 + this.#columns.length));
      bytes.set(this.#symbolsDigest);
      const set = (name: string, values: NodeJS.ArrayBufferView | string) =>
        bytes.set(digestOf(values), DIGEST_BYTES * (1 + this.#columns.indexOf(name)));
      for (const name of this.#fields) set(name, this.#presentOf(fields.get(name)!.subarray(first, end)));
      for (const name of this.#groups) set(name, this.#labelsOf(groups.get(name)!, first));
      yield { time: times[row]!, bytes };
    }
  }

  /** Most times have the symbols of the time before. */
  #take(present: Uint8Array): void {
    if (Buffer.compare(present, this.#present) === 0) return;
    this.#present = present.slice();
    this.#lanes = Int32Array.from([...present.keys()].filter((lane) => present[lane] === 1));
    this.#symbolsDigest = digestOf(Array.from(this.#lanes, (lane) => this.#symbols[lane]!).join("\0"));
  }

  #presentOf(values: Float64Array): NodeJS.ArrayBufferView {
    if (this.#lanes.length === values.length) return values;
    return Float64Array.from(this.#lanes, (lane) => values[lane]!);
  }

  /** Labels by their texts: files number them in their own ways. */
  #labelsOf({ labels, codes, changesOverTime }: GroupColumn, first: number): string {
    const at = changesOverTime ? first : 0;
    return Array.from(this.#lanes, (lane) => labels[codes[at + lane]!] ?? "").join("\0");
  }
}

const UNKNOWN = Buffer.alloc(DIGEST_BYTES);

/** Whether the rows of a time are the same as far as both digests tell: each knows the columns that were read for it. */
export function isSameTime(a: Uint8Array, b: Uint8Array): boolean {
  for (let first = 0; first < Math.min(a.length, b.length); first += DIGEST_BYTES) {
    const [one, other] = [digestAt(a, first), digestAt(b, first)];
    if (Buffer.compare(one, other) !== 0 && !UNKNOWN.equals(one) && !UNKNOWN.equals(other)) return false;
  }
  return true;
}

/** Whether the same symbols have a row. */
export function hasSameSymbols(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(digestAt(a, 0), digestAt(b, 0)) === 0;
}

/** The digests of a time with those of columns that only `before` has. */
export function withUnread(bytes: Uint8Array, before: Uint8Array): Uint8Array {
  const joined = new Uint8Array(Math.max(bytes.length, before.length));
  joined.set(bytes);
  for (let first = 0; first < before.length; first += DIGEST_BYTES)
    if (UNKNOWN.equals(joined.subarray(first, first + DIGEST_BYTES)))
      joined.set(digestAt(before, first), first);
  return joined;
}

function digestAt(bytes: Uint8Array, first: number): Uint8Array {
  return bytes.subarray(first, first + DIGEST_BYTES);
}

function digestOf(data: NodeJS.ArrayBufferView | string): Uint8Array {
  return hash("sha256", data, "buffer").subarray(0, DIGEST_BYTES);
}
