import type { Span } from "../src/text/source.ts";

/** The parser's output: names are unresolved, operators are calls by their symbol. */
export type Syntax = NumberSyntax | TextSyntax | NameSyntax | CallSyntax;

export interface NumberSyntax extends Span {
  readonly kind: "number";
  readonly value: number;
}

export interface TextSyntax extends Span {
  readonly kind: "text";
  readonly value: string;
}

/** A name as written, e.g. `close` or `IndClass.sector`. */
export interface NameSyntax extends Span {
  readonly kind: "name";
  readonly name: string;
}

export interface CallSyntax extends Span {
  readonly kind: "call";
  /** A function's name, or the symbol of an operator if `isSymbol`. */
  readonly name: string;
  readonly isSymbol: boolean;
  /** Characters of the name in the source text, backquotes included. */
  readonly nameLength: number;
  /** The name in the source text, where the dialect gives the call another meaning. */
  readonly writtenName?: string;
  readonly args: readonly Syntax[];
  readonly named: readonly NamedArgument[];
}

/** A syntax tree with all below it, each node before what it holds; an explicit stack, since trees may be deep. */
export function* syntaxBelow(root: Syntax): Generator<Syntax> {
  const pending = [root];
  for (let item = pending.pop(); item; item = pending.pop()) {
    yield item;
    if (item.kind !== "call") continue;
    for (const arg of item.args) pending.push(arg);
    for (const { value } of item.named) pending.push(value);
  }
}

/** Span of a called function's name: a call starts with it. */
export function calledNameSpan({ start, nameLength }: CallSyntax): Span {
  return { start, end: start + nameLength };
}

export interface NamedArgument extends Span {
  readonly name: string;
  readonly value: Syntax;
}

interface Named extends Span {
  readonly name: string;
  readonly nameSpan: Span;
}

/** `name = expression`, optionally followed by `when condition` and `priority 10`. */
export interface FactorSyntax extends Named {
  readonly kind: "factor";
  readonly expression: Syntax;
  readonly condition: Syntax | null;
  /** 0 by default. */
  readonly priority: number;
}

/** `let name = expression` or `let name(x, d) = expression`. */
export interface LetSyntax extends Named {
  readonly kind: "let";
  readonly parameters: readonly NameSyntax[] | null;
  readonly expression: Syntax;
}

/** `param name = default` or `param name`. */
export interface ParamSyntax extends Named {
  readonly kind: "param";
  readonly default: number | string | boolean | null;
}

/** `dialect name`. */
export interface DialectSyntax extends Named {
  readonly kind: "dialect";
}

/** `when condition {`: the factors up to the matching `}` are computed only if the condition holds. */
export interface BlockStartSyntax extends Span {
  readonly kind: "blockStart";
  readonly condition: Syntax;
}

/**
 * A statement that could not be read and has been reported. The names that it would have defined are known to be
 * broken, so that their uses are not reported as unknown.
 */
export interface BrokenSyntax extends Named {
  readonly kind: "broken";
  /** The first word of the statement. */
  readonly keyword: "dialect" | "let" | "param" | null;
}

/** `}`. */
export interface BlockEndSyntax extends Span {
  readonly kind: "blockEnd";
}

export type StatementSyntax =
  | FactorSyntax
  | LetSyntax
  | ParamSyntax
  | DialectSyntax
  | BlockStartSyntax
  | BrokenSyntax
  | BlockEndSyntax;
