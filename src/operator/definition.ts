import { UsageError } from "../errors.ts";
import { type ArgumentKind, checkArgument, isRecord, kindOf } from "../text/argument_kinds.ts";
import { problemOfKinds } from "./definition_kinds.ts";
import type { CellBuilder, RowBuilder, Value } from "./lowering.ts";
import { declaredCauses, NULL_CAUSES, type NullWhere, problemOfNullWhere } from "./null_causes.ts";
import type { AnyWindowState, Series, WindowBuilder } from "./window_code.ts";

/** A dialect's name, e.g. `native` or `alpha101`. */
export type DialectName = "native" | "alpha101" | "qlib" | "gtja191";

/** Type of an expression. A condition is 1, 0 or null and may be used wherever a series may. */
export type ValueType = "series" | "condition" | "number" | "text" | "group";

export type ParameterKind =
  /** A value per cell: a series, a condition, or a number that holds for every cell. */
  | "series"
  /** The result of a comparison or of `&& || !`. */
  | "condition"
  /** A group column, e.g. `sector`. */
  | "group"
  /** A whole number of panel rows known at compile time, at least 1. */
  | "window"
  /** A whole number of panel rows known at compile time, at least 0; below 0 would look ahead. */
  | "delay"
  /** A finite number known at compile time. */
  | "constant";

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  /** Value of an argument that may be left out (windows, delays and constants only). */
  readonly default?: number;
}

/** Compile-time arguments of one task by parameter name, e.g. `{ d: 20 }`. */
export type Settings = Readonly<Record<string, number>>;

/** Parameters of any operator: those that `defineOperator` knows by name and kind are a tuple. */
export type ParameterList = readonly Parameter[];

/** One item for each argument that is a value per cell: two numbers for `[{ kind: "series" }, { kind: "condition" }]`. */
export type PerSeries<P extends ParameterList, Item> = P extends readonly [
  infer First extends Parameter,
  ...infer Rest extends ParameterList,
]
  ? First["kind"] extends "series" | "condition"
    ? [Item, ...PerSeries<Rest, Item>]
    : PerSeries<Rest, Item>
  : P extends readonly []
    ? []
    : Item[];

/** The compile-time arguments that the parameters declare: `{ d: number }` for a window `d`. */
export type SettingsOf<P extends ParameterList> = string extends P[number]["name"]
  ? Settings
  : {
      readonly [Setting in Extract<
        P[number],
        { kind: "window" | "delay" | "constant" }
      > as Setting["name"]]: number;
    };

/**
 * A worked example that runs as a test. Vectors run along the operator's own axis, for a rewrite that of the operator that
 * its formula applies last: across the lanes of one row for cross-section and group operators, otherwise down the rows
 * of one lane.
 */
export interface Example {
  readonly formula: string;
  readonly inputs: Readonly<Record<string, readonly (number | string | null)[]>>;
  readonly output: readonly (number | null)[];
}

/**
 * A law that holds to the last bit for all values: numbers, zeros of both signs, infinities, nulls.
 *
 * `commutative`: the series arguments may stand in any order. An equation, e.g. `abs(-x) = abs(x)`: where a formula has
 * the left side, which applies the operator, the right side is computed instead. Both are written in dialect `native`;
 * a name stands for any argument that fits its place, the same name for the same argument. Windows, delays and constants are
 * names or numbers on the left and may be computed on the right: `delay(delay(x, a), b) = delay(x, a + b)`. The
 * suffix `for numbers c` or `for powers of two c` restricts what `c` stands for.
 */
export type Law = "commutative" | `${string} = ${string}`;

