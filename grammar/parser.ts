import { EmbeddedActionsParser, type IToken } from "chevrotain";
import { PRIORITY_MAX } from "../src/limits.ts";
import type { Span } from "../src/text/source.ts";
import { type Branch, climb, type InfixOperand, makeTernary } from "./climb.ts";
import { syntaxMessages } from "./messages.ts";
import type { CallSyntax, NamedArgument, NameSyntax, StatementSyntax, Syntax } from "./syntax.ts";
import {
  Colon,
  Comma,
  DialectWord,
  Equals,
  False,
  Identifier,
  InfixOperator,
  LeftBrace,
  LeftParenthesis,
  Let,
  Minus,
  Null,
  NumberLiteral,
  nameIn,
  ParamWord,
  PrefixOperator,
  Priority,
  Question,
  RightBrace,
  RightParenthesis,
  TextLiteral,
  TOKENS,
  True,
  When,
} from "./tokens.ts";

function endOf(token: IToken): number {
  return token.startOffset + token.image.length;
}

function nameOf(token: IToken): NameSyntax {
  return {
    kind: "name",
    name: nameIn(token),
    start: token.startOffset,
    end: endOf(token),
  };
}

/** The head of `name = ...`: the name, and the start of the statement. */
function headOf(name: IToken, start = name.startOffset) {
  return {
    name: nameIn(name),
    nameSpan: { start: name.startOffset, end: endOf(name) },
    start,
  };
}

/**
 * The grammar of one statement. Infix expressions are parsed flat and ordered by the precedence table: one rule
 * call per operand instead of one per precedence level, and a million terms need no deep stack.
 */
export class FormulaParser extends EmbeddedActionsParser {
  /** Comparisons that follow each other without parentheses. */
  chained: IToken[] = [];
  /** Numbers larger than the largest double. */
  tooLarge: IToken[] = [];
  /** Priorities that are fractions or beyond the limit. */
  wrongPriorities: Span[] = [];

  constructor() {
    super(TOKENS, { maxLookahead: 2, errorMessageProvider: syntaxMessages });
    this.performSelfAnalysis();
  }

  override reset(): void {
    super.reset();
    this.chained = [];
    this.tooLarge = [];
    this.wrongPriorities = [];
  }

  /** End of the last token read. */
  private lastEnd(): number {
    return endOf(this.LA(0));
  }

  private readNumber(number: IToken): number {
    const value = Number(number.image);
    if (value === Number.POSITIVE_INFINITY) this.tooLarge.push(number);
    return value;
  }

  statement = this.RULE(
    "statement",
    (): StatementSyntax =>
      this.OR([
        { ALT: (): StatementSyntax => this.SUBRULE(this.dialectStatement) },
        { ALT: (): StatementSyntax => this.SUBRULE(this.letStatement) },
        { ALT: (): StatementSyntax => this.SUBRULE(this.paramStatement) },
        { ALT: (): StatementSyntax => this.SUBRULE(this.blockStart) },
        { ALT: (): StatementSyntax => this.SUBRULE(this.blockEnd) },
        { ALT: (): StatementSyntax => this.SUBRULE(this.factorStatement) },
      ]),
  );

  private dialectStatement = this.RULE("dialectStatement", (): StatementSyntax => {
    const start = this.CONSUME(DialectWord).startOffset;
    const name = this.CONSUME(Identifier);
    return { kind: "dialect", ...headOf(name, start), end: endOf(name) };
  });

  private letStatement = this.RULE("letStatement", (): StatementSyntax => {
    const start = this.CONSUME(Let).startOffset;
    const name = this.CONSUME(Identifier);
    const parameters = this.OPTION(() => this.SUBRULE(this.parameterNames)) ?? null;
    this.CONSUME(Equals);
    const expression = this.SUBRULE(this.expression);
    return {
      kind: "let",
      ...headOf(name, start),
      parameters,
      expression,
      end: this.lastEnd(),
    };
  });

