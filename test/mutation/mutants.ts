import { parseSync, Visitor } from "oxc-parser";

/** One small change of a source file. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

const OPERATORS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
};

const CALLS: Readonly<Record<string, string>> = { max: "min", min: "max", some: "every", every: "some" };

/** A constant that has been tuned, or that says how many of something there may be: its exact value is no behaviour. */
const TUNED = /^[A-Z][A-Z0-9_]*$/;

/**
 * The mutants of a file: an operator, a condition or a bound turned round, a number one off, a call left out. Errors that are
 * thrown and constants that are tuned stay as they are.
 */
export function mutantsOf(file: string, text: string): Mutant[] {
  const mutants: Mutant[] = [];
  const skipped: (readonly [number, number])[] = [];
  const add = (start: number, end: number, after: string) => {
    const before = text.slice(start, end);
    const line = text.slice(0, start).split("\n").length;
    mutants.push({ file, line, start, end, before, after });
  };
  const turnOperator = (node: { operator: string; left: Span; right: Span }) => {
    const after = OPERATORS[node.operator];
    const start = text.indexOf(node.operator, node.left.end);
    if (after !== undefined && start < node.right.start) add(start, start + node.operator.length, after);
  };
  const negate = ({ start, end }: Span) => add(start, end, `!(${text.slice(start, end)})`);
  new Visitor({
    BinaryExpression: turnOperator,
    LogicalExpression: turnOperator,
    IfStatement: ({ test }) => negate(test),
    ConditionalExpression: ({ test }) => negate(test),
    MemberExpression: ({ property }) => {
      const after = property.type === "Identifier" ? CALLS[property.name] : undefined;
      if (after !== undefined) add(property.start, property.end, after);
    },
    Literal: ({ value, start, end }) => {
      if (typeof value === "boolean") add(start, end, String(!value));
      if (typeof value === "number") add(start, end, String(value + 1));
    },
    ExpressionStatement: ({ expression, start, end }) => {
      const call = expression.type === "AwaitExpression" ? expression.argument : expression;
      if (call.type === "CallExpression" && call.callee.type !== "Super") add(start, end, ";");
    },
    ThrowStatement: ({ start, end }) => skipped.push([start, end]),
    VariableDeclarator: ({ id, start, end }) => {
      if (id.type === "Identifier" && TUNED.test(id.name)) skipped.push([start, end]);
    },
    // Types are looked at by the compiler.
    TSLiteralType: ({ start, end }) => skipped.push([start, end]),
  }).visit(parseSync(file, text).program);
  return mutants.filter(({ start }) => !skipped.some(([from, to]) => from <= start && start < to));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export function applied(text: string, { start, end, after }: Mutant): string {
  return text.slice(0, start) + after + text.slice(end);
}
