import { type ConditionSet, type Dag, inputsOf } from "../../src/dag/dag.ts";
import { InternalError } from "../../src/errors.ts";

/** Checks the invariants of every pass; runs after each pass. @throws InternalError for a broken graph. */
export function verifyDag(dag: Dag): Dag {
  dag.tasks.forEach((task, id) => {
    if (task.kind !== "call") return;
    const seriesCount = task.operator.parameters.filter(
      ({ kind }) => kind === "series" || kind === "condition",
    ).length;
    if (task.inputs.length !== seriesCount)
      broken(id, `${task.operator.name} with ${task.inputs.length} inputs`);
    if (task.inputs.some((input) => !(input >= 0 && input < id)))
      broken(id, "an input that does not come before it");
    if ((task.group === null) === (task.operator.axis === "group"))
      broken(id, "an unexpected or missing group");
    if (Object.values(task.settings).some((value) => !Number.isFinite(value)))
      broken(id, "a setting that is not a number");
  });
  for (const { name, task, condition } of dag.outputs) {
    if (!(task >= 0 && task < dag.tasks.length)) broken(task, `output ${name} that does not exist`);
    if (condition !== null && !dag.conditions[condition])
      broken(task, `output ${name} under an unknown condition`);
  }
  if (dag.conditionSets) verifyConditionSets(dag, dag.conditionSets);
  return dag;
}

/** Inputs of a needed task must be needed as well. */
function verifyConditionSets({ tasks }: Dag, sets: readonly (ConditionSet | null)[]): void {
  if (sets.length !== tasks.length) broken(sets.length, "a missing or surplus condition set");
  const contains = (all: ConditionSet | null, some: ConditionSet | null): boolean =>
    all === null || (some?.every((word, i) => (word & ~(all[i] as number)) === 0) ?? false);
  tasks.forEach((task, id) => {
    for (const input of inputsOf(task)) {
      if (!contains(sets[input] as ConditionSet | null, sets[id] as ConditionSet | null)) {
        broken(id, `conditions under which its input ${input} is not needed`);
      }
    }
  });
}

function broken(id: number, what: string): never {
  throw new InternalError(`task ${id} has ${what}`);
}
