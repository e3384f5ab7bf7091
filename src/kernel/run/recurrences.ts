import type { Registry } from "../../operator/registry.ts";
import type { Plan } from "../../plan/plan.ts";
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

/** State of recursive tasks by each of their fingerprints: vectors one after the other, `[vectors x lanes]`. */
export type RecurrenceValues = ReadonlyMap<string, Float64Array>;

/** Number of the generation in which a node's state is found; null if it is not there. */
type GenerationOf = (node: number) => number | null;

/** Reads the state that is there before a row. The runs behind that row may be under way. */
export function readRecurrences(open: RecurrentPlan, generationOf: GenerationOf): RecurrenceValues {
  const { laneCount, tasks } = open.plan;
  const found = new Map<string, Float64Array>();
  forEachVector(open, generationOf, (values, task, vectorCount, index, positionOf) => {
    const { fingerprints } = tasks[task]!;
    const state = found.get(fingerprints[0]!) ?? new Float64Array(vectorCount * laneCount);
    for (const one of fingerprints) found.set(one, state);
    for (let lane = 0; lane < laneCount; lane++) state[index * laneCount + lane] = values[positionOf(lane)]!;
  });
  return found;
}

/** Sets the state of tasks whose values are known. No run may be under way. */
export function writeRecurrences(
  open: RecurrentPlan,
  generationOf: GenerationOf,
  known: RecurrenceValues,
): void {
  const { laneCount, tasks } = open.plan;
  forEachVector(open, generationOf, (values, task, vectorCount, index, positionOf) => {
    const fingerprint = tasks[task]!.fingerprints.find((one) => known.has(one));
    const state = fingerprint === undefined ? undefined : known.get(fingerprint);
    if (state?.length !== vectorCount * laneCount) return;
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
