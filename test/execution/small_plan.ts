import type { CallRequest } from "../../src/execution/pending_call.ts";
import type { Operand, Plan, PlanNode } from "../../src/plan/plan.ts";

/** A node of a hand-made plan: an operator of the fixture module and the names of what it reads. */
export interface SmallNode {
  readonly operator: string;
  /** Names of earlier nodes; anything else is a field, and a number is a number. */
  readonly reads: readonly (string | number)[];
  readonly settings?: Readonly<Record<string, number>>;
  readonly minPeriods?: number;
  readonly partAxis?: "lanes" | "rows";
  readonly partCount?: number;
  readonly group?: string;
  readonly isOutput?: boolean;
}

export type SmallNodes = Readonly<Record<string, SmallNode>>;

/** A plan of nodes named in order of their ids; `params` lists the names that are params, not fields. */
export function smallPlan(
  nodes: SmallNodes,
  rowCount: number,
  laneCount: number,
  params: readonly string[] = [],
): Plan {
  const names = Object.keys(nodes);
  const idOf = new Map(names.map((name, id) => [name, id]));
  const operandOf = (read: string | number): Operand => {
    if (typeof read === "number") return { kind: "number", value: read };
    const node = idOf.get(read);
    if (node !== undefined) return { kind: "node", node };
    return params.includes(read) ? { kind: "param", name: read } : { kind: "field", name: read };
  };
  const planNodes = Object.values(nodes).map((node, id): PlanNode => {
    const operands = node.reads.map(operandOf);
    const inputs = operands.flatMap((operand) => (operand.kind === "node" ? [operand.node] : []));
    return {
      id,
      task: {
        operator: node.operator,
        settings: node.settings ?? {},
        minPeriods: node.minPeriods ?? null,
        operands,
        group: node.group ?? null,
      },
      inputs: [...new Set(inputs)].sort((a, b) => a - b),
      partAxis: node.partAxis ?? "rows",
      partCount: node.partCount ?? 1,
      costNs: 1,
      weight: names.length - id,
      isOutput: node.isOutput ?? false,
    };
  });
  const outputs = planNodes
    .filter((node) => node.isOutput)
    .map(({ id }) => ({ name: names[id]!, operand: { kind: "node" as const, node: id } }));
  return { rowCount, laneCount, nodes: planNodes, outputs };
}

/** A request for every node of a plan over fields of sine waves with some nulls. */
export function requestOf(plan: Plan, rest: Partial<CallRequest> = {}): CallRequest {
  const read = plan.nodes.flatMap(({ task }) =>
    task.operands.flatMap((operand) => (operand.kind === "field" ? [operand.name] : [])),
  );
  const fields = new Map(
    [...new Set(read)].map((name, index) => [name, waves(plan.rowCount * plan.laneCount, index + 1)]),
  );
  return {
    plan,
    wanted: new Uint8Array(plan.nodes.length).fill(1),
    params: {},
    fields,
    groups: new Map(),
    ...rest,
  };
}

/** A column of shared memory; every 17th cell is null. */
export function waves(cellCount: number, frequency: number): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(cellCount * 8));
  for (let i = 0; i < cellCount; i++) column[i] = i % 17 === 16 ? NaN : Math.sin(i * frequency * 0.37);
  return column;
}
