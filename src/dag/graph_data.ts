import { type Dag, isIn, type Task } from "./dag.ts";
import { conditionText } from "./print.ts";
import { HAS_ROW } from "./row_members.ts";

/**
 * What a program is compiled to, as plain data that JSON holds: every distinct expression is one task, whose inputs stand
 * before it.
 */
export interface ProgramGraph {
  readonly tasks: readonly GraphTask[];
  readonly outputs: readonly GraphOutput[];
}

/** A column, a number, a param, or an operator applied to other tasks. */
export type GraphTask = {
  /** Its place among the tasks. */
  readonly id: number;
  /** Conditions, as formulas write them, one of which must hold for it to be computed; null for always. */
  readonly when: readonly string[] | null;
} & (
  | { readonly kind: "field" | "param"; readonly name: string }
  | {
      readonly kind: "number";
      /** Null for null; a text where JSON has no such number: `"-0"`, `"Infinity"`. */
      readonly value: number | string | null;
    }
  | {
      readonly kind: "call";
      readonly operator: string;
      /** Tasks of its series arguments, in the order of the operator's parameters. */
      readonly inputs: readonly number[];
      /** Its group column. */
      readonly group: string | null;
      /** Windows, delays and constants by the names of its parameters. */
      readonly settings: Readonly<Record<string, number>>;
      /** Values that a window needs at least; null for all. */
      readonly minPeriods: number | null;
    }
);

/** A factor. */
export interface GraphOutput {
  readonly name: string;
  readonly task: number;
  /** Rows of history before the current one that it depends on; null without a limit. */
  readonly lookbackRows: number | null;
  /** Its condition, as formulas write it; null for always. */
  readonly when: string | null;
  readonly priority: number;
}

/** @param lookbackRows of each output */
export function graphData(dag: Dag, lookbackRows: readonly number[]): ProgramGraph {
  const { tasks, outputs, conditions, conditionSets } = dag;
  const texts = conditions.map((_, condition) => conditionText(dag, condition));
  return {
    tasks: tasks.map((task, id) => {
      const set = conditionSets?.[id] ?? null;
      return { id, ...taskData(task), when: set && texts.filter((_, condition) => isIn(set, condition)) };
    }),
    outputs: outputs.map(({ name, task, condition, priority }, index) => {
      const rows = lookbackRows[index]!;
      const when = condition === null ? null : texts[condition]!;
      return { name, task, lookbackRows: Number.isFinite(rows) ? rows : null, when, priority };
    }),
  };
}

type TaskData<T = GraphTask> = T extends unknown ? Omit<T, "id" | "when"> : never;

function taskData(task: Task): TaskData {
  if (task.kind === "call") {
    const { kind, operator, inputs, group, settings, minPeriods } = task;
    return {
      kind,
      operator: operator.name,
      inputs: [...inputs],
      group,
      settings: { ...settings },
      minPeriods,
    };
  }
  if (task.kind === "number") return { kind: "number", value: numberData(task.value) };
  return { kind: task.kind, name: task.name === HAS_ROW ? HAS_ROW.trim() : task.name };
}

function numberData(value: number): number | string | null {
  if (Number.isNaN(value)) return null;
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}