  private parameterNames = this.RULE("parameterNames", (): NameSyntax[] => {
    const names: NameSyntax[] = [];
    this.CONSUME(LeftParenthesis);
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      DEF: () => names.push(nameOf(this.CONSUME(Identifier))),
    });
    this.CONSUME(RightParenthesis);
    return names;
  });

  private paramStatement = this.RULE("paramStatement", (): StatementSyntax => {
    const start = this.CONSUME(ParamWord).startOffset;
    const name = this.CONSUME(Identifier);
    const value = this.OPTION(() => {
      this.CONSUME(Equals);
      return this.SUBRULE(this.literal);
    });
    return {
      kind: "param",
      ...headOf(name, start),
      default: value ?? null,
      end: this.lastEnd(),
    };
  });

  private literal = this.RULE("literal", (): number | string | boolean =>
    this.OR([
      {
        ALT: (): number | string | boolean => this.CONSUME(TextLiteral).image.slice(1, -1),
      },
      { ALT: () => this.CONSUME(True) && true },
      { ALT: () => !this.CONSUME(False) },
      {
        ALT: () => {
          const sign = this.OPTION(() => this.CONSUME(Minus)) ? -1 : 1;
          return sign * this.readNumber(this.CONSUME(NumberLiteral));
        },
      },
    ]),
  );

  private blockStart = this.RULE("blockStart", (): StatementSyntax => {
    const start = this.CONSUME(When).startOffset;
    const condition = this.SUBRULE(this.expression);
    const end = this.CONSUME(LeftBrace).startOffset + 1;
    return { kind: "blockStart", condition, start, end };
  });

  private blockEnd = this.RULE("blockEnd", (): StatementSyntax => {
    const start = this.CONSUME(RightBrace).startOffset;
    return { kind: "blockEnd", start, end: start + 1 };
  });

  private factorStatement = this.RULE("factorStatement", (): StatementSyntax => {
    const name = this.CONSUME(Identifier);
    this.CONSUME(Equals);
    const expression = this.SUBRULE(this.expression);
    const condition =
      this.OPTION(() => {
        this.CONSUME(When);
        return this.SUBRULE1(this.expression);
      }) ?? null;
    const priority = this.OPTION1(() => this.SUBRULE(this.priority)) ?? 0;
    return {
      kind: "factor",
      ...headOf(name),
      expression,
      condition,
      priority,
      end: this.lastEnd(),
    };
  });

  private priority = this.RULE("priority", (): number => {
    this.CONSUME(Priority);
    const { startOffset: start } = this.LA(1);
    const sign = this.OPTION(() => this.CONSUME(Minus)) ? -1 : 1;
    const number = Number(this.CONSUME(NumberLiteral).image);
    return this.ACTION(() => {
      const isRight = Number.isInteger(number) && number <= PRIORITY_MAX;
      if (!isRight) this.wrongPriorities.push({ start, end: this.lastEnd() });
      return number === 0 ? 0 : sign * number;
    });
  });

  private expression = this.RULE("expression", (): Syntax => {
    const branches: Branch[] = [];
    let start = this.LA(1).startOffset;
    let last = this.SUBRULE(this.infix);
    this.MANY(() => {
      const condition = last;
      this.CONSUME(Question);
      const chosen = this.SUBRULE(this.expression);
      branches.push({ condition, chosen, start });
      this.CONSUME(Colon);
      start = this.LA(1).startOffset;
      last = this.SUBRULE1(this.infix);
    });
    return this.ACTION(() => makeTernary(branches, last, this.lastEnd()));
  });

  private infix = this.RULE("infix", (): Syntax => {
    const operands: InfixOperand[] = [this.SUBRULE(this.operand)];
    const operators: IToken[] = [];
    this.MANY(() => {
      operators.push(this.CONSUME(InfixOperator));
      operands.push(this.SUBRULE1(this.operand));
    });
    return this.ACTION(() => climb(operands, operators, this.chained));
  });

  private operand = this.RULE("operand", (): InfixOperand => {
    const prefixes: IToken[] = [];
    this.MANY(() => prefixes.push(this.CONSUME(PrefixOperator)));
    const start = this.LA(1).startOffset;
    const primary = this.SUBRULE(this.primary);
    return { prefixes, primary, start, end: this.lastEnd() };
  });

  private primary = this.RULE(
    "primary",
    (): Syntax =>
      this.OR([
        {
          ALT: (): Syntax => {
            const token = this.CONSUME(NumberLiteral);
            return {
              kind: "number",
              value: this.readNumber(token),
              start: token.startOffset,
              end: endOf(token),
            };
          },
        },
        {
          ALT: (): Syntax => {
            const token = this.CONSUME(Null);
            return {
              kind: "number",
              value: Number.NaN,
              start: token.startOffset,
              end: endOf(token),
            };
          },
        },
        {
          ALT: (): Syntax => {
            const token = this.CONSUME(TextLiteral);
            return {
              kind: "text",
              value: token.image.slice(1, -1),
              start: token.startOffset,
              end: endOf(token),
            };
          },
        },
        { ALT: (): Syntax => this.SUBRULE(this.nameOrCall) },
        {
          ALT: (): Syntax => {
            this.CONSUME(LeftParenthesis);
            const inner = this.SUBRULE(this.expression);
            this.CONSUME(RightParenthesis);
            return inner;
          },
        },
      ]),
  );

  private nameOrCall = this.RULE("nameOrCall", (): Syntax => {
    const name = this.CONSUME(Identifier);
    const call = this.OPTION((): CallSyntax => {
      const args: Syntax[] = [];
      const named: NamedArgument[] = [];
      this.CONSUME(LeftParenthesis);
      this.MANY_SEP({
        SEP: Comma,
        DEF: () =>
          this.OR([
            { ALT: () => named.push(this.SUBRULE(this.namedArgument)) },
            { ALT: () => args.push(this.SUBRULE(this.expression)) },
          ]),
      });
      const end = this.CONSUME(RightParenthesis).startOffset + 1;
      const { image, startOffset: start } = name;
      return {
        kind: "call",
        name: nameIn(name),
        nameLength: image.length,
        isSymbol: false,
        args,
        named,
        start,
        end,
      };
    });
    return call ?? nameOf(name);
  });

  private namedArgument = this.RULE("namedArgument", (): NamedArgument => {
    const name = this.CONSUME(Identifier);
    this.CONSUME(Equals);
    const value = this.SUBRULE(this.expression);
    return {
      name: nameIn(name),
      value,
      start: name.startOffset,
      end: endOf(name),
    };
  });
}
