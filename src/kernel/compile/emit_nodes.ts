import { FactorloomError, InternalError } from "../../errors.ts";
import { readsWholeRows, windowRowsOf } from "../../operator/definition.ts";
import type { Value } from "../../operator/lowering.ts";
import type { Registry } from "../../operator/registry.ts";
import { operatorFailed } from "../../operator/transfer.ts";
import type { Series } from "../../operator/window_code.ts";
import type { Operand, Plan, PlanNode } from "../../plan/plan.ts";
import { kindOf } from "../../text/argument_kinds.ts";
import type { Code } from "../emit/code.ts";
import { type KernelContext, LANE_KERNEL, LaneKernel } from "../emit/lane_kernel.ts";
import { Vectors } from "../emit/lane_values.ts";
import type { ModuleBuilder } from "../emit/module.ts";
import { StateKernel } from "../emit/state_kernel.ts";
import { operandColumn } from "../fallback/host_cells.ts";
import type { NodeContents } from "../memory/state_layout.ts";
import { RowKernel, type RowKernelSetup } from "../rows/row_kernel.ts";

/** Emits the kernel of a row node if there is one. */
export function emitRows(
  module: ModuleBuilder,
  { id, tasks }: PlanNode,
  registry: Registry,
  setup: RowKernelSetup,
): void {
  const task = setup.plan.tasks[tasks[0]!]!;
  const operator = registry.kernel(task.operator);
  if (!readsWholeRows(operator) || !operator.lower) return;
  const { lower } = operator;
  const kernel = new RowKernel(setup, task);
  if (naming(task.operator, () => lower(kernel, task.settings)) && kernel.index !== null)
    module.export(`node${id}`, kernel.index);
}

/** What kernels of lanes are emitted from. */
export interface LaneContext extends KernelContext {
  readonly registry: Registry;
  /** Runs every operator by its reference. */
  readonly reference: boolean;
}

/** Emits the functions of a lanes node; returns what the node keeps. */
export function emitLanes(module: ModuleBuilder, node: PlanNode, context: LaneContext): NodeContents {
  const { records, layout } = context;
  const [firstRecord, firstRing] = [records.length, layout.rings.length];
  const emit = (name: string, kernelOf: (code: Code) => LaneKernel): LaneKernel => {
    let kernel!: LaneKernel;
    const index = module.function(LANE_KERNEL, (code) => {
      kernel = kernelOf(code);
      emitTasks(kernel, node, context);
      kernel.finish();
    });
    module.export(`${name}${node.id}`, index);
    return kernel;
  };
  const kernel = emit("node", (code) => new LaneKernel(code, context));
  const hasStates = node.replayRows > 0 && kernel.placed.size > 0;
  const contents = {
    ...kernel.nodeVectors,
    firstRecord,
    records: records.slice(firstRecord),
    rings: layout.rings.slice(firstRing),
    rowsOfStates: hasStates ? lookbackOf(node, context) : null,
  };
  if (hasStates) emit("states", (code) => new StateKernel(code, context, kernel));
  return contents;
}

/** Most rows before the current one that windows of the node read. */
function lookbackOf({ tasks }: PlanNode, { plan, registry }: LaneContext): number {
  return tasks.reduce((most, id) => {
    const { operator: name, settings } = plan.tasks[id]!;
    const operator = registry.kernel(name);
    return operator.axis === "rolling" ? Math.max(most, windowRowsOf(operator, settings)) : most;
  }, 0);
}

function emitTasks(kernel: LaneKernel, node: PlanNode, context: LaneContext): void {
  const values = new Map<number, Value>();
  for (const id of node.tasks) {
    const { operator, column } = context.plan.tasks[id]!;
    const value = naming(operator, () => kernel.scope(() => emitTask(kernel, id, values, context)));
    if (!(value instanceof Vectors))
      throw operatorFailed(`the operator ${operator} failed: its lower gives ${kindOf(value)}`, null);
    values.set(id, value);
    if (column !== null) kernel.store(column, value);
  }
}

function emitTask(
  kernel: LaneKernel,
  id: number,
  inNode: ReadonlyMap<number, Value>,
  { plan, registry, reference }: LaneContext,
): Value {
  const { operator: name, settings, minPeriods, operands } = plan.tasks[id]!;
  const operator = registry.kernel(name);
  const cells = operands.map((operand) => operandValue(kernel, plan, operand, inNode));
  if (operator.axis === "rolling") {
    const series = operands.map((operand, i): Series => {
      const column = operandColumn(plan, operand);
      return kernel.series(cells[i] as Value, column, rangeOf(plan, column, registry));
    });
    const { lower } = operator;
    if (reference || !lower) return kernel.evaluateByReference(id, [], 0);
    const lowered = kernel.withFallback(id, () => lower(kernel, series, settings, minPeriods));
    return lowered ?? kernel.evaluateByReference(id, [], 0);
  }
  if (operator.axis === "recursive") {
    const initial = operator.initialState(settings);
    const first = kernel.nodeVectors.addRecurrence(id, initial);
    if (reference || !operator.lower) return kernel.evaluateByReference(id, cells, first);
    const before = initial.map((_, i) => kernel.loadRecurrence(first + i));
    const lowered = operator.lower(kernel, cells, settings, before);
    if (!lowered) return kernel.evaluateByReference(id, cells, first);
    lowered.state.forEach((after, i) => {
      kernel.storeRecurrence(first + i, after);
    });
    return lowered.value;
  }
  if (operator.axis !== "elementwise") throw new InternalError(`${name} in a lanes node`);
  return reference || !operator.lower
    ? kernel.evaluateByReference(id, cells, 0)
    : operator.lower(kernel, ...cells);
}

/** Runs the `lower` of an operator, which may be the caller's. @throws UsageError E515 where it throws. */
function naming<T>(operator: string, emit: () => T): T {
  try {
    return emit();
  } catch (error) {
    if (error instanceof FactorloomError) throw error;
    throw operatorFailed(`the operator ${operator} failed: its lower throws ${String(error)}`, error);
  }
}

/** The value of an argument in the current row. */
function operandValue(
  kernel: LaneKernel,
  plan: Plan,
  operand: Operand,
  inNode: ReadonlyMap<number, Value>,
): Value {
  if (operand.kind === "number") return kernel.number(operand.value);
  if (operand.kind === "column") return kernel.load(operand.column);
  return inNode.get(operand.task) ?? kernel.load(plan.tasks[operand.task]!.column as number);
}

/** The value range of a column, as its operator declares it. */
function rangeOf(plan: Plan, column: number, registry: Registry): Series["range"] {
  const { source } = plan.columns[column]!;
  if (source.kind !== "task") return null;
  const { range = null, result } = registry.kernel(plan.tasks[source.task]!.operator);
  return result === "condition" ? "unit" : range;
}
