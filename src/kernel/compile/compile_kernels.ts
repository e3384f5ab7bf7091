import { InternalError } from "../../errors.ts";
import type { Registry } from "../../operator/registry.ts";
import { wholeLines } from "../../plan/cache_lines.ts";
import type { Plan } from "../../plan/plan.ts";
import { hasFusedMultiply } from "../emit/fused_multiply.ts";
import { IDLE_HOST, importHost } from "../emit/host_functions.ts";
import { Library, writeConstants } from "../emit/library.ts";
import { ModuleBuilder } from "../emit/module.ts";
import { stateCheck } from "../fallback/window_states.ts";
import type { KernelSet } from "../memory/kernel_set.ts";
import { type NodeContents, StateLayout } from "../memory/state_layout.ts";
import { VECTOR_BYTES, VECTORS } from "../memory/vectors.ts";
import { RowScratch } from "../rows/layout/row_scratch.ts";
import { emitFinish, FINISH, FINISH_NAME, finishedBytes } from "../run/finished_rows.ts";
import { type Compiling, cachedModule } from "./compile_optimised.ts";
import { emitLanes, emitRows } from "./emit_nodes.ts";
import { tryKernels } from "./warm_up.ts";

const PAGE_BYTES = 65_536;

export interface KernelOptions {
  /** Runs every operator by its reference, to check compiled code. */
  readonly reference: boolean;
  readonly executorCount: number;
  /** Keeps window state as it was before the last block: for plans whose newest block often runs again. */
  readonly snapshots?: boolean;
  /** Rows of every output that are written as Arrow has them (`FinishedRow`); default 0. */
  readonly finishedRows?: number;
}

const FUSES = hasFusedMultiply();

/** Kernels as bytes, and the memory layout that they use. */
export interface EmittedKernels extends Layout {
  /**
   * Compiles the bytes.
   *
   * @throws RangeError from WebAssembly if the plan needs more than the 4 GiB that one memory holds.
   */
  compile(): Compiling<KernelSet>;
}

interface Layout extends Omit<KernelSet, "module"> {
  /**
   * Bytes of the arena with room for snapshots and for more threads: a program is divided alike with and without them, so
   * that all its sessions take the same checkpoints.
   */
  readonly neededBytes: number;
}

/** Emits the nodes of a plan as WebAssembly SIMD, one in each step. @throws UsageError E549. */
export function* emitKernels(
  plan: Plan,
  registry: Registry,
  options: KernelOptions,
): Generator<void, EmittedKernels> {
  const module = new ModuleBuilder();
  const emitted = yield* emitNodes(module, plan, registry, options.reference);
  const { library } = emitted;
  if (options.finishedRows)
    module.export(
      FINISH_NAME,
      module.function(FINISH, (code) => emitFinish(code, library)),
    );
  const kernels = layOut(plan, emitted, options);
  const memoryPages = kernels.arenaBytes / PAGE_BYTES;
  function* compile(): Compiling<KernelSet> {
    const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
    const scratch = new WebAssembly.Global({ value: "i32" }, kernels.scratchByteOffset);
    const compiled = yield* cachedModule(module.build(memoryPages), {
      imports: { memory, scratch, ...IDLE_HOST },
      tryOut: (exports) =>
        tryKernels(plan, exports, kernels.states, () => writeConstants(memory, kernels.constants)),
    });
    return { module: compiled, ...kernels };
  }
  return { ...kernels, compile };
}

/** What emission leaves to be laid out. */
interface EmittedNodes {
  readonly library: Library;
  readonly layout: StateLayout;
  readonly nodes: ReadonlyMap<number, NodeContents>;
  readonly scratch: RowScratch;
}

/** Emits a function for each node and exports it. */
function* emitNodes(
  module: ModuleBuilder,
  plan: Plan,
  registry: Registry,
  reference: boolean,
): Generator<void, EmittedNodes> {
  const library = new Library(module, FUSES);
  const layout = new StateLayout(plan);
  const scratchSlots = scratchSlotsOf(plan);
  const scratch = new RowScratch(scratchSlots * VECTORS * VECTOR_BYTES);
  const host = importHost(module);
  const checkState = stateCheck(registry);
  const context = { library, plan, layout, host, records: [], checkState, registry, reference };
  const rows = { library, plan, scratch, host };
  const nodes = new Map<number, NodeContents>();
  for (const node of plan.nodes) {
    yield;
    if (node.kind === "lanes") nodes.set(node.id, emitLanes(module, node, context));
    else if (node.kind === "rows" && !reference) emitRows(module, node, registry, rows);
  }
  if (library.scratchSlots > scratchSlots) throw new InternalError("a function takes more than fits scratch");
  return { library, layout, nodes, scratch };
}

/** Of an arena, for scratch memory of more threads: 1 MiB each over 5,000 symbols. */
const THREADS_SHARE = 1 / 16;

/** Lays out the arena behind the columns: rings, state, start markers, finished rows, scratch space. */
function layOut(
  plan: Plan,
  { library, layout, nodes, scratch }: EmittedNodes,
  { executorCount, snapshots = false, finishedRows = 0 }: KernelOptions,
): Layout {
  const stateByteOffset = layout.ringsEnd;
  const { states, end: stateEnd, snapshotsEnd: stampByteOffset } = layout.layOut(nodes, snapshots);
  const finishedByteOffset = stampByteOffset + stampBytes(plan, snapshots);
  const scratchByteOffset = finishedByteOffset + finishedBytes(plan, finishedRows);
  const scratchBytes = wholeLines(scratch.bytes);
  const ofThreads = executorCount * scratchBytes;
  let lasting = scratchByteOffset - stampBytes(plan, snapshots);
  if (!snapshots) for (const { windows } of states.values()) lasting += windows.length * plan.rowBytes;
  return {
    arenaBytes: PAGE_BYTES * Math.ceil((scratchByteOffset + ofThreads) / PAGE_BYTES),
    neededBytes: Math.max(lasting + ofThreads + stampBytes(plan, true), lasting / (1 - THREADS_SHARE)),
    states,
    rings: layout.rings,
    constants: library.constants,
    stateByteOffset,
    stateBytes: stateEnd - stateByteOffset,
    stampByteOffset,
    snapshots,
    finishedRows,
    finishedByteOffset,
    scratchByteOffset,
    scratchBytes,
  };
}

/** Bytes of the start markers. */
function stampBytes({ nodes }: Plan, snapshots: boolean): number {
  const partCount = nodes.reduce((sum, node) => sum + node.partCount, 0);
  return wholeLines((snapshots ? 2 : 1) * partCount * Int32Array.BYTES_PER_ELEMENT);
}

/** Scratch slots: one for the result plus one per argument of the widest task; at least four, for helper functions. */
function scratchSlotsOf(plan: Plan): number {
  return plan.tasks.reduce((most, { operands }) => Math.max(most, operands.length + 1), 4);
}
