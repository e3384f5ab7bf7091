import { type Dag, DagBuilder, type Output, type Task } from "./dag.ts";

/** A graph and what its params stand for in one call. */
export interface Instance {
  readonly dag: Dag;
  readonly paramValue: (param: string) => number;
}

/** The graphs of several calls as one. */
export interface Instantiated {
  /** Without params and conditions; each task that outputs need is an output once. */
  readonly dag: Dag;
  /** For each instance, for each of its outputs: which output of the graph it is. */
  readonly outputs: readonly (readonly number[])[];
}

/**
 * One graph that computes the outputs of all instances, in which the params are numbers.
 *
 * Algorithm: each graph is interned anew, in topological order, into the same builder, a param as the number of its
 * instance. Tasks below which there is no param, or the same values of params, get equal keys and so are one task.
 * Without sharing each instance keeps tasks of its own; the bits are the same.
 */
export function instantiate(instances: readonly Instance[], isSharing: boolean): Instantiated {
  const builder = new DagBuilder(isSharing);
  const places = new Map<number, number>();
  const found: Output[] = [];
  const outputs = instances.map(({ dag, paramValue }) => {
    const ids: number[] = [];
    for (const task of dag.tasks) ids.push(builder.add(withNumbers(task, ids, paramValue)));
    return dag.outputs.map(({ name, task: own, priority }) => {
      const task = ids[own] as number;
      const place = places.get(task) ?? found.push({ name, task, condition: null, priority }) - 1;
      places.set(task, place);
      return place;
    });
  });
  return { dag: { tasks: builder.tasks, outputs: found, params: [], conditions: [] }, outputs };
}

function withNumbers(task: Task, ids: readonly number[], paramValue: Instance["paramValue"]): Task {
  if (task.kind === "param") return { kind: "number", value: paramValue(task.name) };
  if (task.kind !== "call") return task;
  return { ...task, inputs: task.inputs.map((input) => ids[input] as number) };
}
