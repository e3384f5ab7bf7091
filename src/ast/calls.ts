import type { Dialect } from "../../grammar/dialects.ts";
import { type Syntax, syntaxBelow } from "../../grammar/syntax.ts";
import { InternalError } from "../errors.ts";
import type { KernelOperator, Operator, RewriteOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import type { FittingArguments } from "./arguments.ts";
import { callNode, type Expression, plainCall } from "./nodes.ts";
import { parseRewrite } from "./rewrite_check.ts";
import type { SelfReferences } from "./self_reference.ts";

/** Builds the calls of a program and applies the rules of dialects to them. */
export class Calls {
  readonly #registry: Registry;
  readonly #self: SelfReferences;
  readonly #formulas = new Map<RewriteOperator, Syntax>();

  constructor(registry: Registry, self: SelfReferences) {
    this.#registry = registry;
    this.#self = self;
  }

  /** Applies an operator to arguments that fit it. */
  make(operator: KernelOperator, fitting: FittingArguments, span: Span, dialect: Dialect): Expression {
    const { group, settings, minPeriods } = fitting;
    const args = this.finite(operator, fitting.args, span, dialect);
    if (dialect.nullComparisons === "numpy" && isComparison(operator)) {
      return this.#numpyComparison(operator, args, span);
    }
    const node = callNode(operator, args, { group, settings, minPeriods, span });
    this.#self.note(node);
    return node;
  }

  /** The arguments, with infinities turned into nulls where the dialect's operator requires it. */
  finite(
    { name }: Operator,
    args: readonly Expression[],
    span: Span,
    dialect: Dialect,
  ): readonly Expression[] {
    if (!dialect.finiteInputs.has(name)) return args;
    return args.map((arg) => (arg.type === "series" ? this.#plainCall("purify", [arg], span) : arg));
  }

  /** With a null every comparison is false; `!=`, the opposite of `==`, is true. */
  #numpyComparison({ name }: KernelOperator, args: readonly Expression[], span: Span): Expression {
    const isNotEqual = name === "not_equal";
    const compared = this.#plainCall(isNotEqual ? "equal" : name, args, span);
    const isTrue = this.#plainCall("is_true", [compared], span);
    return isNotEqual ? this.#plainCall("not", [isTrue], span) : isTrue;
  }

  #plainCall(name: string, args: readonly Expression[], span: Span): Expression {
    return plainCall(this.#registry, name, args, span);
  }

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

  /** Replaces native aliases by printed names: a file in another dialect may define macros with the alias names. */
  #printNames(root: Syntax): void {
    for (const item of syntaxBelow(root)) {
      if (item.kind !== "call" || item.isSymbol) continue;
      const called = this.#registry.find(item.name, "native");
      if (called) (item as { name: string }).name = called.name;
    }
  }
}

/** True for `<`, `==` and the like: values in, a condition out. */
function isComparison({ axis, result, parameters }: KernelOperator): boolean {
  return (
    axis === "elementwise" &&
    result === "condition" &&
    parameters.length === 2 &&
    parameters[0]?.kind === "series"
  );
}
