import { InternalError } from "../../errors.ts";
import { readsWholeRows } from "../../operator/definition.ts";
import type { Value } from "../../operator/lowering.ts";
import type { Registry } from "../../operator/registry.ts";
import { wholeLines } from "../../plan/cache_lines.ts";
import type { Plan, PlanNode } from "../../plan/plan.ts";
import { hasFusedMultiply } from "../emit/fused_multiply.ts";
import { type ColumnSeries, type HostFunctions, LANE_KERNEL, operandValue } from "../emit/lane_kernel.ts";
import { Library, writeConstants } from "../emit/library.ts";
import { ModuleBuilder } from "../emit/module.ts";
import { VECTOR_BYTES, VECTORS } from "../emit/vectors.ts";
import { operandColumn } from "../fallback/host_cells.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { type NodeState, type NodeVectors, StateLayout } from "../memory/state_layout.ts";
import { RowKernel, type RowKernelSetup, rowFunction } from "../rows/row_kernel.ts";
import { RowScratch } from "../rows/row_scratch.ts";
import { DIGEST, DIGEST_NAME, digestRows, emitDigest } from "../run/digest.ts";
import { emitFinish, FINISH, FINISH_NAME, finishedBytes } from "../run/finished_rows.ts";
import type { Site } from "../windows/sites.ts";
import { WindowKernel } from "../windows/window_kernel.ts";
import { awaitModule, type Compiling, cachedModule, moduleAtOnce } from "./compile_optimised.ts";

const PAGE_BYTES = 65_536;

export interface KernelOptions {
  /** Runs every operator by its reference, to check compiled code. */
  readonly reference: boolean;
  readonly executorCount: number;
  /** Computes digests of all output values. */
  readonly digests?: boolean;
  /** Keeps window state as it was before the last block: for plans whose newest block often runs again. */
  readonly snapshots?: boolean;
  /** Writes the newest row of every output as Arrow has it (`FinishedRow`). */
  readonly finishes?: boolean;
}

const FUSES = hasFusedMultiply();

/** Kernels as bytes, and the memory layout that they use. */
export interface EmittedKernels extends Omit<KernelSet, "module"> {
  /**
   * Compiles the bytes; waits for V8's threads without blocking this one.
   *
   * @param meanwhile called once while V8's threads compile, for work that this thread has anyway
   * @throws RangeError from WebAssembly if the plan needs more than the 4 GiB that one memory holds; what `meanwhile`
   *   throws.
   */
  compile(meanwhile?: () => void): Promise<KernelSet>;
  /** Like `compile`, but blocks this thread: for executors, which have nothing else to do. */
  compileAtOnce(): KernelSet;
}

/**
 * Emits and compiles the nodes of a plan as WebAssembly SIMD.
 *
 * @throws RangeError as `EmittedKernels.compile`.
 */
export function compileKernels(plan: Plan, registry: Registry, options: KernelOptions): KernelSet {
  return emitKernels(plan, registry, options).compileAtOnce();
}

