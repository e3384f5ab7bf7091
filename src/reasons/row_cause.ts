import type { CallTask, Task } from "../dag/dag.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { NullCause } from "../operator/null_causes.ts";
import type { GroupColumn } from "../panel.ts";
import { declaredCause } from "./blame.ts";
import { outputName, UNIVERSE_OUTPUT } from "./traced_program.ts";

/** Results of a block of rows, and the group columns that the block was computed with. */
export interface TracedBlock {
  readonly results: FactorBlock;
  readonly laneCount: number;
  readonly groups: ReadonlyMap<string, GroupColumn>;
}

/** A column of values of a task in a block; null for numbers, which are the same in every cell. */
export function valuesOf({ results }: TracedBlock, task: number): Float64Array | null {
  return results.columns.get(outputName(task)) ?? null;
}

/** True for operators that read other lanes. */
export function readsRow(task: Task): task is CallTask {
  return task.kind === "call" && (task.operator.axis === "cross_section" || task.operator.axis === "group");
}

/**
 * Why an operator across the row gives instruments no finite value though none of their inputs is null. The lanes that the
 * operator reads are found once for each row and group.
 */
export class RowCauses {
  readonly #task: CallTask;
  readonly #block: TracedBlock;
  readonly #inputs: readonly (number | Float64Array)[];
  readonly #columns = new Map<
    number,
    { readonly lanes: readonly number[]; readonly columns: Float64Array[] }
  >();
  readonly #start: number;

  /** @param inputs values of the operator's inputs in the block; a number holds for every cell */
  constructor(task: CallTask, block: TracedBlock, inputs: readonly (number | Float64Array)[], row: number) {
    this.#task = task;
    this.#block = block;
    this.#inputs = inputs;
    this.#start = row * block.laneCount;
  }

  /** @param result the value of the operator in that lane: null (NaN) or infinite */
  causeOf(lane: number, result: number): NullCause {
    const { results } = this.#block;
    if (results.present[this.#start + lane] === 0) return "absent";
    if (!this.#isInUniverse(lane)) return "outside_universe";
    const group = this.#groupOf(lane);
    if (group < 0) return "no_group";
    const { lanes, columns } = this.#membersOf(group);
    const declared = declaredCause(this.#task.operator, columns, this.#task.settings, lanes.indexOf(lane));
    return declared ?? (Number.isNaN(result) ? "undeclared" : "overflow");
  }

  #isInUniverse(lane: number): boolean {
    const universe = this.#block.results.columns.get(UNIVERSE_OUTPUT);
    return !universe || universe[this.#start + lane] === 1;
  }

  #groupOf(lane: number): number {
    const { group } = this.#task;
    if (group === null) return 0;
    const { codes, changesOverTime } = this.#block.groups.get(group)!;
    return codes[changesOverTime ? this.#start + lane : lane]!;
  }

  #membersOf(group: number) {
    const known = this.#columns.get(group);
    if (known) return known;
    const { present } = this.#block.results;
    const lanes = [...Array(this.#block.laneCount).keys()].filter(
      (lane) =>
        present[this.#start + lane] === 1 &&
        this.#isInUniverse(lane) &&
        this.#groupOf(lane) === group &&
        !this.#inputs.some((input) => Number.isNaN(this.#value(input, lane))),
    );
    const columns = this.#inputs.map((input) => Float64Array.from(lanes, (lane) => this.#value(input, lane)));
    this.#columns.set(group, { lanes, columns });
    return { lanes, columns };
  }

  #value(input: number | Float64Array, lane: number): number {
    return typeof input === "number" ? input : input[this.#start + lane]!;
  }
}
