import type { Condition } from "./ast/condition.ts";
import { holds } from "./ast/condition.ts";
import { numericParam, resolveParams } from "./ast/params.ts";
import type { ParamValue } from "./ast/program.ts";
import { finalDag, type Program } from "./compile.ts";
import { numberText } from "./dag/dag.ts";
import { readParamsTable } from "./data/params_table.ts";
import type { Registry } from "./operator/registry.ts";
import type { Panel } from "./panel.ts";

type Params = ReadonlyMap<string, ParamValue>;

export interface ParamOptions {
  /** Values of the file's params for this call. */
  readonly params?: Readonly<Record<string, ParamValue>>;
  /**
   * Path of a table with a time column and columns of params: replays a feed of calls, each with the params of its
   * time. Conditions are decided row by row; a numeric param is a series of its values, so that an operator that looks
   * back sees those of earlier rows. A param keeps its value of `params` or its default where the table gives none.
   */
  readonly paramsByTime?: string;
}

/**
 * The params of an evaluation: the same for all rows, or those of each row's time. Conditions are decided for each
 * distinct set of params once.
 */
export class CallParams {
  readonly #conditions: readonly Condition[];
  readonly #registry: Registry;
  readonly #laneCount: number;
  /** The distinct sets of params. */
  readonly #sets: readonly Params[];
  /** For each row its set; null if all rows have the only one. */
  readonly #setOfRow: readonly number[] | null;

  /** @throws UsageError for unknown params and values of a wrong type; DataError for a table that cannot be read. */
  static async of(
    program: Program,
    panel: Panel,
    { params = {}, paramsByTime }: ParamOptions,
    registry: Registry,
  ): Promise<CallParams> {
    const common = resolveParams(program.params, params);
    if (paramsByTime === undefined) return new CallParams(program, panel, registry, [common], null);
    const rows = await readParamsTable(paramsByTime, panel);
    const sets: Params[] = [];
    const known = new Map<string, number>();
    const setOfRow = rows.map((values) => {
      const given = Object.fromEntries(
        [...values].map(([name, value]) => [name, asDeclared(program, name, value)]),
      );
      const key = keyOf(given);
      const set = known.get(key) ?? sets.push(resolveParams(program.params, { ...params, ...given })) - 1;
      known.set(key, set);
      return set;
    });
    return new CallParams(program, panel, registry, sets, setOfRow);
  }

  private constructor(
    program: Program,
    { laneCount }: Panel,
    registry: Registry,
    sets: readonly Params[],
    setOfRow: readonly number[] | null,
  ) {
    this.#conditions = finalDag(program).conditions;
    this.#registry = registry;
    this.#laneCount = laneCount;
    this.#sets = sets;
    this.#setOfRow = setOfRow;
  }

  /** True if a factor under this condition is wanted in some row. */
  isEverWanted(condition: number | null): boolean {
    return condition === null || this.#decide(condition).includes(true);
  }

  /** The value of a numeric param: a number, or a column `[rows x lanes]` if it changes over time. */
  numeric(name: string): number | Float64Array<SharedArrayBuffer> {
    const values = this.#sets.map((set) => numericParam(name, set));
    if (this.#setOfRow === null) return values[0] as number;
    const column = new Float64Array(new SharedArrayBuffer(this.#setOfRow.length * this.#laneCount * 8));
    this.#setOfRow.forEach((set, row) => {
      column.fill(values[set] as number, row * this.#laneCount, (row + 1) * this.#laneCount);
    });
    return column;
  }

  /** The column with nulls in the rows in which the condition does not hold. */
  maskUnwanted(column: Float64Array, condition: number | null): Float64Array {
    if (condition === null || this.#setOfRow === null) return column;
    const isWanted = this.#decide(condition);
    const masked = Float64Array.from(column);
    this.#setOfRow.forEach((set, row) => {
      if (!isWanted[set]) masked.fill(Number.NaN, row * this.#laneCount, (row + 1) * this.#laneCount);
    });
    return masked;
  }

  #decide(condition: number): boolean[] {
    return this.#sets.map((set) => holds(this.#conditions[condition] as Condition, set, this.#registry));
  }
}

/** Equal for equal sets of params; JSON alone would take an infinity for null and -0 for 0. */
function keyOf(params: Readonly<Record<string, ParamValue>>): string {
  const entries = Object.entries(params).map(([name, value]) => {
    return [name, typeof value, typeof value === "number" ? numberText(value) : value];
  });
  return JSON.stringify(entries);
}

/** Tables know no true and false: for a param with such a default they hold 1 and 0. */
function asDeclared(program: Program, name: string, value: number | string): ParamValue {
  return typeof program.params.get(name) === "boolean" && typeof value === "number" ? value !== 0 : value;
}
