import type { Expression } from "../ast/nodes.ts";
import { printExpression } from "../ast/print.ts";
import type { Source } from "../text/source.ts";
import type { WrittenPlace } from "./explanation.ts";

/** Longer texts of expressions that the source does not contain are cut. */
const PRINTED_CHARACTERS_MAX = 200;

/** Its text as written; an expression that the text names only, as `adv20` or an operator's own formula, is printed. */
export function placeOf(source: Source, expression: Expression, parent: Expression | null): WrittenPlace {
  const { span } = expression;
  const isExpanded = parent?.span.start === span.start && parent.span.end === span.end;
  const formula = isExpanded
    ? printExpression(expression, PRINTED_CHARACTERS_MAX)
    : source.text.slice(span.start, span.end);
  return { formula, ...source.position(span.start) };
}
