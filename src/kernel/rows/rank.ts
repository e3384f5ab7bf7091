import type { Code, Local } from "../wasm/code.ts";
import { SCRATCH_GLOBAL } from "../wasm/module.ts";

/** Digits of more bits than this have more counters than the cache holds. */
const DIGIT_BITS_MAX = 11;

/** Moves that the insertion sort may make per lane before the rows are sorted by all bits. */
const MOVES_PER_LANE = 4;

/** Lanes are stored in this many bits beside a digit. */
const LANE_BITS = 21;

/** Largest number of lanes that this kernel ranks. */
export const RANK_LANES_MAX = 2 ** LANE_BITS;

/** Where the parts of the scratch space start, in bytes behind its address. */
export interface RankScratch {
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
  /** `(i + 1) / tableCount` for every i, f64. */
  readonly table: number;
  readonly tableCount: number;
  readonly bytes: number;
}

export function rankScratch(firstByte: number, laneCount: number): RankScratch {
  const lanes = laneCount + (laneCount % 2);
  const keys = firstByte;
  const sortedKeys = keys + 8 * lanes;
  const table = sortedKeys + 8 * lanes;
  const heads = table + 8 * lanes;
  const halfSorted = heads + 4 * lanes;
  const sorted = halfSorted + 4 * lanes;
  const counters = sorted + 4 * lanes;
  const tableCount = counters + 2 * 4 * 2 ** DIGIT_BITS_MAX;
  const end = tableCount + 8;
  return { keys, sortedKeys, table, heads, halfSorted, sorted, counters, tableCount, bytes: end - firstByte };
}

/**
 * Emits the average ranks of a row's values, divided by their number; nulls stay null.
 *
 * The keys' distances from the least are shifted to two digits of at most 11 bits and sorted by counting (LSD radix
 * sort). Lanes that agree in those bits are put in order by insertion; if that takes more than four moves per lane,
 * the lanes are sorted by all 64 bits instead. Equal keys share the average of their ranks.
 */
export function emitRank(code: Code, laneCount: number, scratch: RankScratch): void {
  const digitBits = Math.min(DIGIT_BITS_MAX, Math.max(6, Math.ceil(Math.log2(laneCount)) - 1));
  new RankEmitter(code, laneCount, digitBits, scratch).emit();
}

class RankEmitter {
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #digitBits: number;
  readonly #at: RankScratch;
  readonly #input: Local;
  readonly #output: Local;
  readonly #base: Local;
  readonly #i: Local;
  /** Lanes with a value. */
  readonly #count: Local;
  readonly #least: Local;
  readonly #shift: Local;

