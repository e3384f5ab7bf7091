import type { Mask, Value } from "../../operator/lowering.ts";
import type { Code, Label, Local } from "../emit/code.ts";
import { LaneCode } from "../emit/lane_code.ts";
import type { Library } from "../emit/library.ts";
import type { Signature } from "../emit/module.ts";
import { STEP_LANES } from "../emit/vectors.ts";

/**
 * A segment is the input of a row statistic: the lanes of a row, or those of one group side by side. It ends at a whole
 * step; its padding is null. Parameters: the addresses of the values and of the results, which do not overlap, the
 * number of bytes of either, and the node whose reference may be called.
 */
export const SEGMENT: Signature = { parameters: ["i32", "i32", "i32", "i32"], results: [] };

export const STEP_BYTES = STEP_LANES * Float64Array.BYTES_PER_ELEMENT;

/**
 * Emits the code of a statistic of one segment. The loops process several lanes at a time; numbers of the whole segment
 * are computed by `single`, one vector in which both lanes are equal.
 */
export class SegmentCode extends LaneCode {
  readonly single: LaneCode;
  /** Most lanes of a segment. */
  readonly laneCountMax: number;
  readonly #byReference: number;
  readonly #offset: Local;
  /** Address of the current lanes. */
  readonly #at: Local;
  #done: Label | undefined;
  #undecided: Label | undefined;

  constructor(code: Code, library: Library, byReference: number, laneCountMax: number) {
    super(code, library);
    this.single = new LaneCode(code, library, 1);
    this.laneCountMax = laneCountMax;
    this.#byReference = byReference;
    this.#offset = code.locals.add("i32");
    this.#at = code.locals.add("i32");
  }

  /** Runs the code of `emit`; where that gives up, the host takes the segment's results from the reference. */
  withFallback(emit: () => void): void {
    const { code } = this;
    code.block((done) => {
      code.block((undecided) => {
        this.#done = done;
        this.#undecided = undecided;
        emit();
        code.branch(done);
      });
      const [input, output, bytes, node] = code.locals.parameters;
      code.get(node).get(input).get(output).get(bytes).call(this.#byReference);
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
    const { code } = this;
    const [input, , bytes] = code.locals.parameters;
    const offset = this.#offset;
    code.i32(0).set(offset);
    code.loop((again) => {
      this.scope(() => {
        code.get(input).get(offset).op("i32.add").set(this.#at);
        body(this.loadAt(this.#at, 0));
        return [];
      });
      code.get(offset).i32(STEP_BYTES).op("i32.add").tee(offset).get(bytes).op("i32.lt_u").branchIf(again);
    });
  }

  /** Stores the results of the loop's current lanes; null where the values are. */
  store(x: Value, result: Value): void {
    const kept = this.keep(this.eq(x, x), result);
    this.code
      .get(this.code.locals.parameters[1] as Local)
      .get(this.#offset)
      .op("i32.add")
      .set(this.#at);
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

  /** Joins the lanes of accumulators. */
  foldAll(
    accumulators: readonly Value[],
    join: (on: LaneCode, a: readonly Value[], b: readonly Value[]) => readonly Value[],
  ): readonly Value[] {
    const { single, code } = this;
    const vectors = this.forParts((part) =>
      accumulators.map((x) => single.take(() => this.push(x, part))),
    ).reduce<readonly Value[] | null>((a, b) => (a ? join(single, a, b) : b), null);
    const [a, b] = ([0, 1] as const).map((lane) =>
      (vectors as readonly Value[]).map((vector) =>
        single.take(() => {
          single.push(vector, 0);
          code.extractLane("f64", lane).op("f64x2.splat");
        }),
      ),
    );
    return join(single, a as readonly Value[], b as readonly Value[]);
  }

  fold(x: Value, join: (on: LaneCode, a: Value, b: Value) => Value): Value {
    const [joined] = this.foldAll([x], (on, [a], [b]) => [join(on, a as Value, b as Value)]);
    return joined as Value;
  }

  sum(x: Value): Value {
    return this.fold(x, (on, a, b) => on.add(a, b));
  }
}