/** Emits the nodes of a plan as WebAssembly SIMD. */
export function emitKernels(
  plan: Plan,
  registry: Registry,
  { reference, executorCount, digests = false, snapshots = false, finishes = false }: KernelOptions,
): EmittedKernels {
  const module = new ModuleBuilder();
  const host: HostFunctions = {
    evaluate: module.importFunction("evaluate", {
      parameters: ["i32", "i32", "i32", "i32", "i32"],
      results: [],
    }),
    repair: module.importFunction("repair", { parameters: ["i32", "i32", "i32"], results: [] }),
    tighten: module.importFunction("tighten", { parameters: ["i32", "i32", "i32", "i32"], results: [] }),
    decide: module.importFunction("decide", { parameters: ["i32", "i32", "i32", "i32"], results: [] }),
  };
  const segmentByReference = module.importFunction("segment", {
    parameters: ["i32", "i32", "i32", "i32"],
    results: [],
  });
  const rowByReference = module.importFunction("row", { parameters: ["i32", "i32"], results: [] });
  const state = new StateLayout(plan.columnBytes, plan.rowBytes, plan.blockRows);
  const sites: Site[] = [];
  const nodeVectors = new Map<number, NodeVectors>();
  const siteRanges = new Map<number, readonly [number, number]>();
  const library = new Library(module, FUSES);
  const scratchSlots = scratchSlotsOf(plan);
  const placeBytes = VECTORS * VECTOR_BYTES;
  const scratch = new RowScratch(scratchSlots * placeBytes);
  const compiledRows = new Set<number>();
  const rows: RowKernelSetup = { library, plan, scratch, segmentByReference, rowByReference };
  for (const node of plan.nodes) {
    if (node.kind === "rows" && !reference) {
      if (emitRows(module, node, registry, rows)) compiledRows.add(node.id);
    }
    if (node.kind !== "lanes") continue;
    const firstSite = sites.length;
    const index = module.function(LANE_KERNEL, (code) => {
      const kernel = new WindowKernel(code, library, plan, state, host, sites);
      emitTasks(kernel, node, registry, reference);
      nodeVectors.set(node.id, kernel.state);
      kernel.finish();
    });
    module.export(`node${node.id}`, index);
    siteRanges.set(node.id, [firstSite, sites.length]);
  }
  if (library.scratchSlots > scratchSlots) throw new InternalError("a function takes more than fits scratch");
  const stateByteOffset = state.ringsEnd;
  const { states, end: stateEnd, snapshotsEnd: stampByteOffset } = state.layOut(nodeVectors, snapshots);
  const partCount = plan.nodes.reduce((sum, node) => sum + node.partCount, 0);
  const stampCount = snapshots ? 2 * partCount : partCount;
  const stampBytes = wholeLines(stampCount * Int32Array.BYTES_PER_ELEMENT);
  const digestByteOffset = stampByteOffset + stampBytes;
  const finishedByteOffset = digestByteOffset + (digests ? digestRows(plan) * plan.rowBytes : 0);
  const scratchByteOffset = finishedByteOffset + (finishes ? finishedBytes(plan) : 0);
  if (digests)
    module.export(
      DIGEST_NAME,
      module.function(DIGEST, (code) => emitDigest(code, library)),
    );
  if (finishes)
    module.export(
      FINISH_NAME,
      module.function(FINISH, (code) => emitFinish(code, library)),
    );
  const scratchBytes = wholeLines(scratch.bytes);
  const arenaBytes = scratchByteOffset + executorCount * scratchBytes;
  const memoryPages = Math.ceil(arenaBytes / PAGE_BYTES);
  const kernels = {
    arenaBytes: memoryPages * PAGE_BYTES,
    states,
    rings: state.rings,
    constants: library.constants,
    sites,
    siteRanges,
    compiledRows,
    stateByteOffset,
    stateBytes: stateEnd - stateByteOffset,
    stampByteOffset,
    snapshots,
    digests,
    digestByteOffset,
    finishes,
    finishedByteOffset,
    scratchByteOffset,
    scratchBytes,
  };
  const compiling = (meanwhile: () => void): Compiling => {
    const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
    return cachedModule(module.build(memoryPages), {
      imports: idleImports(memory, scratchByteOffset),
      tryOut: (exports) => tryKernels(plan, exports, states, () => writeConstants(memory, library.constants)),
      meanwhile,
    });
  };
  return {
    ...kernels,
    compile: async (meanwhile = () => {}) => ({
      module: await awaitModule(compiling(meanwhile)),
      ...kernels,
    }),
    compileAtOnce: () => ({ module: moduleAtOnce(compiling(() => {})), ...kernels }),
  };
}

/** Stand-ins for a module's imports: memory that nothing reads, and host functions that do nothing. */
function idleImports(
  memory: WebAssembly.Memory,
  scratchByteOffset: number,
): Readonly<Record<string, unknown>> {
  const nothing = () => {};
  return {
    memory,
    scratch: new WebAssembly.Global({ value: "i32" }, scratchByteOffset),
    evaluate: nothing,
    repair: nothing,
    tighten: nothing,
    decide: nothing,
    segment: nothing,
    row: nothing,
  };
}

