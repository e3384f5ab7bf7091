import {
  clearBytes,
  copyBytes,
  Expression,
  type I32,
  type I32Local,
  locals,
  Pointer,
  times,
  when,
} from "../../emit/expressions.ts";
import { forEach, forSome } from "../../emit/loops.ts";
import { STEP_BYTES, STEP_LANES, VALUE_BYTES } from "../../memory/vectors.ts";
import { type RowScratch, scratchAddress } from "../layout/row_scratch.ts";

/** Marks a complete layout. */
const MADE = 0x6c61796f;

const INDEX_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** A group's segment: its start and length in bytes. */
export const SEGMENT_ENTRY_BYTES = 2 * INDEX_BYTES;

/** Lanes that loops over a layout move at a time. */
export const MOVED_LANES = 4;

/** The number of lanes rounded up to whole moves. */
export function laidOutLanes(laneCount: number): number {
  return MOVED_LANES * Math.ceil(laneCount / MOVED_LANES);
}

/**
 * Where each lane of a row goes when lanes are arranged by group, groups in the order of their codes (counting sort).
 * Public numbers are offsets from the address of the scratch space. The layout is kept while the row of codes stays the
 * same; the emitted function returns 1 where the codes are too large.
 */
export class GroupLayout {
  /** Byte offset of each lane's place from the first place, i32; lanes without a group share the place `nowhere`. */
  readonly places: number;
  /** For each lane the offset of its group's entry among the segments, i32; the end for lanes without a group. */
  readonly entries: number;
  /** Start and length of each group's segment in bytes, i32 each. */
  readonly segments: number;
  /** The length of all entries of segments in bytes, i32. */
  readonly segmentBytes: number;
  /** The values in their places; padding of a segment is null. */
  readonly values: number;
  /** The results in their places; that of `nowhere` is null. All layouts share them. */
  readonly results: number;
  readonly nowhere: number;
  readonly #codesMax: number;
  readonly #laneCount: number;
  /** Lanes that are laid out: of the row, or some of them. */
  readonly #lanes: I32 | number;
  readonly #codes: Pointer<"f64">;
  readonly #isMade: Pointer<"i32">;
  readonly #codesBefore: Pointer<"f64">;
  /** For each code the next place and the segment's entry, i32 each; at first the number of lanes. */
  readonly #counters: number;
  readonly #base: I32Local;
  readonly #i: I32Local;

  /**
   * @param codes address of the row of codes, whole numbers from 0 or null
   * @param someLanes where some lanes of the row are laid out, their number, with null for codes up to a whole step
   */
  constructor(laneCount: number, column: number, codes: I32, scratch: RowScratch, someLanes?: I32) {
    const lanes = laidOutLanes(laneCount) + (someLanes ? STEP_LANES : 0);
    const kept = someLanes ? `of shares of ${column}` : column;
    const part = (name: string, bytes: number) => scratch.part(`group ${name} ${kept}`, bytes);
    [this.#base, this.#i] = locals(codes.code, "i32", 2);
    this.#laneCount = laneCount;
    this.#lanes = someLanes ?? laneCount;
    this.#codes = new Pointer(codes, "f64");
    // Every lane may be in its own group, which fills a step.
    this.nowhere = laneCount * STEP_BYTES;
    this.#isMade = new Pointer(this.#base, "i32", part("is made", INDEX_BYTES));
    this.segmentBytes = part("segment bytes", INDEX_BYTES);
    this.#codesBefore = new Pointer(this.#base, "f64", part("codes", lanes * VALUE_BYTES));
    this.places = part("places", lanes * INDEX_BYTES);
    this.entries = part("entries", lanes * INDEX_BYTES);
    this.segments = part("segments", (laneCount + 1) * SEGMENT_ENTRY_BYTES);
    this.values = part("values", this.nowhere + VALUE_BYTES);
    this.results = scratch.part("group results", this.nowhere + VALUE_BYTES);
    this.#codesMax = Math.max(1024, 2 * laneCount);
    this.#counters = scratch.part("group counters", this.#codesMax * SEGMENT_ENTRY_BYTES);
  }

  emit(): void {
    const base = this.#base;
    base.set(scratchAddress(base.code));
    base.code.block((done) => {
      when(this.#isMade.load().eq(this.#made), () => {
        this.#emitIsDifferent().to("i32.eqz").branchTo(done);
      });
      this.#isMade.store(0);
      const largest = this.#findLargest();
      this.#countLanes(largest);
      this.#layOutSegments(largest);
      this.#placeLanes();
      new Pointer(base, "f64", this.results + this.nowhere).store(Number.NaN);
      this.#isMade.store(this.#made);
    });
  }

