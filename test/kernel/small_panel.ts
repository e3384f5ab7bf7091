import { type CallTask, DagBuilder } from "../../src/dag/dag.ts";
import {
  defineOperator,
  type KernelOperator,
  type Operator,
  type OperatorDefinition,
} from "../../src/operator/definition.ts";
import { Registry } from "../../src/operator/registry.ts";
import type { GroupColumn } from "../../src/panel.ts";
import { type RunOptions, runDag } from "./run_plan.ts";

type Distributive<T> = T extends unknown
  ? Omit<T, "result" | "unit" | "summary" | "nulls" | "source" | "costNs" | "examples">
  : never;

/** Defines an operator for a test, without its documentation. */
export function testOperator(definition: Distributive<OperatorDefinition>): Operator {
  return defineOperator({
    result: "series",
    unit: "other",
    summary: "For a test.",
    nulls: "See the test.",
    source: "this test",
    costNs: () => 1,
    examples: [{ formula: "x", inputs: {}, output: [] }],
    ...definition,
  } as OperatorDefinition);
}

/** One application of an operator to a small panel; operands are columns `[rows x lanes]` or numbers. */
export interface Application extends Omit<RunOptions, "registry" | "params"> {
  readonly operator: Operator;
  readonly rowCount: number;
  readonly laneCount: number;
  readonly operands: readonly (Float64Array | number)[];
  readonly settings?: Readonly<Record<string, number>>;
  readonly minPeriods?: number | null;
  readonly group?: GroupColumn;
}

/** Runs a plan of that one task and returns its column. */
export function applyOperator(application: Application): Float64Array {
  const { operator, rowCount, laneCount, operands, settings = {}, minPeriods = null, group } = application;
  const builder = new DagBuilder(false);
  const fields = new Map<string, Float64Array<SharedArrayBuffer>>();
  const inputs = operands.map((operand, index) => {
    if (typeof operand === "number") return builder.add({ kind: "number", value: operand });
    fields.set(`field${index}`, sharedCopy(operand));
    return builder.add({ kind: "field", name: `field${index}` });
  });
  const call: CallTask = {
    kind: "call",
    operator: operator as KernelOperator,
    inputs,
    group: group?.name ?? null,
    settings,
    minPeriods,
  };
  const outputs = [{ name: "result", task: builder.add(call), condition: null, priority: 0 }];
  const dag = { tasks: builder.tasks, outputs, params: [], conditions: [] };
  const groups = new Map(group ? [[group.name, group]] : []);
  const panel = { rowCount, laneCount, fields, groups };
  return runDag(dag, panel, { ...application, registry: new Registry([operator]) })[0]!;
}

export function sharedCopy(values: ArrayLike<number>): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(values.length * 8));
  column.set(values);
  return column;
}

/** A group column over `codes`, one label per code. */
export function groupOf(codes: readonly number[], changesOverTime: boolean): GroupColumn {
  const shared = new Int32Array(new SharedArrayBuffer(codes.length * 4));
  shared.set(codes);
  const labels = Array.from({ length: Math.max(-1, ...codes) + 1 }, (_, code) => `g${code}`);
  return { name: "sector", labels, codes: shared, changesOverTime };
}
