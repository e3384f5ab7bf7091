import { WINDOW_ROWS_MAX } from "../src/limits.ts";
import type { DialectName } from "../src/operator/definition.ts";
import type { CallSyntax, Syntax } from "./syntax.ts";

/** The rules in which formula dialects differ. Operators carry their own names by dialect. */
export interface Dialect {
  readonly name: DialectName;
  /** Spellings that only some dialects have: `$` before fields, `&` for `&&`, `|` for `||`. */
  readonly spellings: readonly ("$" | "&" | "|")[];
  /** True if a single `=` inside a formula compares. */
  readonly equalsCompares: boolean;
  /** What a window such as `17.93` means. */
  readonly fractionalWindows: "error" | "floor";
  /** Prefix of group columns, as in `IndClass.sector`; null if groups are plain names. */
  readonly groupPrefix: string | null;
  /** Valid values that a window needs where nulls may be skipped; null: the whole window. */
  readonly minPeriods: number | null;
  /** `minPeriods` of single operators, by printed name. */
  readonly minPeriodsOf: Readonly<Record<string, number>>;
  /** Result of a comparison with a null. "numpy": false, but `!=` is true. */
  readonly nullComparisons: "null" | "numpy";
  /** Printed names of operators that read an infinity as a null. */
  readonly finiteInputs: ReadonlySet<string>;
  /** Fields that every file of the dialect may use: where the data lack one, the data are wrong, not the formula. */
  readonly fields: readonly string[];
  /** Name of the factor's own value one row before; null if there is none. */
  readonly selfName: string | null;
  /** Series derived from fields, unless the file or the panel defines them; their formulas are `native`. */
  readonly derived: readonly DerivedSeries[];
  /** Replaces a call whose shape means another call in this dialect; returns other calls unchanged. */
  readonly rewrite: (call: CallSyntax) => CallSyntax;
  /** What a window of less than one row means to an operator of the dialect, and how to write it; null for nothing. */
  readonly shortWindow: (operator: string, rows: number) => string | null;
}

export interface DerivedSeries {
  readonly pattern: RegExp;
  readonly formula: string;
}

/** `adv{d}`: average daily dollar volume over d rows (Kakushadze 2015, Appendix A). */
const COMMON_SERIES: readonly DerivedSeries[] = [
  { pattern: /^returns$/, formula: "close / delay(close, 1) - 1" },
  { pattern: /^adv(\d{1,5})$/, formula: "ts_mean(close * volume, $1)" },
];

const unchanged = (call: CallSyntax): CallSyntax => call;

/** Names as in docs/language.md; `max` and `min` are always pairwise. */
const native: Dialect = {
  name: "native",
  spellings: [],
  equalsCompares: false,
  fractionalWindows: "error",
  groupPrefix: null,
  minPeriods: null,
  minPeriodsOf: {},
  nullComparisons: "null",
  finiteInputs: new Set(),
  fields: [],
  selfName: null,
  derived: COMMON_SERIES,
  rewrite: unchanged,
  shortWindow: () => null,
};

/** Kakushadze (2015), arXiv:1601.00991: windows are floored, `max(x, 5)` is rolling. */
const alpha101: Dialect = {
  ...native,
  name: "alpha101",
  fractionalWindows: "floor",
  groupPrefix: "IndClass",
  rewrite: (call) => rollingIfLiteral(call, Number.NEGATIVE_INFINITY),
};

/**
 * Microsoft Qlib (MIT), qlib/data/ops.py: pandas rolling with min_periods=1, numpy comparisons. pandas turns infinities
 * into NaN before it rolls. Count counts them; Slope, Resi and Rsquare, which do not use pandas, return NaN for them.
 */
const qlib: Dialect = {
  ...native,
  name: "qlib",
  spellings: ["$", "&", "|"],
  minPeriods: 1,
  nullComparisons: "numpy",
  finiteInputs: new Set([
    ...["ts_sum", "ts_mean", "ts_var", "ts_std", "ts_skew", "ts_kurt", "ts_mad", "wma_mean", "ema_adjusted"],
    ...["ts_max", "ts_min", "nan_argmax", "nan_argmin", "ts_rank", "ts_median", "ts_quantile"],
    ...["covariance", "stable_correlation"],
  ]),
  rewrite: sinceTheFirst,
  shortWindow: qlibShortWindow,
};

/** Guotai Junan Securities (2017), multi-factor model from short-horizon price-volume characteristics. */
const gtja191: Dialect = {
  ...native,
  name: "gtja191",
  spellings: ["&", "|"],
  equalsCompares: true,
  // FILTER leaves gaps, which a regression is meant to skip.
  minPeriodsOf: { ts_regbeta: 2 },
  fields: ["BANCHMARKINDEXCLOSE", "BANCHMARKINDEXOPEN", "MKT", "SMB", "HML"],
  selfName: "self",
  derived: [
    ...COMMON_SERIES,
    { pattern: /^ret$/, formula: "close / delay(close, 1) - 1" },
    { pattern: /^vol$/, formula: "volume" },
    { pattern: /^hd$/, formula: "high - delay(high, 1)" },
    { pattern: /^ld$/, formula: "delay(low, 1) - low" },
    {
      pattern: /^tr$/,
      formula: "max(max(high - low, abs(high - delay(close, 1))), abs(low - delay(close, 1)))",
    },
    {
      pattern: /^dtm$/,
      formula: "open <= delay(open, 1) ? 0 : max(high - open, open - delay(open, 1))",
    },
    {
      pattern: /^dbm$/,
      formula: "open >= delay(open, 1) ? 0 : max(open - low, open - delay(open, 1))",
    },
  ],
  // MAX(x, 0) is the positive part of x: a window of 0 rows has no meaning.
  rewrite: (call) => regressionOnSequence(delayOfOne(rollingIfLiteral(call, 1))),
};

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  native,
  alpha101,
  qlib,
  gtja191,
};

