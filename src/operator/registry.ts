import { InternalError } from "../errors.ts";
import type { DialectName, KernelOperator, Operator } from "./definition.ts";
import type { AnyWindowState } from "./window_code.ts";

/** By dialect, the one that has all of its names as well. */
const HEIRS: Readonly<Partial<Record<DialectName, DialectName>>> = { native: "alpha101" };

/** A call as it is written. */
interface Called {
  readonly name: string;
  readonly isSymbol: boolean;
  readonly args: readonly unknown[];
}

/** The operators known to one compilation; immutable, passed along, never global. */
export class Registry {
  readonly operators: readonly Operator[];
  readonly #byName = new Map<string, Operator>();
  readonly #bySymbol = new Map<string, Operator>();
  readonly #byAlias = new Map<DialectName, Map<string, Operator>>();

  /** @throws InternalError if two operators claim one name, symbol or alias: nothing is overridden silently. */
  constructor(operators: readonly Operator[]) {
    this.operators = [...operators].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const operator of this.operators) {
      claim(this.#byName, operator.name, operator);
      // A prefix and an infix operator may share a symbol (`-`): they differ in their number of operands.
      if (operator.symbol) {
        claim(this.#bySymbol, `${operator.symbol}/${operator.parameters.length}`, operator);
      }
    }
    for (const operator of this.operators)
      for (const [dialect, aliases] of Object.entries(operator.aliases ?? {}) as [DialectName, string[]][]) {
        this.#claimIn(dialect, aliases, operator);
        const heir = HEIRS[dialect];
        if (heir !== undefined) this.#claimIn(heir, aliases, operator);
      }
  }

  /** A registry that knows further operators. @throws InternalError if one claims a name that is taken. */
  with(operators: readonly Operator[]): Registry {
    return operators.length === 0 ? this : new Registry([...this.operators, ...operators]);
  }

  #claimIn(dialect: DialectName, aliases: readonly string[], operator: Operator): void {
    const known = this.#byAlias.get(dialect) ?? new Map<string, Operator>();
    this.#byAlias.set(dialect, known);
    for (const alias of aliases) claim(known, alias.toLowerCase(), operator);
  }

  has(operator: Operator): boolean {
    return this.#byName.get(operator.name) === operator;
  }

  /** The operator that a dialect calls `name` (letter case does not matter); aliases go before printed names. */
  find(name: string, dialect: DialectName): Operator | undefined {
    const key = name.toLowerCase();
    return this.#byAlias.get(dialect)?.get(key) ?? this.#byName.get(key);
  }

  /** The operator written as `symbol` with that number of operands. */
  findSymbol(symbol: string, operandCount: number): Operator | undefined {
    return this.#bySymbol.get(`${symbol}/${operandCount}`);
  }

  /** The operator that a call of a formula names: by its symbol, or as a dialect calls it. */
  findCalled({ name, isSymbol, args }: Called, dialect: DialectName): Operator | undefined {
    return isSymbol ? this.findSymbol(name, args.length) : this.find(name, dialect);
  }

  /** The operator of that printed name, as stored in a plan. @throws InternalError if it computes nothing. */
  kernel(name: string): KernelOperator {
    const operator = this.#byName.get(name);
    if (!operator || operator.axis === "rewrite")
      throw new InternalError(`no operator ${name} in the registry`);
    return operator;
  }

  /** The window states that operators bring. */
  get windowStates(): AnyWindowState[] {
    return this.operators.flatMap((operator) => (operator.axis === "rolling" ? (operator.states ?? []) : []));
  }

  /** Every name by which a dialect can call an operator. */
  names(dialect: DialectName): string[] {
    return [...this.#byName.keys(), ...(this.#byAlias.get(dialect)?.keys() ?? [])];
  }
}

function claim(names: Map<string, Operator>, name: string, operator: Operator): void {
  const owner = names.get(name);
  if (owner && owner !== operator) {
    throw new InternalError(`operators ${owner.name} and ${operator.name} both claim ${name}`);
  }
  names.set(name, operator);
}
