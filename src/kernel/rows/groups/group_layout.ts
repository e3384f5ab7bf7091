import {
  clearBytes,
  copyBytes,
  Expression,
  type I32,
  type I32Local,
  locals,
  Pointer,
  when,
} from "../../emit/expressions.ts";
import { forEach, forSome } from "../../emit/loops.ts";
import { STEP_BYTES, VALUE_BYTES } from "../../memory/vectors.ts";
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
 * Where each lane of a row goes when lanes are arranged by group, groups in the order of their codes (counting sort). The
 * layout is kept while the row of codes stays the same; the emitted function returns 1 where the codes are too large.
 */
export class GroupLayout {
  /** Address of the scratch space. */
  readonly base: I32Local;
  /** Byte offset of each lane's place from the first place; lanes without a group share the place `nowhere`. */
  readonly places: Pointer<"i32">;
  /** For each lane the offset of its group's entry among the segments; the end for lanes without a group. */
  readonly entries: Pointer<"i32">;
  /** Start and length of each group's segment in bytes. */
  readonly segments: Pointer<"i32">;
  /** The length of all entries of segments in bytes. */
  readonly segmentBytes: Pointer<"i32">;
  /** The values in their places; padding of a segment is null. */
  readonly values: Pointer<"f64">;
  /** The results in their places; that of `nowhere` is null. All layouts share them. */
  readonly results: Pointer<"f64">;
  readonly nowhere: number;
  readonly #codesMax: number;
  readonly #laneCount: number;
  readonly #codes: Pointer<"f64">;
  readonly #isMade: Pointer<"i32">;
  readonly #codesBefore: Pointer<"f64">;
  /** For each code the next place and the segment's entry; at first the number of lanes. */
  readonly #counters: Pointer<"i32">;
  readonly #i: I32Local;

