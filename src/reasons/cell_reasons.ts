import type { CallNode, Expression } from "../ast/nodes.ts";
import { formatTime } from "../data/time/time_text.ts";
import { windowRowsOf } from "../operator/definition.ts";
import type { NullCause } from "../operator/null_causes.ts";
import type { TimeType } from "../panel.ts";
import type { Source } from "../text/source.ts";
import { isBad } from "./blame.ts";
import type { ExplainedExpression, ExplainedWindow, ReasonStep, WrittenPlace } from "./explanation.ts";
import type { NullOrigins } from "./null_origins.ts";
import { placeOf } from "./written_place.ts";

/** Deeper expressions are not shown: a person does not read them, and a tree of a million levels has no JSON. */
const TREE_LEVELS_MAX = 100;

/** A traced factor as its author wrote it. */
export interface TracedFactor {
  readonly expression: Expression;
  readonly source: Source;
  readonly taskOf: ReadonlyMap<Expression, number>;
  /** Of the instrument alone. */
  readonly origins: NullOrigins;
  /** One per row of these. */
  readonly times: BigInt64Array;
  readonly timeType: TimeType;
}

/** Explains cells of one factor and one instrument. */
export class CellReasons {
  readonly #factor: TracedFactor;

  constructor(factor: TracedFactor) {
    this.#factor = factor;
  }

  /** The tree of the factor with the values of one row. */
  tree(row: number): ExplainedExpression {
    return this.#tree(this.#factor.expression, null, row, new Set(), 0);
  }

  /** The cells from a null or infinite value of the factor to the first cause. */
  chain(row: number): ReasonStep[] {
    const steps: ReasonStep[] = [];
    let [expression, parent, at]: [Expression, Expression | null, number] = [
      this.#factor.expression,
      null,
      row,
    ];
    while (isBad(this.#value(expression, at))) {
      const blame = this.#factor.origins.blame(this.#task(expression), at);
      steps.push(this.#step(expression, parent, at, blame.cause));
      if (blame.kind === "cause") break;
      parent = expression;
      expression = (expression as CallNode).args[blame.input]!;
      at -= blame.rowsAgo;
    }
    return steps;
  }

  /** The only step where the factor's own condition does not hold. */
  unwanted(row: number): ReasonStep {
    return this.#step(this.#factor.expression, null, row, "condition_not_wanted");
  }

  #step(expression: Expression, parent: Expression | null, row: number, cause: NullCause): ReasonStep {
    const args = expression.kind === "call" ? expression.args : [];
    return {
      ...this.#place(expression, parent),
      time: this.#time(row),
      value: shown(this.#value(expression, row)),
      cause,
      inputs: args.map((arg) => this.#place(arg, expression)),
      window: this.#shownWindow(expression, row),
    };
  }

  #tree(
    expression: Expression,
    parent: Expression | null,
    row: number,
    seen: Set<Expression>,
    level: number,
  ): ExplainedExpression {
    const isRepeated = seen.has(expression) && expression.kind === "call";
    seen.add(expression);
    const args = expression.kind === "call" && !isRepeated && level < TREE_LEVELS_MAX ? expression.args : [];
    const isRolling = expression.kind === "call" && expression.operator.axis === "rolling";
    return {
      ...this.#place(expression, parent),
      value: shown(this.#value(expression, row)),
      inputs: args.map((arg) => this.#tree(arg, expression, row, seen, level + 1)),
      isRepeated,
      window: isRolling && !isRepeated ? this.#shownWindow(expression, row) : null,
    };
  }

  #place(expression: Expression, parent: Expression | null): WrittenPlace {
    return placeOf(this.#factor.source, expression, parent);
  }

  #shownWindow(expression: Expression, row: number): ExplainedWindow {
    if (expression.kind !== "call") return { times: [this.#time(row)], values: [] };
    const columns = this.#window(expression, row);
    const length = columns[0]?.length ?? 1;
    return {
      times: Array.from({ length }, (_, i) => this.#time(row - length + 1 + i)),
      values: columns.map((column) => Array.from(column, shown)),
    };
  }

  /** The values of the inputs in the rows that the operator reads; of a recursion today's. */
  #window({ operator, args, settings }: CallNode, row: number): Float64Array[] {
    const rows = windowRowsOf(operator, settings);
    const read = Number.isFinite(rows) ? rows : 1;
    return args.map((arg) => this.#factor.origins.window(this.#task(arg), row, read));
  }

  #value(expression: Expression, row: number): number {
    return this.#factor.origins.value(this.#task(expression), row);
  }

  #task(expression: Expression): number {
    return this.#factor.taskOf.get(expression)!;
  }

  #time(row: number): string {
    return formatTime(this.#factor.times[row]!, this.#factor.timeType);
  }
}

const shown = (value: number): number | null => (Number.isNaN(value) ? null : value);
