import type { Code, Local } from "../../emit/code.ts";
import { SCRATCH_GLOBAL } from "../../emit/module.ts";
import { element, forEach } from "../loops.ts";
import type { RowScratch } from "../row_scratch.ts";
import { STEP_BYTES } from "../segment.ts";

/** Marks a complete layout. */
const MADE = 0x6c61796f;

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;
const INDEX_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** A group's segment: its start and length in bytes. */
export const SEGMENT_ENTRY_BYTES = 2 * INDEX_BYTES;

/**
 * Where each lane of a row goes when lanes are arranged by group, groups in the order of their codes. Offsets are
 * relative to the address of the scratch space.
 */
export interface GroupLayout {
  /** Byte offset of each lane's place from the first place, i32; lanes without a group share the place `nowhere`. */
  readonly places: number;
  /** For each lane the offset of its group's entry among the segments, i32; the end for lanes without a group. */
  readonly entries: number;
  /** Start and length of each group's segment in bytes, i32 each. */
  readonly segments: number;
  readonly segmentCount: number;
  /** The values in their places; padding of a segment is null. */
  readonly values: number;
  /** The results in their places; that of `nowhere` is null. All layouts share them. */
  readonly results: number;
  readonly nowhere: number;
}

/** The number of lanes rounded up to what loops over the layout process at a time. */
export function laidOutLanes(laneCount: number): number {
  return 4 * Math.ceil(laneCount / 4);
}

/**
 * Emits the layout of a group column, which is kept while the row of codes stays the same. Lanes are sorted by their
 * codes (counting sort); the emitted function returns 1 where the codes are too large for that.
 */
export class LayoutEmitter implements GroupLayout {
  readonly places: number;
  readonly entries: number;
  readonly segments: number;
  readonly segmentCount: number;
  readonly values: number;
  readonly results: number;
  readonly nowhere: number;
  readonly #isMade: number;
  readonly #codesBefore: number;
  /** For each code the next place and the segment's entry, i32 each; at first the number of lanes. */
  readonly #counters: number;
  readonly #codesMax: number;
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #codes: Local;
  readonly #base: Local;
  readonly #i: Local;

  /** @param codes address of the row of codes, whole numbers from 0 or null */
  constructor(code: Code, laneCount: number, column: number, codes: Local, scratch: RowScratch) {
    this.#code = code;
    this.#laneCount = laneCount;
    this.#codes = codes;
    const lanes = laidOutLanes(laneCount);
    const part = (name: string, bytes: number) => scratch.part(`group ${name} ${column}`, bytes);
    // Every lane may be in its own group, which fills a step.
    this.nowhere = laneCount * STEP_BYTES;
    this.#isMade = part("is made", INDEX_BYTES);
    this.segmentCount = part("segment count", INDEX_BYTES);
    this.#codesBefore = part("codes", lanes * VALUE_BYTES);
    this.places = part("places", lanes * INDEX_BYTES);
    this.entries = part("entries", lanes * INDEX_BYTES);
    this.segments = part("segments", (laneCount + 1) * SEGMENT_ENTRY_BYTES);
    this.values = part("values", this.nowhere + VALUE_BYTES);
    this.results = scratch.part("group results", this.nowhere + VALUE_BYTES);
    this.#codesMax = Math.max(1024, 2 * laneCount);
    this.#counters = scratch.part("group counters", this.#codesMax * SEGMENT_ENTRY_BYTES);
    this.#base = code.locals.add("i32");
    this.#i = code.locals.add("i32");
  }

