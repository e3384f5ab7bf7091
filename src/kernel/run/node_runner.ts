import type { CrossSectionDefinition } from "../../operator/definition.ts";
import type { Registry } from "../../operator/registry.ts";
import type { Plan, PlanNode } from "../../plan/plan.ts";
import { hostFunctions } from "../fallback/host_functions.ts";
import { HostRows } from "../fallback/host_rows.ts";
import { WindowStates } from "../fallback/window_states.ts";
import { Arena } from "../memory/arena.ts";
import type { Block, KernelSet } from "../memory/kernel_set.ts";
import { type RowFunction, rowFunction } from "../rows/row_kernel.ts";
import { Handover, type Results } from "./handover.ts";
import { type Inputs, readInputRow } from "./input_rows.ts";
import { type PartRange, partRange, TILE_LANES } from "./part_range.ts";
import { type LaneFunction, PartWindows } from "./part_windows.ts";

/** Bytes of a row node's results that are handed over while they are in the L2 cache. */
const TILE_BYTES = 2 ** 17;

/** What an executor needs to run parts of a plan. */
export interface RunnerSetup extends Inputs {
  readonly plan: Plan;
  readonly kernels: KernelSet;
  readonly memory: WebAssembly.Memory;
  readonly registry: Registry;
  /** Index of the executor, for its scratch space. */
  readonly executor: number;
  readonly results: Results;
}

/** Where a node of a plan with conditions starts. */
export interface NodeStart {
  /** Row of the run: the block's first, or an earlier one to catch up. */
  readonly row: number;
  /** True if its window state is rebuilt from the columns, as of the row before. */
  readonly rebuild: boolean;
  /** Number of the generation that its recurrences read. */
  readonly generation: number;
}

/** Computes the rows of a node: its function, or the reference. */
interface RowNode {
  readonly run: RowFunction | null;
  readonly host: HostRows;
}

/** Runs parts of a plan's nodes on one thread. */
export class NodeRunner {
  readonly #setup: RunnerSetup;
  readonly #arena: Arena;
  /** By node; undefined without code. */
  readonly #functions: readonly WebAssembly.Exports[string][];
  readonly #windows: PartWindows;
  readonly #handover: Handover;
  /** Rows of a row node that run before they are handed over. */
  readonly #tileRows: number;
  readonly #rows = new Map<number, RowNode>();

