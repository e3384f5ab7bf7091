import type { Syntax } from "../../grammar/syntax.ts";
import type { Condition, ConditionStep } from "./condition.ts";

const AND: ConditionStep = { kind: "operator", symbol: "&&", operandCount: 2 };

/**
 * The conditions of a program. Each that is written is bound once; factors under the same blocks, or under equal ones,
 * share an entry.
 */
export class ConditionTable {
  readonly conditions: Condition[] = [];
  readonly #bind: (syntax: Syntax) => Condition;
  readonly #bound = new Map<Syntax, Condition>();
  readonly #byBlocks = new Map<readonly Syntax[], number>();
  readonly #bySteps = new Map<string, number>();
  #stepCount = 0;

  constructor(bind: (syntax: Syntax) => Condition) {
    this.#bind = bind;
  }

  /** Steps of all entries. */
  get stepCount(): number {
    return this.#stepCount;
  }

  bind(syntax: Syntax): Condition {
    const known = this.#bound.get(syntax);
    if (known) return known;
    const condition = this.#bind(syntax);
    this.#bound.set(syntax, condition);
    return condition;
  }

  /** The index of the conjunction; null if there is no condition. */
  indexOf(conjunction: readonly Syntax[]): number | null {
    if (conjunction.length === 0) return null;
    const known = this.#byBlocks.get(conjunction);
    if (known !== undefined) return known;
    const index = this.#intern(conjunction);
    this.#byBlocks.set(conjunction, index);
    return index;
  }

  #intern(conjunction: readonly Syntax[]): number {
    const steps = conjunction.flatMap((syntax, i) => {
      const { steps: own } = this.bind(syntax);
      return i === 0 ? own : [...own, AND];
    });
    this.#stepCount += steps.length;
    const key = JSON.stringify(steps);
    const known = this.#bySteps.get(key);
    if (known !== undefined) return known;
    this.#bySteps.set(key, this.conditions.length);
    return this.conditions.push({ steps }) - 1;
  }
}
