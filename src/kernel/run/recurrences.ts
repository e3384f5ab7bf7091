import type { Registry } from "../../operator/registry.ts";
import type { Operand, Plan, PlanTask } from "../../plan/plan.ts";
import { Arena } from "../memory/arena.ts";
import type { PlanArena } from "../memory/plan_arena.ts";
import { vectorPosition } from "../memory/state_layout.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";

/** What is needed of an open plan to read and write its recurrences. */
export interface RecurrentPlan {
  readonly plan: Plan;
  readonly arenas: readonly PlanArena[];
  readonly registry: Registry;
}

/** State of recursive operators by task number: vectors one after the other, `[vectors x lanes]`. */
export type RecurrenceValues = ReadonlyMap<number, Float64Array>;

/** Numbers the tasks of several plans: equal numbers mean the same operator, settings and inputs. */
export class TaskNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #operators = new Map<object, number>();

  of({ plan, registry }: Pick<RecurrentPlan, "plan" | "registry">): number[] {
    const numbers: number[] = [];
    for (const task of plan.tasks) numbers.push(this.#numberOf(plan, task, numbers, registry));
    return numbers;
  }

  #numberOf(plan: Plan, task: PlanTask, numbers: readonly number[], registry: Registry): number {
    const sourceOf = (column: number) => {
      const { source } = plan.columns[column]!;
      return source.kind === "number"
        ? numberKey(source.value)
        : [source.kind, "name" in source && source.name];
    };
    const keyOf = (operand: Operand) => {
      if (operand.kind === "task") return numbers[operand.task];
      return operand.kind === "number" ? numberKey(operand.value) : sourceOf(operand.column);
    };
    const operator = registry.kernel(task.operator);
    const operatorNumber = this.#operators.get(operator) ?? this.#operators.size;
    this.#operators.set(operator, operatorNumber);
    const group = task.group === null ? null : sourceOf(task.group);
    const settings = Object.values(task.settings).map(numberKey);
    const operands = task.operands.map((operand) => JSON.stringify(keyOf(operand)));
    // Operands are ordered by the plan's task ids, which differ between programs.
    if (operator.laws?.includes("commutative")) operands.sort();
    const key = JSON.stringify([operatorNumber, settings, task.minPeriods, group, operands]);
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    return number;
  }
}

/** Number of the generation in which a node's state is found; null if it is not there. */
type GenerationOf = (node: number) => number | null;

/** Reads the state that is there before a row. The runs behind that row may be under way. */
export function readRecurrences(
  open: RecurrentPlan,
  numbers: readonly number[],
  generationOf: GenerationOf,
): RecurrenceValues {
  const { laneCount } = open.plan;
  const found = new Map<number, Float64Array>();
  forEachVector(open, generationOf, (values, task, vectorCount, index, positionOf) => {
    const state = found.get(numbers[task]!) ?? new Float64Array(vectorCount * laneCount);
    found.set(numbers[task]!, state);
    for (let lane = 0; lane < laneCount; lane++) state[index * laneCount + lane] = values[positionOf(lane)]!;
  });
  return found;
}

/** Sets the state of tasks whose values are known. No run may be under way. */
export function writeRecurrences(
  open: RecurrentPlan,
  numbers: readonly number[],
  generationOf: GenerationOf,
  known: RecurrenceValues,
): void {
  const { laneCount } = open.plan;
  forEachVector(open, generationOf, (values, task, _, index, positionOf) => {
    const state = known.get(numbers[task]!);
    if (!state) return;
    for (let lane = 0; lane < laneCount; lane++) values[positionOf(lane)] = state[index * laneCount + lane]!;
  });
}

type VisitVector = (
  values: Float64Array,
  task: number,
  vectorCount: number,
  index: number,
  positionOf: (lane: number) => number,
) => void;

/** Visits every vector with the values of its arena and the position of each lane's value in them. */
function forEachVector({ arenas }: RecurrentPlan, generationOf: GenerationOf, visit: VisitVector): void {
  for (const { plan, kernels, memory, firstNode, firstTask } of arenas) {
    const { values } = new Arena(plan, memory);
    for (const [node, { recurrences, recurrentTasks, recurrenceByteOffsets }] of kernels.states) {
      const generation = generationOf(firstNode + node);
      if (generation === null) continue;
      const offset = recurrenceByteOffsets[generation % recurrenceByteOffsets.length]!;
      const start = offset / VALUE_BYTES;
      for (const { task, firstVector, vectorCount } of recurrentTasks)
        for (let index = 0; index < vectorCount; index++) {
          const vector = firstVector + index;
          const positionOf = (lane: number) => start + vectorPosition(recurrences.length, vector, lane);
          visit(values, firstTask + task, vectorCount, index, positionOf);
        }
    }
  }
}

/** JSON has neither infinities nor -0. */
function numberKey(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}
