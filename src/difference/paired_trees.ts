import type { CallNode, Expression } from "../ast/nodes.ts";
import { type EvaluableProgram, finalDag } from "../compile.ts";
import { readsWholeRows, windowRowsOf } from "../operator/definition.ts";
import { outputName, type TracedProgram, UNIVERSE_OUTPUT } from "../reasons/traced_program.ts";
import { type Side, sideName } from "./joined_program.ts";

/** Sub-expressions that stand at the same place of two programs, each with the expression that reads it. */
export interface ExpressionPair {
  readonly a: Expression;
  readonly b: Expression;
  readonly parentA: Expression | null;
  readonly parentB: Expression | null;
}

const SIDES: readonly Side[] = ["a", "b"];

/** What the cells of a pair are computed from. */
export interface PairReach {
  /** Rows of its inputs that a cell reads, its own included; Infinity for all earlier ones. */
  readonly rows: number;
  /** Whether a cell reads the other instruments of its row. */
  readonly isAcrossRow: boolean;
}

/**
 * The written trees of two programs side by side. Two calls correspond where operator and number of arguments are the same:
 * then their arguments are pairs in turn, in the order as written, or swapped where the operator allows it and that makes
 * an argument equal. Numbers known at compile time are settings of the call and no pairs.
 */
export class PairedTrees {
  /** The universes of both; null unless operators across the row read two that may differ. */
  readonly universe: ExpressionPair | null;
  readonly #traced: Readonly<Record<Side, TracedProgram>>;
  /** The task of each traced output in the joined graph: outputs of one task are equal. */
  readonly #joinedTask: ReadonlyMap<string, number>;

  /** @param joined the traced programs joined */
  constructor(a: TracedProgram, b: TracedProgram, joined: EvaluableProgram) {
    this.#traced = { a, b };
    this.#joinedTask = new Map(finalDag(joined).outputs.map(({ name, task }) => [name, task]));
    this.universe = this.#universePair();
  }

  /** Of the factor of that name; null if both are equal as written. */
  root(name: string): ExpressionPair | null {
    const [a, b] = SIDES.map((side) => {
      const { factors } = this.#traced[side].program.written.bound;
      return factors.find((factor) => factor.name === name)!.expression;
    });
    return this.#canDiffer(a!, b!) ? { a: a!, b: b!, parentA: null, parentB: null } : null;
  }

  /** Equal for pairs that have the same values. */
  key(pair: ExpressionPair): string {
    return pair === this.universe ? "universe" : `${this.#task("a", pair.a)} ${this.#task("b", pair.b)}`;
  }

  /** The output of the joined program that has the values of one side, or the number that all of them are. */
  column(side: Side, pair: ExpressionPair): string | number {
    if (pair === this.universe) return sideName(side, UNIVERSE_OUTPUT);
    const expression = pair[side];
    return expression.kind === "number" ? expression.constant : this.#output(side, expression);
  }

  /** The pairs that a pair reads, of those that may differ. */
  inputs(pair: ExpressionPair): ExpressionPair[] {
    const calls = pair === this.universe ? null : sameCalls(pair);
    if (calls === null) return [];
    const [a, b] = calls;
    const others = this.#isBetterSwapped(a, b) ? b.args.toReversed() : b.args;
    const args = a.args.flatMap((arg, i): ExpressionPair[] => {
      const other = others[i]!;
      const isSetting = arg.constant !== null && other.constant !== null;
      return isSetting || !this.#canDiffer(arg, other) ? [] : [{ a: arg, b: other, parentA: a, parentB: b }];
    });
    return this.universe !== null && readsWholeRows(a.operator) ? [...args, this.universe] : args;
  }

  reach(pair: ExpressionPair): PairReach {
    const calls = pair === this.universe ? null : sameCalls(pair);
    if (calls === null) return { rows: 1, isAcrossRow: false };
    const [a, b] = calls;
    const rows = Math.max(windowRowsOf(a.operator, a.settings), windowRowsOf(b.operator, b.settings));
    return { rows, isAcrossRow: readsWholeRows(a.operator) };
  }

  /** A pair that stands in no formula: it is its own parent, so that its text is printed. */
  #universePair(): ExpressionPair | null {
    const [maskA, maskB] = SIDES.map((side) => this.#joinedTask.get(sideName(side, UNIVERSE_OUTPUT)));
    if (maskA === undefined || maskB === undefined || maskA === maskB) return null;
    const [a, b] = SIDES.map((side) => this.#traced[side].program.written.bound.universe!);
    return { a: a!, b: b!, parentA: a!, parentB: b! };
  }

  #isBetterSwapped(a: CallNode, b: CallNode): boolean {
    const [a0, a1, ...more] = a.args;
    const [b0, b1] = b.args;
    if (!a0 || !a1 || !b0 || !b1 || more.length > 0 || !a.operator.laws?.includes("commutative"))
      return false;
    const isOneEqual = !this.#canDiffer(a0, b0) || !this.#canDiffer(a1, b1);
    return !isOneEqual && (!this.#canDiffer(a0, b1) || !this.#canDiffer(a1, b0));
  }

  #canDiffer(a: Expression, b: Expression): boolean {
    if (a.constant !== null && b.constant !== null) return !Object.is(a.constant, b.constant);
    const task = this.#joinedTask.get(this.#output("a", a));
    return task === undefined || task !== this.#joinedTask.get(this.#output("b", b));
  }

  #output(side: Side, expression: Expression): string {
    return sideName(side, outputName(this.#task(side, expression)));
  }

  #task(side: Side, expression: Expression): number {
    return this.#traced[side].taskOf.get(expression)!;
  }
}

/** The two as calls of one operator; null if they are none. */
function sameCalls({ a, b }: ExpressionPair): readonly [CallNode, CallNode] | null {
  if (a.kind !== "call" || b.kind !== "call") return null;
  return a.operator === b.operator && a.args.length === b.args.length ? [a, b] : null;
}
