import type { StepBuilder, Value } from "../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder } from "../operator/window_code.ts";
import { type Pair, quickTwoSum, twoSum } from "./double_double.ts";

/** Bits of each of the four integers that a value within 0..1 is split into: 68 bits in all. */
const LIMB_BITS = 17;
const LIMBS = 4;

/** Up to this many rows and lanes every sum below is an integer of at most 53 bits. */
export const EXACT_CROSS_MAX = { rows: 64, lanes: 2 ** 16 } as const;

/**
 * `n * sum(x y) - sum(x) * sum(y)` of two columns of values within 0..1 over a full window, exactly: for windows of
 * ranks, whose covariance is often only the rounding errors of the ranks, or zero.
 *
 * Values are split into limbs of 17 bits; products of limbs, and their sums over the window, are exact. Bits below
 * 2^-68 of a value stay in the last limb: a rank among up to 2^16 lanes ends above 2^-70.
 */
export function exactCross(on: WindowBuilder, columns: readonly [Series, Series], rows: number): Pair {
  const [high, low] = on.walkRows("exact cross", columns, rows, [], emitCross);
  return { high: high!, low: low! };
}

function emitCross(on: StepBuilder, { rowCount, each }: RowWalk): [Value, Value] {
  const zero = () => on.copy(on.number(0));
  const levels = Array.from({ length: 2 * LIMBS - 1 }, zero);
  const xSums = Array.from({ length: LIMBS }, zero);
  const ySums = Array.from({ length: LIMBS }, zero);
  each((xNow, yNow) => {
    const x = limbs(on, xNow!);
    const y = limbs(on, yNow!);
    for (let i = 0; i < LIMBS; i++) {
      on.assign(xSums[i]!, on.add(xSums[i]!, x[i]!));
      on.assign(ySums[i]!, on.add(ySums[i]!, y[i]!));
      for (let j = 0; j < LIMBS; j++) {
        on.assign(levels[i + j]!, on.fusedMultiplyAdd(x[i]!, y[j]!, levels[i + j]!));
      }
    }
  });
  const terms = levels.map((level, k) => {
    let term = on.mul(rowCount, level);
    for (let i = Math.max(0, k - LIMBS + 1); i <= Math.min(k, LIMBS - 1); i++) {
      term = on.fusedMultiplySubtract(xSums[i]!, ySums[k - i]!, term);
    }
    return term;
  });
  const { high, low } = distill(on, terms);
  return [high, low];
}

function limbs(on: StepBuilder, x: Value): Value[] {
  const limbs: Value[] = [];
  let rest = x;
  for (let limb = 1; limb < LIMBS; limb++) {
    const constant = on.number(1.5 * 2 ** (52 - limb * LIMB_BITS));
    const first = on.sub(on.add(rest, constant), constant);
    limbs.push(first);
    rest = on.sub(rest, first);
  }
  return [...limbs, rest];
}

/** The exact sum of terms of decreasing size, as a pair: error-free sums are passed down until nothing overlaps. */
function distill(on: StepBuilder, terms: readonly Value[]): Pair {
  let parts = [...terms];
  for (let pass = 0; pass < 3; pass++) {
    let sum = parts.at(-1) as Value;
    const rests: Value[] = [];
    for (let k = parts.length - 2; k >= 0; k--) {
      const { high, low } = twoSum(on, parts[k]!, sum);
      sum = high;
      rests.unshift(low);
    }
    parts = [sum, ...rests];
  }
  const low = parts.slice(1).reduceRight((sum, part) => on.add(part, sum));
  return quickTwoSum(on, parts[0]!, low);
}
