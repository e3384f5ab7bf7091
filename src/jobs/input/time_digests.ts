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
  /** `[1 + columns][DIGEST_BYTES]`, in the order of the fields and then of the groups. */
  readonly bytes: Uint8Array;
}

/** Digests the times of blocks of one source. */
export class TimeDigests {
  readonly #symbols: readonly string[];
  readonly #fields: readonly string[];
  readonly #groups: readonly string[];
  /** Lanes that have a row at the time that is digested, and the digest of their symbols. */
  #present: Uint8Array = new Uint8Array(0);
  #lanes = new Int32Array(0);
  #symbolsDigest: Uint8Array = new Uint8Array(DIGEST_BYTES);

  constructor(symbols: readonly string[], fields: readonly string[], groups: readonly string[]) {
    this.#symbols = symbols;
    this.#fields = fields;
    this.#groups = groups;
  }

  *of({ rowCount, times, present, fields, groups }: PanelBlock): Generator<TimeDigest> {
    const laneCount = this.#symbols.length;
    for (let row = 0; row < rowCount; row++) {
      const [first, end] = [row * laneCount, (row + 1) * laneCount];
      this.#take(present.subarray(first, end));
      const digests = [
        this.#symbolsDigest,
        ...this.#fields.map((name) => digestOf(this.#presentOf(fields.get(name)!.subarray(first, end)))),
        ...this.#groups.map((name) => digestOf(this.#labelsOf(groups.get(name)!, first))),
      ];
      const bytes = new Uint8Array(DIGEST_BYTES * digests.length);
      for (const [column, digest] of digests.entries()) bytes.set(digest, DIGEST_BYTES * column);
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

function digestOf(data: NodeJS.ArrayBufferView | string): Uint8Array {
  return hash("sha256", data, "buffer").subarray(0, DIGEST_BYTES);
}
