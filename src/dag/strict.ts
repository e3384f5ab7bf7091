import type { CallNode, Expression } from "../ast/nodes.ts";
import type { BoundProgram, Factor } from "../ast/program.ts";
import type { Diagnostic } from "../errors.ts";
import { windowRowsOf } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import { counted } from "../text/counted.ts";
import type { Source, Span } from "../text/source.ts";
import { alwaysOf, hasEqualInputs, isNullFor, sameForAllWindows } from "./constant_calls.ts";
import { type CallTask, inputsOf, numberText, type Task } from "./dag.ts";
import { ValueGraph } from "./value_graph.ts";

/** Code in a formula file that is valid but rarely intended. */
export interface Suspicion extends Diagnostic {
  readonly factor: string;
}

/** A finding without its place. */
interface Found {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/**
 * Finds what `check --strict` reports beyond mistakes: factors that are equal or constant, state that never ends, sums
 * of different units, and operators with the same result for all data. (Look-ahead cannot be written: a negative delay
 * is a mistake, and instruments without a row yet are hidden from operators across the row.) Expressions are compared
 * by value, as far as the laws of operators show; each place of the file is reported once.
 */
export function findSuspicions({ factors }: BoundProgram, source: Source, registry: Registry): Suspicion[] {
  const graph = new ValueGraph(registry);
  const units = new Map<Expression, Unit | null>();
  const zeros = new Set<Expression>();
  const suspicions = new Map<string, Suspicion>();
  factors.forEach((factor, i) => {
    const add = ({ start, end }: Span, { code, message, remedy }: Found) => {
      const key = `${code} ${start} ${message}`;
      if (suspicions.has(key)) return;
      const diagnostic = source.diagnostic(code, { start, end }, message, remedy);
      suspicions.set(key, { ...diagnostic, factor: factor.name });
    };
    const nodes = graph.add(factor.expression);
    for (const found of factorSuspicions(graph, factors, i)) add(factor.span, found);
    for (const node of nodes) {
      if (node.kind === "call" && isWritten(node)) {
        const own = mixedUnits(node, units) ?? nullOperand(node, graph) ?? zeroByZero(node, zeros, graph);
        const found = own ?? sameForAll(node, graph);
        if (found) add(node.span, found);
      }
      units.set(node, unitOf(node, units));
      if (isZero(node, zeros, graph)) zeros.add(node);
    }
  });
  return [...suspicions.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

function factorSuspicions(graph: ValueGraph, factors: readonly Factor[], i: number): Found[] {
  const { expression } = factors[i]!;
  const computed = tasksBelow(graph.tasks, graph.ids.get(expression)!);
  const found: Found[] = [];
  const earlier = factors.slice(0, i).find((factor) => isEqual(graph, factor.expression, expression));
  if (earlier)
    found.push({
      code: "S601",
      message: `${factors[i]!.name} equals ${earlier.name}`,
      remedy: "leave one out",
    });
  if (!computed.some(({ kind }) => kind === "field")) {
    const message = `${factors[i]!.name} does not depend on any field`;
    found.push({ code: "S602", message, remedy: "it is the same everywhere" });
  }
  const recursive = computed.find((task) => task.kind === "call" && isUnbounded(task));
  if (recursive?.kind === "call") {
    const message = `${factors[i]!.name} depends on all of history through ${recursive.operator.name}`;
    found.push({ code: "S603", message, remedy: "its values depend on where history starts" });
  }
  return found;
}

/** The task and everything it depends on. */
function tasksBelow(tasks: readonly Task[], root: number): Task[] {
  const seen = new Set([root]);
  // Iterating over a set includes elements added on the way.
  for (const id of seen) for (const input of inputsOf(tasks[id]!)) seen.add(input);
  return [...seen].sort((a, b) => a - b).map((id) => tasks[id]!);
}

function isUnbounded({ operator, settings }: CallTask): boolean {
  return windowRowsOf(operator, settings) === Number.POSITIVE_INFINITY;
}

function isEqual({ ids }: ValueGraph, a: Expression, b: Expression): boolean {
  return ids.get(a) === ids.get(b);
}

/** False for a part of the formula that a rewrite or SELF generated: the file has nothing to change there. */
function isWritten({ span, args }: CallNode): boolean {
  return !args.some(({ span: { start, end } }) => start === span.start && end === span.end);
}

/** The operator's name in the formula. */
function shown({ operator: { name, symbol } }: CallNode): string {
  return symbol === undefined ? name : `'${symbol}'`;
}

/** Units of the usual fields: exponents of price and volume. */
const FIELD_UNITS: Readonly<Record<string, Unit>> = {
  open: [1, 0],
  high: [1, 0],
  low: [1, 0],
  close: [1, 0],
  vwap: [1, 0],
  volume: [0, 1],
  amount: [1, 1],
};
type Unit = readonly [price: number, volume: number];
const SAME_UNIT_SYMBOLS = new Set(["+", "-", "<", "<=", ">", ">=", "==", "!="]);

type Units = ReadonlyMap<Expression, Unit | null>;

function mixedUnits(node: CallNode, units: Units): Found | null {
  const [first, second] = node.args.map((arg) => units.get(arg));
  if (!SAME_UNIT_SYMBOLS.has(node.operator.symbol ?? "") || !first || !second) return null;
  if (String(first) === String(second)) return null;
  const message = `${shown(node)} of ${unitName(first)} and ${unitName(second)}`;
  return { code: "S604", message, remedy: "are both sides meant to have one unit?" };
}

/** The unit of an expression; null if unknown, or if it is a number, which fits any unit. */
function unitOf(node: Expression, units: Units): Unit | null {
  if (node.kind === "field") return FIELD_UNITS[node.name.toLowerCase()] ?? null;
  if (node.kind !== "call") return null;
  const [first, second] = node.args.map((arg) => units.get(arg));
  if (!first) return null;
  const { symbol, unit } = node.operator;
  if (unit === "same") return first;
  if (symbol === "*" && second) return [first[0] + second[0], first[1] + second[1]];
  if (symbol === "/" && second) return [first[0] - second[0], first[1] - second[1]];
  return null;
}

function unitName([price, volume]: Unit): string {
  const power = (name: string, exponent: number) =>
    exponent === 0 ? "" : exponent === 1 ? name : `${name}^${exponent}`;
  return (
    [power("price", price), power("volume", volume)].filter((part) => part !== "").join(" * ") || "a ratio"
  );
}

function isZero(node: Expression, zeros: ReadonlySet<Expression>, graph: ValueGraph): boolean {
  const task = graph.taskOf(node);
  if (task.kind === "number") return task.value === 0;
  if (node.kind !== "call") return false;
  const [first, second] = node.args;
  if (node.operator.symbol === "*") return node.args.some((arg) => zeros.has(arg));
  return node.operator.symbol === "-" && second !== undefined && isEqual(graph, first!, second);
}

function zeroByZero(
  { operator, args }: CallNode,
  zeros: ReadonlySet<Expression>,
  graph: ValueGraph,
): Found | null {
  if (operator.symbol !== "/" || !args.every((arg) => zeros.has(arg))) return null;
  if (args.every((arg) => graph.taskOf(arg).kind === "number" && arg.kind === "number")) return null;
  return { code: "S605", message: "divides zero by zero on every row", remedy: "it is null everywhere" };
}

function nullOperand(node: CallNode, graph: ValueGraph): Found | null {
  const literals = node.args.filter((arg) => arg.kind === "number" && Number.isNaN(arg.constant));
  const ids = new Set(literals.map((arg) => graph.ids.get(arg)));
  const call = writtenCall(node, graph);
  if (ids.size === 0 || !isNullFor(call, (input) => ids.has(input))) return null;
  if (node.operator.result === "condition" && node.operator.symbol !== undefined) {
    const message = `${shown(node)} with null is null, never true: null is not even equal to itself`;
    return ofNull(message, "write is_null(x) or !is_null(x)");
  }
  return ofNull(`${shown(node)} of null is null everywhere`, "leave it out");
}

function ofNull(message: string, remedy: string): Found {
  return { code: "S606", message, remedy };
}

/** The call as written, with its inputs by value. */
function writtenCall(node: CallNode, { ids }: ValueGraph): CallTask {
  const { operator, settings, minPeriods, group } = node;
  const inputs = node.args.map((arg) => ids.get(arg)!);
  return { kind: "call", operator, inputs, settings, minPeriods, group: group?.name ?? null };
}

/** Finds calls whose result does not depend on data. */
function sameForAll(node: CallNode, graph: ValueGraph): Found | null {
  const call = writtenCall(node, graph);
  if (call.operator.axis === "rolling") return sameWindows(node, call, graph);
  const always = alwaysOf(call, graph.tasks);
  if (always?.kind === "value") {
    const operands = hasEqualInputs(call) ? " of equal operands" : "";
    const message = `${shown(node)}${operands} is ${everywhereText(always.value)}`;
    return { code: "S607", message, remedy: "is one of the operands meant to be another one?" };
  }
  const { parameters } = node.operator;
  const condition = node.args.find((_, i) => parameters[i]?.kind === "condition");
  const known = condition && graph.taskOf(condition);
  if (always !== null && known?.kind === "number") {
    const message = `the condition of ${shown(node)} is ${everywhereText(known.value)}`;
    return { code: "S610", message, remedy: "write what it chooses, or correct the condition" };
  }
  if (always === null || !hasEqualInputs(call)) return null;
  const message = condition
    ? `${shown(node)} gives the same whatever its condition is`
    : `${shown(node)} of equal operands is that operand`;
  return { code: "S608", message, remedy: "is one of them meant to be another one?" };
}

function everywhereText(value: number): string {
  if (Number.isNaN(value)) return "null everywhere";
  // Messages show a zero without its sign.
  return `${numberText(value + 0)} wherever it is not null`;
}

function sameWindows(node: CallNode, call: CallTask, { tasks }: ValueGraph): Found | null {
  const value = sameForAllWindows(call, tasks);
  if (value === null) return null;
  const rows = counted(windowRowsOf(call.operator, call.settings), "row");
  const operands = hasEqualInputs(call) ? "equal series" : rows;
  const message = `${shown(node)} of ${operands} is ${everywhereText(value)}`;
  const remedy = hasEqualInputs(call) ? "is one meant to be another one?" : "give it more rows";
  return { code: "S609", message, remedy };
}
