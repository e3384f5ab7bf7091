import type { Code } from "../../emit/code.ts";
import { type I32, type I32Local, locals, Pointer } from "../../emit/expressions.ts";
import type { Library } from "../../emit/library.ts";
import { STEP_LANES } from "../../memory/vectors.ts";
import { paddedLanes } from "../layout/padded_row.ts";
import type { RowScratch } from "../layout/row_scratch.ts";

export const ENTRY_BYTES = 8;
export const COUNTER_BYTES = 4;
export const COUNTER_SHIFT = Math.log2(COUNTER_BYTES);

/** Bits of an entry's lower half: the lane, and above it as many bits of the head as fit, at least one digit. */
export const LOWER_BITS = 32;

/** Byte offset of an entry's upper half: the high digit's counter address, relative to the counter table. */
const UPPER_BYTE = 4;

/** Wider digits would have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Largest number of lanes that this sort supports. */
export const SORT_LANES_MAX = 2 ** (LOWER_BITS - DIGIT_BITS_MAX);

/** Receives the lanes as they are sorted; places count from 0. */
export interface SortVisitor {
  /**
   * A lane gets a place. If other lanes may have its head it may get another place later, or a share in a tie. Nulls
   * are last.
   */
  place?(lane: I32, place: I32): void;
  /** Two lanes get a place and the next one, or tie there if `isTie` is 1 instead of 0. */
  pair?(lanes: readonly [I32, I32], place: I32, isTie: I32): void;
  /** Lanes of equal values, from place `start` to before `end`. */
  tie?(start: I32, end: I32): void;
}

/** The half of an entry with the lane. */
export function lowerHalf({ base, offset }: Pointer<"i64">): Pointer<"i32"> {
  return new Pointer(base, "i32", offset);
}

/** The half of an entry with the counter address. */
export function upperHalf({ base, offset }: Pointer<"i64">): Pointer<"i32"> {
  return new Pointer(base, "i32", offset + UPPER_BYTE);
}

/** Parts of the scratch space. */
function layOut(base: I32Local, lanes: number, scratch: RowScratch) {
  const part = <T extends "i32" | "i64">(name: string, type: T, bytes: number) =>
    new Pointer(base, type, scratch.part(name, bytes));
  const entries = part("sort entries", "i64", ENTRY_BYTES * lanes);
  return {
    /** For each lane the counter address of its high digit, the low bits of its head, and the lane. */
    entries,
    /** For each lane the counter address of its low digit, relative to the counter table. */
    lowAddresses: part("low counter addresses", "i32", COUNTER_BYTES * lanes),
    /** Four numbers for each lane of one step, to be joined to those of the row. */
    steps: part("sort steps", "i64", 4 * ENTRY_BYTES * STEP_LANES),
    /** Entries in the order of their low digits. */
    halfSorted: part("half-sorted entries", "i64", ENTRY_BYTES * lanes),
    /** Lower halves of entries in order. They replace the first entries. */
    sorted: new Pointer(base, "i32", entries.offset),
    /** Keys of runs in order. */
    sortedKeys: part("sorted keys", "i64", ENTRY_BYTES * lanes),
    /** Keys of the lanes, where all of their bits are needed. */
    keys: part("sort keys", "i64", ENTRY_BYTES * lanes),
    /** Counters of the low digit, and of the only digit of a pass over all bits. */
    lowCounters: part("low counters", "i32", COUNTER_BYTES * 2 ** DIGIT_BITS_MAX),
    /** Counters of the high digit, followed by the number of lanes. */
    highCounters: part("high counters", "i32", COUNTER_BYTES * (2 ** DIGIT_BITS_MAX + 1)),
    /** Places whose lane may have the head of the next: each starts or continues a run. */
    candidates: part("candidates of runs", "i32", COUNTER_BYTES * (lanes + 1)),
  };
}

/** What the steps of a sort share: sizes, and where its numbers lie. */
export class SortFrame {
  readonly at: ReturnType<typeof layOut>;
  /** Address of the scratch space. */
  readonly base: I32Local;
  /** Lanes with a value. */
  readonly count: I32Local;
  /** The row's values, padded with nulls to whole steps, and their address. */
  readonly values: Pointer<"f64">;
  readonly row: I32Local;
  /** Number of lanes in whole steps; those beyond the row are null. */
  readonly lanes: number;
  readonly digitBits: number;
  /** Bits of a lane in the lower half of its entry; bits of its head are above them. */
  readonly laneBits: number;
  readonly library: Library;
  readonly laneCount: number;
  readonly scratch: RowScratch;

  constructor(code: Code, library: Library, laneCount: number, scratch: RowScratch) {
    this.library = library;
    this.laneCount = laneCount;
    this.scratch = scratch;
    this.digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
    this.lanes = paddedLanes(laneCount);
    [this.base, this.row, this.count] = locals(code, "i32", 3);
    this.values = new Pointer(this.row, "f64");
    this.laneBits = Math.ceil(Math.log2(this.lanes));
    this.at = layOut(this.base, this.lanes, scratch);
  }

  /** The lane at a place, once all are in order. */
  laneAt(place: I32): I32 {
    return this.laneOf(this.at.sorted.at(place).load());
  }

  /** The lane in the lower half of an entry. */
  laneOf(lower: I32): I32 {
    return lower.and(2 ** this.laneBits - 1);
  }
}
