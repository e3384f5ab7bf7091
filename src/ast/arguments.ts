import type { Dialect } from "../../grammar/dialects.ts";
import { type CallSyntax, calledNameSpan } from "../../grammar/syntax.ts";
import { WINDOW_ROWS_MAX } from "../limits.ts";
import {
  isSeriesLike,
  type Operator,
  type Parameter,
  type Settings,
  signatureOf,
  windowRowsOf,
} from "../operator/definition.ts";
import { nearestName } from "../text/suggest.ts";
import { type Expression, type GroupNode, groupRemedy } from "./nodes.ts";
import type { Report } from "./report.ts";

/** Shared: formulas can have millions of operators. */
const NO_SETTINGS: Settings = Object.freeze({});

const MIN_PERIODS = "min_periods";

/** The bound arguments of one call: positional ones first, then the values of named ones. */
export interface BoundArguments {
  readonly syntax: CallSyntax;
  readonly values: readonly Expression[];
}

/** Arguments that fit the parameters of an operator. */
export interface FittingArguments {
  /** Values of the series and condition parameters, in parameter order. */
  readonly args: readonly Expression[];
  readonly group: GroupNode | null;
  readonly settings: Settings;
  readonly minPeriods: number | null;
}

/**
 * Fits bound arguments to an operator's parameters; undefined after reporting a wrong number or kind. A column that is a
 * field and one of the panel's `groups` is the group where the operator expects one.
 */
export function fitArguments(
  operator: Operator,
  call: BoundArguments,
  groups: readonly string[],
  dialect: Dialect,
  report: Report,
): FittingArguments | undefined {
  const byParameter = matchArguments(operator, call, report);
  if (!byParameter) return undefined;
  const checker = new ArgumentChecker(operator, call.syntax, dialect, report);
  const args: Expression[] = [];
  let settings: Settings = NO_SETTINGS;
  let group: GroupNode | null = null;
  for (const parameter of operator.parameters) {
    const value = byParameter.get(parameter.name);
    if (!value) settings = { ...settings, [parameter.name]: parameter.default as number };
    else if (isSeriesLike(parameter.kind)) args.push(checker.series(value, parameter));
    else if (parameter.kind === "group") group = checker.group(value, groups);
    else settings = { ...settings, [parameter.name]: checker.number(value, parameter) };
  }
  const minPeriods = checker.minPeriods(byParameter.get(MIN_PERIODS), settings);
  return checker.hasFailed ? undefined : { args, group, settings, minPeriods };
}

/** Pairs arguments with parameters by position, then by name; undefined after reporting a mistake. */
function matchArguments(
  operator: Operator,
  { syntax, values }: BoundArguments,
  report: Report,
): Map<string, Expression> | undefined {
  const { parameters } = operator;
  const positionalCount = syntax.args.length;
  const requiredCount = parameters.filter((parameter) => parameter.default === undefined).length;
  const matched = new Map<string, Expression>();
  parameters.slice(0, positionalCount).forEach(({ name }, i) => {
    matched.set(name, values[i] as Expression);
  });
  const known = [
    ...parameters.map(({ name }) => name),
    ...(isMinPeriodsAllowed(operator) ? [MIN_PERIODS] : []),
  ];
  for (const [i, named] of syntax.named.entries()) {
    if (matched.has(named.name) || !known.includes(named.name)) {
      const isTwice = matched.has(named.name);
      const message = isTwice
        ? `${named.name} is given twice`
        : `${operator.name} has no argument ${named.name}`;
      const nearest = nearestName(named.name, known);
      const remedy = nearest && !isTwice ? `did you mean ${nearest}?` : `it reads ${signatureOf(operator)}`;
      report.wrongArguments(named, message, remedy);
      return undefined;
    }
    matched.set(named.name, values[positionalCount + i] as Expression);
  }
  const isComplete = parameters.every(({ name, default: value }) => matched.has(name) || value !== undefined);
  if (positionalCount > parameters.length || !isComplete) {
    const range =
      requiredCount === parameters.length ? `${requiredCount}` : `${requiredCount}..${parameters.length}`;
    const noun = range === "1" ? "argument" : "arguments";
    const message = `${operator.name} expects ${range} ${noun}, got ${positionalCount + syntax.named.length}`;
    report.wrongArguments(calledNameSpan(syntax), message, `it reads ${signatureOf(operator)}`);
    return undefined;
  }
  return matched;
}

function isMinPeriodsAllowed(operator: Operator): boolean {
  return operator.axis === "rolling" && operator.allowsMinPeriods === true;
}

/** Checks the arguments of one call. After a report `hasFailed` is true and the returned values are meaningless. */
class ArgumentChecker {
  hasFailed = false;
  readonly #operator: Operator;
  readonly #syntax: CallSyntax;
  /** The operator's name in messages. */
  readonly #shownName: string;
  readonly #dialect: Dialect;
  readonly #report: Report;

  constructor(operator: Operator, syntax: CallSyntax, dialect: Dialect, report: Report) {
    this.#operator = operator;
    this.#syntax = syntax;
    this.#shownName = syntax.isSymbol ? `'${syntax.name}'` : operator.name;
    this.#dialect = dialect;
    this.#report = report;
  }

