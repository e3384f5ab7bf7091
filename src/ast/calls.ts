import { DIALECTS, type Dialect } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import type { Syntax } from "../../grammar/syntax.ts";
import { InternalError } from "../errors.ts";
import type { KernelOperator, RewriteOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import { renderDiagnostics, Source, type Span } from "../text/source.ts";
import type { FittingArguments } from "./arguments.ts";
import { callNode, type Expression, numberNode } from "./nodes.ts";
import type { SelfReferences } from "./self_reference.ts";

/** Makes the calls of a program: where the rules of dialects and the universe are put into the tree. */
export class Calls {
  readonly #registry: Registry;
  readonly #universe: string | null;
  readonly #self: SelfReferences;
  readonly #formulas = new Map<RewriteOperator, Syntax>();

  constructor(registry: Registry, universe: string | null, self: SelfReferences) {
    this.#registry = registry;
    this.#universe = universe;
    this.#self = self;
  }

  /** An operator applied to arguments that fit it. */
  make(operator: KernelOperator, fitting: FittingArguments, span: Span, dialect: Dialect): Expression {
    const masked = this.#maskByUniverse(operator, fitting.args, span);
    const { group, settings, minPeriods } = fitting;
    const node = callNode(operator, masked, { group, settings, minPeriods, span });
    this.#self.note(node);
    if (dialect.nullComparisons === "null" || !isComparison(operator)) return node;
    const isTrue = this.#registry.kernel("is_true");
    return callNode(isTrue, [node], { group: null, settings: {}, minPeriods: null, span });
  }

  /** The formula that a rewrite stands for. */
  formulaOf(operator: RewriteOperator): Syntax {
    const known = this.#formulas.get(operator);
    if (known) return known;
    const source = new Source(operator.name, `formula = ${operator.formula}`);
    const { statements, diagnostics } = parseFormulas(source, DIALECTS.native);
    const [statement] = statements;
    if (statement?.kind !== "factor" || diagnostics.length > 0) {
      throw new InternalError(
        `operator ${operator.name}: its formula cannot be read: ${renderDiagnostics(diagnostics)}`,
      );
    }
    this.#formulas.set(operator, statement.expression);
    return statement.expression;
  }

  /** Lanes outside the universe are null for operators across the row, and for nothing else. */
  #maskByUniverse(operator: KernelOperator, args: readonly Expression[], span: Span): readonly Expression[] {
    const [universe, registry] = [this.#universe, this.#registry];
    const readsRows = operator.axis === "cross_section" || operator.axis === "group";
    if (universe === null || !readsRows) return args;
    const rest = { group: null, settings: {}, minPeriods: null, span };
    const field: Expression = { kind: "field", name: universe, type: "series", constant: null, span };
    const isInside = callNode(registry.kernel("not_equal"), [field, numberNode(0, span)], rest);
    return args.map((arg) => callNode(registry.kernel("filter"), [arg, isInside], rest));
  }
}

/** True for `<`, `==` and the like: a condition made of values. */
function isComparison({ axis, result, parameters }: KernelOperator): boolean {
  return (
    axis === "elementwise" &&
    result === "condition" &&
    parameters.length === 2 &&
    parameters[0]?.kind === "series"
  );
}
