import { ALWAYS } from "../ast/condition.ts";
import type { Dag, Output } from "../dag/dag.ts";
import { SHARING } from "../dag/passes/order.ts";
import { propagateConditions } from "../dag/passes/propagate_conditions.ts";
import { pruneDag } from "../dag/prune.ts";
import { hideAbsent } from "../dag/row_members.ts";

/** The factors of one condition and one priority: a run computes all of them or none. */
export interface FactorGate {
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
  /** Null for a factor of every run. */
  readonly gateId: number | null;
}

/** The graph that a session evaluates. */
export interface LiveDag {
  readonly dag: Dag;
  readonly gates: readonly FactorGate[];
  readonly factors: readonly LiveFactor[];
}

export interface LiveDagOptions {
  readonly select?: readonly string[] | undefined;
  /** Override the priorities of the file. */
  readonly priorities: Readonly<Record<string, number>>;
  readonly disabledPasses: ReadonlySet<string>;
  /** Fields that hold values where symbols have no row. */
  readonly series: readonly string[];
}

/** The graph of the selected factors, conditions split by priority. Lanes without a symbol are like symbols without a row. */
export function liveDag(dag: Dag, options: LiveDagOptions): LiveDag {
  const { select, priorities, disabledPasses, series } = options;
  const selected = pruneDag(dag, ({ name }) => select?.includes(name) ?? true);
  const isSharing = !disabledPasses.has(SHARING);
  const shown = hideAbsent(selected, { isSharing, series });
  const given = new Map(Object.entries(priorities));
  const priorityOf = ({ name, priority }: Output) => given.get(name) ?? priority;
  const highest = Math.max(...shown.outputs.map(priorityOf));
  const gates: FactorGate[] = [];
  const factors = shown.outputs.map((output, index): LiveFactor => {
    const { name, condition } = output;
    const priority = priorityOf(output);
    // The budget never leaves out the most urgent factors.
    const isAlways = condition === null && priority === highest;
    const gateId = isAlways ? null : gateOf(gates, { condition, priority });
    return { name, condition, priority, output: index, gateId };
  });
  const gated: Dag = {
    ...shown,
    outputs: shown.outputs.map((output, index) => ({ ...output, condition: factors[index]!.gateId })),
    conditions: gates.map(({ condition }) => (condition === null ? ALWAYS : dag.conditions[condition]!)),
  };
  const isPropagated = !disabledPasses.has("propagate_conditions");
  return { dag: isPropagated ? propagateConditions(gated) : gated, gates, factors };
}

function gateOf(gates: FactorGate[], { condition, priority }: FactorGate): number {
  const known = gates.findIndex((other) => other.condition === condition && other.priority === priority);
  return known >= 0 ? known : gates.push({ condition, priority }) - 1;
}