  emit(): void {
    const code = this.#code;
    code.getGlobal(SCRATCH_GLOBAL).set(this.#base);
    code.block((done) => {
      code.get(this.#base).memory("i32.load", this.#isMade).i32(MADE).op("i32.eq");
      code.if(() => {
        this.#pushIsDifferent();
        code.op("i32.eqz").branchIf(done);
      });
      code.get(this.#base).i32(0).memory("i32.store", this.#isMade);
      const largest = this.#findLargest();
      this.#countLanes(largest);
      this.#layOutSegments(largest);
      this.#placeLanes();
      code
        .get(this.#base)
        .f64(Number.NaN)
        .memory("f64.store", this.results + this.nowhere);
      code.get(this.#base).i32(MADE).memory("i32.store", this.#isMade);
    });
  }

  /** Pushes 1 if the codes differ from those of the stored layout, else 0. */
  #pushIsDifferent(): void {
    const code = this.#code;
    const difference = code.locals.add("v128");
    const pairs = this.#laneCount - (this.#laneCount % 2);
    code.v128(0n).set(difference);
    const compare = () => {
      element(code, this.#codes, this.#i, 3).memory("v128.load");
      element(code, this.#base, this.#i, 3).memory("v128.load", this.#codesBefore);
      code.op("v128.xor").get(difference).op("v128.or").set(difference);
    };
    if (pairs > 0) forEach(code, this.#i, pairs, compare, 2);
    code.get(difference).op("v128.any_true");
    if (pairs === this.#laneCount) return;
    code.get(this.#codes).memory("i64.load", pairs * VALUE_BYTES);
    code.get(this.#base).memory("i64.load", this.#codesBefore + pairs * VALUE_BYTES);
    code.op("i64.ne").op("i32.or");
  }

  /** Runs the body for each lane, with its code in a local if it has one. */
  #forLanes(body: (group: Local) => void, otherwise?: () => void): void {
    const code = this.#code;
    const value = code.locals.add("f64");
    const group = code.locals.add("i32");
    forEach(code, this.#i, this.#laneCount, () => {
      element(code, this.#codes, this.#i, 3).memory("f64.load").tee(value).get(value).op("f64.eq");
      code.if(() => {
        code.get(value).op("i32.trunc_sat_f64_u").set(group);
        body(group);
      }, otherwise);
    });
  }

  /** Keeps the codes and finds the largest. */
  #findLargest(): Local {
    const code = this.#code;
    const largest = code.locals.add("i32");
    code.get(this.#base).i32(this.#codesBefore).op("i32.add").get(this.#codes);
    code.i32(this.#laneCount * VALUE_BYTES).memoryCopy();
    code.i32(0).set(largest);
    this.#forLanes((group) => {
      code.get(largest).get(group).get(largest).get(group).op("i32.gt_u").op("select").set(largest);
    });
    code.get(largest).i32(this.#codesMax).op("i32.ge_u");
    code.if(() => code.i32(1).op("return"));
    return largest;
  }

  #countLanes(largest: Local): void {
    const code = this.#code;
    const address = code.locals.add("i32");
    code.get(this.#base).i32(this.#counters).op("i32.add").i32(0);
    code.get(largest).i32(1).op("i32.add").i32(3).op("i32.shl").memoryFill();
    this.#forLanes((group) => {
      element(code, this.#base, group, 3).tee(address).get(address).memory("i32.load", this.#counters);
      code.i32(1).op("i32.add").memory("i32.store", this.#counters);
    });
  }

  /** Turns the numbers of lanes into segment starts, and fills the segments with null. */
  #layOutSegments(largest: Local): void {
    const code = this.#code;
    const { locals } = code;
    const [group, address, entry] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
    const [start, bytes, end] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
    code.i32(0).set(group).i32(0).set(start).i32(0).set(entry);
    code.loop((again) => {
      element(code, this.#base, group, 3).tee(address).memory("i32.load", this.#counters).tee(bytes);
      code.if(() => {
        // Whole steps.
        code.get(bytes).i32(3).op("i32.shl");
        code
          .i32(STEP_BYTES - 1)
          .op("i32.add")
          .i32(-STEP_BYTES)
          .op("i32.and")
          .set(bytes);
        code.get(address).get(start).memory("i32.store", this.#counters);
        code
          .get(address)
          .get(entry)
          .memory("i32.store", this.#counters + INDEX_BYTES);
        code.get(this.#base).get(entry).op("i32.add").tee(address);
        code.get(start).memory("i32.store", this.segments);
        code
          .get(address)
          .get(bytes)
          .memory("i32.store", this.segments + INDEX_BYTES);
        code.get(entry).i32(SEGMENT_ENTRY_BYTES).op("i32.add").set(entry);
        code.get(start).get(bytes).op("i32.add").set(end);
        code.loop((more) => {
          code.get(this.#base).get(start).op("i32.add").f64(Number.NaN).op("f64x2.splat");
          code.memory("v128.store", this.values);
          code
            .get(start)
            .i32(2 * VALUE_BYTES)
            .op("i32.add")
            .tee(start)
            .get(end)
            .op("i32.lt_u");
          code.branchIf(more);
        });
      });
      code.get(group).i32(1).op("i32.add").tee(group).get(largest).op("i32.le_u").branchIf(again);
    });
    code.get(this.#base).get(entry).memory("i32.store", this.segmentCount);
  }

  #placeLanes(): void {
    const code = this.#code;
    const [address, place] = [code.locals.add("i32"), code.locals.add("i32")];
    this.#forLanes(
      (group) => {
        element(code, this.#base, group, 3).tee(address).get(address).memory("i32.load", this.#counters);
        code.tee(place).i32(VALUE_BYTES).op("i32.add").memory("i32.store", this.#counters);
        element(code, this.#base, this.#i, 2).get(place).memory("i32.store", this.places);
        element(code, this.#base, this.#i, 2).get(address);
        code.memory("i32.load", this.#counters + INDEX_BYTES).memory("i32.store", this.entries);
      },
      () => {
        element(code, this.#base, this.#i, 2).i32(this.nowhere).memory("i32.store", this.places);
        element(code, this.#base, this.#i, 2).get(this.#base);
        code.memory("i32.load", this.segmentCount).memory("i32.store", this.entries);
      },
    );
    for (let lane = this.#laneCount; lane < laidOutLanes(this.#laneCount); lane++) {
      code
        .get(this.#base)
        .i32(this.nowhere)
        .memory("i32.store", this.places + lane * INDEX_BYTES);
    }
  }
}
