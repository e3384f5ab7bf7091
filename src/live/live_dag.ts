import { ALWAYS } from "../ast/condition.ts";
import type { Dag, Output } from "../dag/dag.ts";
import { SHARING } from "../dag/passes/order.ts";
import { propagateConditions } from "../dag/passes/propagate_conditions.ts";
import { pruneDag } from "../dag/prune.ts";
import { hideAbsent } from "../dag/row_members.ts";

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
  /** Fields that hold values where symbols have no row. */
  readonly series: readonly string[];
}

/** The selected factors, with conditions split by priority. Lanes without a symbol are like symbols without a row. */
export function liveDag(dag: Dag, options: LiveDagOptions): LiveDag {
  const { select, priorities, disabledPasses, series } = options;
  const selected = pruneDag(
    dag,
    dag.outputs.map(({ name }) => select?.includes(name) ?? true),
  );
  const isSharing = !disabledPasses.has(SHARING);
  const shown = hideAbsent(selected, { isSharing, series });
  const given = new Map(Object.entries(priorities));
  const priorityOf = ({ name, priority }: Output) => given.get(name) ?? priority;
  const highest = Math.max(...shown.outputs.map(priorityOf));
  const switches: Switch[] = [];
  const factors = shown.outputs.map((output, index): LiveFactor => {
    const { name, condition } = output;
    const priority = priorityOf(output);
    // What is most urgent is never left out but for its condition.
    const isAlways = condition === null && priority === highest;
    const switchId = isAlways ? null : switchOf(switches, { condition, priority });
    return { name, condition, priority, output: index, switchId };
  });
  const switched: Dag = {
    ...shown,
    outputs: shown.outputs.map((output, index) => ({ ...output, condition: factors[index]!.switchId })),
    conditions: switches.map(({ condition }) => (condition === null ? ALWAYS : dag.conditions[condition]!)),
  };
  const isPropagated = !disabledPasses.has("propagate_conditions");
  return { dag: isPropagated ? propagateConditions(switched) : switched, switches, factors };
}

function switchOf(switches: Switch[], { condition, priority }: Switch): number {
  const known = switches.findIndex((other) => other.condition === condition && other.priority === priority);
  return known >= 0 ? known : switches.push({ condition, priority }) - 1;
}
