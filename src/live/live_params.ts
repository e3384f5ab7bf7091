import { holds } from "../ast/condition.ts";
import type { ParamValue } from "../ast/param_value.ts";
import { numericParam, resolveParams } from "../ast/params.ts";
import { finalDag, type Program } from "../compile.ts";
import type { Registry } from "../operator/registry.ts";

export type GivenParams = Readonly<Record<string, ParamValue>>;

/** The params of one push. */
export interface LiveCall {
  /** All values, defaults included. */
  readonly values: ReadonlyMap<string, ParamValue>;
  /** @throws UsageError E555, E528 if it has no value or is a text. */
  numeric(name: string): number;
  /** For each condition of the program whether it holds; undefined for conditions of no selected factor. */
  readonly holds: readonly (boolean | undefined)[];
}

/** Resolves the params of each push; the opening params are the defaults. */
export class LiveParams {
  readonly opening: GivenParams;
  readonly #program: Program;
  readonly #registry: Registry;
  readonly #conditions: readonly number[];
  readonly #numeric: readonly string[];
  #usual: LiveCall | null = null;
  /** Most rows have the params of the row before. */
  #lastRow: { readonly values: ReadonlyMap<string, ParamValue>; readonly call: LiveCall } | null = null;

  /**
   * @throws UsageError E506, E528 for an opening param that is unknown or of a wrong type.
   * @param conditions those of factors of the session
   * @param numeric params that formulas use as values
   */
  constructor(
    program: Program,
    registry: Registry,
    opening: GivenParams,
    conditions: readonly number[],
    numeric: readonly string[],
  ) {
    this.#program = program;
    this.#registry = registry;
    this.opening = opening;
    this.#conditions = conditions;
    this.#numeric = numeric;
    resolveParams(program.params, opening);
  }

  /** The params of a row that is older than the program: its values where the program accepts them, else the defaults. */
  ofRow(values: ReadonlyMap<string, ParamValue>): LiveCall {
    if (this.#lastRow?.values !== values)
      this.#lastRow = { values, call: this.#resolve(knownTo(this.#program, Object.fromEntries(values))) };
    return this.#lastRow.call;
  }

  /** @throws UsageError E506, E528, E555 for an unknown param, one without a value, or a value of a wrong type. */
  of(given: GivenParams | undefined): LiveCall {
    if (given === undefined) {
      this.#usual ??= this.#resolve({});
      return this.#usual;
    }
    return this.#resolve(given);
  }

  #resolve(given: GivenParams): LiveCall {
    const values = resolveParams(this.#program.params, { ...this.opening, ...given });
    const { conditions } = finalDag(this.#program);
    const decided = new Array<boolean | undefined>(conditions.length);
    for (const id of this.#conditions) decided[id] = holds(conditions[id]!, values, this.#registry);
    const call = { values, numeric: (name: string) => numericParam(name, values), holds: decided };
    for (const name of this.#numeric) call.numeric(name);
    return call;
  }
}

/** The given params that the program has, if their values have the right types. */
export function knownTo({ params }: Program, given: GivenParams): GivenParams {
  const accepts = ([name, value]: [string, ParamValue]) => {
    const usual = params.get(name);
    return usual === null || (usual !== undefined && typeof usual === typeof value);
  };
  return Object.fromEntries(Object.entries(given).filter(accepts));
}
