import type { Mask, Value } from "../operator/lowering.ts";
import type { WindowBuilder } from "../operator/window_code.ts";

/** A result, and where it is not certain. */
export interface Candidate {
  readonly value: Value;
  readonly isOpen: Mask;
  /** The state whose bounds may be too wide. */
  readonly state: number;
}

/** Windows whose result is known without sums, as that of equal values is. */
export interface Known {
  readonly mask: Mask;
  readonly value: Value;
}

/**
 * The value where it is certain. Windows of equal values, which sums leave open unless all are 0 and the result is, have
 * a known one; what is left is left open.
 *
 * @param ofConstant emits code that runs only where a value is open
 */
export function unlessConstant(
  on: WindowBuilder,
  ofConstant: () => Known,
  { value, isOpen, state }: Candidate,
): Value {
  const result = on.copy(value);
  on.ifAny(isOpen, () =>
    on.scope(() => {
      const known = ofConstant();
      on.assign(result, on.select(on.and(isOpen, known.mask), known.value, result));
      on.leaveOpen(on.andNot(isOpen, known.mask), state);
    }),
  );
  return result;
}
