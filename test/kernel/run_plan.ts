import { builtInRegistry } from "../../operators/index.ts";
import { finalDag, type Program } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { HAS_ROW } from "../../src/dag/row_members.ts";
import { fillHasRow } from "../../src/evaluation/has_row.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../src/execution/executor_pool.ts";
import type { Block, KernelSet } from "../../src/kernel/memory/kernel_set.ts";
import { initializeArena } from "../../src/kernel/run/initialize_arena.ts";
import { NodeRunner } from "../../src/kernel/run/node_runner.ts";
import type { Registry } from "../../src/operator/registry.ts";
import type { Panel } from "../../src/panel.ts";
import { formPlan } from "../../src/plan/form.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { type NodeSelection, Progress } from "../../src/plan/progress.ts";
import { atOnce, compileKernels } from "./at_once.ts";

const PAGE_BYTES = 65_536;

/** One size for panels of any length, so that compiled kernels are reused. */
const BLOCK_ROWS_DEFAULT = 16;

/** The initial content of memory and results: no value of any test, and no null. */
export const UNTOUCHED = -12_345.678;

export type PanelColumns = Pick<Panel, "rowCount" | "laneCount" | "fields" | "groups"> &
  Partial<Pick<Panel, "present">>;

export interface RunOptions {
  /** Runs operators by their references even if they have code. Default false. */
  readonly reference?: boolean;
  /** Rows of each block, used in turn; the largest sizes the plan. */
  readonly blockRows?: number | readonly number[];
  /** Parts of every node. Default: those of the plan. */
  readonly partCount?: number;
  /** Parts to run of the nodes that compute outputs. Default: all. */
  readonly parts?: readonly number[];
  /** How often each part runs, and after that all parts of the block again. Default once. */
  readonly repeats?: number;
  /** Each part is first interrupted half-way. Default false. */
  readonly givesUp?: boolean;
  /**
   * Whether each condition holds in a block. A block with several such lists runs under one after the other, with other
   * rows of the panel until the last: its input is revised. Default: every node runs.
   */
  readonly conditionsOf?: (block: number) => readonly (readonly boolean[])[];
  /** Leaves out these passes when the plan is formed. */
  readonly disabledPasses?: readonly string[];
  readonly params?: Readonly<Record<string, number>>;
  readonly registry?: Registry;
  /** Rows may be taken back and revised, as in a session. Default false. */
  readonly isRevisable?: boolean;
  /** Sees the memory of the plan after the last row. */
  readonly inspect?: (plan: Plan, kernels: KernelSet, memory: WebAssembly.Memory) => void;
}

interface Prepared {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  readonly memory: WebAssembly.Memory;
  readonly runner: NodeRunner;
  readonly results: Float64Array[];
}

/** Compiles the graph for the panel, to be run on this thread. */
export function prepared(dag: Dag, panel: PanelColumns, options: RunOptions = {}): Prepared {
  const { rowCount, laneCount } = panel;
  const { plan, kernels } = compiled(dag, laneCount, Math.max(...sizesOf(options)), options);
  const results = plan.outputs.map(() => {
    return new Float64Array(new SharedArrayBuffer(rowCount * laneCount * 8)).fill(UNTOUCHED);
  });
  const memory = memoryOf(kernels.arenaBytes);
  atOnce(initializeArena(plan, kernels, memory));
  const { groups } = panel;
  const fields = new Map(panel.fields).set(HAS_ROW, hasRow(panel));
  const { registry = builtInRegistry, params = {} } = options;
  const runner = new NodeRunner({
    plan,
    kernels,
    memory,
    registry,
    executor: 0,
    fields,
    groups,
    params,
    results,
  });
  return { plan, kernels, memory, runner, results };
}

function sizesOf({ blockRows = BLOCK_ROWS_DEFAULT }: RunOptions): number[] {
  return [blockRows].flat() as number[];
}

