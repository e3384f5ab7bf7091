import { InternalError, ResourceError } from "../errors.ts";
import type { Block } from "../kernel/memory/kernel_set.ts";
import { PLAN_ROWS_MAX } from "../limits.ts";
import type { ColumnSource } from "../plan/plan.ts";
import type { PlanData } from "./protocol.ts";

/** Upper limits of the blocks of an open plan. */
export interface BlockLimits {
  readonly blockRows: number;
  readonly inputRows: number;
  readonly resultRows: number;
}

/**
 * Checks what running a plan relies on, so that an error of an earlier room is reported here and does not cause a hang
 * or a wrong column.
 *
 * @throws InternalError naming the first violation.
 */
export function checkPlanData(data: PlanData): BlockLimits {
  const { plan, arenas, results } = data;
  plan.nodes.forEach((node, id) => {
    expect(node.id === id && node.inputs.every((input) => input < id), `node ${id} is out of order`);
    expect(node.partCount >= 1, `node ${id} has no parts`);
  });
  for (const { kernels, memory } of arenas)
    expect(memory.buffer.byteLength >= kernels.arenaBytes, "its arena is too small");
  expect(results.length === plan.outputs.length, "one result per output is needed, or null");
  let inputRows = Number.POSITIVE_INFINITY;
  for (const { source } of plan.columns) {
    const rows = rowsOf(data, source);
    if (rows === undefined) throw refusal(`it reads a missing ${source.kind}`);
    inputRows = Math.min(inputRows, rows);
  }
  let resultRows = Number.POSITIVE_INFINITY;
  for (const result of results) if (result) resultRows = Math.min(resultRows, result.length / plan.laneCount);
  return { blockRows: plan.blockRows, inputRows, resultRows };
}

/**
 * @throws InternalError if the block exceeds the plan's blocks, its input or its results; ResourceError E406 if it
 *   exceeds the rows that a plan can count.
 */
export function checkBlock({ firstRow, rowCount, inputRow, outputRow }: Block, limits: BlockLimits): void {
  if (firstRow + rowCount > PLAN_ROWS_MAX) throw tooManyRows();
  expect(rowCount >= 1 && rowCount <= limits.blockRows, `a block of ${rowCount} rows`);
  expect(inputRow + rowCount <= limits.inputRows, "a block beyond the input");
  expect(outputRow + rowCount <= limits.resultRows, "a block beyond the results");
}

/** Input rows of a column's source: unlimited where it is the same in all rows; undefined where it is missing. */
function rowsOf({ plan, fields, groups, params }: PlanData, source: ColumnSource): number | undefined {
  const ofCells = (cells: { readonly length: number } | undefined) => cells && cells.length / plan.laneCount;
  switch (source.kind) {
    case "field":
      return ofCells(fields.get(source.name));
    case "group": {
      const group = groups.get(source.name);
      return group?.changesOverTime ? ofCells(group.codes) : group && Number.POSITIVE_INFINITY;
    }
    case "param": {
      const values = params[source.name];
      return typeof values === "number" ? Number.POSITIVE_INFINITY : values?.length;
    }
    default:
      return Number.POSITIVE_INFINITY;
  }
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw refusal(what);
}

function refusal(what: string): InternalError {
  return new InternalError(`a plan cannot be run: ${what}`);
}

function tooManyRows(): ResourceError {
  return new ResourceError(
    "E406",
    `a plan runs ${PLAN_ROWS_MAX.toLocaleString("en-US")} rows at most`,
    "open the session again, with the newest rows as its warm-up, or evaluate a part of the rows",
  );
}
