import { ARENA_HEAD_BYTES } from "../../plan/plan.ts";
import { VECTOR_BYTES } from "../memory/vectors.ts";
import type { Code } from "./code.ts";
import type { ModuleBuilder, Signature } from "./module.ts";

/** Prefix of the names of a library's exported functions. */
const HELPER = "helper ";

/** A constant is stored for two adjacent vectors, which V8 may join. */
const CONSTANT_BYTES = 2 * VECTOR_BYTES;
const NO_BITS_CLEAR = -1n;
const CONSTANTS_MAX = ARENA_HEAD_BYTES / CONSTANT_BYTES;

/** Writes constants to the start of an arena. */
export function writeConstants(memory: WebAssembly.Memory, constants: readonly bigint[]): void {
  const copies = CONSTANT_BYTES / BigUint64Array.BYTES_PER_ELEMENT;
  const patterns = new BigUint64Array(memory.buffer, 0, constants.length * copies);
  constants.forEach((pattern, place) => {
    patterns.fill(pattern, place * copies, (place + 1) * copies);
  });
}

/** Functions that several kernels of one module call, each emitted once. */
export class Library {
  readonly module: ModuleBuilder;
  /** True if `relaxed_madd` rounds once on this machine. */
  readonly hasFusedMultiply: boolean;
  /** Number of values that a function leaves in scratch, by what emitted it. */
  readonly resultCounts = new Map<object, number>();
  readonly #indices = new Map<string, number>();
  readonly #emitters = new Map<object, number>();
  readonly #constants = new Map<bigint, number>();
  #scratchSlots = 0;

  constructor(module: ModuleBuilder, hasFusedMultiply: boolean) {
    this.module = module;
    this.hasFusedMultiply = hasFusedMultiply;
  }

  /** Most values that functions pass to each other at a time. */
  get scratchSlots(): number {
    return this.#scratchSlots;
  }

  /** Notes that functions use this scratch slot. */
  noteScratch(place: number): void {
    this.#scratchSlots = Math.max(this.#scratchSlots, place + 1);
  }

  /** Patterns of the constants, in their order at the start of the arena. */
  get constants(): bigint[] {
    return [...this.#constants.keys()];
  }

  /**
   * Loads a constant for one of the vectors from the arena: V8 would materialise it with three instructions at every
   * use.
   */
  pushConstant(code: Code, pattern: bigint, part: number): void {
    const place = this.#constants.get(pattern) ?? this.#constants.size;
    if (pattern === 0n || pattern === NO_BITS_CLEAR || place >= CONSTANTS_MAX) {
      code.v128(pattern);
      return;
    }
    if (place === this.#constants.size) this.#constants.set(pattern, place);
    code.i32(0).memory("v128.load", place * CONSTANT_BYTES + (part % 2) * VECTOR_BYTES);
  }

  /** A number that identifies a function that emits code, whatever its name. */
  idOf(emit: object): number {
    const id = this.#emitters.get(emit) ?? this.#emitters.size;
    this.#emitters.set(emit, id);
    return id;
  }

  /** The index of a helper function. Adds it on first use, and exports it so that it can be warmed up. */
  helper(name: string, signature: Signature, emit: (code: Code) => void): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    const index = this.module.function(signature, emit);
    this.#indices.set(name, index);
    this.module.export(`${HELPER}${name}`, index);
    return index;
  }
}
