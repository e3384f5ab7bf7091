import type { Plan } from "./plan.ts";

/**
 * Divides the outputs of a plan that is too large for one memory into groups, each a plan by itself. What several groups
 * read is computed in each of them, so outputs that share columns come together: a group begins with the first output
 * that is left and takes the output that shares most bytes with it, as long as one fits.
 *
 * @param share of the plan's columns that a group has at most, below 1; an output that needs more is a group by itself
 * @returns at least two groups of indices of outputs, ascending in each
 */
export function divideOutputs(plan: Plan, share: number): number[][] {
  const bytes = plan.columns.map(({ ringRows }) => ringRows * plan.rowBytes);
  const needs = columnsOfOutputs(plan);
  const users = plan.columns.map((): number[] => []);
  needs.forEach((columns, output) => {
    for (const column of columns) users[column]!.push(output);
  });
  const bytesMax =
    share * users.reduce((sum, some, column) => sum + (some.length > 0 ? bytes[column]! : 0), 0);
  const total = needs.map((columns) => columns.reduce((sum, column) => sum + bytes[column]!, 0));
  const isLeft = new Uint8Array(needs.length).fill(1);
  const groups: number[][] = [];
  for (let first = 0; first >= 0; first = isLeft.indexOf(1)) {
    const missing = Float64Array.from(total);
    const isHeld = new Uint8Array(bytes.length);
    const group: number[] = [];
    let used = 0;
    for (let next = first; next >= 0; next = mostShared(isLeft, missing, total, bytesMax - used)) {
      group.push(next);
      isLeft[next] = 0;
      used += missing[next]!;
      for (const column of needs[next]!) {
        if (isHeld[column]) continue;
        isHeld[column] = 1;
        for (const user of users[column]!) missing[user]! -= bytes[column]!;
      }
    }
    groups.push(group.sort((a, b) => a - b));
  }
  return groups;
}

/** The first of the outputs that share most bytes with a group and fit into it; -1 if none fits. */
function mostShared(
  isLeft: Uint8Array,
  missing: Float64Array,
  total: readonly number[],
  room: number,
): number {
  let best = -1;
  let most = -1;
  for (let output = 0; output < isLeft.length; output++) {
    const shared = total[output]! - missing[output]!;
    if (isLeft[output] === 0 || missing[output]! > room || shared <= most) continue;
    best = output;
    most = shared;
  }
  return best;
}

/** For each output the columns that it depends on, its own included. */
export function columnsOfOutputs({ tasks, columns, outputs }: Plan): number[][] {
  const seenFor = new Int32Array(tasks.length).fill(-1);
  return outputs.map(({ column }, output) => {
    const found = new Set<number>();
    const waiting: number[] = [];
    const visit = (id: number) => {
      if (seenFor[id] === output) return;
      seenFor[id] = output;
      waiting.push(id);
    };
    const visitColumn = (id: number) => {
      found.add(id);
      const { source } = columns[id]!;
      if (source.kind === "task") visit(source.task);
    };
    visitColumn(column);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const { operands, group, column: own } = tasks[id]!;
      if (own !== null) found.add(own);
      if (group !== null) visitColumn(group);
      for (const operand of operands) {
        if (operand.kind === "task") visit(operand.task);
        else if (operand.kind === "column") visitColumn(operand.column);
      }
    }
    return [...found];
  });
}
