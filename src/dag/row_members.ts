import { builtInRegistry } from "../../operators/index.ts";
import { nullForNulls } from "../operator/certain_nulls.ts";
import { readsWholeRows } from "../operator/definition.ts";
import { type CallTask, type Dag, DagBuilder, inputsOf, type Task } from "./dag.ts";
import { pruneDag } from "./prune.ts";
import { withInputsAt } from "./rebuild.ts";

/**
 * The field that is 1 where an instrument has an input row and null elsewhere. Formulas cannot name it: no name of theirs
 * has a line break.
 */
export const HAS_ROW = "has a row\n";

export interface RowMemberOptions {
  readonly isSharing: boolean;
  /** Fields that have values even where instruments have no row: one value per time, for all. Default: none. */
  readonly series?: readonly string[];
  /** The task that is neither 0 nor null for the instruments that count. Default: all count. */
  readonly universe?: number | null;
  /** Name of a further output that is 1 for the instruments of the universe and null for the others. Default: none. */
  readonly universeOutput?: string;
}

/**
 * Restricts operators across the row to instruments that have a row: `rank(coalesce(close, 0))` becomes
 * `rank(coalesce(close, 0) * has a row)`. Where an instrument has no row its fields are null, and operators across the
 * row leave nulls out. So only tasks that are not null for null fields are multiplied, by 1 or null, which changes no
 * bit of the other instruments. With a universe the same is done for tasks that may have a value outside it.
 *
 * Algorithm: one sweep in topological order notes for each task whether it is null wherever an instrument does not
 * count (`nullForNulls`). The universe is computed first, from all instruments that have a row.
 *
 * @returns the graph itself where nothing has to be hidden; else a graph without condition sets
 */
export function hideAbsent(
  dag: Dag,
  { isSharing, series = [], universe = null, universeOutput }: RowMemberOptions,
): Dag {
  const builder = new DagBuilder(isSharing);
  const present = new RowMembers(builder, new Set(series));
  const members = universe === null ? present : present.within(dag, universe);
  const ids = members.addAll(dag.tasks);
  if (!members.hasHidden) return dag;
  const { conditionSets: _, ...rest } = dag;
  const outputs = dag.outputs.map((output) => ({ ...output, task: ids[output.task]! }));
  if (universe !== null && universeOutput !== undefined)
    outputs.push({ name: universeOutput, task: members.mask, condition: null, priority: 0 });
  return pruneDag({ ...rest, tasks: builder.tasks, outputs });
}

/** Copies tasks into a graph, with instruments that do not count hidden from operators across the row. */
class RowMembers {
  readonly #builder: DagBuilder;
  /** Null: no field is known to be null for instruments that do not count. */
  readonly #series: ReadonlySet<string> | null;
  /** Tasks that are null wherever an instrument does not count. */
  readonly #nulls = new Set<number>();
  #mask: number | null;
  hasHidden = false;

  constructor(builder: DagBuilder, series: ReadonlySet<string> | null, mask: number | null = null) {
    this.#builder = builder;
    this.#series = series;
    this.#mask = mask;
    if (mask !== null) this.#nulls.add(mask);
  }

  /** Restricted further, to instruments for which a task is neither 0 nor null. */
  within(dag: Dag, universe: number): RowMembers {
    const output = { name: "universe", task: universe, condition: null, priority: 0 };
    const { tasks, outputs } = pruneDag({ ...dag, outputs: [output] });
    const ids = this.addAll(tasks);
    const zero = this.#add({ kind: "number", value: 0 });
    const isInside = this.#add(callOf("not_equal", [ids[outputs[0]!.task]!, zero]));
    const one = this.#nulls.has(isInside) ? this.#add({ kind: "number", value: 1 }) : this.#hasRow();
    return new RowMembers(this.#builder, null, this.#add(callOf("filter", [one, isInside])));
  }

  /** The task that is 1 for the instruments that count and null for the others. */
  get mask(): number {
    this.#mask ??= this.#hasRow();
    return this.#mask;
  }

  /** Returns the id of each task in the new graph. */
  addAll(tasks: readonly Task[]): number[] {
    const ids: number[] = [];
    for (const task of tasks) ids.push(this.#add(this.#hidden(withInputsAt(task, ids))));
    return ids;
  }

  /**
   * Multiplies an input of an operator across the row, unless one of its inputs is null already: that leaves the
   * instrument out.
   */
  #hidden(task: Task): Task {
    if (task.kind !== "call") return task;
    const { operator, inputs } = task;
    if (!readsWholeRows(operator) || inputs.some((input) => this.#nulls.has(input))) return task;
    this.hasHidden = true;
    const [first, ...others] = inputs;
    return { ...task, inputs: [this.#add(callOf("multiply", [first!, this.mask])), ...others] };
  }

  #hasRow(): number {
    return this.#add({ kind: "field", name: HAS_ROW });
  }

  #add(task: Task): number {
    const id = this.#builder.add(task);
    if (this.#isNull(task)) this.#nulls.add(id);
    return id;
  }

  #isNull(task: Task): boolean {
    if (task.kind === "field") return this.#series?.has(task.name) === false;
    if (task.kind === "number") return Number.isNaN(task.value);
    if (task.kind === "param") return false;
    const areNull = inputsOf(task).map((input) => this.#nulls.has(input));
    return nullForNulls(task.operator, areNull, task.minPeriods !== null);
  }
}

function callOf(name: string, inputs: readonly number[]): CallTask {
  const operator = builtInRegistry.kernel(name);
  return { kind: "call", operator, inputs, group: null, settings: {}, minPeriods: null };
}