/**
 * Warms up every export: calls kernels on row 0, lane kernels on the lanes of one turn, and other functions with dummy
 * arguments. Those may overwrite the constant table, so it is rewritten before each call. Returns what it has called.
 */
function tryKernels(
  plan: Plan,
  exports: WebAssembly.Exports,
  states: ReadonlyMap<number, NodeState>,
  writeConstants: () => void,
): ReadonlySet<unknown> {
  writeConstants();
  const called = new Set<unknown>();
  for (const node of plan.nodes) {
    const { id, kind } = node;
    const run = exports[`node${id}`] as ((...values: number[]) => void) | undefined;
    if (!run || called.has(run)) continue;
    called.add(run);
    if (kind === "rows") rowFunction(plan, node, run)(0, 1);
    else {
      const { recurrenceByteOffsets, windowByteOffset } = states.get(id)!;
      run(0, 1, 0, VECTORS * VECTOR_BYTES, ...recurrenceByteOffsets, windowByteOffset);
    }
  }
  for (const helper of Object.values(exports)) {
    const run = helper as (...values: number[]) => void;
    if (called.has(run)) continue;
    called.add(run);
    writeConstants();
    run(...new Array<number>(run.length).fill(1));
  }
  return called;
}

/** Emits the kernel of a row node; returns false if the reference computes its rows. */
function emitRows(
  module: ModuleBuilder,
  { id, tasks }: PlanNode,
  registry: Registry,
  setup: RowKernelSetup,
): boolean {
  const task = setup.plan.tasks[tasks[0]!]!;
  const operator = registry.kernel(task.operator);
  if (!readsWholeRows(operator) || !operator.lower) return false;
  const { lower } = operator;
  const kernel = new RowKernel(setup, task);
  if (!lower(kernel, task.settings) || kernel.index === null) return false;
  module.export(`node${id}`, kernel.index);
  return true;
}

function emitTasks(kernel: WindowKernel, node: PlanNode, registry: Registry, reference: boolean): void {
  const values = new Map<number, Value>();
  for (const id of node.tasks) {
    const value = kernel.scope(() => emitTask(kernel, id, values, registry, reference));
    values.set(id, value);
    const { column } = kernel.plan.tasks[id]!;
    if (column !== null) kernel.store(column, value);
  }
}

function emitTask(
  kernel: WindowKernel,
  id: number,
  inNode: ReadonlyMap<number, Value>,
  registry: Registry,
  reference: boolean,
): Value {
  const { plan } = kernel;
  const { operator: name, settings, minPeriods, operands } = plan.tasks[id]!;
  const operator = registry.kernel(name);
  const cells = operands.map((operand) => operandValue(kernel, operand, inNode));
  if (operator.axis === "rolling") {
    const series = operands.map((operand, i): ColumnSeries => {
      const column = operandColumn(plan, operand);
      return { now: cells[i] as Value, column, range: rangeOf(plan, column, registry) };
    });
    const { lower } = operator;
    if (reference || !lower) return kernel.evaluateByReference(id, [], 0);
    const lowered = kernel.withFallback(id, () => lower(kernel, series, settings, minPeriods));
    return lowered ?? kernel.evaluateByReference(id, [], 0);
  }
  if (operator.axis === "recursive") {
    const initial = operator.initialState(settings);
    const first = kernel.state.addRecurrence(initial);
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

/** The value range of a column, as its operator declares it. */
function rangeOf(plan: Plan, column: number, registry: Registry): ColumnSeries["range"] {
  const { source } = plan.columns[column]!;
  if (source.kind !== "task") return null;
  const { range = null, result } = registry.kernel(plan.tasks[source.task]!.operator);
  return result === "condition" ? "unit" : range;
}

/** Scratch slots: one for the result plus one per argument of the widest task; at least two, for helper functions. */
function scratchSlotsOf(plan: Plan): number {
  return plan.tasks.reduce((most, { operands }) => Math.max(most, operands.length + 1), 2);
}
