import { windowRowsOf } from "../operator/definition.ts";
import { type CallTask, type Dag, inputsOf, numberText, type Task } from "./dag.ts";

/** Number of operator applications if every formula were evaluated by itself, definitions written out. */
export function countUnsharedCalls(dag: Dag): number {
  const sizes: number[] = [];
  for (const task of dag.tasks) {
    const below = inputsOf(task).reduce((sum, input) => sum + (sizes[input] as number), 0);
    sizes.push(task.kind === "call" ? below + 1 : 0);
  }
  return dag.outputs.reduce((sum, { task }) => sum + (sizes[task] as number), 0);
}

/** Number of operator applications of the graph. */
export function countCalls(dag: Dag): number {
  return dag.tasks.filter((task) => task.kind === "call").length;
}

/** The graph as stable text, one task a line: `%7 = ts_mean(%3, d=20)`. */
export function printDag(dag: Dag): string {
  const lines = dag.tasks.map((task, id) => `%${id} = ${printTask(task)}`);
  const outputs = dag.outputs.map(({ name, task, condition }) => {
    return `${name} = %${task}${condition === null ? "" : ` when #${condition}`}`;
  });
  return [...lines, ...outputs].join("\n");
}

function printTask(task: Task): string {
  switch (task.kind) {
    case "field":
      return task.name;
    case "param":
      return `param ${task.name}`;
    case "number":
      return numberText(task.value);
    case "call":
      return `${task.operator.name}(${[...task.inputs.map((input) => `%${input}`), ...extras(task)].join(", ")})`;
  }
}

function extras({ group, settings, minPeriods }: CallTask): string[] {
  const named = Object.entries(settings).map(([name, value]) => `${name}=${numberText(value)}`);
  return [
    ...(group === null ? [] : [group]),
    ...named,
    ...(minPeriods === null ? [] : [`min_periods=${minPeriods}`]),
  ];
}

/** The graph in the DOT language of Graphviz: fields as boxes, windows on the labels, factors filled. */
export function printDot(dag: Dag): string {
  const lines = ["digraph factors {", "  rankdir=LR;", '  node [fontname="Helvetica", fontsize=10];'];
  dag.tasks.forEach((task, id) => {
    lines.push(`  t${id} [${dotAttributes(task)}];`);
    for (const input of inputsOf(task)) lines.push(`  t${input} -> t${id};`);
  });
  dag.outputs.forEach(({ name, task, condition }, i) => {
    lines.push(`  f${i} [label=${JSON.stringify(name)}, shape=box, style=filled, fillcolor="#dce9f7"];`);
    lines.push(
      `  t${task} -> f${i}${condition === null ? "" : ` [style=dashed, label="when #${condition}"]`};`,
    );
  });
  return [...lines, "}"].join("\n");
}

function dotAttributes(task: Task): string {
  if (task.kind !== "call") return `label=${JSON.stringify(printTask(task))}, shape=box`;
  const rows = windowRowsOf(task.operator, task.settings);
  const window = rows > 1 ? `\\n${rows} rows` : "";
  const group = task.group === null ? "" : `\\n${task.group}`;
  return `label="${task.operator.name}${window}${group}", shape=ellipse`;
}
