import type { Settings } from "../operator/definition.ts";

/** Where a task finds one argument, or an output its values. */
export type Operand =
  /** The result column of another node. */
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "field"; readonly name: string }
  /** A number that holds for every cell. */
  | { readonly kind: "number"; readonly value: number }
  /** A numeric param, read once per call. */
  | { readonly kind: "param"; readonly name: string };

/** One operator application: which operator, its compile-time arguments, and where the others come from. */
export interface PlanTask {
  readonly operator: string;
  readonly settings: Settings;
  /** At least so many valid rows per window, if the formula says so. */
  readonly minPeriods: number | null;
  /** Series arguments in the order of the operator's parameters. */
  readonly operands: readonly Operand[];
  /** Name of the group column of a group operator. */
  readonly group: string | null;
}

/** The unit that is scheduled. Its result is one column `[rows x lanes]`. */
export interface PlanNode {
  readonly id: number;
  readonly task: PlanTask;
  /** Ids of the nodes whose columns it reads, each once, ascending. */
  readonly inputs: readonly number[];
  /** Breakdown: its work is cut along this axis into so many parts that run in parallel. */
  readonly partAxis: "lanes" | "rows";
  readonly partCount: number;
  /** Estimated ns of the whole node. */
  readonly costNs: number;
  /** Largest sum of costs on any path from here to a sink, this node included; the heaviest goes first. */
  readonly weight: number;
  /** True if an output reads this column, which is then kept until the call ends. */
  readonly isOutput: boolean;
}

/** One factor of the program. */
export interface PlanOutput {
  readonly name: string;
  readonly operand: Operand;
}

/** The immutable, serialisable result of compilation for one panel shape. Nodes are in topological order. */
export interface Plan {
  readonly rowCount: number;
  readonly laneCount: number;
  readonly nodes: readonly PlanNode[];
  readonly outputs: readonly PlanOutput[];
}
