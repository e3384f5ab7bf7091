import type { Condition } from "../ast/condition.ts";
import type { Param } from "../ast/program.ts";
import type { KernelOperator, Settings } from "../operator/definition.ts";

/**
 * The task graph of a program: equal expressions, also of different factors, are one task. Tasks are in topological
 * order: a task's inputs have smaller ids.
 */
export interface Dag {
  readonly tasks: readonly Task[];
  readonly outputs: readonly Output[];
  readonly params: readonly Param[];
  readonly conditions: readonly Condition[];
  /**
   * The conditions under which each task is needed; equal sets are one object. Without it every task is always needed.
   */
  readonly conditionSets?: readonly (ConditionSet | null)[] | null;
}

/**
 * A set of conditions as 32-bit words: condition `i` is bit `i % 32` of word `i / 32`. A task is needed if one of them
 * holds; null means always.
 */
export type ConditionSet = readonly number[];

export const WORD_BITS = 32;

export function isIn(set: ConditionSet, condition: number): boolean {
  return ((set[Math.floor(condition / WORD_BITS)]! >>> (condition % WORD_BITS)) & 1) === 1;
}

export type Task = FieldTask | NumberTask | ParamTask | CallTask;

export interface FieldTask {
  readonly kind: "field";
  readonly name: string;
}

export interface NumberTask {
  readonly kind: "number";
  readonly value: number;
  /** Printed form where it says more than the digits: `1 - 0.318108` rather than 0.6818919999999999. */
  readonly written?: string;
}

export interface ParamTask {
  readonly kind: "param";
  readonly name: string;
}

/** One operator application. */
export interface CallTask {
  readonly kind: "call";
  readonly operator: KernelOperator;
  /** Ids of the tasks of its series arguments, in parameter order. */
  readonly inputs: readonly number[];
  readonly group: string | null;
  readonly settings: Settings;
  readonly minPeriods: number | null;
  /** Of a recursive task: the fingerprints of the tasks that it computes, as their author wrote them. */
  readonly fingerprints?: readonly string[];
}

/** A factor: its task and the condition under which it is computed. Only sessions read its priority. */
export interface Output {
  readonly name: string;
  readonly task: number;
  readonly condition: number | null;
  readonly priority: number;
}

export const inputsOf = (task: Task): readonly number[] => (task.kind === "call" ? task.inputs : []);

/** Adds tasks; equal tasks get one id (hash-consing) unless sharing is switched off. */
export class DagBuilder {
  readonly tasks: Task[] = [];
  readonly #ids = new Map<string, number>();
  readonly #isSharing: boolean;

  constructor(isSharing: boolean) {
    this.#isSharing = isSharing;
  }

  /**
   * Returns the id of the task, of an equal one, or of one equal to its `likeness`. Its inputs must be in the graph.
   */
  add(task: Task, likeness: Task = task): number {
    if (!this.#isSharing) return this.tasks.push(task) - 1;
    const key = keyOf(likeness);
    const known = this.#ids.get(key);
    if (known !== undefined) {
      this.#noteFingerprints(known, task);
      return known;
    }
    this.#ids.set(key, this.tasks.length);
    return this.tasks.push(task) - 1;
  }

  /** A task that stands for another one computes what that was written for as well. */
  #noteFingerprints(id: number, other: Task): void {
    const task = this.tasks[id]!;
    if (task.kind !== "call" || other.kind !== "call" || other.fingerprints === undefined) return;
    this.tasks[id] = {
      ...task,
      fingerprints: [...new Set(task.fingerprints).union(new Set(other.fingerprints))],
    };
  }
}

/** Equal for tasks that compute the same bits from the same inputs. */
function keyOf(task: Task): string {
  switch (task.kind) {
    case "field":
      return `field ${task.name}`;
    case "param":
      return `param ${task.name}`;
    case "number":
      return `number ${numberText(task.value)}`;
    case "call": {
      const settings = Object.values(task.settings).map(numberText).join(" ");
      return `${task.operator.name} ${task.inputs.join(" ")}|${settings}|${task.minPeriods ?? ""}|${task.group ?? ""}`;
    }
  }
}

/** A number as text, with the sign of a zero: `1 / -0` is not `1 / 0`. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "null";
  return Object.is(value, -0) ? "-0" : String(value);
}
