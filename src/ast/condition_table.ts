import type { Syntax } from "../../grammar/syntax.ts";
import type { Condition, ConditionStep } from "./condition.ts";

const AND: ConditionStep = { kind: "operator", symbol: "&&", operandCount: 2 };

/** A written condition, with a number that equal conditions share. */
interface WrittenCondition {
  readonly id: number;
  readonly steps: readonly ConditionStep[];
}

/**
 * The conditions of a program. Each written condition is bound once; factors under the same or equal blocks share an
 * entry.
 */
export class ConditionTable {
  readonly conditions: Condition[] = [];
  readonly #bind: (syntax: Syntax) => Condition;
  readonly #written = new Map<Syntax, WrittenCondition>();
  readonly #ids = new Map<string, number>();
  readonly #byBlocks = new Map<readonly Syntax[], number>();
  readonly #byIds = new Map<string, number>();
  #stepCount = 0;

  constructor(bind: (syntax: Syntax) => Condition) {
    this.#bind = bind;
  }

  /** Total steps of all entries. */
  get stepCount(): number {
    return this.#stepCount;
  }

  /** Binds a condition; its mistakes are reported even if no factor depends on it. */
  add(syntax: Syntax): WrittenCondition {
    const known = this.#written.get(syntax);
    if (known) return known;
    const { steps } = this.#bind(syntax);
    const key = JSON.stringify(steps);
    const id = this.#ids.get(key) ?? this.#ids.size;
    this.#ids.set(key, id);
    const written = { id, steps };
    this.#written.set(syntax, written);
    return written;
  }

  /** Index of the conjunction; null without conditions. */
  indexOf(conjunction: readonly Syntax[]): number | null {
    if (conjunction.length === 0) return null;
    const known = this.#byBlocks.get(conjunction);
    if (known !== undefined) return known;
    const index = this.#intern(conjunction.map((syntax) => this.add(syntax)));
    this.#byBlocks.set(conjunction, index);
    return index;
  }

  #intern(conjunction: readonly WrittenCondition[]): number {
    const byId = new Map(conjunction.map((condition) => [condition.id, condition]));
    const key = [...byId.keys()].join(" ");
    const known = this.#byIds.get(key);
    if (known !== undefined) return known;
    const steps = [...byId.values()].flatMap((condition, i) =>
      i === 0 ? condition.steps : [...condition.steps, AND],
    );
    this.#stepCount += steps.length;
    this.#byIds.set(key, this.conditions.length);
    return this.conditions.push({ steps }) - 1;
  }
}