  /** @param codes address of the row of codes, whole numbers from 0 or null */
  constructor(laneCount: number, column: number, codes: I32, scratch: RowScratch) {
    const lanes = laidOutLanes(laneCount);
    [this.base, this.#i] = locals(codes.code, "i32", 2);
    const { base } = this;
    const part = <T extends "i32" | "f64">(name: string, type: T, bytes: number) =>
      new Pointer(base, type, scratch.part(`group ${name} ${column}`, bytes));
    this.#laneCount = laneCount;
    this.#codes = new Pointer(codes, "f64");
    // Every lane may be in its own group, which fills a step.
    this.nowhere = laneCount * STEP_BYTES;
    this.#isMade = part("is made", "i32", INDEX_BYTES);
    this.segmentBytes = part("segment bytes", "i32", INDEX_BYTES);
    this.#codesBefore = part("codes", "f64", lanes * VALUE_BYTES);
    this.places = part("places", "i32", lanes * INDEX_BYTES);
    this.entries = part("entries", "i32", lanes * INDEX_BYTES);
    this.segments = part("segments", "i32", (laneCount + 1) * SEGMENT_ENTRY_BYTES);
    this.values = part("values", "f64", this.nowhere + VALUE_BYTES);
    this.results = new Pointer(base, "f64", scratch.part("group results", this.nowhere + VALUE_BYTES));
    this.#codesMax = Math.max(1024, 2 * laneCount);
    const counters = scratch.part("group counters", this.#codesMax * SEGMENT_ENTRY_BYTES);
    this.#counters = new Pointer(base, "i32", counters);
  }

  emit(): void {
    const { base } = this;
    base.set(scratchAddress(base.code));
    base.code.block((done) => {
      when(this.#isMade.load().eq(MADE), () => {
        this.#emitIsDifferent().to("i32.eqz").branchTo(done);
      });
      this.#isMade.store(0);
      const largest = this.#findLargest();
      this.#countLanes(largest);
      this.#layOutSegments(largest);
      this.#placeLanes();
      this.results.from(base, this.nowhere / VALUE_BYTES).store(Number.NaN);
      this.#isMade.store(MADE);
    });
  }

  /** Compares the codes with those of the stored layout; the result is 1 if they differ, else 0. */
  #emitIsDifferent(): I32 {
    const { code } = this.base;
    const difference = code.locals.add("v128");
    const pairs = this.#laneCount - (this.#laneCount % 2);
    code.v128(0n).set(difference);
    const compare = () => {
      this.#codes.addressOf(this.#i).push().memory("v128.load");
      this.#codesBefore.addressOf(this.#i).push().memory("v128.load", this.#codesBefore.offset);
      code.op("v128.xor").get(difference).op("v128.or").set(difference);
    };
    if (pairs > 0) forEach(this.#i, pairs, compare, 2);
    const differ = new Expression(code, "i32", () => code.get(difference).op("v128.any_true"));
    if (pairs === this.#laneCount) return differ;
    const lastBefore = new Pointer(this.base, "i64", this.#codesBefore.offset + pairs * VALUE_BYTES).load();
    return differ.or(new Pointer(this.#codes.base, "i64", pairs * VALUE_BYTES).load().ne(lastBefore));
  }

  /** Runs the body for each lane, with its code in a local if it has one. */
  #forLanes(body: (group: I32) => void, otherwise?: () => void): void {
    const { code } = this.base;
    const [value] = locals(code, "f64", 1);
    const [group] = locals(code, "i32", 1);
    const withGroup = () => {
      group.set(value.to("i32.trunc_sat_f64_u"));
      body(group);
    };
    forEach(this.#i, this.#laneCount, () => {
      when(value.tee(this.#codes.at(this.#i).load()).eq(value), withGroup, otherwise);
    });
  }

  /** Keeps the codes and finds the largest. */
  #findLargest(): I32 {
    const { code } = this.base;
    const [largest] = locals(code, "i32", 1);
    const before = this.base.add(this.#codesBefore.offset);
    copyBytes(before, this.#codes.base, this.#laneCount * VALUE_BYTES);
    largest.set(0);
    this.#forLanes((group) => largest.set(largest.gt(group).select(largest, group)));
    when(largest.ge(this.#codesMax), () => code.i32(1).op("return"));
    return largest;
  }

  /** Address of a group's counters, without their offset. */
  #addressOf(group: I32): I32 {
    return this.base.add(group.shiftLeft(3));
  }

  #countLanes(largest: I32): void {
    const [address] = locals(largest.code, "i32", 1);
    const count = this.#counters.from(address);
    clearBytes(this.base.add(count.offset), largest.add(1).shiftLeft(3));
    this.#forLanes((group) => {
      count.from(address.tee(this.#addressOf(group))).store(count.load().add(1));
    });
  }

  /** Turns the numbers of lanes into segment starts, and fills the segments with null. */
  #layOutSegments(largest: I32): void {
    const { base, segments } = this;
    const { code } = base;
    const [group, address, entry, start, bytes, end] = locals(code, "i32", 6);
    const counter = this.#counters.from(address);
    const clearPair = () => {
      base.add(start).push().f64(Number.NaN).op("f64x2.splat").memory("v128.store", this.values.offset);
    };
    const layOutSegment = () => {
      // Whole steps.
      const bytesAndMore = bytes.shiftLeft(3).add(STEP_BYTES - 1);
      bytes.set(bytesAndMore.and(-STEP_BYTES));
      counter.store(start);
      counter.from(address, 1).store(entry);
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
      const laneCount = counter.from(address.tee(this.#addressOf(group))).load();
      when(bytes.tee(laneCount), layOutSegment);
      group.tee(group.add(1)).le(largest).branchTo(again);
    });
    this.segmentBytes.store(entry);
  }

  #placeLanes(): void {
    const { base, places, entries } = this;
    const [address, place] = locals(base.code, "i32", 2);
    const counter = this.#counters.from(address);
    const placeInGroup = (group: I32) => {
      const next = place.tee(counter.load()).add(VALUE_BYTES);
      counter.from(address.tee(this.#addressOf(group))).store(next);
      places.at(this.#i).store(place);
      entries.at(this.#i).store(counter.from(address, 1).load());
    };
    const placeNowhere = () => {
      places.at(this.#i).store(this.nowhere);
      entries.at(this.#i).store(this.segmentBytes.load());
    };
    this.#forLanes(placeInGroup, placeNowhere);
    for (let lane = this.#laneCount; lane < laidOutLanes(this.#laneCount); lane++) {
      places.from(base, lane).store(this.nowhere);
    }
  }
}