  constructor(code: Code, laneCount: number, digitBits: number, scratch: RankScratch) {
    this.#code = code;
    this.#laneCount = laneCount;
    this.#digitBits = digitBits;
    this.#at = scratch;
    const { locals } = code;
    [this.#input, this.#output] = locals.parameters as [Local, Local];
    this.#base = locals.add("i32");
    this.#i = locals.add("i32");
    this.#count = locals.add("i32");
    this.#least = locals.add("i64");
    this.#shift = locals.add("i64");
  }

  emit(): void {
    this.#code.getGlobal(SCRATCH_GLOBAL).set(this.#base);
    this.#makeKeys();
    this.#countDigits();
    this.#addUp(0);
    this.#addUp(1);
    this.#sortByLowDigit();
    this.#sortByHighDigit();
    this.#insert();
    this.#fillTable();
    this.#assignRanks();
  }

  /** Runs the body for `#i` from `start` to a limit that `pushLimit` puts on the stack; at least once. */
  #forEach(start: number, pushLimit: () => void, body: () => void, step = 1): void {
    const i = this.#i;
    this.#code.i32(start).set(i);
    this.#code.loop((again) => {
      body();
      this.#code.get(i).i32(step).op("i32.add").tee(i);
      pushLimit();
      this.#code.op("i32.lt_u").branchIf(again);
    });
  }

  #forLanes(body: () => void, step = 1): void {
    this.#forEach(0, () => this.#code.i32(this.#laneCount), body, step);
  }

  /** Puts the address of an element of the scratch space on the stack, less the region's offset. */
  #element(index: Local, shift: number): Code {
    return this.#code.get(this.#base).get(index).i32(shift).op("i32.shl").op("i32.add");
  }

  /**
   * Turns values into whole numbers of the same order: bits below the sign are flipped for negative values, -0 becomes
   * 0. Nulls get the largest number. Finds the least and the largest key and the number of values.
   */
  #makeKeys(): void {
    const code = this.#code;
    const { locals } = code;
    const [x, key, valid, least, most, counts] = [0, 1, 2, 3, 4, 5].map(() => locals.add("v128")) as [
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const range = locals.add("i64");
    const lowest = -(2n ** 63n);
    const highest = 2n ** 63n - 1n;
    code.v128(highest).set(least).v128(lowest).set(most).v128(0n).set(counts);
    this.#forLanes(() => {
      code.get(this.#input).get(this.#i).i32(3).op("i32.shl").op("i32.add").memory("v128.load");
      code.v128(0n).op("f64x2.add").tee(x).get(x).op("f64x2.eq").set(valid);
      if (this.#laneCount % 2 === 1) this.#maskLastLane(valid);
      code.get(x).get(x).i32(63).op("i64x2.shr_s").i32(1).op("i64x2.shr_u").op("v128.xor");
      code.v128(highest).get(valid).op("v128.bitselect").set(key);
      this.#element(this.#i, 3).get(key).memory("v128.store", this.#at.keys);
      code.get(key).get(least).get(key).get(least).op("i64x2.lt_s").op("v128.bitselect").set(least);
      code.get(key).v128(lowest).get(valid).op("v128.bitselect").tee(x);
      code.get(most).get(x).get(most).op("i64x2.gt_s").op("v128.bitselect").set(most);
      code.get(counts).get(valid).op("i64x2.sub").set(counts);
    }, 2);
    const [a, b] = [locals.add("i64"), locals.add("i64")];
    code.get(least).extractLane("i64", 0).set(a).get(least).extractLane("i64", 1).set(b);
    code.get(a).get(b).get(a).get(b).op("i64.lt_s").op("select").set(this.#least);
    code.get(most).extractLane("i64", 0).set(a).get(most).extractLane("i64", 1).set(b);
    code.get(a).get(b).get(a).get(b).op("i64.gt_s").op("select").get(this.#least).op("i64.sub").set(range);
    code.get(counts).extractLane("i64", 0).get(counts).extractLane("i64", 1).op("i64.add");
    code.op("i32.wrap_i64").set(this.#count);
    // The distance of the largest key stays below the largest head, which is left to nulls.
    code.get(range).get(range).i64(20n).op("i64.shr_u").op("i64.add").i64(1n).op("i64.add").op("i64.clz");
    code.set(range);
    const bits = 64 - 2 * this.#digitBits;
    code.i64(BigInt(bits)).get(range).op("i64.sub").i64(0n);
    code.get(range).i64(BigInt(bits)).op("i64.lt_u").op("select").set(this.#shift);
  }

  /** The row of an odd number of lanes is followed by padding that must not count. */
  #maskLastLane(valid: Local): void {
    const code = this.#code;
    code
      .i64(0n)
      .get(this.#i)
      .i32(this.#laneCount - 1)
      .op("i32.ne")
      .op("i64.extend_i32_u")
      .op("i64.sub");
    code.op("i64x2.splat").i64(-1n).replaceLane("i64", 0).get(valid).op("v128.and").set(valid);
  }

  #countDigits(): void {
    const code = this.#code;
    const head = code.locals.add("i32");
    const distance = code.locals.add("i64");
    const top = 2n ** BigInt(2 * this.#digitBits) - 1n;
    code.get(this.#base).i32(this.#at.counters).op("i32.add").i32(0);
    code.i32(2 * 4 * 2 ** this.#digitBits).memoryFill();
    this.#forLanes(() => {
      this.#element(this.#i, 3).memory("i64.load", this.#at.keys).get(this.#least).op("i64.sub");
      code.get(this.#shift).op("i64.shr_u").tee(distance).i64(top);
      code.get(distance).i64(top).op("i64.lt_u").op("select").op("i32.wrap_i64").set(head);
      this.#element(this.#i, 2).get(head).memory("i32.store", this.#at.heads);
      this.#raise(0, () =>
        code
          .get(head)
          .i32(2 ** this.#digitBits - 1)
          .op("i32.and"),
      );
      this.#raise(1, () => code.get(head).i32(this.#digitBits).op("i32.shr_u"));
    });
  }

  #counters(digit: 0 | 1): number {
    return this.#at.counters + digit * 4 * 2 ** this.#digitBits;
  }

  /** Adds one to the counter of a digit that `pushDigit` puts on the stack. */
  #raise(digit: 0 | 1, pushDigit: () => Code): void {
    const code = this.#code;
    const address = code.locals.add("i32");
    pushDigit().i32(2).op("i32.shl").get(this.#base).op("i32.add").tee(address);
    code.get(address).memory("i32.load", this.#counters(digit)).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(digit));
  }

  /** Turns the counts of a digit into the places where its lanes start. */
  #addUp(digit: 0 | 1): void {
    const code = this.#code;
    const [sum, count, address] = [code.locals.add("i32"), code.locals.add("i32"), code.locals.add("i32")];
    code.i32(0).set(sum).get(this.#base).set(address);
    this.#forEach(
      0,
      () => code.i32(2 ** this.#digitBits),
      () => {
        code.get(address).memory("i32.load", this.#counters(digit)).set(count);
        code.get(address).get(sum).memory("i32.store", this.#counters(digit));
        code.get(sum).get(count).op("i32.add").set(sum).get(address).i32(4).op("i32.add").set(address);
      },
    );
  }

  /** Takes the next place of a digit that `pushDigit` puts on the stack. */
  #nextPlace(digit: 0 | 1, place: Local, pushDigit: () => Code): void {
    const code = this.#code;
    const address = code.locals.add("i32");
    pushDigit().i32(2).op("i32.shl").get(this.#base).op("i32.add").tee(address);
    code.get(address).memory("i32.load", this.#counters(digit)).tee(place).i32(1).op("i32.add");
    code.memory("i32.store", this.#counters(digit));
  }

  #sortByLowDigit(): void {
    const code = this.#code;
    const [head, place] = [code.locals.add("i32"), code.locals.add("i32")];
    this.#forLanes(() => {
      this.#element(this.#i, 2).memory("i32.load", this.#at.heads).set(head);
      this.#nextPlace(0, place, () =>
        code
          .get(head)
          .i32(2 ** this.#digitBits - 1)
          .op("i32.and"),
      );
      this.#element(place, 2);
      code.get(head).i32(this.#digitBits).op("i32.shr_u").i32(LANE_BITS).op("i32.shl").get(this.#i);
      code.op("i32.or").memory("i32.store", this.#at.halfSorted);
    });
  }

  #sortByHighDigit(): void {
    const code = this.#code;
    const [entry, place] = [code.locals.add("i32"), code.locals.add("i32")];
    this.#forLanes(() => {
      this.#element(this.#i, 2).memory("i32.load", this.#at.halfSorted).set(entry);
      this.#nextPlace(1, place, () => code.get(entry).i32(LANE_BITS).op("i32.shr_u"));
      this.#element(place, 2)
        .get(entry)
        .i32(RANK_LANES_MAX - 1)
        .op("i32.and");
      code.memory("i32.store", this.#at.sorted);
    });
  }

  /** Puts lanes whose heads are equal in order, and writes their keys in that order. */
  #insert(): void {
    const code = this.#code;
    const { locals } = code;
    const [key, before] = [locals.add("i64"), locals.add("i64")];
    const [lane, place, moves] = [locals.add("i32"), locals.add("i32"), locals.add("i32")];
    const at = this.#at;
    code
      .i64(-(2n ** 63n))
      .set(before)
      .i32(0)
      .set(moves);
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
              .i32(MOVES_PER_LANE * this.#laneCount)
              .op("i32.gt_u");
            code.if(() => {
              this.#sortByAllBits();
              code.branch(done);
            });
          },
        );
      });
    });
  }

  /** Sorts the lanes by their whole keys, 11 bits at a time, from the order of the lanes. */
  #sortByAllBits(): void {
    const code = this.#code;
    const { locals } = code;
    const [pass, from, to, i, lane, address, place] = [0, 1, 2, 3, 4, 5, 6].map(() => locals.add("i32")) as [
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const [sum, count] = [locals.add("i32"), locals.add("i32")];
    const at = this.#at;
    const bits = this.#digitBits;
    const forEach = (limit: number, body: () => void) => {
      code.i32(0).set(i);
      code.loop((again) => {
        body();
        code.get(i).i32(1).op("i32.add").tee(i).i32(limit).op("i32.lt_u").branchIf(again);
      });
    };
    const element = (base: Local, index: Local, shift: number) =>
      code.get(base).get(index).i32(shift).op("i32.shl").op("i32.add");
    // The sign bit is flipped so that digits order keys as unsigned numbers.
    const pushCounter = () => {
      code.get(this.#base).get(lane).i32(3).op("i32.shl").op("i32.add").memory("i64.load", at.keys);
      code
        .i64(-(2n ** 63n))
        .op("i64.xor")
        .get(pass)
        .op("i64.extend_i32_u")
        .op("i64.shr_u");
      code
        .op("i32.wrap_i64")
        .i32(2 ** bits - 1)
        .op("i32.and")
        .i32(2)
        .op("i32.shl");
      code.get(this.#base).op("i32.add").tee(address);
    };
    forEach(this.#laneCount, () => {
      element(this.#base, i, 2).get(i).memory("i32.store", at.sorted);
    });
    code.get(this.#base).i32(at.sorted).op("i32.add").set(from);
    code.get(this.#base).i32(at.halfSorted).op("i32.add").set(to);
    code.i32(0).set(pass);
    code.loop((nextPass) => {
      code
        .get(this.#base)
        .i32(at.counters)
        .op("i32.add")
        .i32(0)
        .i32(4 * 2 ** bits)
        .memoryFill();
      forEach(this.#laneCount, () => {
        code.get(i).set(lane);
        pushCounter();
        code
          .get(address)
          .memory("i32.load", at.counters)
          .i32(1)
          .op("i32.add")
          .memory("i32.store", at.counters);
      });
      code.i32(0).set(sum);
      forEach(2 ** bits, () => {
        element(this.#base, i, 2).tee(address).memory("i32.load", at.counters).set(count);
        code.get(address).get(sum).memory("i32.store", at.counters);
        code.get(sum).get(count).op("i32.add").set(sum);
      });
      forEach(this.#laneCount, () => {
        element(from, i, 2).memory("i32.load").set(lane);
        pushCounter();
        code.get(address).memory("i32.load", at.counters).tee(place).i32(1).op("i32.add");
        code.memory("i32.store", at.counters);
        element(to, place, 2).get(lane).memory("i32.store");
      });
      code.get(from).set(address).get(to).set(from).get(address).set(to);
      code.get(pass).i32(bits).op("i32.add").tee(pass).i32(64).op("i32.lt_u").branchIf(nextPass);
    });
    forEach(this.#laneCount, () => {
      element(from, i, 2).memory("i32.load").set(lane);
      element(this.#base, i, 2).get(lane).memory("i32.store", at.sorted);
      element(this.#base, i, 3);
      element(this.#base, lane, 3).memory("i64.load", at.keys).memory("i64.store", at.sortedKeys);
    });
  }

  /** Quotients are computed once for rows with equally many values. */
  #fillTable(): void {
    const code = this.#code;
    code
      .get(this.#base)
      .memory("i32.load", this.#at.tableCount)
      .get(this.#count)
      .op("i32.ne")
      .if(() => {
        code.get(this.#base).get(this.#count).memory("i32.store", this.#at.tableCount);
        this.#forLanes(() => {
          this.#element(this.#i, 3).get(this.#i).i32(1).op("i32.add").op("f64.convert_i32_u");
          code.get(this.#count).op("f64.convert_i32_u").op("f64.div").memory("f64.store", this.#at.table);
        });
      });
  }

  #assignRanks(): void {
    const code = this.#code;
    const { locals } = code;
    const [key, end, lane] = [locals.add("i64"), locals.add("i32"), locals.add("i32")];
    const rank = locals.add("f64");
    const at = this.#at;
    const storeRank = (index: Local) => {
      this.#element(index, 2).memory("i32.load", at.sorted).set(lane);
      code.get(this.#output).get(lane).i32(3).op("i32.shl").op("i32.add").get(rank).memory("f64.store");
    };
    code.i32(0).set(this.#i);
    code.block((done) => {
      code.loop((again) => {
        code.get(this.#i).get(this.#count).op("i32.ge_u").branchIf(done);
        this.#element(this.#i, 3).memory("i64.load", at.sortedKeys).set(key);
        code.get(this.#i).i32(1).op("i32.add").tee(end).get(this.#count).op("i32.lt_u");
        code.if(() => {
          this.#element(end, 3).memory("i64.load", at.sortedKeys).get(key).op("i64.eq");
          code.if(() => {
            code.loop((more) => {
              code.get(end).i32(1).op("i32.add").tee(end).get(this.#count).op("i32.lt_u");
              code.if(() => {
                this.#element(end, 3).memory("i64.load", at.sortedKeys).get(key).op("i64.eq").branchIf(more);
              });
            });
            // Ranks i + 1 .. end share their average.
            code.get(this.#i).get(end).op("i32.add").i32(1).op("i32.add").op("f64.convert_i32_u");
            code.f64(0.5).op("f64.mul").get(this.#count).op("f64.convert_i32_u").op("f64.div").set(rank);
            code.loop((more) => {
              storeRank(this.#i);
              code.get(this.#i).i32(1).op("i32.add").tee(this.#i).get(end).op("i32.lt_u").branchIf(more);
            });
            code.branch(again);
          });
        });
        this.#element(this.#i, 3).memory("f64.load", at.table).set(rank);
        storeRank(this.#i);
        code.get(end).set(this.#i).branch(again);
      });
    });
    // Nulls come last in the order.
    code.get(this.#count).set(this.#i);
    code.block((done) => {
      code.loop((again) => {
        code.get(this.#i).i32(this.#laneCount).op("i32.ge_u").branchIf(done);
        code.f64(Number.NaN).set(rank);
        storeRank(this.#i);
        code.get(this.#i).i32(1).op("i32.add").set(this.#i).branch(again);
      });
    });
  }
}
