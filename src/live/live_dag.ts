import type { Condition } from "../ast/condition.ts";
import { type Dag, type DagBuilder, inputsOf, type Output, type Task } from "../dag/dag.ts";
import { SHARING } from "../dag/passes/order.ts";
import { propagateConditions } from "../dag/passes/propagate_conditions.ts";
import { pruneDag } from "../dag/prune.ts";
import { rebuildDag } from "../dag/rebuild.ts";
import type { KernelOperator } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";

/** The field that is 1 for lanes that have a symbol and null for spare ones; no name of a formula. */
export const SYMBOLS_IN_USE = "symbols in use";

/** Factors that are wanted together: under one condition, with one priority. A run turns each on or off. */
export interface Switch {
  /** Condition of the program; null for factors that are wanted in every call. */
  readonly condition: number | null;
  readonly priority: number;
}

/** A factor of the output of a session. */
export interface LiveFactor {
  readonly name: string;
  readonly condition: number | null;
  readonly priority: number;
  /** Index among the outputs of the graph. */
  readonly output: number;
  /** Null for a factor that every run computes. */
  readonly switchId: number | null;
}

/** The graph that a session evaluates. */
export interface LiveDag {
  readonly dag: Dag;
  readonly switches: readonly Switch[];
  readonly factors: readonly LiveFactor[];
}

export interface LiveDagOptions {
  readonly select?: readonly string[] | undefined;
  /** Instead of those of the file, for the factors that are named. */
  readonly priorities: Readonly<Record<string, number>>;
  readonly disabledPasses: ReadonlySet<string>;
  /** True if there are lanes without a symbol. */
  readonly hasSpareLanes: boolean;
}

/** The selected factors, with spare lanes hidden and conditions split by priority. */
export function liveDag(dag: Dag, registry: Registry, options: LiveDagOptions): LiveDag {
  const { select, priorities, disabledPasses, hasSpareLanes } = options;
  const selected = pruneDag(
    dag,
    dag.outputs.map(({ name }) => select?.includes(name) ?? true),
  );
  const isSharing = !disabledPasses.has(SHARING);
  const masked = hasSpareLanes ? hideSpareLanes(selected, isSharing, registry) : selected;
  const given = new Map(Object.entries(priorities));
  const priorityOf = ({ name, priority }: Output) => given.get(name) ?? priority;
  const highest = Math.max(...masked.outputs.map(priorityOf));
  const switches: Switch[] = [];
  const factors = masked.outputs.map((output, index): LiveFactor => {
    const { name, condition } = output;
    const priority = priorityOf(output);
    // What is most urgent is never left out but for its condition.
    const isAlways = condition === null && priority === highest;
    const switchId = isAlways ? null : switchOf(switches, { condition, priority });
    return { name, condition, priority, output: index, switchId };
  });
  const always: Condition = { steps: [{ kind: "value", value: 1 }] };
  const switched: Dag = {
    ...masked,
    outputs: masked.outputs.map((output, index) => ({ ...output, condition: factors[index]!.switchId })),
    conditions: switches.map(({ condition }) => (condition === null ? always : dag.conditions[condition]!)),
  };
  const isPropagated = !disabledPasses.has("propagate_conditions");
  return { dag: isPropagated ? propagateConditions(switched) : switched, switches, factors };
}

function switchOf(switches: Switch[], { condition, priority }: Switch): number {
  const known = switches.findIndex((other) => other.condition === condition && other.priority === priority);
  return known >= 0 ? known : switches.push({ condition, priority }) - 1;
}

/**
 * Spare lanes must not count in a row, so that results do not depend on how many there are. They are null in all fields,
 * and operators across the row leave nulls out: only what is not null for nulls (`is_null(x)`, a param) is multiplied by
 * a field that is null in spare lanes and 1 elsewhere, which changes no bit of the others.
 */
function hideSpareLanes(dag: Dag, isSharing: boolean, registry: Registry): Dag {
  const multiply = registry.kernel("multiply");
  const isNull = new Map<number, boolean>();
  const add = (task: Task, builder: DagBuilder): number => {
    const inputs = inputsOf(task);
    const areNull = inputs.map((input) => isNull.get(input) === true);
    const mustHide =
      task.kind === "call" && task.operator.axis === "cross_section" && !areNull.includes(true);
    const hidden = mustHide ? withFirstInput(task, hide(inputs[0]!, multiply, builder)) : task;
    const id = builder.add(hidden);
    isNull.set(id, isNullForNulls(task, areNull));
    return id;
  };
  const { conditionSets: _, ...rest } = rebuildDag(dag, isSharing, add);
  return rest;
}

function hide(input: number, operator: KernelOperator, builder: DagBuilder): number {
  const mask = builder.add({ kind: "field", name: SYMBOLS_IN_USE });
  return builder.add({
    kind: "call",
    operator,
    inputs: [input, mask],
    group: null,
    settings: {},
    minPeriods: null,
  });
}

function withFirstInput(task: Task, input: number): Task {
  return task.kind === "call" ? { ...task, inputs: [input, ...task.inputs.slice(1)] } : task;
}

/** True if a lane whose fields are null in every row has null there for sure. */
function isNullForNulls(task: Task, areNull: readonly boolean[]): boolean {
  if (task.kind !== "call") return task.kind === "field";
  const { operator, minPeriods } = task;
  switch (operator.axis) {
    case "elementwise":
      return operator.seesNulls !== true && areNull.includes(true);
    case "rolling":
      return operator.seesNulls !== true && minPeriods === null && areNull.includes(true);
    case "cross_section":
      return true;
    case "group":
      // A lane without a symbol has no group.
      return true;
    case "recursive":
      return false;
  }
}
