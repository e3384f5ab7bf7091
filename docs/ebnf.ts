import type { ISerializedGast } from "chevrotain";
import { QUOTED, WORD } from "../grammar/names.ts";
import { parser } from "../grammar/parse.ts";
import { INFIX, PREFIX_LEVEL, TERNARY_LEVEL } from "../grammar/precedence.ts";
import { Identifier, NumberLiteral, TextLiteral } from "../grammar/tokens.ts";

/** A rule of the grammar as a tree, for diagrams. */
export type GrammarNode =
  | { readonly kind: "terminal" | "rule"; readonly text: string }
  | {
      readonly kind: "sequence" | "choice";
      readonly items: readonly GrammarNode[];
    }
  | { readonly kind: "optional"; readonly item: GrammarNode }
  | {
      readonly kind: "repeat";
      readonly item: GrammarNode;
      readonly separator: GrammarNode | null;
      readonly least: 0 | 1;
    };

export interface GrammarRule {
  readonly name: string;
  readonly definition: GrammarNode;
}

/** The fields read here that the parser's serialised productions share. */
interface Production extends ISerializedGast {
  readonly name?: string;
  readonly label?: string;
  readonly separator?: Production;
  readonly definition?: Production[];
}

/** The rules of the parser itself, so that the diagrams show what is parsed. */
export function grammarRules(): GrammarRule[] {
  return (parser.getSerializedGastProductions() as Production[]).map((rule) => {
    return { name: rule.name ?? "", definition: sequence(rule.definition) };
  });
}

function sequence(productions: readonly Production[] = []): GrammarNode {
  const items = productions.map(convert);
  return items.length === 1 ? (items[0] as GrammarNode) : { kind: "sequence", items };
}

function convert(production: Production): GrammarNode {
  const { type, definition, separator } = production;
  switch (type) {
    case "NonTerminal":
      return { kind: "rule", text: production.name ?? "" };
    case "Terminal":
      return terminal(production);
    case "Alternation":
      return { kind: "choice", items: (definition ?? []).map(convert) };
    case "Option":
      return { kind: "optional", item: sequence(definition) };
    case "Repetition":
    case "RepetitionWithSeparator":
    case "RepetitionMandatory":
    case "RepetitionMandatoryWithSeparator": {
      const least = type.startsWith("RepetitionMandatory") ? 1 : 0;
      return {
        kind: "repeat",
        item: sequence(definition),
        separator: separator ? terminal(separator) : null,
        least,
      };
    }
    default:
      return sequence(definition);
  }
}

/** Shows fixed tokens as they are typed, others by name. */
function terminal({ name = "", label = "" }: Production): GrammarNode {
  return {
    kind: "terminal",
    text: label.startsWith("'") && name !== "PrefixOperator" ? label : name,
  };
}

/** The grammar in the EBNF notation of the W3C (XML 1.0, section 6). */
export function printEbnf(): string {
  const rules = grammarRules().map(({ name, definition }) => `${name} ::= ${print(definition, false)}`);
  const tokens = [
    `${Identifier.name} ::= Word ('.' Word)? | QuotedName`,
    `Word ::= /${WORD}/`,
    `QuotedName ::= /${QUOTED}/`,
    ...[NumberLiteral, TextLiteral].map(({ name, PATTERN }) => `${name} ::= /${(PATTERN as RegExp).source}/`),
  ];
  const infix = Object.keys(INFIX).map((symbol) => `'${symbol}'`);
  return [
    "file ::= (statement? Newline)*",
    ...rules,
    ...tokens,
    `InfixOperator ::= ${infix.join(" | ")}`,
    "PrefixOperator ::= '-' | '!'",
  ].join("\n");
}

function print(node: GrammarNode, isInner: boolean): string {
  switch (node.kind) {
    case "terminal":
    case "rule":
      return node.text;
    case "sequence":
      return parenthesise(node.items.map((item) => print(item, true)).join(" "), isInner);
    case "choice":
      return parenthesise(node.items.map((item) => print(item, false)).join(" | "), isInner);
    case "optional":
      return `${print(node.item, true)}?`;
    case "repeat": {
      const item = print(node.item, true);
      if (node.separator === null) return `${item}${node.least === 1 ? "+" : "*"}`;
      const list = `${item} (${print(node.separator, true)} ${item})*`;
      return node.least === 1 ? parenthesise(list, isInner) : `(${list})?`;
    }
  }
}

function parenthesise(text: string, isNeeded: boolean): string {
  return isNeeded ? `(${text})` : text;
}

/** Operators from the loosest to the tightest, one row a level: symbols and associativity. */
export function precedenceRows(): [symbols: string, associativity: string][] {
  const levels = new Map<number, [string[], string]>([
    [TERNARY_LEVEL, [["? :"], "right"]],
    [PREFIX_LEVEL, [["- (prefix)", "!"], "right"]],
  ]);
  for (const [symbol, { level, associativity }] of Object.entries(INFIX)) {
    const entry = levels.get(level) ?? [[], associativity === "none" ? "does not chain" : associativity];
    entry[0].push(symbol);
    levels.set(level, entry);
  }
  return [...levels]
    .sort(([a], [b]) => a - b)
    .map(([, [symbols, associativity]]) => [symbols.join("  "), associativity]);
}
