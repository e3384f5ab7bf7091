import type { Mask, Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../emit/lane_kernel.ts";

/** Least number of powers of two from the values of a window up to a new bound, so that few later ones reach it. */
export const HEADROOM_EXPONENT = 3;

/** Vectors of a column's bound and, if there is one, pivot in a window. */
export interface WindowScale {
  readonly bound: number;
  readonly pivot: number | null;
  /** Powers of two from the first value up to the first bound. */
  readonly headroomExponent: number;
  /** Bounds are powers of two with exponents from `-exponentMost` to this. */
  readonly exponentMost: number;
}

/** A scale loaded for the current row, with today's deviation from its pivot. */
export interface OpenScale {
  readonly bound: Value;
  readonly pivot: Value | null;
  readonly deviation: Value;
}

/**
 * Bounds of the columns, and today's deviations from their pivots. Where today's value reaches the bound a new one is
 * chosen: by this code for lanes that meet their first value other than 0, else by the host, which knows the window by
 * its site.
 *
 * @param zerosNeedBound true if a row counts only if all columns are below their bounds; otherwise a lane that has only
 *   met zeros has no bound yet
 */
export function openScales(
  on: LaneKernel,
  site: number,
  scales: readonly WindowScale[],
  now: readonly Value[],
  zerosNeedBound: boolean,
): OpenScale[] {
  const opened = scales.map(({ bound, pivot }, i): OpenScale => {
    const base = pivot === null ? null : on.copy(on.loadWindow(pivot));
    const deviation = on.copy(base === null ? now[i]! : on.sub(now[i]!, base));
    return { bound: on.copy(on.loadWindow(bound)), pivot: base, deviation };
  });
  const isOutside = ({ bound, deviation }: OpenScale) => on.ge(on.abs(deviation), bound);
  const anyOf = (masks: readonly Mask[]) => masks.reduce((any, mask) => on.or(any, mask));
  on.ifAny(anyOf(opened.map(isOutside)), () => {
    on.scope(() => {
      scales.forEach((scale, i) => {
        chooseFirst(on, scale, opened[i]!.bound, now[i]!);
      });
      const isOpen = (scale: OpenScale) => on.and(isOutside(scale), on.ne(scale.deviation, on.number(0)));
      on.ifAny(anyOf(opened.map(zerosNeedBound ? isOutside : isOpen)), () => {
        on.repair(site);
        opened.forEach(({ bound, pivot, deviation }, i) => {
          on.assign(bound, on.loadWindow(scales[i]!.bound));
          if (pivot === null) return;
          on.assign(pivot, on.loadWindow(scales[i]!.pivot as number));
          on.assign(deviation, on.sub(now[i]!, pivot));
        });
      });
      return [];
    });
  });
  return opened;
}

/** Chooses the bound of lanes that have none yet. */
function chooseFirst(
  on: LaneKernel,
  { bound: vector, headroomExponent, exponentMost }: WindowScale,
  bound: Value,
  now: Value,
): void {
  const first = firstBound(on, now, headroomExponent, exponentMost);
  const isFresh = on.and(on.eq(bound, on.number(0)), on.eq(first, first));
  on.assign(bound, on.select(isFresh, first, bound));
  on.storeWindow(vector, bound);
}

/** A bound above a value, or null where there is no value or it is out of the common range. */
function firstBound(on: LaneKernel, now: Value, headroomExponent: number, exponentMost: number): Value {
  const magnitude = on.abs(now);
  const power = on.andBits(magnitude, on.bits(0x7ff0000000000000n));
  const isCommon = on.and(
    on.gt(magnitude, on.number(2 ** -exponentMost)),
    on.lt(magnitude, on.number(2 ** exponentMost)),
  );
  return on.keep(isCommon, on.mul(power, on.number(2 ** (headroomExponent + 1))));
}
