import type { Mask, Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { type BoundedPair, isCertain } from "./double_double.ts";
import { holdsInWindow } from "./state/run_length.ts";

/** Windows whose result is known without sums, as that of equal values is. */
export interface Known {
  readonly mask: Mask;
  readonly value: Value;
}

/** A window of which sums are known. */
export interface SummedWindow {
  readonly columns: readonly Series[];
  readonly rows: number;
  readonly minPeriods: number | null;
  /** Number of values: a constant, or one per lane. */
  readonly count: Value;
}

/** A statistic over the sums of a window. */
export interface OfSums {
  /** Its value, and the state whose bounds may be too wide. */
  readonly emit: () => BoundedPair & { readonly state: number };
  /** What windows of finite values have which sums leave open. */
  readonly ofConstant: () => Known;
  /** Where the value is needed; default: everywhere. */
  readonly isAsked?: Mask | undefined;
  /** The least number of values; default 2. */
  readonly least?: number | undefined;
}

/**
 * The value where it is certain; null for too few values, and for infinite ones. Windows of equal values, which sums
 * leave open unless all are 0 and the result is, have a known one; what is left is left open.
 */
export function whereCertain(
  on: WindowBuilder,
  { columns, rows, minPeriods, count }: SummedWindow,
  { emit, ofConstant, isAsked, least = 2 }: OfSums,
): Value {
  // With nulls left out, an infinity may be in a row that does not count: the reference decides.
  const isJoint = minPeriods !== null;
  const property = isJoint ? "bounded" : columns.every(({ range }) => range !== null) ? "valid" : "finite";
  const areFinite = holdsInWindow(on, property, columns, rows);
  const isEnough = isJoint ? on.ge(count, on.number(Math.max(least, minPeriods))) : areFinite;
  const hasValue = isAsked === undefined ? isEnough : on.and(isEnough, isAsked);
  const { value, isUncertain, state } = on.scope(() => {
    const { state, ...bounded } = emit();
    const isUnclear = on.not(isCertain(on, bounded, bounded.error));
    const isUncertain = isJoint ? on.or(isUnclear, on.not(areFinite)) : isUnclear;
    return { value: bounded.high, isUncertain, state };
  });
  const isOpen = on.and(hasValue, isUncertain);
  const result = on.copy(value);
  on.ifAny(isOpen, () =>
    on.scope(() => {
      const known = ofConstant();
      const isKnown = on.and(known.mask, areFinite);
      on.assign(result, on.select(on.and(isOpen, isKnown), known.value, result));
      on.leaveOpen(on.andNot(isOpen, isKnown), state);
    }),
  );
  return on.keep(hasValue, result);
}
