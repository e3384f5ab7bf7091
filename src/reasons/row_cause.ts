import type { CallTask, Task } from "../dag/dag.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { readsWholeRows } from "../operator/definition.ts";
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

/** True for tasks that read other lanes. */
export function readsRow(task: Task): task is CallTask {
  return task.kind === "call" && readsWholeRows(task.operator);
}

/** Values of an operator's inputs in a block; a number holds for every cell. */
type Inputs = readonly (number | Float64Array)[];

/**
 * Why an operator across the row gives an instrument no finite value though none of its inputs is null there.
 *
 * @param result the value that it gives: null (NaN) or infinite
 */
export function rowCause(
  task: CallTask,
  block: TracedBlock,
  inputs: Inputs,
  row: number,
  lane: number,
  result: number,
): NullCause {
  const { results, laneCount, groups } = block;
  const start = row * laneCount;
  const universe = results.columns.get(UNIVERSE_OUTPUT);
  const group = task.group === null ? null : groups.get(task.group)!;
  const isPresent = (at: number) => results.present[start + at] === 1;
  const isInUniverse = (at: number) => !universe || universe[start + at] === 1;
  const groupOf = (at: number) => group?.codes[group.changesOverTime ? start + at : at] ?? 0;
  const cellOf = (input: number | Float64Array, at: number) =>
    typeof input === "number" ? input : input[start + at]!;
  if (!isPresent(lane)) return "absent";
  if (!isInUniverse(lane)) return "outside_universe";
  if (groupOf(lane) < 0) return "no_group";
  const isRead = (at: number) =>
    isPresent(at) &&
    isInUniverse(at) &&
    groupOf(at) === groupOf(lane) &&
    !inputs.some((input) => Number.isNaN(cellOf(input, at)));
  const lanes = [...Array(laneCount).keys()].filter(isRead);
  const columns = inputs.map((input) => Float64Array.from(lanes, (at) => cellOf(input, at)));
  const declared = declaredCause(task.operator, columns, task.settings, lanes.indexOf(lane));
  return declared ?? (Number.isNaN(result) ? "undeclared" : "overflow");
}
