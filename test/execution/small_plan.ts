import type { PlanData } from "../../src/execution/executor_pool.ts";
import type { BlockRows } from "../../src/execution/open_plan.ts";
import type { KernelSet } from "../../src/kernel/memory/kernel_set.ts";
import { wholeShare } from "../../src/plan/join_plans.ts";
import type { Operand, Plan, PlanColumn, PlanNode, PlanTask } from "../../src/plan/plan.ts";

/** A node of a hand-made plan: an operator of the fixture module and the names of what it reads. */
export interface SmallNode {
  readonly operator: string;
  /** Names of earlier nodes; anything else is a field, and a number is a number. */
  readonly reads: readonly (string | number)[];
  readonly partCount?: number;
  readonly isOutput?: boolean;
}

export type SmallNodes = Readonly<Record<string, SmallNode>>;

/** A plan of nodes with one task and one column each, after a node that reads the fields. */
export function smallPlan(drawn: SmallNodes, blockRows: number, laneCount: number): Plan {
  const names = Object.keys(drawn);
  const fields = [...new Set(Object.values(drawn).flatMap(({ reads }) => reads))].filter(
    (read) => typeof read === "string" && !names.includes(read),
  ) as string[];
  const rowBytes = laneCount * 8;
  const sources: PlanColumn["source"][] = [
    ...fields.map((name) => ({ kind: "field" as const, name })),
    ...names.map((_, task) => ({ kind: "task" as const, task })),
  ];
  const columns = sources.map((source, index) => ({
    source,
    historyRows: 0,
    ringRows: blockRows,
    byteOffset: index * blockRows * rowBytes,
  }));
  const operandOf = (read: string | number): Operand => {
    if (typeof read === "number") return { kind: "number", value: read };
    const task = names.indexOf(read);
    return task >= 0 ? { kind: "task", task } : { kind: "column", column: fields.indexOf(read) };
  };
  const tasks = Object.values(drawn).map(
    ({ operator, reads }, task): PlanTask => ({
      operator,
      settings: {},
      minPeriods: null,
      operands: reads.map(operandOf),
      group: null,
      fingerprints: [],
      column: fields.length + task,
    }),
  );
  const outputs = names.filter((name) => drawn[name]!.isOutput);
  const nodes = [inputNode(fields.length), ...names.map((name, i) => nodeOf(drawn, name, i, fields.length))];
  return {
    laneCount,
    blockRows,
    keptBlocks: 1,
    rowBytes,
    tasks,
    columns,
    columnBytes: columns.length * blockRows * rowBytes,
    nodes,
    outputs: outputs.map((name) => ({ name, column: fields.length + names.indexOf(name) })),
  };
}

function inputNode(fieldCount: number): PlanNode {
  const columns = Array.from({ length: fieldCount }, (_, column) => column);
  const rest = { tasks: [], outputs: [], inputs: [], partAxis: "lanes", partCount: 1, costNs: 1 } as const;
  const always = { conditions: null, catchUpRows: 0, replayRows: 0 };
  return { id: 0, kind: "input", columns, weight: 1000, ...rest, ...always };
}

function nodeOf(drawn: SmallNodes, name: string, index: number, fieldCount: number): PlanNode {
  const names = Object.keys(drawn);
  const { reads, partCount = 1, isOutput } = drawn[name]!;
  const inputs = reads.flatMap((read) => {
    if (typeof read === "number") return [];
    return names.includes(read) ? [names.indexOf(read) + 1] : [0];
  });
  const outputs = names.filter((other) => drawn[other]!.isOutput);
  return {
    id: index + 1,
    kind: "lanes",
    tasks: [index],
    columns: [fieldCount + index],
    outputs: isOutput ? [outputs.indexOf(name)] : [],
    inputs: [...new Set(inputs)].sort((a, b) => a - b),
    partAxis: "lanes",
    partCount,
    costNs: 1,
    weight: names.length - index,
    conditions: null,
    catchUpRows: 0,
    replayRows: 0,
  };
}

/** The data of a plan: fields of sine waves with some nulls, results for as many rows. */
export function dataOf(plan: Plan, rowCount = plan.blockRows, rest: Partial<PlanData> = {}): PlanData {
  const cellCount = rowCount * plan.laneCount;
  const names = plan.columns.flatMap(({ source }) => (source.kind === "field" ? [source.name] : []));
  const stateBytes = 2 * plan.nodes.length * plan.laneCount * 8;
  const stampByteOffset = plan.columnBytes + stateBytes;
  const stampBytes = 4 * plan.nodes.reduce((sum, { partCount }) => sum + partCount, 0);
  const arenaBytes = Math.ceil((stampByteOffset + stampBytes) / 65_536) * 65_536;
  const pages = arenaBytes / 65_536;
  const kernels = {
    arenaBytes,
    stateByteOffset: plan.columnBytes,
    stateBytes,
    stampByteOffset,
    states: new Map() as KernelSet["states"],
    constants: [] as readonly bigint[],
  } as KernelSet;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return {
    plan,
    arenas: [{ ...wholeShare(plan), kernels, memory }],
    operators: [],
    fields: new Map(names.map((name, index) => [name, waves(cellCount, index + 1)])),
    groups: new Map(),
    params: {},
    results: plan.outputs.map(() => new Float64Array(new SharedArrayBuffer(cellCount * 8))),
    ...rest,
  };
}

/** The only block of a plan's input, or the one that starts at `row`. */
export function blockAt(row: number, rowCount: number): BlockRows {
  return { rowCount, inputRow: row, outputRow: row };
}

/** A column of shared memory; every 17th cell is null. */
export function waves(cellCount: number, frequency: number): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(cellCount * 8));
  for (let i = 0; i < cellCount; i++) column[i] = i % 17 === 16 ? NaN : Math.sin(i * frequency * 0.37);
  return column;
}

/** The bits of a column as text. */
export function bitsOf(column: Float64Array): string {
  return Buffer.from(Float64Array.from(column).buffer).toString("hex");
}
