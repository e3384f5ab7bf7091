import { DIALECTS } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import type { CallSyntax, Syntax } from "../../grammar/syntax.ts";
import { FormulaError } from "../../src/errors.ts";
import { isSeriesLike, type Operator, type Parameter } from "../../src/operator/definition.ts";
import { Source } from "../../src/text/source.ts";
import { bindFormula } from "../ast_print/bound_formula.ts";
import { CONDITION_FIELDS, FIELDS, GROUPS, SERIES_FIELDS } from "./awkward_panels.ts";

/** Arguments known at compile time as text by parameter, in the order of the parameters. */
export type SettingTexts = Readonly<Record<string, string>>;

const isWindow = ({ kind }: Parameter) => kind === "window";
const isDelay = ({ kind }: Parameter) => kind === "delay";

/** The settings with which the examples of an operator call it: known to be allowed. */
export function exampleSettings(operator: Operator): SettingTexts[] {
  const drawn = operator.examples.flatMap(({ formula }) => {
    const [statement] = parseFormulas(new Source("example", `e = ${formula}`), DIALECTS.native).statements;
    if (statement?.kind !== "factor") return [];
    return callsIn(statement.expression)
      .filter((call) => isCallOf(call, operator))
      .map((call) => settingsOf(call, operator, `e = ${formula}`));
  });
  return distinct(drawn);
}

function callsIn(root: Syntax): CallSyntax[] {
  if (root.kind !== "call") return [];
  return [root, ...root.args.flatMap(callsIn), ...root.named.flatMap(({ value }) => callsIn(value))];
}

function isCallOf({ name, isSymbol, args }: CallSyntax, operator: Operator): boolean {
  if (isSymbol) return name === operator.symbol && args.length === operator.parameters.length;
  return [operator.name, ...(operator.aliases?.native ?? [])].includes(name.toLowerCase());
}

function settingsOf({ args, named }: CallSyntax, operator: Operator, text: string): SettingTexts {
  const settings: Record<string, string> = {};
  operator.parameters.forEach((parameter, i) => {
    if (isSeriesLike(parameter.kind) || parameter.kind === "group") return;
    const given = args[i] ?? named.find(({ name }) => name === parameter.name)?.value;
    if (!given && parameter.default === undefined)
      throw new Error(`${text} calls ${operator.name} without ${parameter.name}`);
    settings[parameter.name] = given ? text.slice(given.start, given.end) : String(parameter.default);
  });
  return settings;
}

function distinct(settings: readonly SettingTexts[]): SettingTexts[] {
  return [...new Map(settings.map((one) => [JSON.stringify(one), one])).values()];
}

/**
 * The settings of the first example, then settings with all windows and delays of each wanted size, then with lengths
 * that rise and fall along the parameters; constants as in the first example. Only those that the operator allows.
 */
export function settingsWithWindows(operator: Operator, sizes: readonly number[]): SettingTexts[] {
  const [base = {}] = exampleSettings(operator);
  const lengths = operator.parameters.filter((parameter) => isWindow(parameter) || isDelay(parameter));
  const sized = (size: number, step: number): SettingTexts => {
    const texts = lengths.map((parameter, i) => {
      return [parameter.name, String(Math.max(isWindow(parameter) ? 1 : 0, size + step * i))] as const;
    });
    return { ...base, ...Object.fromEntries(texts) };
  };
  const uneven = lengths.length > 1 ? [sized(2, 2), sized(5, -2)] : [];
  const wanted = distinct([base, ...sizes.map((size) => sized(size, 0)), ...uneven]);
  return wanted.filter((settings) => isAllowed(callText(operator, { settings })));
}

export interface CallShape {
  readonly settings: SettingTexts;
  readonly minPeriods?: number;
  /** Arguments for the series, condition and group parameters; default: the fields of the awkward panels. */
  readonly columns?: readonly string[];
}

/** Fields (and the group) for an operator's column parameters, and how they are written in a call. */
export function columnsOf(operator: Operator, group = "g"): { field: string; text: string }[] {
  let [series, conditions] = [0, 0];
  return operator.parameters.flatMap(({ kind }) => {
    if (kind === "group") return [{ field: group, text: group }];
    if (kind === "condition") {
      const field = CONDITION_FIELDS[conditions++]!;
      return [{ field, text: `${field} != 0` }];
    }
    if (kind !== "series") return [];
    const field = SERIES_FIELDS[series++]!;
    return [{ field, text: field }];
  });
}

/** A call of the operator by its printed name, all arguments in order. */
export function callText(operator: Operator, { settings, minPeriods, columns }: CallShape): string {
  const given = [...(columns ?? columnsOf(operator).map(({ text }) => text))];
  const texts = operator.parameters.map(({ name, kind }) =>
    isSeriesLike(kind) || kind === "group" ? given.shift()! : settings[name]!,
  );
  if (minPeriods !== undefined) texts.push(`min_periods=${minPeriods}`);
  return `${operator.name}(${texts.join(", ")})`;
}

/** False if a number is out of the range that the operator allows (E203); other mistakes are thrown. */
export function isAllowed(formula: string): boolean {
  try {
    bindFormula(formula, { fields: FIELDS, groups: GROUPS });
    return true;
  } catch (error) {
    const isRange = error instanceof FormulaError && error.diagnostics.every(({ code }) => code === "E203");
    if (isRange) return false;
    throw error;
  }
}