/** What the definitions of all operators have. */
export interface CommonDefinition<P extends ParameterList> {
  /** Printed name and file stem. */
  readonly name: string;
  /** Further names by dialect; alpha101 has those of native, and every dialect the printed name. */
  readonly aliases?: Partial<Record<DialectName, readonly string[]>>;
  /** Infix, prefix or ternary form, e.g. `+`, one of the symbols of the grammar. */
  readonly symbol?: string;
  readonly parameters: P;
  readonly result: "series" | "condition";
  /** What it means, in one sentence. */
  readonly summary: string;
  /** What it does with nulls, in one sentence. */
  readonly nulls: string;
  /** Where the definition comes from: paper, standard, or equivalent in a known library. */
  readonly source: string;
  /** Unit of the result: that of the first argument, none (a plain number), or other where neither is true of every use. */
  readonly unit: Unit;
  /** `unit` if every value of the result lies within 0..1, `signed_unit` if within -1..1. */
  readonly range?: "unit" | "signed_unit";
  /**
   * Of a built-in operator: raised when its results or the state that it carries change, so that state which was saved
   * before is not used any more. Default 1. Operators of users have the digest of their code instead.
   */
  readonly revision?: number;
  /** Algebraic laws of the operator; formulas are simplified by them. */
  readonly laws?: readonly Law[];
  /** Estimated cost per cell in ns of the reference, given the window. */
  readonly costNs: (windowRows: number) => number;
  /** The same of the compiled code. Default: a share of `costNs` that is usual for the axis, independent of the window. */
  readonly codeNs?: (windowRows: number) => number;
  readonly examples: readonly Example[];
  /**
   * `import.meta.url` of the module that exports this operator. Operators that are passed to `compile` need it if
   * their functions use anything from outside of them: executor threads then import the module.
   */
  readonly module?: string;
}

export interface ElementwiseDefinition<P extends ParameterList = ParameterList> extends CommonDefinition<P> {
  readonly axis: "elementwise";
  /** True if the reference wants to see nulls (as NaN); otherwise any null argument gives null. */
  readonly seesNulls?: boolean;
  /** Where it sees nulls: parameters whose null makes the result null all the same. Default: none. */
  readonly nullFor?: readonly string[];
  /** The value of one cell from the values of that cell. */
  readonly reference: (...cells: PerSeries<P, number>) => number;
  /** Where it has no value: by cause a predicate of the same cells. */
  readonly nullWhere: NullWhere<(...cells: PerSeries<P, number>) => boolean>;
  /** Emits code that gives the same bits, for nulls in any argument as well; left out, the reference is run. */
  readonly lower?: (on: CellBuilder, ...cells: PerSeries<P, Value>) => Value;
}

export interface RollingDefinition<P extends ParameterList = ParameterList> extends CommonDefinition<P> {
  readonly axis: "rolling";
  /** Rows of the window, the current row included. The result is null until that many rows exist. */
  readonly windowRows: (settings: SettingsOf<P>) => number;
  /** True if the reference wants to see nulls (as NaN); otherwise any null in the window gives null. */
  readonly seesNulls?: boolean;
  /** Where it sees nulls: parameters whose null of today makes the result null all the same. Default: none. */
  readonly nullFor?: readonly string[];
  /** True if `min_periods=m` is allowed: rows with a null are left out of the windows, at least m must remain. */
  readonly allowsMinPeriods?: boolean;
  /**
   * The value of one cell from the windows of its series arguments, oldest row first. The arrays are reused:
   * a reference must not keep them, but may sort them. Only a reference that declares its third parameter
   * gets the rows that the values come from.
   */
  readonly reference: (
    windows: Readonly<PerSeries<P, Float64Array>>,
    settings: SettingsOf<P>,
    rows: WindowRows,
  ) => number;
  /** Where it has no value: by cause a predicate of the same windows, which it may not sort. */
  readonly nullWhere: NullWhere<
    (windows: Readonly<PerSeries<P, Float64Array>>, settings: SettingsOf<P>, rows: WindowRows) => boolean
  >;
  /** Window states of the operator's own that `lower` uses. */
  readonly states?: readonly AnyWindowState[];
  /**
   * Emits code that gives the same bits, null rule included; left out, the reference is run. A lowering may return
   * null for a window that it has no good code for.
   */
  readonly lower?: (
    on: WindowBuilder,
    series: Readonly<PerSeries<P, Series>>,
    settings: SettingsOf<P>,
    minPeriods: number | null,
  ) => Value | null;
}

/** Which rows the values of a window come from; they have gaps where `min_periods` left rows out. */
export interface WindowRows {
  /** Row of each value, counted from 0 for the oldest row of the window that exists in the panel. */
  readonly positions: Float64Array;
  /** Position of the current row; it may have been left out. */
  readonly last: number;
}

