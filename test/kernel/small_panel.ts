import type { Columns, Values } from "../../src/kernel/columns.ts";
import { runPart } from "../../src/kernel/run_part.ts";
import { defineOperator, type Operator, type OperatorDefinition } from "../../src/operator/definition.ts";
import { Registry } from "../../src/operator/registry.ts";
import type { GroupColumn } from "../../src/panel.ts";
import type { PlanNode } from "../../src/plan/plan.ts";

type Distributive<T> = T extends unknown
  ? Omit<T, "result" | "summary" | "nulls" | "source" | "costNs" | "examples">
  : never;

/** Defines an operator for a test, without its documentation. */
export function testOperator(definition: Distributive<OperatorDefinition>): Operator {
  return defineOperator({
    result: "series",
    summary: "For a test.",
    nulls: "See the test.",
    source: "this test",
    costNs: () => 1,
    examples: [{ formula: "x", inputs: {}, output: [] }],
    ...definition,
  } as OperatorDefinition);
}

/** One application of an operator to a small panel. */
export interface Application {
  readonly operator: Operator;
  readonly rowCount: number;
  readonly laneCount: number;
  readonly operands: readonly Values[];
  readonly settings?: Readonly<Record<string, number>>;
  readonly minPeriods?: number | null;
  readonly group?: GroupColumn;
  readonly partAxis?: "lanes" | "rows";
  readonly partCount?: number;
}

/** What a cell holds before any part ran; no operator of the tests produces it. */
export const UNTOUCHED = -12_345.678;

/** Runs the chosen parts (default: all) of a one-node plan and returns its column. */
export function applyOperator(application: Application, parts?: readonly number[]): Float64Array {
  const { operator, rowCount, laneCount, operands, group } = application;
  const output = new Float64Array(rowCount * laneCount).fill(UNTOUCHED);
  const node: PlanNode = {
    id: 0,
    task: {
      operator: operator.name,
      settings: application.settings ?? {},
      minPeriods: application.minPeriods ?? null,
      operands: operands.map((_, index) => ({ kind: "node", node: index })),
      group: group?.name ?? null,
    },
    inputs: [],
    partAxis: application.partAxis ?? "rows",
    partCount: application.partCount ?? 1,
    costNs: 1,
    weight: 1,
    isOutput: true,
  };
  const columns: Columns = {
    rowCount,
    laneCount,
    read: (operand) => operands[operand.kind === "node" ? operand.node : -1]!,
    group: () => group!,
    result: () => output,
  };
  const registry = new Registry([operator]);
  for (const part of parts ?? Array.from({ length: node.partCount }, (_, index) => index)) {
    runPart(registry, node, part, columns);
  }
  return output;
}

/** A group column over `codes`, one label per code. */
export function groupOf(codes: readonly number[], changesOverTime: boolean): GroupColumn {
  const shared = new Int32Array(new SharedArrayBuffer(codes.length * 4));
  shared.set(codes);
  const labels = Array.from({ length: Math.max(-1, ...codes) + 1 }, (_, code) => `g${code}`);
  return { name: "sector", labels, codes: shared, changesOverTime };
}

/** The 64-bit patterns of a column, so that tests tell -0 from 0. */
export function bitsOf(column: Float64Array): bigint[] {
  return [...new BigUint64Array(column.slice().buffer)];
}