/** `Ref(x, 0)` is the first value of the history, and `Delta(x, 0)` the change since then. */
function sinceTheFirst(call: CallSyntax): CallSyntax {
  const name = call.name.toLowerCase();
  const x = call.args[0];
  if (call.isSymbol || !x || (name !== "ref" && name !== "delta") || !isNumber(call.args[1], 0)) return call;
  const first = { ...renamed(call, "first_value"), args: [x] };
  return name === "ref" ? first : { ...call, name: "-", isSymbol: true, args: [x, first] };
}

/** Windows of all rows so far, of those operators for which they can be written. */
const EXPANDING: Readonly<Record<string, string>> = {
  ts_count_values: "cum_count(x)",
  ts_max: "cum_max(x)",
  ts_mean: "cum_sum(x) / cum_count(x)",
  ts_min: "cum_min(x)",
  ts_sum: "cum_sum(x)",
};

/** Operators of Qlib to which a fraction is the alpha of an exponential mean, whatever they are called. */
const EXPONENTIAL = new Set([
  ...["ts_count_values", "ts_max", "ts_mean", "ts_median", "ts_min", "ts_std", "ts_sum", "ts_var"],
  "ema_adjusted",
]);

/** Rolling of qlib/data/ops.py: a window of 0 expands, one between 0 and 1 is an alpha. */
function qlibShortWindow(operator: string, rows: number): string | null {
  if (rows === 0) {
    const formula = EXPANDING[operator];
    const remedy = formula ? `write ${formula}` : "that has no equal here, write how many rows";
    return `0 is all of history in Qlib: ${remedy}`;
  }
  if (!(rows > 0 && rows < 1) || !EXPONENTIAL.has(operator)) return null;
  const span = 2 / rows - 1;
  const whole = Math.min(Math.round(span), WINDOW_ROWS_MAX);
  const isWhole = Math.abs(span - whole) < 1e-9 * whole;
  const remedy = isWhole
    ? `write EMA(x, ${whole})`
    : `no whole N has it, EMA(x, ${whole}) has ${(2 / (whole + 1)).toPrecision(4)}`;
  return `${rows} is the alpha of an exponential mean in Qlib, 2 / (N + 1): ${remedy}`;
}

/** `max(x, 5)` is rolling if the literal is at least `least`; `max(x, y)` and `max(0, x)` stay pairwise. */
function rollingIfLiteral(call: CallSyntax, least: number): CallSyntax {
  const name = call.name.toLowerCase();
  const second = call.args[1];
  if (call.isSymbol || (name !== "max" && name !== "min") || second?.kind !== "number") return call;
  return second.value >= least ? renamed(call, `ts_${name}`) : call;
}

/** `DELAY(x)` is `DELAY(x, 1)`. */
function delayOfOne(call: CallSyntax): CallSyntax {
  if (call.isSymbol || call.name.toLowerCase() !== "delay" || call.args.length !== 1) return call;
  const one: Syntax = {
    kind: "number",
    value: 1,
    start: call.start,
    end: call.end,
  };
  return { ...call, args: [...call.args, one] };
}

/** `REGBETA(y, SEQUENCE(n))` and `REGBETA(y, SEQUENCE, n)` regress on 1..n: the slope over n rows. */
function regressionOnSequence(call: CallSyntax): CallSyntax {
  if (call.isSymbol || call.name.toLowerCase() !== "regbeta") return call;
  const [y, sequence, rows] = call.args;
  if (!y || !sequence || sequence.kind === "number" || sequence.kind === "text") return call;
  if (sequence.name.toLowerCase() !== "sequence") return call;
  const windows = [...(sequence.kind === "call" ? sequence.args : []), ...(rows ? [rows] : [])];
  return { ...renamed(call, "ts_slope"), args: [y, ...windows] };
}

function renamed(call: CallSyntax, name: string): CallSyntax {
  return { ...call, name, writtenName: call.name };
}

function isNumber(syntax: Syntax | undefined, value: number): boolean {
  return syntax?.kind === "number" && syntax.value === value;
}

/** The formula of a derived series; undefined if the dialect has none of that name. */
export function derivedFormula(name: string, dialect: Dialect): string | undefined {
  const derived = dialect.derived.find(({ pattern }) => pattern.test(name));
  return derived && name.replace(derived.pattern, derived.formula);
}

/** Finds a dialect by name, without regard to letter case. */
export function findDialect(name: string): Dialect | undefined {
  return Object.hasOwn(DIALECTS, name.toLowerCase())
    ? DIALECTS[name.toLowerCase() as DialectName]
    : undefined;
}

/** The dialect that a formula text states on a line of its own, if any. */
export function statedDialect(text: string): Dialect | undefined {
  const name = /^[ \t]*dialect[ \t]+([A-Za-z_][A-Za-z0-9_]*)/m.exec(text)?.[1];
  return name === undefined ? undefined : findDialect(name);
}

/** The dialect in which a rewrite's formula is read when `user` calls it: native, with the caller's null rules. */
export function rewriteDialect({ minPeriods, nullComparisons }: Dialect): Dialect {
  return { ...native, minPeriods, nullComparisons };
}
