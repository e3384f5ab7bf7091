import { spelledName } from "../../grammar/names.ts";
import type { Condition } from "../ast/condition.ts";
import { printCondition } from "../ast/print.ts";
import { windowRowsOf } from "../operator/definition.ts";
import { type CallTask, type Dag, inputsOf, numberText, type Task } from "./dag.ts";
import { HAS_ROW } from "./row_members.ts";

/** Number of operator applications if every formula were evaluated separately, with definitions expanded. */
export function countUnsharedCalls(dag: Dag): number {
  const sizes: number[] = [];
  for (const task of dag.tasks) {
    const below = inputsOf(task).reduce((sum, input) => sum + (sizes[input] as number), 0);
    sizes.push(task.kind === "call" ? below + 1 : 0);
  }
  return dag.outputs.reduce((sum, { task }) => sum + (sizes[task] as number), 0);
}

/** Number of operator applications in the graph. */
export function countCalls(dag: Dag): number {
  return dag.tasks.filter((task) => task.kind === "call").length;
}

/** The graph as stable text, one task a line: `%7 = ts_mean(%3, d=20)`. */
export function printDag(dag: Dag): string {
  return [...printTasks(dag), ...printOutputs(dag)].join("\n");
}

type LabelOf = (task: number) => number;

export function printTasks({ tasks }: Dag, labelOf: LabelOf = byId): string[] {
  return tasks.map((task, id) => `%${labelOf(id)} = ${printTask(task, labelOf)}`);
}

/** One line per factor: `a = %7 when p == 1`. */
export function printOutputs(dag: Dag, labelOf: LabelOf = byId): string[] {
  return dag.outputs.map(({ name, task, condition }) => {
    return `${spelledName(name)} = %${labelOf(task)}${condition === null ? "" : ` when ${conditionText(dag, condition)}`}`;
  });
}

/** A condition of the graph in formula syntax. */
export function conditionText({ conditions }: Dag, condition: number): string {
  return printCondition(conditions[condition] as Condition);
}

const byId: LabelOf = (task) => task;

/** A task's operation, e.g. `ts_mean(%3, d=20)`. */
export function printTask(task: Task, labelOf: LabelOf = byId): string {
  switch (task.kind) {
    case "field":
      return task.name === HAS_ROW ? HAS_ROW.trim() : spelledName(task.name);
    case "param":
      return `param ${spelledName(task.name)}`;
    case "number":
      return task.written ?? numberText(task.value);
    case "call":
      return `${task.operator.name}(${[...task.inputs.map((input) => `%${labelOf(input)}`), ...extras(task)].join(", ")})`;
  }
}

function extras({ group, settings, minPeriods }: CallTask): string[] {
  const named = Object.entries(settings).map(([name, value]) => `${name}=${numberText(value)}`);
  return [
    ...(group === null ? [] : [spelledName(group)]),
    ...named,
    ...(minPeriods === null ? [] : [`min_periods=${minPeriods}`]),
  ];
}

/** The graph in the DOT language of Graphviz: fields as boxes, windows and delays on labels, factors filled. */
export function printDot(dag: Dag): string {
  const lines = ["digraph factors {", "  rankdir=LR;", '  node [fontname="Helvetica", fontsize=10];'];
  dag.tasks.forEach((task, id) => {
    lines.push(`  t${id} [${dotAttributes(task)}];`);
    for (const input of inputsOf(task)) lines.push(`  t${input} -> t${id};`);
  });
  dag.outputs.forEach(({ name, task, condition }, i) => {
    lines.push(`  f${i} [label=${JSON.stringify(name)}, shape=box, style=filled, fillcolor="#dce9f7"];`);
    const when =
      condition === null
        ? ""
        : ` [style=dashed, label=${JSON.stringify(`when ${conditionText(dag, condition)}`)}]`;
    lines.push(`  t${task} -> f${i}${when};`);
  });
  return [...lines, "}"].join("\n");
}

function dotAttributes(task: Task): string {
  if (task.kind !== "call") return `label=${JSON.stringify(printTask(task))}, shape=box`;
  const isUnbounded = windowRowsOf(task.operator, task.settings) === Number.POSITIVE_INFINITY;
  const lines = [task.operator.name, ...extras(task), ...(isUnbounded ? ["unbounded"] : [])];
  return `label=${JSON.stringify(lines.join("\n"))}, shape=ellipse`;
}
