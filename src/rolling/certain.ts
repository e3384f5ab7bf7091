import type { Mask, Value } from "../operator/lowering.ts";
import type { WindowBuilder } from "../operator/window_code.ts";

/** A result, and where it is not certain. */
export interface Candidate {
  readonly value: Value;
  readonly isOpen: Mask;
  /** The state whose bounds may be too wide. */
  readonly state: number;
}

/**
 * The value where it is certain. Windows of equal values, which sums leave open unless all are 0 and the result is, have
 * the constant; what is left is left open.
 */
export function unlessConstant(
  on: WindowBuilder,
  isConstant: () => Mask,
  constant: Value,
  { value, isOpen, state }: Candidate,
): Value {
  const result = on.copy(value);
  on.ifAny(isOpen, () =>
    on.scope(() => {
      const mask = isConstant();
      on.assign(result, on.select(on.and(isOpen, mask), constant, result));
      on.leaveOpen(on.andNot(isOpen, mask), state);
    }),
  );
  return result;
}
