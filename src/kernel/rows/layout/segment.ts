import type { Mask, Value } from "../../../operator/lowering.ts";
import type { Pair } from "../../../rolling/double_double.ts";
import type { Code, Label } from "../../emit/code.ts";
import { type I32Local, locals, parameter, parameters } from "../../emit/expressions.ts";
import { LaneCode } from "../../emit/lane_code.ts";
import type { Library } from "../../emit/library.ts";
import { forSome } from "../../emit/loops.ts";
import { takes } from "../../emit/module.ts";
import { STEP_BYTES } from "../../memory/vectors.ts";

/**
 * A segment is the input of a row statistic: the lanes of a row, or those of one group side by side. It ends at a whole
 * step; its padding is null. Parameters: the addresses of the values and of the results, which do not overlap, the
 * number of bytes of either, and the node whose reference may be called.
 */
export const SEGMENT = takes(4);

/**
 * Emits the code of a statistic of one segment. The loops process several lanes at a time; numbers of the whole segment
 * are computed by `single`, one vector in which both lanes are equal.
 */
export class SegmentCode extends LaneCode {
  readonly single: LaneCode;
  /** Most lanes of a segment. */
  readonly laneCountMax: number;
  readonly #input: I32Local;
  readonly #output: I32Local;
  readonly #bytes: I32Local;
  readonly #offset: I32Local;
  /** Address of the current lanes. */
  readonly #at: I32Local;
  #done: Label | undefined;
  #undecided: Label | undefined;

  constructor(code: Code, library: Library, laneCountMax: number) {
    super(code, library);
    this.single = new LaneCode(code, library, 1);
    this.laneCountMax = laneCountMax;
    [this.#input, this.#output, this.#bytes] = parameters(code, 3);
    [this.#offset, this.#at] = locals(code, "i32", 2);
  }

  /** Runs the code of `emit`; where that gives up, the host takes the segment's results from the reference. */
  withFallback(byReference: number, emit: () => void): void {
    const { code } = this;
    code.block((done) => {
      code.block((undecided) => {
        this.#done = done;
        this.#undecided = undecided;
        emit();
        code.branch(done);
      });
      code.get(parameter(code, 3)).get(this.#input).get(this.#output).get(this.#bytes);
      code.call(byReference);
    });
  }

  /** Leaves the results to the reference if the mask holds in any lane. */
  giveUpIf(on: LaneCode, mask: Mask): void {
    on.pushAny(mask);
    this.code.branchIf(this.#undecided as Label);
  }

  /** If the mask holds, the results are what `emit` stores. */
  finishIf(mask: Mask, emit: () => void): void {
    this.single.pushAny(mask);
    this.code.if(() => {
      emit();
      this.code.branch(this.#done as Label);
    });
  }

  /** Runs the body for the values of several lanes at a time. */
  forLanes(body: (x: Value) => void): void {
    const step = () => {
      this.scope(() => {
        this.#at.set(this.#input.add(this.#offset));
        body(this.loadAt(this.#at, 0));
      });
    };
    this.#offset.set(0);
    forSome(this.#offset, this.#bytes, step, STEP_BYTES);
  }

  /** Stores the results of the loop's current lanes; null where the values are. */
  store(x: Value, result: Value): void {
    const kept = this.keep(this.eq(x, x), result);
    this.#at.set(this.#output.add(this.#offset));
    this.storeAt(this.#at, 0, kept);
  }

  /** Gives every lane that has a value the same result. */
  fill(result: Value): void {
    const spread = this.spread(result);
    this.forLanes((x) => this.store(x, spread));
  }

  /** The number of the whole segment in every lane. */
  spread(x: Value): Value {
    return this.take(() => this.single.push(x, 0));
  }

  spreadPair({ high, low }: Pair): Pair {
    return { high: this.spread(high), low: this.spread(low) };
  }

  /** Joins the lanes of accumulators. */
  foldAll(
    accumulators: readonly Value[],
    join: (on: LaneCode, a: readonly Value[], b: readonly Value[]) => readonly Value[],
  ): readonly Value[] {
    const { single } = this;
    const parts = this.forParts((part): readonly Value[] =>
      accumulators.map((x) => single.take(() => this.push(x, part))),
    );
    const vectors = parts.reduce((a, b) => join(single, a, b));
    const spread = (lane: 0 | 1) =>
      vectors.map((x) =>
        single.take(() => single.push(x, 0).code.extractLane("f64", lane).op("f64x2.splat")),
      );
    return join(single, spread(0), spread(1));
  }

  fold(x: Value, join: (on: LaneCode, a: Value, b: Value) => Value): Value {
    return this.foldAll([x], (on, [a], [b]) => [join(on, a!, b!)])[0]!;
  }

  sum(x: Value): Value {
    return this.fold(x, (on, a, b) => on.add(a, b));
  }
}
