import type { Dialect } from "../../grammar/dialects.ts";
import type { Syntax } from "../../grammar/syntax.ts";
import { InternalError } from "../errors.ts";
import type { KernelOperator, RewriteOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import type { FittingArguments } from "./arguments.ts";
import { callNode, type Expression, numberNode } from "./nodes.ts";
import { parseRewrite } from "./rewrite_check.ts";
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
    const syntax = parseRewrite(operator);
    if ("problem" in syntax) {
      throw new InternalError(`operator ${operator.name}: its formula cannot be read: ${syntax.problem}`);
    }
    this.#printNames(syntax);
    this.#formulas.set(operator, syntax);
    return syntax;
  }

  /** Puts printed names in place of native aliases: a file in another dialect may define macros of those names. */
  #printNames(root: Syntax): void {
    const pending = [root];
    for (let item = pending.pop(); item; item = pending.pop()) {
      if (item.kind !== "call") continue;
      const called = item.isSymbol ? undefined : this.#registry.find(item.name, "native");
      if (called) (item as { name: string }).name = called.name;
      for (const arg of item.args) pending.push(arg);
      for (const { value } of item.named) pending.push(value);
    }
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