export interface RecursiveDefinition<P extends ParameterList = ParameterList> extends CommonDefinition<P> {
  readonly axis: "recursive";
  /**
   * The state that one lane carries from row to row, before its first row. Its length must not change during the
   * run. Flags and counts are doubles too; a ring of the last k values is k of them.
   */
  readonly initialState: (settings: SettingsOf<P>) => readonly number[];
  /**
   * The value of one cell from the values of that row (NaN for null) and the lane's state, which it updates in place.
   * Rows come oldest first. The cells are reused. Everything that a later row needs must be in the state: a lane may
   * continue from a copy of it.
   */
  readonly reference: (
    cells: Readonly<PerSeries<P, number>>,
    settings: SettingsOf<P>,
    state: Float64Array,
  ) => number;
  /** Where it has no value: by cause a predicate of the same cells and of the state before the row. */
  readonly nullWhere: NullWhere<
    (cells: Readonly<PerSeries<P, number>>, settings: SettingsOf<P>, state: Float64Array) => boolean
  >;
  /**
   * Emits code that gives the same bits, for nulls in any argument as well; left out, the reference is run. A lowering
   * may return null for settings that it has no good code for.
   */
  readonly lower?: (
    on: CellBuilder,
    cells: Readonly<PerSeries<P, Value>>,
    settings: SettingsOf<P>,
    state: readonly Value[],
  ) => LoweredRow | null;
}

/** What the code of a recursive operator gives: the result, and the state after the row. */
export interface LoweredRow {
  readonly value: Value;
  readonly state: readonly Value[];
}

export interface CrossSectionDefinition<P extends ParameterList = ParameterList> extends CommonDefinition<P> {
  /** `group` operators are cross-sections taken within each group of the row. */
  readonly axis: "cross_section" | "group";
  /**
   * Writes the results of one row (or of one group of it) to `output`. The columns hold the lanes that have a
   * value in every argument, in lane order; no NaN among them.
   */
  readonly reference: (
    columns: Readonly<PerSeries<P, Float64Array>>,
    settings: SettingsOf<P>,
    output: Float64Array,
  ) => void;
  /**
   * Where it has no value: by cause a predicate of the same columns and of the index of a lane in them. A predicate that
   * does not declare the index holds for all lanes or for none.
   */
  readonly nullWhere: NullWhere<
    (columns: Readonly<PerSeries<P, Float64Array>>, settings: SettingsOf<P>, index: number) => boolean
  >;
  /** Emits code for a row that gives the same bits; false, or left out: the reference is run. */
  readonly lower?: (on: RowBuilder, settings: SettingsOf<P>) => boolean;
}

/** An operator that stands for a formula of other operators. */
export interface RewriteDefinition<P extends ParameterList = ParameterList>
  extends Omit<CommonDefinition<P>, "costNs" | "codeNs"> {
  readonly axis: "rewrite";
  /** The formula in dialect `native` over its parameters' names, e.g. `100 * (x / delay(x, d) - 1)`. */
  readonly formula: string;
}

/** Definitions of operators that compute something themselves. */
export type KernelDefinition<P extends ParameterList = ParameterList> =
  | ElementwiseDefinition<P>
  | RollingDefinition<P>
  | RecursiveDefinition<P>
  | CrossSectionDefinition<P>;

/**
 * The definition of an operator: the one place where parsing, binding, passes, documentation, tests and
 * kernels read what it is.
 */
export type OperatorDefinition<P extends ParameterList = ParameterList> =
  | KernelDefinition<P>
  | RewriteDefinition<P>;

/** A checked definition. */
export type Operator = Readonly<OperatorDefinition>;

/** A checked definition of an operator that stands for a formula. */
export type RewriteOperator = Readonly<RewriteDefinition>;

/** A checked definition of an operator that computes something itself: all that a task graph is made of. */
export type KernelOperator = Readonly<KernelDefinition>;

/** Unit of a result: that of the first argument, none, or other. */
export type Unit = "same" | "none" | "other";

const NAME = /^[a-z][a-z0-9_]*$/;

const DEFINITION: ArgumentKind = {
  what: "the definition of an operator",
  fits: isRecord,
  remedy: "docs/user_operators.md says what it needs",
};

/**
 * Checks and freezes the definition of an operator.
 *
 * @throws UsageError E528 for a value that is not an object, E549 for a definition that contradicts itself or is incomplete.
 * @example
 * const tsRange = defineOperator({
 *   name: "ts_range", axis: "rolling", result: "series", unit: "same",
 *   parameters: [{ name: "x", kind: "series" }, { name: "d", kind: "window" }],
 *   summary: "Largest minus smallest value of the window.",
 *   nulls: "Null while any value in the window is null.",
 *   source: "range of a sample", costNs: (rows) => 2 * rows,
 *   windowRows: ({ d }) => d,
 *   reference: ([x]) => Math.max(...x) - Math.min(...x),
 *   nullWhere: { infinite_input: ([x]) => Number.isNaN(Math.max(...x) - Math.min(...x)) },
 *   examples: [{ formula: "ts_range(x, 2)", inputs: { x: [1, 4, 2] }, output: [null, 3, 2] }],
 * });
 */
