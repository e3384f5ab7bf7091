// biome-ignore lint/correctness/noUnusedImports: the keys of declared fields, which Biome does not count
import type { Mask, maskBrand, Value, valueBrand } from "../../operator/lowering.ts";
import { VECTOR_BYTES, VECTORS } from "../memory/vectors.ts";
import type { Code, Local } from "./code.ts";
import type { Library } from "./library.ts";
import { SCRATCH_GLOBAL } from "./module.ts";

/** A value or a mask: several vectors, each in a local, or a constant that is emitted where it is used. */
export class Vectors implements Value, Mask {
  declare readonly [valueBrand]: true;
  declare readonly [maskBrand]: true;
  /** None for a constant. */
  readonly locals: readonly Local[];
  readonly pattern: bigint | null;

  constructor(locals: readonly Local[], pattern: bigint | null = null) {
    this.locals = locals;
    this.pattern = pattern;
  }
}

/**
 * Keeps track of the values of a function while it is emitted. Every value is several vectors side by side. Results are
 * in locals; a local is reused once the scope in which it was created has ended, so that functions of thousands of
 * operations need a few hundred locals.
 *
 * V8 joins pairs of vectors (`wasm/joined_vectors.ts`): it starts from stores to adjacent addresses and from sums of
 * masks, follows operands up to loads, and gives up at anything that it cannot join. So a pair of vectors has one base
 * address, stores go from the last vector to the first, and vectors are passed to and from functions through memory.
 */
export class LaneValues {
  readonly code: Code;
  readonly library: Library;
  readonly vectors: number;
  readonly #free: Local[] = [];
  #made: Local[] = [];
  #scratch: Local | null = null;

  constructor(code: Code, library: Library, vectors = VECTORS) {
    this.code = code;
    this.library = library;
    this.vectors = vectors;
  }

  /** Runs `emit`; of the locals that it created only those of its results stay in use. */
  scope<T>(emit: () => T): T {
    return this.#freeRest(emit, this.#made);
  }

  /** Runs `emit`; its results stay in use to the end of the function, in whatever scope they are created. */
  persist<T>(emit: () => T): T {
    return this.#freeRest(emit, []);
  }

  #freeRest<T>(emit: () => T, kept: Local[]): T {
    const outer = this.#made;
    this.#made = [];
    const result = emit();
    const inResult = localsIn(result);
    for (const local of this.#made) (inResult.has(local) ? kept : this.#free).push(local);
    this.#made = outer;
    return result;
  }

  /** A copy that `assign` may change. */
  copy<T extends Value | Mask>(x: T): T;
  copy(x: Value | Mask): Value | Mask {
    return this.take((part) => this.push(x, part));
  }

  assign<T extends Value | Mask>(target: T, x: T): void {
    localsOf(target).forEach((local, part) => {
      this.push(x, part);
      this.code.set(local);
    });
  }

  /** Locals that hold the vectors which `emit` pushes, one after the other. */
  take(emit: (part: number) => void): Vectors {
    const locals = this.forParts((part) => {
      emit(part);
      const local = this.#fresh();
      this.code.set(local);
      return local;
    });
    return new Vectors(locals);
  }

  /** Locals that hold `count` vectors from the stack. */
  takeParts(count: number): Local[] {
    const locals = Array.from({ length: count }, () => this.#fresh());
    for (const local of locals.toReversed()) this.code.set(local);
    return locals;
  }

  forParts<T>(run: (part: number) => T): T[] {
    const results: T[] = [];
    for (let part = 0; part < this.vectors; part++) results.push(run(part));
    return results;
  }

  /** Pushes one of the vectors. */
  push(value: Value | Mask, part: number): this {
    const { locals, pattern } = value as Vectors;
    if (pattern === null) this.code.get(locals[part]!);
    else this.library.pushConstant(this.code, pattern, part);
    return this;
  }

  /** Runs the body if the mask holds in any lane. */
  ifAny(mask: Mask, body: () => void): void {
    this.pushAny(mask);
    this.code.if(body);
  }

  /** Pushes 1 if the mask holds in any lane, else 0. */
  pushAny(mask: Mask): void {
    for (let part = 0; part < this.vectors; part += 2) {
      this.push(mask, part);
      // All bits set are -1: a sum of two masks is 0 only if both are, also for masks of 32 bits, and V8 joins operands
      // of sums.
      if (part + 1 < this.vectors) this.push(mask, part + 1).code.op("i64x2.add");
      if (part > 0) this.code.op("v128.or");
    }
    this.code.op("v128.any_true");
  }

  /** Pushes one bit per lane. */
  pushBits(mask: Mask): void {
    this.forParts((part) => {
      this.push(mask, part);
      this.code.op("i64x2.bitmask");
      if (part > 0)
        this.code
          .i32(2 * part)
          .op("i32.shl")
          .op("i32.or");
    });
  }

  loadAt(address: Local, offset: number): Value {
    return this.take((part) => this.code.get(address).memory("v128.load", offset + part * VECTOR_BYTES));
  }

  storeAt(address: Local, offset: number, x: Value): void {
    // Constants are loads, and V8 joins no stores with loads between them.
    const value = localsOf(x).length === 0 ? this.copy(x) : x;
    for (let part = this.vectors - 1; part >= 0; part--) {
      this.code.get(address);
      this.push(value, part).code.memory("v128.store", offset + part * VECTOR_BYTES);
    }
  }

  /** Stores values in scratch slots from `first` on, where functions find their arguments and leave their results. */
  storeScratch(first: number, ...values: readonly Value[]): void {
    for (const [i, x] of values.entries()) {
      this.library.noteScratch(first + i);
      this.storeAt(this.#findScratch(), (first + i) * this.vectors * VECTOR_BYTES, x);
    }
  }

  loadScratch(place: number): Value {
    return this.loadAt(this.#findScratch(), place * this.vectors * VECTOR_BYTES);
  }

  /** A vector from the stack in every position; `assign` must not change it. */
  takeSame(): Value {
    const local = this.#fresh();
    this.code.set(local);
    return new Vectors(this.forParts(() => local));
  }

  #findScratch(): Local {
    this.#scratch ??= this.code.locals.add("i32");
    this.code.getGlobal(SCRATCH_GLOBAL).set(this.#scratch);
    return this.#scratch;
  }

  #fresh(): Local {
    const local = this.#free.pop() ?? this.code.locals.add("v128");
    this.#made.push(local);
    return local;
  }
}

const localsOf = (x: Value | Mask): readonly Local[] => (x as Vectors).locals;

/** The locals of all values and masks in an object, its arrays and its objects. */
function localsIn(made: unknown): Set<Local> {
  const found = new Set<Local>();
  const visit = (one: unknown): void => {
    if (one instanceof Vectors) for (const local of one.locals) found.add(local);
    else if (typeof one === "object" && one !== null) Object.values(one).forEach(visit);
  };
  visit(made);
  return found;
}
