import type { Mask, Value } from "../../operator/lowering.ts";
import type { StateBounds, StateRows, WindowBuilder } from "../../operator/window_code.ts";

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

/** A column and the vectors of its bound and, if there is one, of the pivot that is subtracted from its values. */
export interface Scale {
  readonly column: number;
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
 * @param scales null for a column whose range gives its bound
 */
export function loadScales(
  on: WindowBuilder,
  state: number,
  scales: readonly (Scale | null)[],
  now: readonly Value[],
  first: FirstBound,
): LoadedScale[] {
  const loaded = scales.map((scale, i): LoadedScale => {
    if (scale === null) return { bound: on.number(UNIT_BOUND), pivot: null, deviation: now[i]! };
    const pivot = scale.pivot === null ? null : on.copy(on.loadVector(scale.pivot));
    const deviation = on.copy(pivot === null ? now[i]! : on.sub(now[i]!, pivot));
    return { bound: on.copy(on.loadVector(scale.bound)), pivot, deviation };
  });
  const kept = loaded.flatMap((one, i) => {
    const scale = scales[i]!;
    return scale === null ? [] : [{ ...one, scale, today: now[i]! }];
  });
  if (kept.length === 0) return loaded;
  const isOutside = ({ bound, deviation }: LoadedScale): Mask => on.ge(on.abs(deviation), bound);
  const anyOutside = () => kept.map(isOutside).reduce((any, mask) => on.or(any, mask));
  on.ifAny(anyOutside(), () =>
    on.scope(() => {
      for (const { scale, bound, today } of kept) chooseFirst(on, scale.bound, bound, today, first);
      on.ifAny(anyOutside(), () => {
        on.ensureBounds(state);
        for (const { scale, bound, pivot, deviation, today } of kept) {
          on.assign(bound, on.loadVector(scale.bound));
          if (pivot === null) continue;
          on.assign(pivot, on.loadVector(scale.pivot!));
          on.assign(deviation, on.sub(today, pivot));
        }
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

export const COLUMNS_MAX = 2;

/**
 * By column the bound and the pivot of one lane, as chosen or as they are. Numbers in arrays and plain loops: V8 compiles
 * this once, and early.
 */
export const bounds = new Float64Array(COLUMNS_MAX);
export const pivots = new Float64Array(COLUMNS_MAX);

/** The bounds of a state, given what chooses that of a column. */
export function boundsOf<Layout extends { readonly scales: readonly (Scale | null)[] }>(
  chooseScale: (rows: StateRows, layout: Layout, i: number, row: number, lane: number) => void,
): StateBounds<Layout> {
  return {
    vectors: ({ scales }) =>
      scales.flatMap((scale) => [scale?.bound, scale?.pivot]).filter((vector) => typeof vector === "number"),
    isReached: (rows, { scales }, row, lane) =>
      scales.some((scale) => {
        if (scale === null) return false;
        const value = rows.window(scale.column, row, 1, lane)[0]!;
        const deviation = scale.pivot === null ? value : value - rows.read(scale.pivot, lane);
        return Math.abs(deviation) >= rows.read(scale.bound, lane);
      }),
    isWide: (rows, layout, row, lane) =>
      layout.scales.some((scale, i) => {
        if (scale === null) return false;
        chooseScale(rows, layout, i, row, lane);
        return !(rows.read(scale.bound, lane) <= bounds[i]! * WASTE);
      }),
    choose(rows, layout, row, lane) {
      for (let i = 0; i < layout.scales.length; i++) {
        const scale = layout.scales[i]!;
        if (scale === null) continue;
        chooseScale(rows, layout, i, row, lane);
        rows.write(scale.bound, lane, bounds[i]!);
        if (scale.pivot !== null) rows.write(scale.pivot, lane, pivots[i]!);
      }
    },
  };
}

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
