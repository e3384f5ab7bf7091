import { DIALECTS, type Dialect } from "../../grammar/dialects.ts";
import {
  type CallSyntax,
  calledNameSpan,
  type LetSyntax,
  type NameSyntax,
  type StatementSyntax,
  type Syntax,
} from "../../grammar/syntax.ts";
import { EXPRESSION_NODES_MAX } from "../limits.ts";
import type { Operator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import { nearestName } from "../text/suggest.ts";
import { bindCall } from "./arguments.ts";
import { bindCondition, type Condition } from "./condition.ts";
import { collectDefinitions, type Definition, type Definitions, parseDerived } from "./definitions.ts";
import { localName, type PanelNames, reportUnknownName, resolveColumn } from "./names.ts";
import { type Expression, numberNode, unknownNode } from "./nodes.ts";
import type { BoundProgram, Factor } from "./program.ts";
import type { Report } from "./report.ts";

export interface BindOptions extends PanelNames {
  readonly dialect: Dialect;
  readonly registry: Registry;
}

/** Resolves every name and checks every type of a parsed file; all mistakes go to `report`. */
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
    report.add("E105", error.span, message, "split it into several files");
    return { factors: [], params: [], conditions: [] };
  }
}

/** Ends the walk: definitions that use definitions twice can double in size at each step. */
class ExpansionLimit extends Error {
  readonly span: Span;

  constructor(span: Span) {
    super("expansion limit");
    this.span = span;
  }
}

/** In which names of an expression are looked up. */
interface Environment {
  readonly dialect: Dialect;
  /** Arguments of the definition that is being expanded. */
  readonly args: ReadonlyMap<string, Expression>;
  /** Where nodes are placed, for formulas that do not stand in the file. */
  readonly at: Span | null;
}

/** Work of the walk: bind an expression, or apply a call to the values on top of the stack. */
type Work =
  | { readonly kind: "visit"; readonly syntax: Syntax; readonly environment: Environment }
  | { readonly kind: "apply"; readonly syntax: CallSyntax; readonly environment: Environment };

class Binder {
  readonly #options: BindOptions;
  readonly #report: Report;
  readonly #definitions: Definitions;
  readonly #bound = new Map<Definition, Expression>();
  readonly #derived = new Map<string, Expression>();
  readonly #conditions = new Map<string, number>();
  readonly #conditionList: Condition[] = [];
  readonly #global: Environment;
  #nodeCount = 0;

  constructor(statements: readonly StatementSyntax[], options: BindOptions, report: Report) {
    this.#options = options;
    this.#report = report;
    this.#definitions = collectDefinitions(statements, options.registry, report);
    this.#global = { dialect: options.dialect, args: new Map(), at: null };
  }

  run(): BoundProgram {
    for (const definition of this.#definitions.ordered) {
      if (!definition.isBroken) this.#bindDefinition(definition);
    }
    const factors: Factor[] = [];
    for (const definition of this.#definitions.byName.values()) {
      if (definition.statement.kind === "factor") factors.push(this.#factor(definition));
    }
    return { factors, params: [...this.#definitions.params.values()], conditions: this.#conditionList };
  }

  #bindDefinition(definition: Definition): void {
    const { statement } = definition;
    const countBefore = this.#report.diagnostics.length;
    const parameters = statement.kind === "let" ? statement.parameters : null;
    // The body of a parameterised definition is checked once by itself; its uses expand it.
    const args = new Map((parameters ?? []).map((name) => [name.name, unknownNode(name) as Expression]));
    const expression = this.#expression(statement.expression, { ...this.#global, args });
    if (this.#report.diagnostics.length > countBefore) definition.isBroken = true;
    else if (!parameters) this.#bound.set(definition, expression);
  }

  #factor(definition: Definition): Factor {
    const { statement, conditions } = definition;
    const expression = this.#bound.get(definition) ?? unknownNode(statement);
    if (expression.type === "group" || expression.type === "text") {
      const message = `factor ${statement.name} is a ${expression.type}, not a series`;
      this.#report.add("E204", statement.expression, message, "use let for names of group columns");
    }
    return { name: statement.name, expression, condition: this.#conditionOf(conditions) };
  }

  /** The index of the conjunction of conditions; equal conditions share one. */
  #conditionOf(conditions: readonly Syntax[]): number | null {
    if (conditions.length === 0) return null;
    const params = new Set(this.#definitions.params.keys());
    const steps = conditions.flatMap((syntax, i) => {
      const condition = bindCondition(
        syntax,
        params,
        this.#options.registry,
        ({ message, remedy, ...span }) => this.#report.add("E213", span, message, remedy),
      );
      const and = { kind: "operator", symbol: "&&", operandCount: 2 } as const;
      return i === 0 ? condition.steps : [...condition.steps, and];
    });
    const key = JSON.stringify(steps);
    const known = this.#conditions.get(key);
    if (known !== undefined) return known;
    this.#conditions.set(key, this.#conditionList.length);
    return this.#conditionList.push({ steps }) - 1;
  }

  /** Binds an expression with an explicit stack: trees are deeper than the thread's stack. */
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
    const span = environment.at ?? syntax;
    this.#nodeCount += 1;
    switch (syntax.kind) {
      case "number":
        values.push(numberNode(syntax.value, span));
        break;
      case "text":
        this.#report.add(
          "E204",
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
        work.push({ kind: "apply", syntax, environment });
        for (const { value } of syntax.named.toReversed())
          work.push({ kind: "visit", syntax: value, environment });
        for (const arg of syntax.args.toReversed()) work.push({ kind: "visit", syntax: arg, environment });
    }
  }

  #name(syntax: NameSyntax, environment: Environment): Expression {
    const span = environment.at ?? syntax;
    const name = localName(syntax.name, environment.dialect);
    const argument = environment.args.get(syntax.name);
    if (argument) return argument;
    const definition = this.#definitions.byName.get(name);
    if (definition) return this.#use(definition, span);
    const param = this.#definitions.params.get(name);
    if (param) {
      if (typeof param.default !== "string")
        return { kind: "param", name, type: "number", constant: null, span };
      this.#report.add(
        "E204",
        span,
        `param ${name} is a text, not a number`,
        "texts are for conditions over params",
      );
      return unknownNode(span);
    }
    return (
      resolveColumn(name, this.#options, span) ??
      this.#derivedSeries(name, span) ??
      reportUnknownName(syntax.name, span, this.#definitions, this.#options, this.#report)
    );
  }

  #use(definition: Definition, span: Span): Expression {
    const { name } = definition.statement;
    if (definition.statement.kind === "let" && definition.statement.parameters) {
      this.#report.add(
        "E202",
        span,
        `${name} is used without its arguments`,
        `it reads ${letSignature(definition.statement)}`,
      );
    }
    return this.#bound.get(definition) ?? unknownNode(span);
  }