/** Compiles the graph for the panel, runs it on this thread and returns one column `[rows x lanes]` per output. */
export function runDag(dag: Dag, panel: PanelColumns, options: RunOptions = {}): Float64Array[] {
  const { rowCount } = panel;
  const { plan, kernels, memory, runner, results } = prepared(dag, panel, options);
  const run = (block: Block, selection?: NodeSelection | null) =>
    runBlock(runner, plan, block, options, selection);
  const progress = new Progress(plan);
  let index = 0;
  for (const block of blocksOf(rowCount, sizesOf(options))) {
    const { conditionsOf } = options;
    if (!conditionsOf) run(block);
    const runs = conditionsOf?.(index) ?? [];
    for (const [i, areTrue] of runs.entries()) {
      const choice = i === 0 ? "next" : "again";
      const selection = progress.select({ conditions: areTrue, block: choice });
      const inputRow = i === runs.length - 1 ? block.inputRow : rowCount - block.firstRow - block.rowCount;
      run({ ...block, inputRow }, selection);
      progress.begin(selection, block.rowCount, choice);
    }
    index++;
  }
  options.inspect?.(plan, kernels, memory);
  return results;
}

/** All instruments have a row, unless the panel says otherwise. */
function hasRow({ rowCount, laneCount, present }: PanelColumns): Float64Array<SharedArrayBuffer> {
  const column = new Float64Array(new SharedArrayBuffer(rowCount * laneCount * 8)).fill(1);
  if (present) fillHasRow(column, present);
  return column;
}

export const runProgram = (program: Program, panel: PanelColumns, options?: RunOptions): Float64Array[] =>
  runDag(finalDag(program), panel, options);

export function runBlock(
  runner: NodeRunner,
  plan: Plan,
  block: Block,
  options: RunOptions,
  selection?: NodeSelection | null,
): void {
  const { parts, repeats = 1, givesUp = false } = options;
  const halfBlock = { ...block, rowCount: Math.ceil(block.rowCount / 2) };
  const runNodes = (times: number) => {
    for (const { id, partCount, outputs } of plan.nodes) {
      if (selection?.isRun[id] === 0) continue;
      const start = selection
        ? {
            row: selection.startRows[id]!,
            rebuild: selection.isRebuilt[id] === 1,
            generation: selection.generations[id]!,
          }
        : undefined;
      const all = Array.from({ length: partCount }, (_, index) => index);
      for (const part of outputs.length > 0 && parts ? parts : all) {
        if (givesUp) runner.run(id, part, halfBlock, start);
        for (let time = 0; time < times; time++) runner.run(id, part, block, start);
      }
    }
  };
  runNodes(repeats);
  if (repeats > 1) runNodes(1);
}

export function* blocksOf(rowCount: number, sizes: readonly number[]): Generator<Block> {
  let index = 0;
  for (let row = 0; row < rowCount; index++) {
    const size = Math.min(sizes[index % sizes.length]!, rowCount - row);
    const generation = (index % 2) as 0 | 1;
    yield { firstRow: row, rowCount: size, generation, inputRow: row, outputRow: row };
    row += size;
  }
}

interface Compiled {
  readonly plan: Plan;
  readonly kernels: KernelSet;
}

const known = new WeakMap<Dag, Map<string, Compiled>>();

function compiled(dag: Dag, laneCount: number, blockRows: number, options: RunOptions): Compiled {
  const { reference = false, partCount, registry = builtInRegistry, isRevisable = false } = options;
  const ofDag = known.get(dag) ?? new Map<string, Compiled>();
  known.set(dag, ofDag);
  const disabledPasses = new Set(options.disabledPasses);
  const key = [laneCount, blockRows, reference, partCount, isRevisable, ...disabledPasses].join(" ");
  const before = ofDag.get(key);
  if (before) return before;
  const keptBlocks = isRevisable ? OVERLAPPING_BLOCKS_MAX : 1;
  const formed = formPlan(dag, { laneCount, blockRows, executorCount: 1, disabledPasses, keptBlocks });
  const nodes = formed.nodes.map((node) => ({ ...node, partCount: partCount ?? node.partCount }));
  const plan = { ...formed, nodes };
  const kernelOptions = { reference, executorCount: 1, snapshots: isRevisable };
  const made = { plan, kernels: compileKernels(plan, registry, kernelOptions) };
  ofDag.set(key, made);
  return made;
}

const memories = new Map<number, WebAssembly.Memory>();

/** Memories are reused without cleaning: a missing initialisation would show. */
function memoryOf(arenaBytes: number): WebAssembly.Memory {
  const pages = arenaBytes / PAGE_BYTES;
  const memory =
    memories.get(pages) ?? new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  memories.set(pages, memory);
  new Float64Array(memory.buffer).fill(UNTOUCHED);
  return memory;
}
