import { DIALECTS, type Dialect, rewriteDialect } from "../../grammar/dialects.ts";
import { spelledName } from "../../grammar/names.ts";
import {
  type CallSyntax,
  calledNameSpan,
  type FactorSyntax,
  type LetSyntax,
  type NameSyntax,
  type StatementSyntax,
  type Syntax,
} from "../../grammar/syntax.ts";
import { EXPRESSION_NODES_MAX } from "../limits.ts";
import { isSeriesLike, type Operator, type RewriteOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import { type FittingArguments, fitArguments } from "./arguments.ts";
import { Calls } from "./calls.ts";
import { bindCondition, type ConditionParam, conditionTypeOf } from "./condition.ts";
import { ConditionTable } from "./condition_table.ts";
import { collectDefinitions, type Definition, type Definitions, letSignature } from "./definitions.ts";
import { functionRemedy } from "./function_remedy.ts";
import { type Meaning, Names, type PanelNames } from "./names.ts";
import { type Expression, groupRemedy, numberNode, unknownNode } from "./nodes.ts";
import type { BoundProgram, Factor, Param } from "./program.ts";
import type { Report } from "./report.ts";
import { SelfReferences } from "./self_reference.ts";
import { orderByUse } from "./use_order.ts";

export interface BindOptions extends PanelNames {
  readonly dialect: Dialect;
  readonly registry: Registry;
  /** Definition or field that is not 0 for the instruments that operators across the row include; null: all. */
  readonly universe: string | null;
}

/** Resolves every name and checks every type of a parsed file; reports all mistakes. */
export function bind(
  statements: readonly StatementSyntax[],
  options: BindOptions,
  report: Report,
): BoundProgram {
  try {
    return new Binder(statements, options, report).run();
  } catch (error) {
    if (!(error instanceof ExpansionLimit)) throw error;
    const message = `the file has more than ${EXPRESSION_NODES_MAX} expressions once its definitions are expanded`;
    report.add("E104", error.span, message, "give repeated parts a name with let, or split the file");
    return { factors: [], params: [], conditions: [], universe: null };
  }
}

/** Stops the walk: definitions that use definitions twice can double in size at each step. */
class ExpansionLimit extends Error {
  readonly span: Span;

  constructor(span: Span) {
    super("expansion limit");
    this.span = span;
  }
}

/** Where the names of an expression are looked up. */
interface Environment {
  readonly dialect: Dialect;
  /** Arguments of the definition being expanded, by lower-case name. */
  readonly args: ReadonlyMap<string, Expression>;
  /** The derived series whose formula is being bound, and where it is used: the formula is not in the file. */
  readonly derived: { readonly name: string; readonly span: Span } | null;
}

/** Work of the walk: bind an expression, or apply a call to the values on top of the stack. */
type Work =
  | { readonly kind: "visit"; readonly syntax: Syntax; readonly environment: Environment }
  | { readonly kind: "apply"; readonly syntax: CallSyntax; readonly environment: Environment };

class Binder {
  readonly #options: BindOptions;
  readonly #report: Report;
  readonly #statements: readonly StatementSyntax[];
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #bound = new Map<Definition, Expression>();
  readonly #derived = new Map<string, Expression>();
  readonly #self: SelfReferences;
  readonly #calls: Calls;
  readonly #conditions: ConditionTable;
  readonly #global: Environment;
  #nodeCount = 0;

  constructor(statements: readonly StatementSyntax[], options: BindOptions, report: Report) {
    this.#options = options;
    this.#report = report;
    this.#statements = statements;
    const { registry, dialect } = options;
    this.#definitions = collectDefinitions(statements, registry, dialect.name, report);
    this.#names = new Names(this.#definitions, options);
    this.#conditions = new ConditionTable((syntax) =>
      bindCondition(syntax, registry, (name) => this.#conditionParam(name), report),
    );
    this.#global = { dialect, args: new Map(), derived: null };
    this.#self = new SelfReferences(registry, report);
    this.#calls = new Calls(registry, this.#self);
  }

  run(): BoundProgram {
    const { byName, params } = this.#definitions;
    for (const definition of orderByUse(byName.values(), this.#names, this.#options.dialect, this.#report)) {
      if (!definition.isBroken) this.#bindDefinition(definition);
    }
    // Includes conditions of blocks without a factor.
    for (const statement of this.#statements) {
      if (statement.kind === "blockStart") this.#conditions.add(statement.condition);
    }
    const factors: Factor[] = [];
    for (const definition of byName.values()) {
      const { statement } = definition;
      if (statement.kind === "factor") factors.push(this.#factor(definition, statement));
    }
    const universe = this.#universe();
    return { factors, params: [...params.values()], conditions: this.#conditions.conditions, universe };
  }

  #bindDefinition(definition: Definition): void {
    const { statement } = definition;
    if (statement.kind === "broken") return;
    const countBefore = this.#report.count;
    const parameters = statement.kind === "let" ? statement.parameters : null;
    // The body of a parameterised definition is checked once on its own; its uses expand it.
    const args = new Map<string, Expression>(
      (parameters ?? []).map((name) => [name.name.toLowerCase(), unknownNode(name)]),
    );
    const { selfName } = this.#options.dialect;
    if (selfName !== null && statement.kind === "factor") args.set(selfName, this.#self.node(statement));
    const body = this.#expression(statement.expression, { ...this.#global, args });
    const expression = this.#self.resolve(body);
    if (this.#report.count > countBefore) definition.isBroken = true;
    else if (!parameters) this.#bound.set(definition, expression);
  }

  #factor(definition: Definition, statement: FactorSyntax): Factor {
    const expression = this.#bound.get(definition) ?? unknownNode(statement);
    if (expression.type === "group" || expression.type === "text") {
      const message = `factor ${spelledName(statement.name)} is a ${expression.type}, not a series`;
      this.#report.wrongType(statement.expression, message, groupRemedy(expression, "use let for groups"));
    }
    const condition = this.#conditions.indexOf(definition.conditions);
    if (this.#conditions.stepCount > EXPRESSION_NODES_MAX) throw new ExpansionLimit(statement);
    const { name, nameSpan: span, priority } = statement;
    return { name, span, expression, condition, priority };
  }

  /** The universe's expression; a name that the file does not define must be a field of the panel. */
  #universe(): Expression | null {
    const { universe, dialect } = this.#options;
    if (universe === null) return null;
    const span = { start: 0, end: 1 };
    const meaning = this.#names.resolve(universe, dialect);
    if (meaning?.kind === "derived" || meaning?.kind === "field") return this.#meaning(meaning, span);
    if (meaning?.kind !== "definition") return this.#meaning({ kind: "field", name: universe }, span);
    const { statement } = meaning.definition;
    const expression = this.#bound.get(meaning.definition) ?? unknownNode(statement);
    const takesArguments = statement.kind === "let" && statement.parameters !== null;
    if (!takesArguments && expression.type !== "group" && expression.type !== "text") return expression;
    const what = takesArguments ? "takes arguments" : `is a ${expression.type}`;
    this.#report.add(
      "E204",
      statement,
      `the universe ${universe} ${what}`,
      "give it one value per symbol and time",
    );
    return null;
  }

  #conditionParam(name: string): ConditionParam | undefined {
    const meaning = this.#names.resolve(name, this.#options.dialect);
    if (meaning?.kind === "param")
      return { name: meaning.param.name, type: conditionTypeOf(meaning.param.default) };
    const isBroken = meaning?.kind === "definition" && meaning.definition.statement.kind === "broken";
    return isBroken ? { name, type: "any" } : undefined;
  }

  /** Binds an expression with an explicit stack, since trees can be deeper than the thread's stack. */
  #expression(root: Syntax, environment: Environment): Expression {
    const work: Work[] = [{ kind: "visit", syntax: root, environment }];
    const values: Expression[] = [];
    for (let item = work.pop(); item; item = work.pop()) {
      if (item.kind === "visit") this.#visit(item.syntax, item.environment, work, values);
      else this.#apply(item.syntax, item.environment, work, values);
      if (this.#nodeCount > EXPRESSION_NODES_MAX) throw new ExpansionLimit(root);
    }
    return values[0] as Expression;
  }

  #visit(syntax: Syntax, environment: Environment, work: Work[], values: Expression[]): void {
    const span = environment.derived?.span ?? syntax;
    this.#nodeCount += 1;
    switch (syntax.kind) {
      case "number":
        values.push(numberNode(syntax.value, span));
        break;
      case "text":
        this.#report.wrongType(
          span,
          "a text has no place in a formula",
          "texts are for conditions over params",
        );
        values.push(unknownNode(span));
        break;
      case "name":
        values.push(this.#name(syntax, environment));
        break;
      case "call":
        this.#visitCall(syntax, environment, work);
    }
  }

  #visitCall(written: CallSyntax, environment: Environment, work: Work[]): void {
    const isMacro = !written.isSymbol && this.#names.findMacro(written.name) !== undefined;
    const syntax = isMacro ? written : environment.dialect.rewrite(written);
    work.push({ kind: "apply", syntax, environment });
    for (const { value } of syntax.named.toReversed())
      work.push({ kind: "visit", syntax: value, environment });
    for (const arg of syntax.args.toReversed()) work.push({ kind: "visit", syntax: arg, environment });
  }

  #name(syntax: NameSyntax, { dialect, args, derived }: Environment): Expression {
    const span = derived?.span ?? syntax;
    const argument = args.size > 0 ? args.get(syntax.name.toLowerCase()) : undefined;
    if (argument) return argument;
    const meaning = this.#names.resolve(syntax.name, dialect);
    if (meaning) return this.#meaning(meaning, span);
    const shown = derived ? `${syntax.name}, which ${derived.name} is derived from` : this.#written(syntax);
    this.#report.add("E205", span, `unknown name ${shown}`, () =>
      this.#names.remedyFor(syntax.name, args.keys(), dialect),
    );
    return unknownNode(span);
  }

  #meaning(meaning: Meaning, span: Span): Expression {
    switch (meaning.kind) {
      case "definition":
        return this.#use(meaning.definition, span);
      case "param":
        return this.#param(meaning.param, span);
      case "field":
        return { kind: "field", name: meaning.name, type: "series", constant: null, span };
      case "group":
        return { ...meaning, type: "group", constant: null, span };
      case "derived":
        return this.#derivedSeries(meaning.name, meaning.expression, span);
    }
  }

  #param({ name, default: value }: Param, span: Span): Expression {
    if (typeof value !== "string") return { kind: "param", name, type: "number", constant: null, span };
    const message = `param ${name} is a text, not a number`;
    this.#report.wrongType(span, message, "texts are for conditions over params");
    return unknownNode(span);
  }

  #use(definition: Definition, span: Span): Expression {
    const { statement } = definition;
    if (statement.kind === "let" && statement.parameters) {
      const message = `${spelledName(statement.name)} is used without its arguments`;
      this.#report.wrongArguments(span, message, `it reads ${letSignature(statement)}`);
    }
    return this.#bound.get(definition) ?? unknownNode(span);
  }

  /** Binds `returns`, `adv20` and the like once, where they are first used; unknown fields are reported there. */
  #derivedSeries(name: string, syntax: Syntax, span: Span): Expression {
    const known = this.#derived.get(name);
    if (known) return known;
    const derived = { name, span: { start: span.start, end: span.end } };
    const expression = this.#expression(syntax, { dialect: DIALECTS.native, args: new Map(), derived });
    this.#derived.set(name, expression);
    return expression;
  }

  #apply(syntax: CallSyntax, environment: Environment, work: Work[], values: Expression[]): void {
    const args = values.splice(values.length - syntax.args.length - syntax.named.length);
    const macro = syntax.isSymbol ? undefined : this.#names.findMacro(syntax.name);
    if (macro) {
      this.#expand(macro, syntax, args, environment, work, values);
      return;
    }
    const operator = this.#operator(syntax, environment.dialect);
    const placed = environment.derived ? { ...syntax, ...environment.derived.span } : syntax;
    if (!operator) {
      this.#reportNoFunction(syntax, environment.dialect);
      values.push(unknownNode(placed));
      return;
    }
    const fitting = fitArguments(
      operator,
      { syntax: placed, values: args },
      this.#options.groups,
      environment.dialect,
      this.#report,
    );
    if (!fitting) values.push(unknownNode(placed));
    else if (operator.axis === "rewrite") work.push(this.#rewrite(operator, fitting, placed, environment));
    else values.push(this.#calls.make(operator, fitting, placed, environment.dialect));
  }

  #operator(syntax: CallSyntax, dialect: Dialect): Operator | undefined {
    const { registry } = this.#options;
    // A dialect's rewrite yields printed names, which the dialect's own aliases must not capture.
    return registry.findCalled(syntax, syntax.writtenName === undefined ? dialect.name : "native");
  }

  /** A rewrite's formula with the arguments in place of its parameters. */
  #rewrite(operator: RewriteOperator, fitting: FittingArguments, span: Span, environment: Environment): Work {
    const args = new Map<string, Expression>();
    const series = this.#calls.finite(operator, fitting.args, span, environment.dialect);
    let seriesCount = 0;
    for (const { name, kind } of operator.parameters) {
      const key = name.toLowerCase();
      if (isSeriesLike(kind)) args.set(key, series[seriesCount++] as Expression);
      else if (kind === "group") args.set(key, fitting.group as Expression);
      else args.set(key, numberNode(fitting.settings[name] as number, span));
    }
    const { start, end } = span;
    const derived = environment.derived ?? { name: operator.name, span: { start, end } };
    const dialect = rewriteDialect(environment.dialect);
    return {
      kind: "visit",
      syntax: this.#calls.formulaOf(operator),
      environment: { dialect, args, derived },
    };
  }

  /** E201 or E219, unless a broken statement would have defined it. */
  #reportNoFunction(syntax: CallSyntax, dialect: Dialect): void {
    const { name } = syntax;
    const meaning = this.#names.resolve(name, dialect);
    if (meaning?.kind === "definition" && meaning.definition.statement.kind === "broken") return;
    const span = calledNameSpan(syntax);
    const shown = this.#written(span);
    if (meaning) this.#report.add("E219", span, `${shown} is not a function`, "use it without parentheses");
    else
      this.#report.add("E201", span, `unknown function ${shown}`, () => {
        const macros = [...this.#definitions.byName.values()].flatMap(({ statement }) =>
          statement.kind === "let" && statement.parameters ? [statement.name] : [],
        );
        return functionRemedy(name, dialect.name, this.#options.registry, macros);
      });
  }

  #written({ start, end }: Span): string {
    return this.#report.source.text.slice(start, end);
  }

  /** Replaces a call of a definition by its body, bound with the arguments. */
  #expand(
    definition: Definition,
    syntax: CallSyntax,
    args: readonly Expression[],
    environment: Environment,
    work: Work[],
    values: Expression[],
  ): void {
    const statement = definition.statement as LetSyntax;
    const parameters = statement.parameters ?? [];
    const reads = `it reads ${letSignature(statement)}`;
    const place = calledNameSpan(syntax);
    const called = spelledName(syntax.name);
    if (syntax.named.length > 0) {
      this.#report.wrongArguments(place, `${called} takes its arguments by position`, reads);
    } else if (parameters.length !== args.length) {
      const noun = parameters.length === 1 ? "argument" : "arguments";
      const message = `${called} expects ${parameters.length} ${noun}, got ${args.length}`;
      this.#report.wrongArguments(place, message, reads);
    } else if (!definition.isBroken) {
      const byName = new Map(parameters.map(({ name }, i) => [name.toLowerCase(), args[i] as Expression]));
      const inner = { ...this.#global, args: byName, derived: environment.derived };
      work.push({ kind: "visit", syntax: statement.expression, environment: inner });
      return;
    }
    values.push(unknownNode(environment.derived?.span ?? syntax));
  }
}
