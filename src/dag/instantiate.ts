import { type Dag, DagBuilder, type Output, type Task } from "./dag.ts";
import { withInputsAt } from "./rebuild.ts";

/** A graph and the values of its params in one call. */
export interface Instance {
  readonly dag: Dag;
  readonly paramValue: (param: string) => number;
}

/** The graphs of several calls, merged. */
export interface Instantiated {
  /** Without params and conditions; a task that outputs need is an output once. */
  readonly dag: Dag;
  /** For each instance and each of its outputs the index of the merged graph's output. */
  readonly outputs: readonly (readonly number[])[];
}

/**
 * Merges instances into one graph in which params are numbers.
 *
 * Algorithm: each graph is interned in topological order into the same builder, with params replaced by the instance's
 * numbers. Tasks that depend on no param, or on equal values of params, get equal keys and become one task. Without
 * sharing each instance keeps its own tasks; the bits are the same.
 */
export function instantiate(instances: readonly Instance[], isSharing: boolean): Instantiated {
  const builder = new DagBuilder(isSharing);
  const places = new Map<number, number>();
  const found: Output[] = [];
  const outputs = instances.map(({ dag, paramValue }) => {
    const ids: number[] = [];
    const withNumbers = (task: Task): Task =>
      task.kind === "param" ? { kind: "number", value: paramValue(task.name) } : withInputsAt(task, ids);
    for (const task of dag.tasks) ids.push(builder.add(withNumbers(task)));
    return dag.outputs.map(({ name, task: own, priority }) => {
      const task = ids[own] as number;
      const place = places.get(task) ?? found.push({ name, task, condition: null, priority }) - 1;
      places.set(task, place);
      return place;
    });
  });
  return { dag: { tasks: builder.tasks, outputs: found, params: [], conditions: [] }, outputs };
}
