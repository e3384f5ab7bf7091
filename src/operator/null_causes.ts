/**
 * Why a cell is null: a closed list. An operator declares the causes that lie in its own arithmetic, in `nullWhere` of its
 * definition; the engine knows the others.
 */

/** What a cause says to the reader of a cell. */
export interface NullCauseText {
  readonly title: string;
  /** What it says about the cell, in one sentence. */
  readonly meaning: string;
  /** What would give the cell a value. */
  readonly remedy: string;
}

/** A table of causes by their names. */
function causes<Name extends string>(texts: Readonly<Record<Name, NullCauseText>>): typeof texts {
  return texts;
}

const DECLARED_CAUSES = causes({
  constant_window: {
    title: "constant window",
    meaning: "Every value of the window is equal, where the operator needs values that differ.",
    remedy: "Take a longer window, or give such windows a value: coalesce(..., 0).",
  },
  constant_row: {
    title: "constant row",
    meaning:
      "Every value of the row, or of the group in that row, is equal, where the operator needs values that differ.",
    remedy: "Compare more instruments, take larger groups, or give such rows a value: coalesce(..., 0).",
  },
  zero_sum: {
    title: "sum of zero",
    meaning:
      "The values of the row, or of the group in that row, are all zero, and the operator divides by their sum or by that of their squares.",
    remedy: "Give such rows a value: coalesce(..., 0).",
  },
  division_by_zero: {
    title: "division by zero",
    meaning: "The divisor is zero.",
    remedy: "Give such cells a value: y == 0 ? 0 : x / y.",
  },
  domain: {
    title: "outside the domain",
    meaning:
      "The operator is not defined for this number, as a logarithm or a root is not for a negative one.",
    remedy: "Limit or shift the argument, e.g. log(max(x, 1)) or signed_power(x, 0.5).",
  },
  infinite_input: {
    title: "infinite input",
    meaning:
      "An infinity is among the values, and the operator has no finite result for it: inf - inf, inf / inf, 0 * inf, a variance.",
    remedy: "Turn infinities into nulls before they enter: purify(x).",
  },
  infinite_state: {
    title: "infinite state",
    meaning:
      "The result carried from earlier rows is infinite or undefined since an infinity or an overflow.",
    remedy: "Turn infinities into nulls before they enter: ema(purify(x), n).",
  },
  too_few_values: {
    title: "too few values",
    meaning: "The window, the row or the group has fewer values than the operator needs.",
    remedy: "Take a longer window, a larger min_periods, or larger groups; fill nulls, e.g. with ffill(x).",
  },
  collinear: {
    title: "collinear regressors",
    meaning:
      "One regressor is a combination of the others and a constant, so that no regression is determined.",
    remedy: "Take a longer window, or leave out a regressor that follows from the others.",
  },
  condition_not_met: {
    title: "condition not met",
    meaning: "The operator keeps only cells for which a condition holds, and it does not hold here.",
    remedy: "Change the condition, or give such cells a value: coalesce(..., 0).",
  },
  no_value_yet: {
    title: "no value yet",
    meaning:
      "The operator carries a result from row to row and has taken no value yet, or has dropped its last one.",
    remedy: "Begin with earlier rows of history, or give such cells a value: coalesce(..., 0).",
  },
  null_today: {
    title: "null today",
    meaning: "The operator needs today's value, and an argument is null today.",
    remedy: "Fill the argument, e.g. with ffill(x).",
  },
  setting_out_of_range: {
    title: "setting out of range",
    meaning: "A constant argument is outside of the range for which the operator has values.",
    remedy: "Correct the argument; `factorloom ops NAME` says which values it takes.",
  },
  overflow: {
    title: "overflow",
    meaning:
      "Finite values give a result, or a step towards it, beyond the largest double: an infinity, which results write " +
      "as null.",
    remedy: "Scale the arguments down, or keep infinities with keepInf.",
  },
});

