/** What decides whose parts go first where calls overlap. */
export interface CallOrder {
  /** Higher goes first. Default 0. */
  readonly priority?: number | undefined;
  /** Of equal priorities lower numbers go first: first come, first served. They wrap around: records carry Int32. */
  readonly call: number;
}

/** Negative if parts of `a` go before parts of `b`. */
export function compareCalls(a: CallOrder, b: CallOrder): number {
  return (b.priority ?? 0) - (a.priority ?? 0) || (a.call - b.call) | 0;
}
