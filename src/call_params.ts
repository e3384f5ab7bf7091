import type { Condition } from "./ast/condition.ts";
import { holds } from "./ast/condition.ts";
import type { ParamValue } from "./ast/param_value.ts";
import { checkParam, numericParam, resolveParams } from "./ast/params.ts";
import { type EvaluableProgram, finalDag } from "./compile.ts";
import { numberText } from "./dag/dag.ts";
import { paramOfTableInvalid } from "./data/errors.ts";
import { readParamsTable } from "./data/side_tables/params_table.ts";
import { formatTime } from "./data/time/time_text.ts";
import { UsageError } from "./errors.ts";
import type { Registry } from "./operator/registry.ts";
import type { TimeType } from "./panel.ts";

type Params = ReadonlyMap<string, ParamValue>;

export interface ParamOptions {
  /** Values of the file's params for this call. */
  readonly params?: Readonly<Record<string, ParamValue>>;
  /**
   * Path of a table with a time column and columns of params: replays a feed of calls, each with the params of its
   * time. Conditions are evaluated row by row. A numeric param is a series of its values, so that an operator that
   * looks back sees those of earlier rows. Where the table has no value, a param keeps its value of `params` or its
   * default.
   */
  readonly paramsByTime?: string;
}

/** The set of params at times that the table does not list, and at all times without a table. */
export const COMMON_SET = 0;

/** The row of the table that gave a set; of equal rows the first. */
interface TableRow {
  readonly file: string;
  readonly time: bigint;
  readonly timeType: TimeType;
  readonly given: Params;
}

interface ParamSet {
  readonly values: Params;
  /** Null for the common set. */
  readonly row: TableRow | null;
}

/**
 * The params of an evaluation: the same for all rows, or those of each row's time. Equal params are one set, known by
 * its number; a condition is evaluated once per set.
 */
export class CallParams {
  readonly #conditions: readonly Condition[];
  readonly #registry: Registry;
  readonly #sets: readonly ParamSet[];
  /** Set number by time; null without a table. */
  readonly #setOfTime: ReadonlyMap<bigint, number> | null;
  /** Results by condition, then by set. */
  readonly #decisions: (boolean | undefined)[][];

  /** @throws UsageError for unknown params and values of a wrong type; DataError for an unreadable table. */
  static async of(
    program: EvaluableProgram,
    timeType: TimeType,
    { params = {}, paramsByTime }: ParamOptions,
    registry: Registry,
  ): Promise<CallParams> {
    const common = resolveParams(program.params, params);
    const sets: ParamSet[] = [{ values: common, row: null }];
    if (paramsByTime === undefined) return new CallParams(program, registry, sets, null);
    const known = new Map([["[]", COMMON_SET]]);
    const setOfTime = new Map<bigint, number>();
    for (const [time, values] of await readParamsTable(paramsByTime, timeType)) {
      const given = new Map([...values].map(([name, value]) => [name, asDeclared(program, name, value)]));
      const key = keyOf(given);
      const set = known.get(key) ?? sets.length;
      if (set === sets.length) {
        const row = { file: paramsByTime, time, timeType, given };
        checkRow(program, row);
        sets.push({ values: new Map([...common, ...given]), row });
      }
      known.set(key, set);
      setOfTime.set(time, set);
    }
    return new CallParams(program, registry, sets, setOfTime);
  }

  private constructor(
    program: EvaluableProgram,
    registry: Registry,
    sets: readonly ParamSet[],
    setOfTime: ReadonlyMap<bigint, number> | null,
  ) {
    this.#conditions = finalDag(program).conditions;
    this.#registry = registry;
    this.#sets = sets;
    this.#setOfTime = setOfTime;
    this.#decisions = this.#conditions.map(() => []);
  }

  /** True if params may differ between rows. */
  get changeOverTime(): boolean {
    return this.#setOfTime !== null;
  }

  /** The sets of all times. */
  get allSets(): readonly number[] {
    return [...this.#sets.keys()];
  }

  setsAt(times: BigInt64Array): Int32Array {
    const setOfTime = this.#setOfTime;
    if (setOfTime === null) return new Int32Array(times.length);
    return Int32Array.from(times, (_, row) => setOfTime.get(times[row] as bigint) ?? COMMON_SET);
  }

  /** True if the condition holds in at least one of the sets. @throws UsageError for a missing value. */
  isWanted(condition: number | null, sets: Iterable<number>): boolean {
    if (condition === null) return true;
    for (const set of sets) if (this.#holds(condition, set)) return true;
    return false;
  }

  numeric(name: string, set = COMMON_SET): number {
    const { values, row } = this.#sets[set] as ParamSet;
    return inRow(row, [name], () => numericParam(name, values));
  }

  /** Writes a numeric param's value for each row. @throws UsageError if a row has none. */
  fillNumeric(name: string, sets: Int32Array, target: Float64Array): void {
    sets.forEach((set, row) => {
      target[row] = this.numeric(name, set);
    });
  }

  /** Sets the values `[rows x lanes]` to null in rows where the condition does not hold. */
  nullInactive(values: Float64Array, condition: number | null, sets: Int32Array): void {
    if (condition === null || this.#setOfTime === null) return;
    const laneCount = values.length / sets.length;
    sets.forEach((set, row) => {
      if (!this.#holds(condition, set)) values.fill(Number.NaN, row * laneCount, (row + 1) * laneCount);
    });
  }

  #holds(condition: number, set: number): boolean {
    const decisions = this.#decisions[condition] as (boolean | undefined)[];
    decisions[set] ??= this.#decide(this.#conditions[condition] as Condition, this.#sets[set] as ParamSet);
    return decisions[set];
  }

  #decide(condition: Condition, { values, row }: ParamSet): boolean {
    const names = condition.steps.flatMap((step) => (step.kind === "param" ? [step.name] : []));
    return inRow(row, names, () => holds(condition, values, this.#registry));
  }
}

function checkRow({ params }: EvaluableProgram, row: TableRow): void {
  for (const [name, value] of row.given) inRow(row, [name], () => checkParam(params, name, value));
}

/** Uses params; an error names the row of the table that gave some of them, if one did. */
function inRow<T>(row: TableRow | null, params: readonly string[], use: () => T): T {
  try {
    return use();
  } catch (error) {
    const columns = params.filter((name) => row?.given.has(name));
    if (row === null || columns.length === 0 || !(error instanceof UsageError)) throw error;
    throw paramOfTableInvalid(row.file, formatTime(row.time, row.timeType), columns, error);
  }
}

/** The key of a set: equal params give equal keys. JSON alone would write an infinity as null and -0 as 0. */
function keyOf(params: Params): string {
  const entries = [...params].map(([name, value]) => {
    return [name, typeof value, typeof value === "number" ? numberText(value) : value];
  });
  return JSON.stringify(entries);
}

/** Tables have no true and false: for a param with such a default they hold 1 and 0. */
function asDeclared(program: EvaluableProgram, name: string, value: number | string): ParamValue {
  return typeof program.params.get(name) === "boolean" && typeof value === "number" ? value !== 0 : value;
}
