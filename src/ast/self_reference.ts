import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import { type CallNode, type Expression, numberNode, plainCall, unknownNode } from "./nodes.ts";
import type { Report } from "./report.ts";

/** `factor * SELF + addend`: the form that a recursion over rows must have. */
interface Affine {
  readonly factor: Expression;
  readonly addend: Expression;
  /** 1 where SELF is used or carried over, 0 where a value without it is taken. */
  readonly recalls: Expression;
}

/**
 * Gives a meaning to factors that use their own value of the row before (`SELF`): an expression that is affine in SELF
 * becomes `affine_recurrence(factor, addend, recalls)`. Allowed are SELF, SELF times something, such a term plus or
 * minus something, and these in the branches of `?:`. Anything else would change the order of operations and is refused
 * (E216).
 */
export class SelfReferences {
  readonly #registry: Registry;
  readonly #report: Report;
  /** Nodes that contain SELF. */
  readonly #containing = new WeakSet<Expression>();

  constructor(registry: Registry, report: Report) {
    this.#registry = registry;
    this.#report = report;
  }

  /** The node of SELF while a factor is bound. */
  node(span: Span): Expression {
    const node = { ...unknownNode(span), type: "series" as const };
    this.#containing.add(node);
    return node;
  }

  /** Takes note of a call. Must be called for every new call, arguments first. */
  note(node: Expression): void {
    if (node.kind === "call" && node.args.some((arg) => this.#containing.has(arg)))
      this.#containing.add(node);
  }

  /** The expression with SELF replaced by the recurrence. */
  resolve(expression: Expression): Expression {
    if (!this.#containing.has(expression)) return expression;
    const affine = this.#affine(expression);
    if (!affine) {
      const message = "SELF may stand alone, times something, plus something, or in the branches of ?:";
      this.#report.add("E216", expression.span, message, "e.g. c ? x * SELF + y : SELF");
      return unknownNode(expression.span);
    }
    return this.#call("affine_recurrence", [affine.factor, affine.addend, affine.recalls], expression.span);
  }

  #affine(node: Expression): Affine | undefined {
    const { span } = node;
    if (!this.#containing.has(node)) return this.#fresh(node);
    if (node.kind === "unknown") return this.#term(numberNode(1, span), span);
    if (node.kind !== "call") return undefined;
    const [first, second, third] = node.args as [Expression, Expression, Expression];
    switch (node.operator.symbol) {
      case "*":
        return this.#product(first, second, span);
      case "+":
        return this.#containing.has(second) ? this.#sum(second, first, node) : this.#sum(first, second, node);
      case "-":
        if (!second || this.#containing.has(second)) return undefined;
        return this.#sum(first, this.#call("negate", [second], span), node);
      case "?:":
        return this.#branches(first, second, third, span);
      default:
        return undefined;
    }
  }

  /** A branch without SELF. Where it is null SELF is carried over, as where it is used. */
  #fresh(node: Expression): Affine {
    const { span, constant } = node;
    const isNull = (value: number) => numberNode(Number.isNaN(value) ? 1 : 0, span);
    const recalls = constant === null ? this.#call("is_null", [node], span) : isNull(constant);
    return { factor: numberNode(0, span), addend: node, recalls };
  }

  #product(first: Expression, second: Expression, span: Span): Affine | undefined {
    const other = first.kind === "unknown" ? second : first;
    const self = first.kind === "unknown" ? first : second;
    if (self.kind !== "unknown" || this.#containing.has(other)) return undefined;
    return this.#term(other, span);
  }

  #term(factor: Expression, span: Span): Affine {
    // Adding -0 changes no value, including the sign of a zero.
    return { factor, addend: numberNode(-0, span), recalls: numberNode(1, span) };
  }

  /** Adds something without SELF to a term in SELF that has no addend yet. */
  #sum(term: Expression, addend: Expression, { span }: CallNode): Affine | undefined {
    if (this.#containing.has(addend) || !this.#containing.has(term)) return undefined;
    const affine = this.#affine(term);
    const hasAddend = affine && !Object.is(affine.addend.constant, -0);
    return affine && !hasAddend ? { ...affine, addend: { ...addend, span } } : undefined;
  }

  #branches(condition: Expression, a: Expression, b: Expression, span: Span): Affine | undefined {
    if (this.#containing.has(condition)) return undefined;
    const [chosen, other] = [this.#affine(a), this.#affine(b)];
    if (!chosen || !other) return undefined;
    // A number that stands for a branch has no place of its own in the file.
    const placed = (x: Expression) => (x.kind === "number" ? numberNode(x.constant, span) : x);
    const select = (x: Expression, y: Expression) =>
      this.#call("where", [condition, placed(x), placed(y)], span);
    const one = numberNode(1, span);
    const isAlways = chosen.recalls.constant === 1 && other.recalls.constant === 1;
    return {
      factor: select(chosen.factor, other.factor),
      addend: select(chosen.addend, other.addend),
      // Where the condition is null SELF is carried over.
      recalls: isAlways ? one : this.#call("coalesce", [select(chosen.recalls, other.recalls), one], span),
    };
  }

  #call(name: string, args: readonly Expression[], span: Span): Expression {
    return plainCall(this.#registry, name, args, span);
  }
}