const ENGINE_CAUSES = causes({
  missing_value: {
    title: "missing value",
    meaning: "The data have no value in this cell.",
    remedy: "Complete the data, or fill the field, e.g. with ffill(x).",
  },
  absent: {
    title: "absent",
    meaning: "The instrument has no row at this time.",
    remedy: "Complete the data; an instrument that is not traded has no row.",
  },
  too_few_rows: {
    title: "too few rows",
    meaning: "The history has fewer rows than the window.",
    remedy: "Begin with earlier rows of history, take a shorter window, or min_periods.",
  },
  null_in_window: {
    title: "null in the window",
    meaning: "A value in the window is null, for a cause of its own.",
    remedy: "Fill the argument, e.g. with ffill(x), or leave nulls out with min_periods.",
  },
  null_input: {
    title: "null input",
    meaning: "An argument is null in this cell, for a cause of its own.",
    remedy: "Fill the argument, e.g. with coalesce(x, 0).",
  },
  no_group: {
    title: "no group",
    meaning: "The instrument has no group label in this row.",
    remedy: "Complete the table of groups.",
  },
  outside_universe: {
    title: "outside the universe",
    meaning: "The instrument is not in the universe in this row.",
    remedy: "Widen the universe.",
  },
  condition_not_wanted: {
    title: "condition of the factor",
    meaning: "The factor's own condition, its `when`, does not hold.",
    remedy: "Change the condition, or the params that it reads.",
  },
  null_written: {
    title: "null in the formula",
    meaning: "The formula itself says null for this cell.",
    remedy: "Change the formula.",
  },
  infinite_value: {
    title: "infinity in the data",
    meaning: "The data have an infinity in this cell, which results write as null.",
    remedy: "Keep infinities with keepInf, or turn them into nulls: purify(x).",
  },
  undeclared: {
    title: "undeclared",
    meaning: "The operator gives no value here, and none of the causes that it declares holds.",
    remedy: "Complete nullWhere in the definition of the operator.",
  },
});

/** A cause that operators declare in `nullWhere`. The engine finds an `overflow` by itself where the result is infinite. */
export type DeclaredCause = keyof typeof DECLARED_CAUSES;

/** A cause that the engine finds: no operator declares it. */
export type EngineCause = keyof typeof ENGINE_CAUSES;

/** A cause for which a cell is null. */
export type NullCause = DeclaredCause | EngineCause;

/** Every cause for which a cell is null: those that operators declare, then those that the engine finds. */
export const NULL_CAUSES: Readonly<Record<NullCause, NullCauseText>> = {
  ...DECLARED_CAUSES,
  ...ENGINE_CAUSES,
};

/**
 * By cause the predicate that says where it holds, in the order in which they are tried; `{}` for an operator that is null
 * for nulls of its arguments alone. No predicate may hold where the operator gives a finite value.
 */
export type NullWhere<Predicate> = { readonly [Cause in DeclaredCause]?: Predicate };

export function isDeclaredCause(name: string): name is DeclaredCause {
  return Object.hasOwn(DECLARED_CAUSES, name);
}

/** The causes that an operator declares, in the order in which they are tried. */
export function declaredCauses(nullWhere: NullWhere<unknown>): DeclaredCause[] {
  return Object.keys(nullWhere) as DeclaredCause[];
}

/** What is wrong with the `nullWhere` of a definition, null if nothing is. */
export function problemOfNullWhere(nullWhere: unknown): string | null {
  if (typeof nullWhere !== "object" || nullWhere === null)
    return "nullWhere says where it has no value: { domain: (x) => x < 0 }, say, or {} for nowhere";
  for (const [cause, predicate] of Object.entries(nullWhere)) {
    if (!Object.hasOwn(NULL_CAUSES, cause))
      return `nullWhere has an unknown cause, ${cause}; docs/null_causes.md has the list`;
    if (!isDeclaredCause(cause)) return `nullWhere has ${cause}, a cause that the engine finds by itself`;
    if (typeof predicate !== "function") return `nullWhere.${cause} is a function`;
  }
  return null;
}
