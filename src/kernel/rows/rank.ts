import type { Code, Local } from "../wasm/code.ts";
import type { RowScratch } from "./row_scratch.ts";
import { LaneSort } from "./sort_lanes.ts";

/**
 * Emits the average ranks of a row's values, divided by their number; nulls stay null. Equal keys share the average of
 * their ranks.
 */
export function emitRank(code: Code, laneCount: number, scratch: RowScratch): void {
  new RankEmitter(code, laneCount, scratch).emit();
}

class RankEmitter {
  readonly #code: Code;
  readonly #laneCount: number;
  readonly #sort: LaneSort;
  readonly #output: Local;
  readonly #i: Local;
  /** `(i + 1) / tableCount` for every i, f64. */
  readonly #table: number;
  readonly #tableCount: number;

  constructor(code: Code, laneCount: number, scratch: RowScratch) {
    const [input, output] = code.locals.parameters as [Local, Local];
    this.#code = code;
    this.#laneCount = laneCount;
    this.#sort = new LaneSort(code, laneCount, input, scratch);
    this.#output = output;
    this.#i = code.locals.add("i32");
    this.#table = scratch.part("rank table", 8 * laneCount);
    this.#tableCount = scratch.part("rank table count", 4);
  }

  emit(): void {
    this.#sort.emit();
    this.#fillTable();
    this.#assignRanks();
  }

  /** Quotients are computed once for rows with equally many values. */
  #fillTable(): void {
    const code = this.#code;
    code
      .get(this.#sort.base)
      .memory("i32.load", this.#tableCount)
      .get(this.#sort.count)
      .op("i32.ne")
      .if(() => {
        code.get(this.#sort.base).get(this.#sort.count).memory("i32.store", this.#tableCount);
        this.#forLanes(() => {
          this.#sort.element(this.#i, 3).get(this.#i).i32(1).op("i32.add").op("f64.convert_i32_u");
          code.get(this.#sort.count).op("f64.convert_i32_u").op("f64.div").memory("f64.store", this.#table);
        });
      });
  }

  #assignRanks(): void {
    const code = this.#code;
    const { locals } = code;
    const [key, end, lane] = [locals.add("i64"), locals.add("i32"), locals.add("i32")];
    const rank = locals.add("f64");
    const { at } = this.#sort;
    const storeRank = (index: Local) => {
      this.#sort.element(index, 2).memory("i32.load", at.sorted).set(lane);
      code.get(this.#output).get(lane).i32(3).op("i32.shl").op("i32.add").get(rank).memory("f64.store");
    };
    code.i32(0).set(this.#i);
    code.block((done) => {
      code.loop((again) => {
        code.get(this.#i).get(this.#sort.count).op("i32.ge_u").branchIf(done);
        this.#sort.element(this.#i, 3).memory("i64.load", at.sortedKeys).set(key);
        code.get(this.#i).i32(1).op("i32.add").tee(end).get(this.#sort.count).op("i32.lt_u");
        code.if(() => {
          this.#sort.element(end, 3).memory("i64.load", at.sortedKeys).get(key).op("i64.eq");
          code.if(() => {
            code.loop((more) => {
              code.get(end).i32(1).op("i32.add").tee(end).get(this.#sort.count).op("i32.lt_u");
              code.if(() => {
                this.#sort.element(end, 3).memory("i64.load", at.sortedKeys).get(key).op("i64.eq").branchIf(more);
              });
            });
            // Ranks i + 1 .. end share their average.
            code.get(this.#i).get(end).op("i32.add").i32(1).op("i32.add").op("f64.convert_i32_u");
            code.f64(0.5).op("f64.mul").get(this.#sort.count).op("f64.convert_i32_u").op("f64.div").set(rank);
            code.loop((more) => {
              storeRank(this.#i);
              code.get(this.#i).i32(1).op("i32.add").tee(this.#i).get(end).op("i32.lt_u").branchIf(more);
            });
            code.branch(again);
          });
        });
        this.#sort.element(this.#i, 3).memory("f64.load", this.#table).set(rank);
        storeRank(this.#i);
        code.get(end).set(this.#i).branch(again);
      });
    });
    // Nulls come last in the order.
    code.get(this.#sort.count).set(this.#i);
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