  /** `returns`, `adv20`: bound once, placed where first used; unknown fields are reported there. */
  #derivedSeries(name: string, span: Span): Expression | undefined {
    const known = this.#derived.get(name.toLowerCase());
    if (known) return known;
    const syntax = parseDerived(name);
    if (!syntax) return undefined;
    const expression = this.#expression(syntax, { dialect: DIALECTS.native, args: new Map(), at: span });
    this.#derived.set(name.toLowerCase(), expression);
    return expression;
  }

  #apply(syntax: CallSyntax, environment: Environment, work: Work[], values: Expression[]): void {
    const args = values.splice(values.length - syntax.args.length - syntax.named.length);
    const definition = syntax.isSymbol ? undefined : this.#definitions.byName.get(syntax.name);
    if (definition) {
      this.#expand(definition, syntax, args, environment, work, values);
      return;
    }
    const operator = this.#operator(syntax, environment);
    const placed = environment.at ? { ...syntax, ...environment.at } : syntax;
    values.push(
      operator
        ? bindCall(operator, { syntax: placed, values: args }, environment.dialect, this.#report)
        : unknownNode(placed),
    );
  }

  #operator(syntax: CallSyntax, { dialect }: Environment): Operator | undefined {
    const { registry } = this.#options;
    if (syntax.isSymbol) return registry.findSymbol(syntax.name, syntax.args.length);
    const rolling = dialect.rollingWhenLiteral[syntax.name.toLowerCase()];
    const isLiteral = syntax.args.length > 1 && syntax.args.at(-1)?.kind === "number";
    const operator = registry.find(rolling && isLiteral ? rolling : syntax.name, dialect.name);
    if (operator) return operator;
    const lets = [...this.#definitions.byName.values()].filter(
      ({ statement }) => "parameters" in statement && statement.parameters,
    );
    const nearest = nearestName(syntax.name, [
      ...registry.names(dialect.name),
      ...lets.map(({ statement }) => statement.name),
    ]);
    const remedy = nearest ? `did you mean ${nearest}?` : "`factorloom ops` lists all functions";
    this.#report.add("E201", calledNameSpan(syntax), `unknown function ${syntax.name}`, remedy);
    return undefined;
  }

  /** Replaces the call of a definition by its body, bound with the arguments. */
  #expand(
    definition: Definition,
    syntax: CallSyntax,
    args: readonly Expression[],
    environment: Environment,
    work: Work[],
    values: Expression[],
  ): void {
    const { statement } = definition;
    const parameters = statement.kind === "let" ? statement.parameters : null;
    const span = environment.at ?? syntax;
    if (!parameters) {
      this.#report.add(
        "E201",
        calledNameSpan(syntax),
        `${syntax.name} is not a function`,
        "use it without parentheses",
      );
      values.push(unknownNode(span));
    } else if (parameters.length !== args.length || syntax.named.length > 0) {
      const noun = parameters.length === 1 ? "argument" : "arguments";
      const message = `${syntax.name} expects ${parameters.length} ${noun}, got ${args.length}`;
      this.#report.add(
        "E202",
        calledNameSpan(syntax),
        message,
        `it reads ${letSignature(statement as LetSyntax)}`,
      );
      values.push(unknownNode(span));
    } else if (definition.isBroken) {
      values.push(unknownNode(span));
    } else {
      const byName = new Map(parameters.map(({ name }, i) => [name, args[i] as Expression]));
      const inner = { dialect: this.#options.dialect, args: byName, at: environment.at };
      work.push({ kind: "visit", syntax: statement.expression, environment: inner });
    }
  }
}

function letSignature({ name, parameters }: LetSyntax): string {
  return `${name}(${(parameters ?? []).map((parameter) => parameter.name).join(", ")})`;
}