  /** Marks a complete layout of as many lanes. */
  get #made(): I32 | number {
    return typeof this.#lanes === "number" ? MADE : this.#lanes.add(MADE);
  }

  /** Compares the codes with those of the stored layout; the result is 1 if they differ, else 0. */
  #emitIsDifferent(): I32 {
    const base = this.#base;
    const { code } = base;
    const difference = code.locals.add("v128");
    const isOdd = typeof this.#lanes === "number" && this.#lanes % 2 === 1;
    const last = this.#laneCount - 1;
    const pairs = isOdd ? last : this.#lanes;
    code.v128(0n).set(difference);
    const compare = () => {
      this.#codes.addressOf(this.#i).push().memory("v128.load");
      this.#codesBefore.addressOf(this.#i).push().memory("v128.load", this.#codesBefore.offset);
      code.op("v128.xor").get(difference).op("v128.or").set(difference);
    };
    if (pairs !== 0) forEach(this.#i, pairs, compare, 2);
    const differ = new Expression(code, "i32", () => code.get(difference).op("v128.any_true"));
    if (!isOdd) return differ;
    const lastBefore = new Pointer(base, "i64", this.#codesBefore.offset + last * VALUE_BYTES).load();
    return differ.or(new Pointer(this.#codes.base, "i64", last * VALUE_BYTES).load().ne(lastBefore));
  }

  /** Runs the body for each lane, with its code in a local if it has one. */
  #forLanes(body: (group: I32) => void, otherwise?: () => void): void {
    const { code } = this.#base;
    const [value] = locals(code, "f64", 1);
    const [group] = locals(code, "i32", 1);
    const withGroup = () => {
      group.set(value.to("i32.trunc_sat_f64_u"));
      body(group);
    };
    forEach(this.#i, this.#lanes, () => {
      when(value.tee(this.#codes.at(this.#i).load()).eq(value), withGroup, otherwise);
    });
  }

  /** Keeps the codes and finds the largest. */
  #findLargest(): I32 {
    const { code } = this.#base;
    const [largest] = locals(code, "i32", 1);
    const before = this.#base.add(this.#codesBefore.offset);
    copyBytes(before, this.#codes.base, times(this.#lanes, VALUE_BYTES));
    largest.set(0);
    this.#forLanes((group) => largest.set(largest.gt(group).select(largest, group)));
    when(largest.ge(this.#codesMax), () => code.i32(1).op("return"));
    return largest;
  }

  /** Where the next lane of a group goes, or before that the number of its lanes. */
  #placeOf(address: I32): Pointer<"i32"> {
    return new Pointer(address, "i32", this.#counters);
  }

  /** The segment's entry of a group. */
  #entryOf(address: I32): Pointer<"i32"> {
    return new Pointer(address, "i32", this.#counters + INDEX_BYTES);
  }

  /** Address of a group's counters, without their offset. */
  #addressOf(group: I32): I32 {
    return this.#base.add(group.shiftLeft(3));
  }

  #countLanes(largest: I32): void {
    const [address] = locals(largest.code, "i32", 1);
    clearBytes(this.#base.add(this.#counters), largest.add(1).shiftLeft(3));
    this.#forLanes((group) => {
      const count = this.#placeOf(address).load().add(1);
      this.#placeOf(address.tee(this.#addressOf(group))).store(count);
    });
  }

  /** Turns the numbers of lanes into segment starts, and fills the segments with null. */
  #layOutSegments(largest: I32): void {
    const base = this.#base;
    const { code } = base;
    const [group, address, entry, start, bytes, end] = locals(code, "i32", 6);
    const segments = new Pointer(base, "i32", this.segments);
    const clearPair = () => {
      base.add(start).push().f64(Number.NaN).op("f64x2.splat").memory("v128.store", this.values);
    };
    const layOutSegment = () => {
      // Whole steps.
      const bytesAndMore = bytes.shiftLeft(3).add(STEP_BYTES - 1);
      bytes.set(bytesAndMore.and(-STEP_BYTES));
      this.#placeOf(address).store(start);
      this.#entryOf(address).store(entry);
      segments.from(address.tee(base.add(entry))).store(start);
      segments.from(address, 1).store(bytes);
      entry.set(entry.add(SEGMENT_ENTRY_BYTES));
      end.set(start.add(bytes));
      forSome(start, end, clearPair, 2 * VALUE_BYTES);
    };
    group.set(0);
    start.set(0);
    entry.set(0);
    code.loop((again) => {
      const laneCount = this.#placeOf(address.tee(this.#addressOf(group))).load();
      when(bytes.tee(laneCount), layOutSegment);
      group.tee(group.add(1)).le(largest).branchTo(again);
    });
    new Pointer(base, "i32", this.segmentBytes).store(entry);
  }

  #placeLanes(): void {
    const base = this.#base;
    const [address, place] = locals(base.code, "i32", 2);
    const places = new Pointer(base, "i32", this.places);
    const entries = new Pointer(base, "i32", this.entries);
    const placeInGroup = (group: I32) => {
      const next = place.tee(this.#placeOf(address).load()).add(VALUE_BYTES);
      this.#placeOf(address.tee(this.#addressOf(group))).store(next);
      places.at(this.#i).store(place);
      entries.at(this.#i).store(this.#entryOf(address).load());
    };
    const placeNowhere = () => {
      places.at(this.#i).store(this.nowhere);
      entries.at(this.#i).store(new Pointer(base, "i32", this.segmentBytes).load());
    };
    this.#forLanes(placeInGroup, placeNowhere);
    if (typeof this.#lanes !== "number") return;
    for (let lane = this.#laneCount; lane < laidOutLanes(this.#laneCount); lane++) {
      places.from(base, lane).store(this.nowhere);
    }
  }
}
