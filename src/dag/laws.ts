import type { CallSyntax, Syntax } from "../../grammar/syntax.ts";
import { parseRewrite } from "../ast/rewrite_check.ts";
import { UsageError } from "../errors.ts";
import {
  isSeriesLike,
  type KernelOperator,
  kernelOperators,
  type Operator,
  type ParameterKind,
} from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";

/** One side of a law, or a part of it: a pattern for tasks, and a template for new ones. */
export type Term = VariableTerm | LiteralTerm | CallTerm;

export interface VariableTerm {
  readonly kind: "variable";
  readonly name: string;
  readonly values: Values;
}

/** The values that a name in a law may match. */
export type Values = "all" | "numbers" | "powers of two";

export interface LiteralTerm {
  readonly kind: "number";
  readonly value: number;
}

export interface CallTerm {
  readonly kind: "call";
  readonly operator: KernelOperator;
  /** Series arguments. */
  readonly inputs: readonly Term[];
  /** Compile-time arguments by name. */
  readonly settings: Readonly<Record<string, Term>>;
}

/** A law in use: tasks that match `left` are replaced by `right`. */
export interface Equation {
  readonly left: CallTerm;
  readonly right: Term;
}

const known = new WeakMap<Registry, Map<KernelOperator, readonly Equation[]>>();

/** The equations that an operator declares, once for every order of commutative operands on the left. */
export function equationsOf(operator: KernelOperator, registry: Registry): readonly Equation[] {
  const ofRegistry = known.get(registry) ?? new Map<KernelOperator, readonly Equation[]>();
  known.set(registry, ofRegistry);
  const equations = ofRegistry.get(operator) ?? readEquations(operator, registry);
  ofRegistry.set(operator, equations);
  return equations;
}

/** @throws UsageError E549 for an unreadable law. */
export function checkLaws(operators: readonly Operator[], registry: Registry): void {
  for (const operator of kernelOperators(operators)) equationsOf(operator, registry);
}

function readEquations(operator: KernelOperator, registry: Registry): Equation[] {
  const laws = (operator.laws ?? []).filter((law) => law !== "commutative");
  return laws.flatMap((law) => {
    const { left, right } = new LawReader(operator, law, registry).read();
    return ordersOf(left).map((order) => ({ left: order as CallTerm, right }));
  });
}

/** The term with the operands of its commutative operators in every order. */
function ordersOf(term: Term): Term[] {
  if (term.kind !== "call") return [term];
  let rows: Term[][] = [[]];
  for (const input of term.inputs) {
    const orders = ordersOf(input);
    rows = rows.flatMap((row) => orders.map((order) => [...row, order]));
  }
  if (term.operator.laws?.includes("commutative")) rows.push(...rows.map((row) => row.toReversed()));
  return rows.map((inputs) => ({ ...term, inputs }));
}

const RESTRICTED = /^(.*) for (numbers|powers of two) (\w+)$/;

/** The kind of a name: a series, or a number known at compile time. */
type Place = "series" | "setting";

class LawReader {
  readonly #operator: KernelOperator;
  readonly #law: string;
  readonly #registry: Registry;
  readonly #places = new Map<string, Place>();
  #isRight = false;
  /** The name in `for numbers c`, with the values that it may match. */
  #restricted: { readonly name: string; readonly values: Values } | undefined;

  constructor(operator: KernelOperator, law: string, registry: Registry) {
    this.#operator = operator;
    this.#law = law;
    this.#registry = registry;
  }

  read(): Equation {
    const [, equation = this.#law, values, name] = RESTRICTED.exec(this.#law) ?? [];
    if (name !== undefined) this.#restricted = { name, values: values as Values };
    const sides = equation.split(" = ");
    if (sides.length !== 2) throw this.#error("it is neither commutative nor an equation");
    const left = this.#side(sides[0] as string);
    if (left.kind !== "call" || left.operator !== this.#operator) {
      throw this.#error(`its left side does not apply ${this.#operator.name}`);
    }
    this.#isRight = true;
    return { left, right: this.#side(sides[1] as string) };
  }

  #side(text: string): Term {
    const syntax = parseRewrite({ name: this.#operator.name, formula: text });
    if ("problem" in syntax) throw this.#error(`it cannot be read: ${syntax.problem}`);
    return this.#term(syntax, "series");
  }

  #term(syntax: Syntax, place: Place): Term {
    switch (syntax.kind) {
      case "number":
        return { kind: "number", value: syntax.value };
      case "name":
        return this.#name(syntax.name, place);
      case "call":
        return this.#call(syntax, place);
      case "text":
        throw this.#error("it contains a text");
    }
  }

  #name(name: string, place: Place): Term {
    if (name === "null") return { kind: "number", value: Number.NaN };
    const before = this.#places.get(name);
    if (this.#isRight && before === undefined) throw this.#error(`only its right side has ${name}`);
    if (before !== undefined && before !== place)
      throw this.#error(`${name} is both a series and a number known at compile time`);
    this.#places.set(name, place);
    return {
      kind: "variable",
      name,
      values: this.#restricted?.name === name ? this.#restricted.values : "all",
    };
  }

  #call(syntax: CallSyntax, place: Place): Term {
    const operator = this.#find(syntax);
    if (operator.parameters.length !== syntax.args.length || syntax.named.length > 0) {
      throw this.#error(`${operator.name} needs all of its arguments, in their order`);
    }
    if (place === "setting" && (!this.#isRight || operator.axis !== "elementwise")) {
      throw this.#error(`${operator.name} is applied to numbers known at compile time`);
    }
    const inputs: Term[] = [];
    const settings: Record<string, Term> = {};
    operator.parameters.forEach(({ name, kind }, i) => {
      const term = this.#term(syntax.args[i] as Syntax, this.#placeOf(kind, place));
      if (isSeriesLike(kind)) inputs.push(term);
      else settings[name] = term;
    });
    const [only] = inputs;
    if (operator.symbol === "-" && inputs.length === 1 && only?.kind === "number") {
      return { kind: "number", value: -only.value };
    }
    return { kind: "call", operator, inputs, settings };
  }

  #placeOf(kind: ParameterKind, place: Place): Place {
    if (kind === "group") throw this.#error("it applies an operator within groups");
    return isSeriesLike(kind) ? place : "setting";
  }

  #find(syntax: CallSyntax): KernelOperator {
    const operator = this.#registry.findCalled(syntax, "native");
    if (!operator) throw this.#error(`${syntax.name} is not an operator`);
    if (operator.axis === "rewrite") throw this.#error(`${syntax.name} stands for a formula: write that`);
    return operator;
  }

  #error(problem: string): UsageError {
    return new UsageError(
      "E549",
      `operator ${this.#operator.name}: law ${JSON.stringify(this.#law)}: ${problem}`,
      'write "commutative", or an equation such as "abs(-x) = abs(x)"',
    );
  }
}
