import type { DialectName } from "../src/operator/definition.ts";

/** The rules in which formula dialects differ. Operators carry their own names by dialect. */
export interface Dialect {
  readonly name: DialectName;
  /** What a window such as `17.93` means. */
  readonly fractionalWindows: "error" | "floor";
  /** Prefix of group columns, as in `IndClass.sector`; null if groups are plain names. */
  readonly groupPrefix: string | null;
  /** Functions that mean another operator when their last argument is a numeric literal. */
  readonly rollingWhenLiteral: Readonly<Record<string, string>>;
}

/**
 * - `native`: names of SEMANTICS; `max` and `min` are always pairwise.
 * - `alpha101`: Kakushadze (2015), arXiv:1601.00991: windows are floored, `max(x, 5)` is rolling.
 */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  native: { name: "native", fractionalWindows: "error", groupPrefix: null, rollingWhenLiteral: {} },
  alpha101: {
    name: "alpha101",
    fractionalWindows: "floor",
    groupPrefix: "IndClass",
    rollingWhenLiteral: { max: "ts_max", min: "ts_min" },
  },
};

/**
 * Series that every dialect derives from fields, unless the file or the panel has them; written in `native`.
 * `adv{d}` is average daily dollar volume over d rows (Kakushadze 2015, Appendix A).
 */
export const DERIVED_SERIES: readonly { readonly pattern: RegExp; readonly formula: string }[] = [
  { pattern: /^returns$/, formula: "close / delay(close, 1) - 1" },
  { pattern: /^adv(\d{1,5})$/, formula: "ts_mean(close * volume, $1)" },
];

/** The formula of a derived series, or undefined if there is none of that name. */
export function derivedFormula(name: string): string | undefined {
  const derived = DERIVED_SERIES.find(({ pattern }) => pattern.test(name));
  return derived && name.replace(derived.pattern, derived.formula);
}

/** The dialect of that name (letter case does not matter). */
export function findDialect(name: string): Dialect | undefined {
  return Object.hasOwn(DIALECTS, name.toLowerCase())
    ? DIALECTS[name.toLowerCase() as DialectName]
    : undefined;
}
