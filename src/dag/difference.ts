import { type Dag, inputsOf, type Task } from "./dag.ts";
import { printDag, printOutputs, printTask, printTasks } from "./print.ts";

/** The lines of the first graph, then for each of the others what its pass has changed; tasks keep their numbers. */
export function printChanges([first, ...others]: readonly Dag[]): string[][] {
  let before: LabelledDag = { dag: first!, labels: first!.tasks.map((_, id) => id) };
  const changes = others.map((dag) => {
    const after = labelsAfter(before, dag);
    const lines = printDifference(before, after);
    before = after;
    return lines;
  });
  return [printDag(first!).split("\n"), ...changes];
}

/** A graph with the numbers by which its tasks are printed. */
interface LabelledDag {
  readonly dag: Dag;
  readonly labels: readonly number[];
}

/**
 * Labels a graph that a pass made from another one: corresponding tasks are printed by the same number.
 *
 * A task that does the same with the same inputs keeps its label. From outputs to inputs, a task that replaces another
 * one then takes over its label. All others get new labels.
 */
function labelsAfter({ dag: before, labels }: LabelledDag, after: Dag): LabelledDag {
  const oldOf = new Map<number, number>();
  const olds = Map.groupBy(before.tasks.keys(), (id) => printTask(before.tasks[id] as Task));
  after.tasks.forEach((task, id) => {
    // No task of the old graph reads -1.
    const text = printTask(task, (input) => oldOf.get(input) ?? -1);
    const old = olds.get(text)?.shift();
    if (old !== undefined) oldOf.set(id, old);
  });
  const taken = new Set(oldOf.values());
  const pending = after.outputs.map(({ task }, i) => [task, before.outputs[i]?.task as number]);
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [id, old] = pair as [number, number];
    if (oldOf.has(id) || taken.has(old)) continue;
    oldOf.set(id, old);
    taken.add(old);
    const inputs = inputsOf(before.tasks[old] as Task);
    inputsOf(after.tasks[id] as Task).forEach((input, i) => {
      if (inputs[i] !== undefined) pending.push([input, inputs[i]]);
    });
  }
  let unused = labels.reduce((most, label) => Math.max(most, label), -1) + 1;
  const labelOf = (old: number | undefined) => (old === undefined ? unused++ : (labels[old] as number));
  return { dag: after, labels: after.tasks.map((_, id) => labelOf(oldOf.get(id))) };
}

/** The lines that a pass removed, after `- `, and those that it added, after `+ `, in label order. */
function printDifference(before: LabelledDag, after: LabelledDag): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const without = (lines: readonly Line[], others: readonly Line[], sign: string) => {
    const texts = new Set(others.map(({ text }) => text));
    return lines
      .filter(({ text }) => !texts.has(text))
      .map(({ place, text }) => ({ place, text: `${sign} ${text}` }));
  };
  const changes = [...without(old, now, "-"), ...without(now, old, "+")];
  return changes.sort((a, b) => a.place - b.place).map(({ text }) => text);
}

interface Line {
  readonly place: number;
  readonly text: string;
}

/** Lines of tasks by label, then those of outputs. */
function linesOf({ dag, labels }: LabelledDag): Line[] {
  const labelOf = (id: number) => labels[id] as number;
  return [
    ...printTasks(dag, labelOf).map((text, id) => ({ place: labelOf(id), text })),
    ...printOutputs(dag, labelOf).map((text) => ({ place: Number.POSITIVE_INFINITY, text })),
  ];
}