export function defineOperator<const P extends ParameterList>(definition: OperatorDefinition<P>): Operator {
  checkArgument("defineOperator", definition, DEFINITION);
  const complain = (what: string) => {
    throw new UsageError(
      "E549",
      `operator ${String(definition.name)}: ${what}`,
      "correct its definition; docs/user_operators.md says what it needs",
    );
  };
  if (typeof definition.name !== "string" || !NAME.test(definition.name))
    complain("a name is lower-case letters, digits and _");
  const wrongKind = problemOfKinds(definition);
  if (wrongKind !== null) complain(wrongKind);
  const names = definition.parameters.map((parameter) => parameter.name);
  if (new Set(names).size !== names.length) complain("two parameters of one name");
  const firstDefault = definition.parameters.findIndex((parameter) => parameter.default !== undefined);
  if (firstDefault >= 0 && definition.parameters.slice(firstDefault).some((p) => p.default === undefined)) {
    complain("parameters with a default come last");
  }
  if (!definition.parameters.some((parameter) => isSeriesLike(parameter.kind))) {
    complain("at least one parameter is a series or a condition");
  }
  if (definition.examples.length === 0) complain("at least one worked example is needed");
  const groupCount = definition.parameters.filter((parameter) => parameter.kind === "group").length;
  if (groupCount !== (definition.axis === "group" ? 1 : 0))
    complain("group operators take exactly one group");
  if (definition.axis !== "rewrite") {
    const problem = problemOfNullWhere(definition.nullWhere);
    if (problem !== null) complain(problem);
  }
  // Functions are called with the arguments that the parameters declare, which the engine counts and types do not.
  return Object.freeze(definition) as unknown as Operator;
}

/** True for operators across the row: a value of theirs depends on other instruments. */
export function readsWholeRows(operator: KernelOperator): operator is Readonly<CrossSectionDefinition> {
  return operator.axis === "cross_section" || operator.axis === "group";
}

/** True for operators without code: the reference computes one cell, or one row, at a time. */
export const runsByReference = ({ lower }: KernelOperator): boolean => lower === undefined;

/** The operators among these that compute something themselves. */
export function kernelOperators(operators: readonly Operator[]): KernelOperator[] {
  return operators.filter((operator) => operator.axis !== "rewrite");
}

/** True for parameters whose argument is a value per cell. */
export function isSeriesLike(kind: ParameterKind): boolean {
  return kind === "series" || kind === "condition";
}

/** The value of one cell, null rule included: NaN stands for null. */
export function referenceCell(operator: Readonly<ElementwiseDefinition>, cells: readonly number[]): number {
  if (!operator.seesNulls && cells.some(Number.isNaN)) return Number.NaN;
  return operator.reference(...cells);
}

/** What a reference has given, which a caller's may make anything. @throws TypeError for what is no number. */
export function numberGiven(value: unknown): number {
  if (typeof value === "number") return value;
  throw new TypeError(`its reference gives ${kindOf(value)}, not a number`);
}

/** How an operator is called, e.g. `ts_mean(x, d)` or `x + y`. */
export function signatureOf(operator: Operator): string {
  const { symbol } = operator;
  const names = operator.parameters.map(({ name, default: value }) =>
    value === undefined ? name : `${name}=${value}`,
  );
  if (!symbol) return `${operator.name}(${names.join(", ")})`;
  if (names.length === 1) return `${symbol}${names[0]}`;
  return names.length === 2 ? names.join(` ${symbol} `) : `${names[0]} ? ${names[1]} : ${names[2]}`;
}

/** For which causes of its own it gives null, as a reader reads it, e.g. `infinite input, constant window`. */
export function nullCausesText(operator: Operator): string {
  if (operator.axis === "rewrite") return "those of its formula";
  const titles = declaredCauses(operator.nullWhere).map((cause) => NULL_CAUSES[cause].title);
  return titles.length > 0 ? titles.join(", ") : "none of its own";
}

/** Rows of history, the current row included, that one value depends on; Infinity for all of them. */
export function windowRowsOf(operator: Operator, settings: Settings): number {
  if (operator.axis === "rolling") return operator.windowRows(settings);
  return operator.axis === "recursive" ? Number.POSITIVE_INFINITY : 1;
}