  constructor(setup: RunnerSetup) {
    const { plan, kernels, memory, registry, executor } = setup;
    this.#setup = setup;
    this.#arena = new Arena(plan, memory);
    const scratch = kernels.scratchByteOffset + executor * kernels.scratchBytes;
    // Row kernels keep values there from row to row: none yet.
    new Uint8Array(memory.buffer, scratch, kernels.scratchBytes).fill(0);
    const states = new WindowStates(kernels, registry, this.#arena);
    this.#tileRows = Math.max(1, Math.floor(TILE_BYTES / plan.rowBytes));
    const host = {
      memory,
      scratch: new WebAssembly.Global({ value: "i32" }, scratch),
      ...hostFunctions(plan, registry, this.#arena, states, scratch),
      segment: (node: number, input: number, output: number, bytes: number) => {
        this.#rowsOf(plan.nodes[node]!).host.runSegment(input >>> 0, output >>> 0, bytes);
      },
      row: (node: number, row: number) => this.#rowsOf(plan.nodes[node]!).host.run(row),
    };
    const { exports } = new WebAssembly.Instance(kernels.module, { host });
    this.#windows = new PartWindows(plan, kernels, memory, states, exports);
    this.#functions = plan.nodes.map(({ id }) => exports[`node${id}`]);
    this.#handover = new Handover(plan, kernels, this.#arena, setup.results, exports);
  }

  /**
   * Runs one part of a node over a block, or from an earlier row to the block's end. Results are copied for
   * rows of the block only, not for rows that a node catches up on or skipped. Running it again before the next block
   * writes the same bits.
   */
  run(node: number, part: number, block: Block, start?: NodeStart): void {
    const { plan } = this.#setup;
    const planNode = plan.nodes[node]!;
    const firstRow = start?.row ?? block.firstRow;
    const rowCount = block.firstRow + block.rowCount - firstRow;
    const range = partRange(planNode, part, firstRow, rowCount, plan.laneCount);
    if (range.rowStart === range.rowEnd || range.laneStart === range.laneEnd) return;
    if (planNode.kind === "input") this.#readInputs(planNode, range, block);
    else if (planNode.kind === "lanes") {
      this.#windows.begin(planNode, part, range, block.firstRow, start?.rebuild === true);
      this.#runLanes(planNode, part, range, block, start?.generation ?? block.generation);
    } else this.#runRows(planNode, range, block);
  }

  #readInputs(node: PlanNode, range: PartRange, block: Block): void {
    for (const column of node.columns) {
      for (let row = range.rowStart; row < range.rowEnd; row++) {
        const inputRow = block.inputRow + row - block.firstRow;
        readInputRow(this.#setup.plan, this.#arena, this.#setup, column, row, inputRow);
      }
    }
    this.#handover.run(node, range, block);
  }

  /** Catches up, then runs the block: revised, it begins with the state that is kept as it is before it. */
  #runLanes(node: PlanNode, part: number, range: PartRange, block: Block, generation: number): void {
    const isBehind = range.rowStart < block.firstRow;
    if (isBehind) this.#runRowsOfLanes(node, { ...range, rowEnd: block.firstRow }, block, generation);
    const rest = isBehind ? { ...range, rowStart: block.firstRow } : range;
    if (this.#setup.kernels.snapshots) this.#windows.takeSnapshot(node, part, rest);
    this.#runRowsOfLanes(node, rest, block, isBehind ? generation + 1 : generation);
  }

  #runRowsOfLanes(node: PlanNode, range: PartRange, block: Block, generation: number): void {
    const { rowStart, rowEnd, laneStart, laneEnd } = range;
    const { plan, kernels } = this.#setup;
    const run = this.#functions[node.id] as LaneFunction;
    const { recurrenceByteOffsets, windowByteOffset } = kernels.states.get(node.id)!;
    const from = recurrenceByteOffsets[generation % recurrenceByteOffsets.length]!;
    const to = recurrenceByteOffsets[(generation + 1) % recurrenceByteOffsets.length]!;
    const tileLanes = rowEnd - rowStart === 1 ? plan.laneCount : TILE_LANES;
    for (let lane = laneStart; lane < laneEnd; lane += tileLanes) {
      const end = Math.min(laneEnd, lane + tileLanes);
      run(rowStart, rowEnd - rowStart, 8 * lane, 8 * end, from, to, windowByteOffset);
      const isWhole = end - lane === laneEnd - laneStart;
      this.#handover.run(node, isWhole ? range : { ...range, laneStart: lane, laneEnd: end }, block);
    }
  }

  #runRows(node: PlanNode, range: PartRange, block: Block): void {
    const { run, host } = this.#rowsOf(node);
    const { rowStart, rowEnd } = range;
    const tileRows = node.outputs.length === 0 ? rowEnd - rowStart : this.#tileRows;
    for (let row = rowStart; row < rowEnd; row += tileRows) {
      const end = Math.min(rowEnd, row + tileRows);
      if (run === null) for (let one = row; one < end; one++) host.run(one);
      else run(row, end);
      const isWhole = end - row === rowEnd - rowStart;
      this.#handover.run(node, isWhole ? range : { ...range, rowStart: row, rowEnd: end }, block);
    }
  }

  #rowsOf(node: PlanNode): RowNode {
    const { plan, registry } = this.#setup;
    let rows = this.#rows.get(node.id);
    if (!rows) {
      const task = plan.tasks[node.tasks[0]!]!;
      const operator = registry.kernel(task.operator) as CrossSectionDefinition;
      const run = this.#functions[node.id];
      rows = {
        run: run ? rowFunction(plan, node, run as (...values: number[]) => void) : null,
        host: new HostRows(operator, task, plan, this.#arena),
      };
      this.#rows.set(node.id, rows);
    }
    return rows;
  }
}
