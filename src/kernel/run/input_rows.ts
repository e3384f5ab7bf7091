import { InternalError } from "../../errors.ts";
import type { GroupColumn } from "../../panel.ts";
import type { ColumnSource, Plan } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";

/** The sources of a plan's input columns. */
export interface Inputs {
  /** Numeric columns of the panel `[inputRows x lanes]`. */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** A number, or one value per input row. */
  readonly params: Readonly<Record<string, number | Float64Array<SharedArrayBuffer>>>;
}

/** Copies one row of an input column into the arena. */
export function readInputRow(
  plan: Plan,
  arena: Arena,
  inputs: Inputs,
  column: number,
  row: number,
  inputRow: number,
): void {
  const { laneCount } = plan;
  const start = arena.rowStart(column, row);
  const target = arena.values.subarray(start, start + laneCount);
  const source = plan.columns[column]!.source;
  switch (source.kind) {
    case "field": {
      const values = found(inputs.fields.get(source.name), source);
      target.set(values.subarray(inputRow * laneCount, (inputRow + 1) * laneCount));
      return;
    }
    case "group": {
      const { codes, changesOverTime } = found(inputs.groups.get(source.name), source);
      const base = changesOverTime ? inputRow * laneCount : 0;
      for (let lane = 0; lane < laneCount; lane++) {
        const code = codes[base + lane]!;
        target[lane] = code < 0 ? Number.NaN : code;
      }
      return;
    }
    case "param": {
      const value = found(inputs.params[source.name], source);
      target.fill(typeof value === "number" ? value : value[inputRow]!);
      return;
    }
    case "number":
      target.fill(source.value);
      return;
    case "task":
      throw new InternalError(`column ${column} is computed, not read`);
  }
}

function found<T>(value: T | undefined, source: ColumnSource): T {
  if (value === undefined) throw new InternalError(`a run lacks ${JSON.stringify(source)}`);
  return value;
}