  #fail(code: string, value: Expression, message: string, remedy: string): void {
    this.hasFailed = true;
    this.#report.add(code, value.span, message, remedy);
  }

  #failType(value: Expression, message: string, remedy: string): void {
    this.hasFailed = true;
    this.#report.wrongType(value.span, message, remedy);
  }

  #failRange(value: Expression, message: string, remedy: string): void {
    this.#fail("E203", value, message, remedy);
  }

  series(value: Expression, parameter: Parameter): Expression {
    const role = this.#syntax.isSymbol ? "" : ` as ${parameter.name}`;
    const expects = `${this.#shownName} expects a ${parameter.kind}${role}`;
    if (value.type === "group" || value.type === "text") {
      const what = value.type === "group" ? `the group column ${(value as GroupNode).name}` : "a text";
      this.#failType(value, `${expects}, got ${what}`, groupRemedy(value, "use a field or a formula"));
    } else if (parameter.kind === "condition" && value.type !== "condition" && value.type !== "unknown") {
      const remedy = "compare it with something, e.g. x != 0";
      this.#failType(value, `${expects}, got a ${value.type}`, remedy);
    }
    return value;
  }

  group(value: Expression, groups: readonly string[]): GroupNode | null {
    if (value.kind === "group") return value;
    if (value.kind === "field" && groups.includes(value.name))
      return { ...value, kind: "group", type: "group", reason: undefined };
    if (value.type === "unknown") this.hasFailed = true;
    else
      this.#failType(value, `${this.#shownName} expects a group column, got a ${value.type}`, "e.g. sector");
    return null;
  }

  /** A window, delay or constant. */
  number(value: Expression, parameter: Parameter): number {
    if (value.type === "unknown") {
      this.hasFailed = true;
      return Number.NaN;
    }
    if (value.constant === null) {
      const what = value.type === "number" ? "a param: it may differ from call to call" : `a ${value.type}`;
      const message = `${this.#operator.name} expects a number known in advance as ${parameter.name}, got ${what}`;
      this.#fail("E210", value, message, "write a number");
      return Number.NaN;
    }
    return parameter.kind === "constant" ? this.#finite(value, parameter) : this.#rows(value, parameter);
  }

  #finite(value: Expression, parameter: Parameter): number {
    const number = value.constant as number;
    const message = `${this.#operator.name} expects a finite number as ${parameter.name}, got ${number}`;
    if (!Number.isFinite(number)) this.#failRange(value, message, "write a finite number");
    return number;
  }

  #rows(value: Expression, parameter: Parameter): number {
    const given = value.constant as number;
    const rows = this.#dialect.fractionalWindows === "floor" ? Math.floor(given) : given;
    const least = parameter.kind === "window" ? 1 : 0;
    const { name } = this.#operator;
    const what = parameter.kind === "window" ? "window" : "delay";
    if (parameter.kind === "delay" && rows < 0) {
      const message = `${name} by ${given} rows would look ahead`;
      this.#fail("E206", value, message, "delays count back from the current row: use 0 or more");
    } else if (!(rows >= least && rows <= WINDOW_ROWS_MAX)) {
      const message = `${name} expects a ${what} of ${least}..${WINDOW_ROWS_MAX} rows, got ${given}`;
      this.#failRange(value, message, this.#remedyForRows(given));
    } else if (!Number.isInteger(rows)) {
      const message = `${name} expects a whole number of rows, got ${given}`;
      this.#failRange(value, message, `use ${Math.floor(given)} (dialect alpha101 rounds down by itself)`);
    }
    return rows;
  }

  #remedyForRows(given: number): string {
    const { writtenName } = this.#syntax;
    if (writtenName !== undefined && this.#operator.name === `ts_${writtenName.toLowerCase()}`) {
      return `with a number last ${writtenName} is rolling in ${this.#dialect.name}; put the number first to compare with it`;
    }
    const { name, shortWindow } = this.#dialect;
    const meant = this.#operator.aliases?.[name] && shortWindow(this.#operator.name, given);
    if (meant) return meant;
    if (given < 0) return "windows count back from the current row: write how many rows they have";
    return given < 1 ? "use 1 for no smoothing" : `use at most ${WINDOW_ROWS_MAX}`;
  }

  minPeriods(value: Expression | undefined, settings: Settings): number | null {
    if (this.hasFailed || !isMinPeriodsAllowed(this.#operator)) return null;
    const windowRows = windowRowsOf(this.#operator, settings);
    if (!value) return this.#minPeriodsOfDialect(windowRows);
    const rows = value.constant ?? Number.NaN;
    if (Number.isInteger(rows) && rows >= 1 && rows <= windowRows) return rows;
    const message = `min_periods of ${this.#operator.name} is a whole number from 1 to its window of ${windowRows} rows`;
    this.#failRange(value, message, `use ${windowRows} to allow no nulls`);
    return null;
  }

  #minPeriodsOfDialect(windowRows: number): number | null {
    const { minPeriods, minPeriodsOf } = this.#dialect;
    const usual = minPeriodsOf[this.#operator.name] ?? minPeriods;
    return usual === null ? null : Math.min(usual, windowRows);
  }
}
