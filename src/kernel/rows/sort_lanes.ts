import type { Code, Local } from "../wasm/code.ts";
import { SCRATCH_GLOBAL } from "../wasm/module.ts";
import { element, forEach } from "./loops.ts";
import type { RowScratch } from "./row_scratch.ts";
import { emitSortByAllBits } from "./sort_all_bits.ts";

/** Digits of more bits than this have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Moves that the insertion sort may make per lane before the rows are sorted by all bits. */
const MOVES_PER_LANE = 4;

/** Lanes are stored in this many bits beside a digit. */
const LANE_BITS = 21;

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** Lanes that the loops work on at a time. */
const STEP = 4;

/** Heads of four lanes are stored in this order: that of two vectors of two lanes side by side, joined. */
const HEAD_ORDER = [0, 2, 1, 3];

/** Largest number of lanes that this sort takes. */
export const SORT_LANES_MAX = 2 ** LANE_BITS;

/** Where the parts of the scratch space start, in bytes behind its address. */
export interface SortScratch {
  /** Sortable keys of the lanes, i64. */
  readonly keys: number;
  /** Leading bits of the keys, i32. */
  readonly heads: number;
  /** Half-sorted and sorted lanes, i32. */
  readonly halfSorted: number;
  readonly sorted: number;
  /** Keys in sorted order, i64. */
  readonly sortedKeys: number;
  /** Counters of the two digits, i32. */
  readonly counters: number;
}

function sortScratch(scratch: RowScratch, lanes: number): SortScratch {
  return {
    keys: scratch.part("sort keys", 8 * lanes),
    sortedKeys: scratch.part("sorted keys", 8 * lanes),
    heads: scratch.part("sort heads", 4 * lanes),
    halfSorted: scratch.part("half-sorted lanes", 4 * lanes),
    sorted: scratch.part("sorted lanes", 4 * lanes),
    counters: scratch.part("sort counters", 2 * 4 * 2 ** DIGIT_BITS_MAX),
  };
}

/**
 * Emits a sort of a row's lanes by their values, nulls last.
 *
 * The keys' distances from the least are shifted to two digits of at most 11 bits and sorted by counting (LSD radix
 * sort). Lanes that agree in those bits are put in order by insertion; if that takes more than four moves per lane,
 * the lanes are sorted by all 64 bits instead.
 */
export class LaneSort {
  readonly at: SortScratch;
  /** Address of the scratch space. */
  readonly base: Local;
  /** Lanes with a value. */
  readonly count: Local;
  /** Number of lanes, whole steps: those behind the row are null, as long as its cache line goes on. */
  readonly lanes: number;
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #digitBits: number;
  readonly #input: Local;
  readonly #i: Local;
  readonly #least: Local;
  readonly #shift: Local;

  constructor(code: Code, laneCount: number, input: Local, scratch: RowScratch) {
    this.#code = code;
    this.#laneCount = laneCount;
    this.#digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
    this.lanes = STEP * Math.ceil(laneCount / STEP);
    this.at = sortScratch(scratch, this.lanes);
    const { locals } = code;
    this.#input = input;
    this.base = locals.add("i32");
    this.#i = locals.add("i32");
    this.count = locals.add("i32");
    this.#least = locals.add("i64");
    this.#shift = locals.add("i64");
  }

  /** Leaves the lanes and their keys in order, equal keys in the order of the lanes or not. */
  emit(): void {
    this.#code.getGlobal(SCRATCH_GLOBAL).set(this.base);
    this.#makeKeys();
    this.#countDigits();
    this.#addUp(0);
    this.#addUp(1);
    this.#sortByLowDigit();
    this.#sortByHighDigit();
    this.#insert();
  }

  #forLanes(body: () => void, step = 1): void {
    forEach(this.#code, this.#i, this.lanes, body, step);
  }

  /** Puts the address of an element of the scratch space on the stack, less its part's offset. */
  #element(index: Local, shift: number): Code {
    return element(this.#code, this.base, index, shift);
  }

