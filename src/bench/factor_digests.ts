import { createHash } from "node:crypto";
import type { Results } from "../kernel/run/handover.ts";
import type { Plan } from "../plan/plan.ts";

/** Odd numbers whose multiples by odd numbers spread over all 64 bits: from the golden ratio, and from its square. */
const SPREAD = 0x9e3779b97f4a7c15n;
const SHIFT = 0x61c8864680b583ebn;

const [SHIFT_LOW, SHIFT_HIGH] = halves(SHIFT);

/** The upper halves of infinity, and of the NaN that stands for every null; the lower ones are 0. */
const [INFINITY_HIGH, NULL_HIGH] = [0x7ff00000, 0x7ff80000];

/**
 * Digests of the outputs of a plan, by rows as they come: for every lane the sum of the values' bits plus `SHIFT`, each
 * times an odd number specific to its row, modulo 2^64; then SHA-256 over the lanes. They depend on every bit of every
 * value and on its place, not on the order of rows, nor on which NaN a null is.
 */
export class FactorDigests {
  readonly #plan: Plan;
  /** Of each output, for each lane the low and the high half. */
  readonly #sums: readonly Uint32Array[];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#sums = plan.outputs.map(() => new Uint32Array(2 * plan.laneCount));
  }

  /** Adds the first rows of kept results; `firstRow` is the number of the first one in the run. */
  add(results: Results, firstRow: number, rowCount: number): void {
    const length = 2 * this.#plan.laneCount;
    for (const [output, sums] of this.#sums.entries()) {
      const { buffer, byteOffset } = results[output]!;
      const bits = new Uint32Array(buffer, byteOffset, rowCount * length);
      for (let row = 0; row < rowCount; row++) {
        const [low, high] = halves(BigInt(2 * (firstRow + row) + 1) * SPREAD);
        addProducts(sums, bits.subarray(row * length, (row + 1) * length), low, high);
      }
    }
  }

  /** In hexadecimal, by the names of the outputs. */
  byName(): Record<string, string> {
    const digests = this.#sums.map((sums) => createHash("sha256").update(sums).digest("hex").slice(0, 32));
    return Object.fromEntries(this.#plan.outputs.map(({ name }, output) => [name, digests[output]!]));
  }
}

/** Adds to each 64-bit sum a value plus `SHIFT`, times a factor: low and high halves in turn, without big integers. */
function addProducts(sums: Uint32Array, bits: Uint32Array, factorLow: number, factorHigh: number): void {
  const factor0 = factorLow & 0xffff;
  const factor1 = factorLow >>> 16;
  for (let at = 0; at < sums.length; at += 2) {
    const isNull = (bits[at + 1]! & 0x7fffffff) + (bits[at] === 0 ? 0 : 1) > INFINITY_HIGH;
    const low = ((isNull ? 0 : bits[at]!) + SHIFT_LOW) >>> 0;
    const high = (isNull ? NULL_HIGH : bits[at + 1]!) + SHIFT_HIGH + (low < SHIFT_LOW ? 1 : 0);
    // The upper half of the product of the low halves is made of products of 16-bit pieces.
    const low0 = low & 0xffff;
    const low1 = low >>> 16;
    const cross0 = Math.imul(low0, factor1);
    const cross1 = Math.imul(low1, factor0);
    const middle = (Math.imul(low0, factor0) >>> 16) + (cross0 & 0xffff) + (cross1 & 0xffff);
    const carried = Math.imul(low1, factor1) + (cross0 >>> 16) + (cross1 >>> 16) + (middle >>> 16);
    const upper = carried + Math.imul(low, factorHigh) + Math.imul(high, factorLow);
    const product = Math.imul(low, factorLow) >>> 0;
    const sum = (sums[at]! + product) >>> 0;
    sums[at] = sum;
    sums[at + 1] = sums[at + 1]! + upper + (sum < product ? 1 : 0);
  }
}

function halves(value: bigint): [low: number, high: number] {
  return [Number(value & 0xffffffffn), Number((value >> 32n) & 0xffffffffn)];
}
