import type { Mask, Value } from "../../operator/lowering.ts";
import type { StateRows, WindowBuilder } from "../../operator/window_code.ts";

/** Least number of powers of two from the values of a window up to a new bound, so that few later ones reach it. */
export const HEADROOM_EXPONENT = 3;

/** Bound of a lane whose values are too large for any: its sums are NaN, and the reference is run. */
export const NO_BOUND = Number.NaN;

/** Bound of columns whose values are within -1..1. */
export const UNIT_BOUND = 2;

/** Bound of a window of zeros; any would do. */
export const BOUND_OF_ZEROS = 1;

/** Bound of a lane before its first value, which it reaches. */
export const NO_VALUE_YET = 0;

/** A bound this many times above what would be chosen today wastes too many bits. */
const WASTE = 2 ** 3;

/** Vectors of a column's bound and, if there is one, of the pivot that is subtracted from its values. */
export interface Scale {
  readonly bound: number;
  readonly pivot: number | null;
}

/** How the bound of a first value is chosen by code. */
export interface FirstBound {
  /** Powers of two from the value up to the bound. */
  readonly headroomExponent: number;
  /** Values beyond 2^±`exponentMost` are left to `bounds.choose`. */
  readonly exponentMost: number;
}

/** A scale in the current row, with today's deviation from its pivot. */
export interface LoadedScale {
  readonly bound: Value;
  readonly pivot: Value | null;
  readonly deviation: Value;
}

/**
 * Loads the bounds of columns. Lanes whose deviation of today reaches one get another: from code where it is the first
 * value, since in the first rows of a panel that is every lane, else from `bounds.choose`.
 *
 * @param state number of the state
 */
export function loadScales(
  on: WindowBuilder,
  state: number,
  scales: readonly Scale[],
  now: readonly Value[],
  first: FirstBound,
): LoadedScale[] {
  const loaded = scales.map(({ bound, pivot }, i): LoadedScale => {
    const base = pivot === null ? null : on.copy(on.loadVector(pivot));
    const deviation = on.copy(base === null ? now[i]! : on.sub(now[i]!, base));
    return { bound: on.copy(on.loadVector(bound)), pivot: base, deviation };
  });
  const isOutside = ({ bound, deviation }: LoadedScale): Mask => on.ge(on.abs(deviation), bound);
  const anyOutside = () => loaded.map(isOutside).reduce((any, mask) => on.or(any, mask));
  on.ifAny(anyOutside(), () =>
    on.scope(() => {
      loaded.forEach(({ bound }, i) => {
        chooseFirst(on, scales[i]!.bound, bound, now[i]!, first);
      });
      on.ifAny(anyOutside(), () => {
        on.ensureBounds(state);
        loaded.forEach(({ bound, pivot, deviation }, i) => {
          on.assign(bound, on.loadVector(scales[i]!.bound));
          if (pivot === null) return;
          on.assign(pivot, on.loadVector(scales[i]!.pivot as number));
          on.assign(deviation, on.sub(now[i]!, pivot));
        });
      });
    }),
  );
  return loaded;
}

/** Chooses the bound of lanes that have met no value yet, as `bounds.choose` would. */
function chooseFirst(
  on: WindowBuilder,
  vector: number,
  bound: Value,
  now: Value,
  { headroomExponent, exponentMost }: FirstBound,
): void {
  const magnitude = on.abs(now);
  const power = on.andBits(magnitude, on.bits(0x7ff0000000000000n));
  const isCommon = on.and(
    on.gt(magnitude, on.number(2 ** -exponentMost)),
    on.lt(magnitude, on.number(2 ** exponentMost)),
  );
  const isFirst = on.and(on.eq(bound, on.number(NO_VALUE_YET)), isCommon);
  on.assign(bound, on.select(isFirst, on.mul(power, on.number(2 ** (headroomExponent + 1))), bound));
  on.storeVector(vector, bound);
}

/** Whether the value of a row reaches the bound of its lane. */
export function isOutside(rows: StateRows, scale: Scale, column: number, row: number, lane: number): boolean {
  const value = rows.window(column, row, 1, lane)[0]!;
  const deviation = scale.pivot === null ? value : value - rows.read(scale.pivot, lane);
  return Math.abs(deviation) >= rows.read(scale.bound, lane);
}

/** Whether the bound of a lane is far above the one that it needs. */
export const isWasteful = (rows: StateRows, bound: number, needed: number, lane: number): boolean =>
  !(rows.read(bound, lane) <= needed * WASTE);

const double = new Float64Array(1);
/** Its low and its high half: memory of WebAssembly is little-endian, as is that of the supported machines. */
const halves = new Uint32Array(double.buffer);

/** Exponent of the smallest power of two above a magnitude; -Infinity for 0. */
export function exponentAbove(magnitude: number): number {
  if (magnitude === 0) return Number.NEGATIVE_INFINITY;
  double[0] = magnitude;
  const biased = halves[1]! >>> 20;
  return biased > 0 ? biased - 1022 : exponentAbove(magnitude * 2 ** 54) - 54;
}
