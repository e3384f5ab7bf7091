import { compile, finalDag } from "../compile.ts";
import { type Dag, DagBuilder } from "../dag/dag.ts";
import { publishedText } from "./open_formulas.ts";

/** Sets in one graph: equal tasks are one task, also across sets. */
export function mergedDag(sets: readonly string[]): Dag {
  const builder = new DagBuilder(true);
  const outputs = sets.flatMap((set) => {
    const { tasks, outputs: factors } = finalDag(compile(publishedText(set), { file: set }));
    const ids: number[] = [];
    for (const task of tasks) {
      const inputs = task.kind === "call" ? task.inputs.map((input) => ids[input]!) : [];
      ids.push(builder.add(task.kind === "call" ? { ...task, inputs } : task));
    }
    // Two sets have factors of one name.
    return factors.map(({ name, task }) => ({
      name: `${set}.${name}`,
      task: ids[task]!,
      condition: null,
      priority: 0,
    }));
  });
  return { tasks: builder.tasks, outputs, params: [], conditions: [] };
}