  /**
   * Turns values into whole numbers of the same order: bits below the sign are flipped for negative values, -0 becomes
   * 0. Nulls get the largest number. Finds the least and the largest key and the number of values.
   */
  #makeKeys(): void {
    const code = this.#code;
    const { locals } = code;
    const [x, key, valid, least, most, counts] = [0, 1, 2, 3, 4, 5].map(() => locals.add("v128"));
    const range = locals.add("i64");
    code.v128(HIGHEST).set(least).v128(LOWEST).set(most).v128(0n).set(counts);
    this.#forLanes(() => {
      code.get(this.#input).get(this.#i).i32(3).op("i32.shl").op("i32.add").memory("v128.load");
      code.v128(0n).op("f64x2.add").tee(x).get(x).op("f64x2.eq").set(valid);
      if (this.lanes > this.#laneCount) this.#maskLanesBehind(valid);
      code.get(x).get(x).i32(63).op("i64x2.shr_s").i32(1).op("i64x2.shr_u").op("v128.xor");
      code.v128(HIGHEST).get(valid).op("v128.bitselect").set(key);
      this.#element(this.#i, 3).get(key).memory("v128.store", this.at.keys);
      code.get(key).get(least).get(key).get(least).op("i64x2.lt_s").op("v128.bitselect").set(least);
      code.get(key).v128(LOWEST).get(valid).op("v128.bitselect").tee(x);
      code.get(most).get(x).get(most).op("i64x2.gt_s").op("v128.bitselect").set(most);
      code.get(counts).get(valid).op("i64x2.sub").set(counts);
    }, 2);
    const [a, b] = [locals.add("i64"), locals.add("i64")];
    code.get(least).extractLane("i64", 0).set(a).get(least).extractLane("i64", 1).set(b);
    code.get(a).get(b).get(a).get(b).op("i64.lt_s").op("select").set(this.#least);
    code.get(most).extractLane("i64", 0).set(a).get(most).extractLane("i64", 1).set(b);
    code.get(a).get(b).get(a).get(b).op("i64.gt_s").op("select").get(this.#least).op("i64.sub").set(range);
    code.get(counts).extractLane("i64", 0).get(counts).extractLane("i64", 1).op("i64.add");
    code.op("i32.wrap_i64").set(this.count);
    // The distance of the largest key stays below the largest head, which is left to nulls.
    code.get(range).get(range).i64(20n).op("i64.shr_u").op("i64.add").i64(1n).op("i64.add").op("i64.clz");
    code.set(range);
    const bits = 64 - 2 * this.#digitBits;
    code.i64(BigInt(bits)).get(range).op("i64.sub").i64(0n);
    code.get(range).i64(BigInt(bits)).op("i64.lt_u").op("select").set(this.#shift);
  }

  /** What follows the row in its column must not count. */
  #maskLanesBehind(valid: Local): void {
    const code = this.#code;
    const end = BigInt(this.#laneCount);
    code.v128(end).get(this.#i).op("i64.extend_i32_u").op("i64x2.splat");
    code.v128(0n).i64(1n).replaceLane("i64", 1).op("i64x2.add");
    code.op("i64x2.gt_s").get(valid).op("v128.and").set(valid);
  }

  /** Finds the leading bits of each key's distance from the least, all bits set for null, and counts their digits. */
  #countDigits(): void {
    const code = this.#code;
    const head = code.locals.add("i32");
    this.#makeHeads();
    code.get(this.base).i32(this.at.counters).op("i32.add").i32(0);
    code.i32(2 * 4 * 2 ** this.#digitBits).memoryFill();
    this.#forLanes(() => {
      for (let place = 0; place < STEP; place++) {
        this.#element(this.#i, 2)
          .memory("i32.load", this.at.heads + 4 * place)
          .set(head);
        this.#raise(0, () => this.#pushLowDigit(head));
        this.#raise(1, () => code.get(head).i32(this.#digitBits).op("i32.shr_u"));
      }
    }, STEP);
  }

  #makeHeads(): void {
    const code = this.#code;
    const { locals } = code;
    const [least, most, a, b] = [0, 1, 2, 3].map(() => locals.add("v128"));
    const [room, reach, shift] = [locals.add("i64"), locals.add("i64"), locals.add("i32")];
    // Keys beyond the largest distance that fits the digits are those of null: they are cut to it.
    code.i64(HIGHEST).get(this.#least).op("i64.sub").set(room);
    code
      .i64(2n ** BigInt(2 * this.#digitBits) - 1n)
      .get(this.#shift)
      .op("i64.shl")
      .set(reach);
    code.get(room).get(reach).get(room).get(reach).op("i64.lt_u").op("select");
    code.get(this.#least).op("i64.add").op("i64x2.splat").set(most);
    code.get(this.#least).op("i64x2.splat").set(least).get(this.#shift).op("i32.wrap_i64").set(shift);
    const makeHead = (head: Local, pair: number) => {
      this.#element(this.#i, 3)
        .memory("v128.load", this.at.keys + 16 * pair)
        .set(head);
      code.get(most).get(head).get(head).get(most).op("i64x2.gt_s").op("i64x2.relaxed_laneselect");
      code.get(least).op("i64x2.sub").get(shift).op("i64x2.shr_u").set(head);
    };
    this.#forLanes(() => {
      makeHead(a, 0);
      makeHead(b, 1);
      this.#element(this.#i, 2).get(b).i32(32).op("i64x2.shl").get(a).op("v128.or");
      code.memory("v128.store", this.at.heads);
    }, STEP);
  }

  #pushLowDigit(head: Local): Code {
    return this.#code
      .get(head)
      .i32(2 ** this.#digitBits - 1)
      .op("i32.and");
  }

  #counters(digit: 0 | 1): number {
    return this.at.counters + digit * 4 * 2 ** this.#digitBits;
  }

  /** Adds one to the counter of a digit that `pushDigit` puts on the stack. */
  #raise(digit: 0 | 1, pushDigit: () => Code): void {
    const code = this.#code;
    const address = code.locals.add("i32");
    pushDigit().i32(2).op("i32.shl").get(this.base).op("i32.add").tee(address);
    code.get(address).memory("i32.load", this.#counters(digit)).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(digit));
  }

  /** Turns the counts of a digit into the places where its lanes start. */
  #addUp(digit: 0 | 1): void {
    const code = this.#code;
    const [sum, count, address] = [code.locals.add("i32"), code.locals.add("i32"), code.locals.add("i32")];
    code.i32(0).set(sum).get(this.base).set(address);
    forEach(code, this.#i, 2 ** this.#digitBits, () => {
      code.get(address).memory("i32.load", this.#counters(digit)).set(count);
      code.get(address).get(sum).memory("i32.store", this.#counters(digit));
      code.get(sum).get(count).op("i32.add").set(sum).get(address).i32(4).op("i32.add").set(address);
    });
  }

  /** Takes the next place of a digit that `pushDigit` puts on the stack. */
  #nextPlace(digit: 0 | 1, place: Local, pushDigit: () => Code): void {
    const code = this.#code;
    const address = code.locals.add("i32");
    pushDigit().i32(2).op("i32.shl").get(this.base).op("i32.add").tee(address);
    code.get(address).memory("i32.load", this.#counters(digit)).tee(place).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(digit));
  }

  #sortByLowDigit(): void {
    const code = this.#code;
    const [head, place] = [code.locals.add("i32"), code.locals.add("i32")];
    this.#forLanes(() => {
      HEAD_ORDER.forEach((lane, k) => {
        this.#element(this.#i, 2)
          .memory("i32.load", this.at.heads + 4 * k)
          .set(head);
        this.#nextPlace(0, place, () => this.#pushLowDigit(head));
        this.#element(place, 2);
        code.get(head).i32(this.#digitBits).op("i32.shr_u").i32(LANE_BITS).op("i32.shl");
        code.get(this.#i).op("i32.or").i32(lane).op("i32.or").memory("i32.store", this.at.halfSorted);
      });
    }, STEP);
  }

  #sortByHighDigit(): void {
    const code = this.#code;
    const [entry, place] = [code.locals.add("i32"), code.locals.add("i32")];
    this.#forLanes(() => {
      for (let k = 0; k < STEP; k++) {
        this.#element(this.#i, 2)
          .memory("i32.load", this.at.halfSorted + 4 * k)
          .set(entry);
        this.#nextPlace(1, place, () => code.get(entry).i32(LANE_BITS).op("i32.shr_u"));
        this.#element(place, 2).get(entry);
        code
          .i32(SORT_LANES_MAX - 1)
          .op("i32.and")
          .memory("i32.store", this.at.sorted);
      }
    }, STEP);
  }

  /** Puts lanes whose heads are equal in order, and writes their keys in that order. */
  #insert(): void {
    const code = this.#code;
    const { locals } = code;
    const [key, before] = [locals.add("i64"), locals.add("i64")];
    const [lane, place, moves] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
    const at = this.at;
    code.i64(LOWEST).set(before).i32(0).set(moves);
    code.block((done) => {
      this.#forLanes(() => {
        this.#element(this.#i, 2).memory("i32.load", at.sorted).set(lane);
        this.#element(lane, 3).memory("i64.load", at.keys).set(key);
        code.get(key).get(before).op("i64.ge_s");
        code.if(
          () => {
            this.#element(this.#i, 3).get(key).memory("i64.store", at.sortedKeys);
            code.get(key).set(before);
          },
          () => {
            code.get(this.#i).set(place);
            code.loop((again) => {
              // One place up for the neighbour below.
              this.#element(place, 3);
              this.#element(place, 3)
                .memory("i64.load", at.sortedKeys - 8)
                .memory("i64.store", at.sortedKeys);
              this.#element(place, 2);
              this.#element(place, 2)
                .memory("i32.load", at.sorted - 4)
                .memory("i32.store", at.sorted);
              code.get(moves).i32(1).op("i32.add").set(moves);
              code.get(place).i32(1).op("i32.sub").tee(place);
              code.if(() => {
                this.#element(place, 3)
                  .memory("i64.load", at.sortedKeys - 8)
                  .get(key)
                  .op("i64.gt_s");
                code.branchIf(again);
              });
            });
            this.#element(place, 3).get(key).memory("i64.store", at.sortedKeys);
            this.#element(place, 2).get(lane).memory("i32.store", at.sorted);
            code
              .get(moves)
              .i32(MOVES_PER_LANE * this.lanes)
              .op("i32.gt_u");
            code.if(() => {
              emitSortByAllBits(code, this.base, at, this.lanes, this.#digitBits);
              code.branch(done);
            });
          },
        );
      });
    });
  }
}
