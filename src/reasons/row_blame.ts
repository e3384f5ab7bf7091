import { type CallTask, inputsOf, type Task } from "../dag/dag.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { readsWholeRows } from "../operator/definition.ts";
import type { NullCause } from "../operator/null_causes.ts";
import { hasAnyInfinity } from "../operator/null_rules.ts";
import type { GroupColumn } from "../panel.ts";
import { type Blame, because, blameOfInput, declaredCause, isInfinite, type Place } from "./blame.ts";
import { outputName, UNIVERSE_OUTPUT } from "./traced_program.ts";

/** Results of a block of rows, and the group columns that the block was computed with. */
export interface TracedBlock {
  readonly results: FactorBlock;
  readonly laneCount: number;
  readonly groups: ReadonlyMap<string, Pick<GroupColumn, "changesOverTime"> & { readonly codes: Int32Array }>;
}

/** A column of values of a task in a block; null for numbers, which are the same in every cell. */
export function valuesOf({ results }: TracedBlock, task: number): Float64Array | null {
  return results.columns.get(outputName(task)) ?? null;
}

/** True for tasks that read other lanes. */
export function readsRow(task: Task): task is CallTask {
  return task.kind === "call" && readsWholeRows(task.operator);
}

/** The instruments that an operator sees together in a row, with the values of its inputs. */
interface Members {
  readonly columns: readonly Float64Array[];
  readonly hasInfinity: boolean;
  /** The place of each lane among them. */
  readonly places: ReadonlyMap<number, number>;
  /** The operator's own cause, where it is one for all of them; undefined until it is asked for. */
  common?: NullCause | null;
}

/** Why an operator across the row gives instruments no finite value, block after block. */
export class RowBlame {
  readonly #task: CallTask;
  readonly #tasks: readonly Task[];
  readonly #firstLane: number;
  readonly #isCommon: boolean;
  #block!: TracedBlock;
  /** Values of its inputs in the block; a number holds for every cell. */
  #inputs: readonly (number | Float64Array)[] = [];
  /** The first cell of the row whose members are known by group. */
  #start = -1;
  #members = new Map<number, Members>();

  /** @param firstLane the lane of a block that is lane 0 of places */
  constructor(task: CallTask, tasks: readonly Task[], firstLane: number) {
    this.#task = task;
    this.#tasks = tasks;
    this.#firstLane = firstLane;
    // Predicates that do not look at the instrument hold for all of its row.
    this.#isCommon = Object.values(task.operator.nullWhere).every(({ length }) => length < 3);
  }

  /** @param cells the values of the inputs at that place */
  blame(block: TracedBlock, cells: readonly number[], value: number, { blockRow, lane }: Place): Blame {
    const input = cells.findIndex(Number.isNaN);
    if (input >= 0) return blameOfInput(input, 0, "null_input");
    if (block !== this.#block) this.#open(block);
    const start = blockRow * this.#block.laneCount;
    if (start !== this.#start) this.#members = new Map();
    this.#start = start;
    const cause = this.#cause(this.#firstLane + lane, value);
    // The infinity of another instrument is no cell of this one.
    const infinite = cause === "infinite_input" ? cells.findIndex(isInfinite) : -1;
    return infinite >= 0 ? blameOfInput(infinite, 0, "infinite_input") : because(cause);
  }

  #open(block: TracedBlock): void {
    this.#block = block;
    this.#start = -1;
    this.#inputs = inputsOf(this.#task).map((id) => {
      const task = this.#tasks[id]!;
      return task.kind === "number" ? task.value : valuesOf(block, id)!;
    });
  }

  #cause(lane: number, value: number): NullCause {
    if (!this.#isPresent(lane)) return "absent";
    if (!this.#isInUniverse(lane)) return "outside_universe";
    const group = this.#groupOf(lane);
    if (group < 0) return "no_group";
    const members = this.#membersOf(group);
    if (Number.isNaN(value)) return this.#declared(members, lane) ?? "undeclared";
    return members.hasInfinity ? "infinite_input" : (this.#declared(members, lane) ?? "overflow");
  }

  #declared(members: Members, lane: number): NullCause | null {
    const { operator, settings } = this.#task;
    const own = () => declaredCause(operator, members.columns, settings, members.places.get(lane)!);
    if (!this.#isCommon) return own();
    if (members.common === undefined) members.common = own();
    return members.common;
  }

  #membersOf(group: number): Members {
    const known = this.#members.get(group);
    if (known) return known;
    const lanes = [...Array(this.#block.laneCount).keys()].filter(
      (lane) => this.#groupOf(lane) === group && this.#isRead(lane),
    );
    const columns = this.#inputs.map((input) => Float64Array.from(lanes, (lane) => this.#cell(input, lane)));
    const members = {
      columns,
      hasInfinity: hasAnyInfinity(columns),
      places: new Map(lanes.map((lane, place) => [lane, place])),
    };
    this.#members.set(group, members);
    return members;
  }

  #isRead(lane: number): boolean {
    const isNull = (input: number | Float64Array) => Number.isNaN(this.#cell(input, lane));
    return this.#isPresent(lane) && this.#isInUniverse(lane) && !this.#inputs.some(isNull);
  }

  #cell(input: number | Float64Array, lane: number): number {
    return typeof input === "number" ? input : input[this.#start + lane]!;
  }

  #isPresent(lane: number): boolean {
    return this.#block.results.present[this.#start + lane] === 1;
  }

  #isInUniverse(lane: number): boolean {
    const universe = this.#block.results.columns.get(UNIVERSE_OUTPUT);
    return !universe || universe[this.#start + lane] === 1;
  }

  #groupOf(lane: number): number {
    if (this.#task.group === null) return 0;
    const { codes, changesOverTime } = this.#block.groups.get(this.#task.group)!;
    return codes[changesOverTime ? this.#start + lane : lane]!;
  }
}
