import type { CrossSectionDefinition } from "../../operator/definition.ts";
import type { Registry } from "../../operator/registry.ts";
import { ARENA_HEAD_BYTES, type Plan, type PlanNode } from "../../plan/plan.ts";
import { writeConstants } from "../emit/library.ts";
import { STEP_LANES } from "../emit/vectors.ts";
import { HostCells } from "../fallback/host_cells.ts";
import { HostRows } from "../fallback/host_rows.ts";
import { WindowStates } from "../fallback/window_states.ts";
import { Arena } from "../memory/arena.ts";
import type { Block, KernelSet } from "../memory/kernel_set.ts";
import { GROUP_BYTES, GROUP_LANES } from "../memory/state_layout.ts";
import { type RowFunction, rowFunction } from "../rows/row_kernel.ts";
import { DIGEST_NAME } from "./digest.ts";
import { FINISH_NAME, type FinishedPlaces, finishedPlaces } from "./finished_rows.ts";
import { type Inputs, readInputRow } from "./input_rows.ts";
import { type PartRange, partRange } from "./part_range.ts";

/**
 * Lanes that run through all rows of a block before the next ones: their state, some hundred bytes a lane, stays in the
 * L2 cache. With an eighth of them the lane kernels of alpha101 take 8 to 15 % longer, since loops restart for every
 * row of a tile.
 */
const TILE_LANES = 1024;

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
  /** For each output of the plan its values `[resultRows x lanes]`, or null if they are not kept. */
  readonly results: readonly (Float64Array<SharedArrayBuffer> | null)[];
}

/** Where a node starts that earlier runs left out. */
export interface NodeStart {
  /** Row of the run: the block's first, or an earlier one to catch up. */
  readonly row: number;
  /** True if its window state is rebuilt from the columns, as of the row before. */
  readonly rebuild: boolean;
}

type LaneFunction = (
  firstRow: number,
  rowCount: number,
  laneStart: number,
  laneEnd: number,
  from: number,
  to: number,
  window: number,
) => void;

/** Values, digests, bytes of the values, row. */
type DigestFunction = (values: number, digests: number, bytes: number, row: number) => void;

/** Values, their target, validity bits, infinity bits, bytes of the values. */
type FinishFunction = (
  values: number,
  target: number,
  valid: number,
  infinite: number,
  bytes: number,
) => void;

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
  readonly #digestRow: DigestFunction;
  readonly #finishRow: FinishFunction;
  /** By output. */
  readonly #finished: readonly FinishedPlaces[];
  readonly #windows: WindowStates;
  readonly #stamps: Int32Array;
  /** Index of each node's first start marker. */
  readonly #firstStamps: readonly number[];
  /** Distance from a part's start marker to that of its snapshot. */
  readonly #partCount: number;
  readonly #bytes: Uint8Array;
  /** Rows of a row node that run before they are handed over. */
  readonly #tileRows: number;
  readonly #rows = new Map<number, RowNode>();

  constructor(setup: RunnerSetup) {
    const { plan, kernels, memory, executor } = setup;
    this.#setup = setup;
    this.#arena = new Arena(plan, memory);
    const scratch = kernels.scratchByteOffset + executor * kernels.scratchBytes;
    // Row kernels keep values there from row to row: none yet.
    new Uint8Array(memory.buffer, scratch, kernels.scratchBytes).fill(0);
    this.#windows = new WindowStates(kernels, setup.registry, this.#arena);
    this.#stamps = new Int32Array(memory.buffer, kernels.stampByteOffset);
    let stamps = 0;
    this.#firstStamps = plan.nodes.map(({ partCount }) => {
      stamps += partCount;
      return stamps - partCount;
    });
    this.#partCount = stamps;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#tileRows = Math.max(1, Math.floor(TILE_BYTES / plan.rowBytes));
    const host = {
      memory,
      scratch: new WebAssembly.Global({ value: "i32" }, scratch),
      ...hostFunctions(setup, this.#arena, this.#windows, scratch),
      segment: (node: number, input: number, output: number, bytes: number) => {
        this.#rowsOf(plan.nodes[node]!).host.runSegment(input >>> 0, output >>> 0, bytes);
      },
      row: (node: number, row: number) => this.#rowsOf(plan.nodes[node]!).host.run(row),
    };
    const { exports } = new WebAssembly.Instance(kernels.module, { host });
    this.#functions = plan.nodes.map(({ id }) => exports[`node${id}`]);
    this.#digestRow = exports[DIGEST_NAME] as DigestFunction;
    this.#finishRow = exports[FINISH_NAME] as FinishFunction;
    this.#finished = plan.outputs.map((_, output) => finishedPlaces(plan, output));
  }

  /**
   * Runs one part of a node over a block, or from an earlier row to the block's end. Results are copied and digested
   * for rows of the block only, not for rows that a node catches up on or skipped. Running it again before the next
   * block writes the same bits, but adds its values to the digests again.
   */
  run(node: number, part: number, block: Block, start?: NodeStart): void {
    const { plan } = this.#setup;
    const planNode = plan.nodes[node]!;
    const firstRow = start?.row ?? block.firstRow;
    const rowCount = block.firstRow + block.rowCount - firstRow;
    const range = partRange(planNode, part, firstRow, rowCount, plan.laneCount);
    if (range.rowStart === range.rowEnd || range.laneStart === range.laneEnd) return;
    if (planNode.kind === "input") this.#readInputs(planNode, part, range, block);
    else if (planNode.kind === "lanes") {
      this.#startPart(planNode, part, range, start?.rebuild === true);
      if (this.#setup.kernels.snapshots) this.#runFromSnapshot(planNode, part, range, block);
      else this.#runLanes(planNode, part, range, block);
    } else this.#runRows(planNode, part, range, block);
  }

  /** Copies and digests the outputs of a node in some rows and lanes while they are in a cache. */
  #handOver(node: PlanNode, part: number, range: PartRange, block: Block): void {
    if (node.outputs.length === 0) return;
    const wanted = range.rowStart < block.firstRow ? { ...range, rowStart: block.firstRow } : range;
    for (const output of node.outputs) {
      this.#copyResult(output, wanted, block);
      if (this.#setup.kernels.digests) this.#digest(output, part, wanted);
      if (this.#setup.kernels.finishes) this.#finish(output, wanted, block);
    }
  }

  #readInputs(node: PlanNode, part: number, range: PartRange, block: Block): void {
    for (const column of node.columns) {
      for (let row = range.rowStart; row < range.rowEnd; row++) {
        const inputRow = block.inputRow + row - block.firstRow;
        readInputRow(this.#setup.plan, this.#arena, this.#setup, column, row, inputRow);
      }
    }
    this.#handOver(node, part, range, block);
  }

  #runLanes(node: PlanNode, part: number, range: PartRange, block: Block): void {
    const { rowStart, rowEnd, laneStart, laneEnd } = range;
    const { plan, kernels } = this.#setup;
    const run = this.#functions[node.id] as LaneFunction;
    const { recurrenceByteOffsets, windowByteOffset } = kernels.states.get(node.id)!;
    const from = recurrenceByteOffsets[block.generation];
    const to = recurrenceByteOffsets[1 - block.generation]!;
    const tileLanes = rowEnd - rowStart === 1 ? plan.laneCount : TILE_LANES;
    for (let lane = laneStart; lane < laneEnd; lane += tileLanes) {
      const end = Math.min(laneEnd, lane + tileLanes);
      run(rowStart, rowEnd - rowStart, 8 * lane, 8 * end, from, to, windowByteOffset);
      const isWhole = end - lane === laneEnd - laneStart;
      this.#handOver(node, part, isWhole ? range : { ...range, laneStart: lane, laneEnd: end }, block);
    }
  }

  /** Window state is updated in place: it is rebuilt where the part has already run from this row. */
  #startPart(
    node: PlanNode,
    part: number,
    { rowStart, laneStart, laneEnd }: PartRange,
    isRebuilt: boolean,
  ): void {
    const stamp = this.#firstStamps[node.id]! + part;
    if (isRebuilt || this.#stamps[stamp] === rowStart + 1) {
      if (this.#restoreWindows(node, stamp, { rowStart, laneStart, laneEnd })) return;
      const [first, end] = this.#setup.kernels.recordRanges.get(node.id)!;
      for (let state = first; state < end; state++) {
        for (let lane = laneStart; lane < laneEnd; lane++) this.#windows.rebuild(state, rowStart - 1, lane);
      }
    }
    this.#stamps[stamp] = rowStart + 1;
  }

  /** Catches up, then saves window state as it is before the block, then runs the block. */
  #runFromSnapshot(node: PlanNode, part: number, range: PartRange, block: Block): void {
    const { rowStart, rowEnd } = range;
    if (rowStart < block.firstRow) this.#runLanes(node, part, { ...range, rowEnd: block.firstRow }, block);
    const first = Math.max(rowStart, block.firstRow);
    const stamp = this.#firstStamps[node.id]! + part + this.#partCount;
    const [from, to, bytes] = this.#windowBytes(node, range);
    if (this.#stamps[stamp] !== first + 1) {
      // A thread may be lost at any point: until the copy is complete, its marker must name no row.
      this.#stamps[stamp] = 0;
      this.#bytes.copyWithin(to, from, from + bytes);
      this.#stamps[stamp] = first + 1;
    }
    this.#runLanes(node, part, { ...range, rowStart: first, rowEnd }, block);
  }

  /** Restores window state as it was before `rowStart`; false if it was not kept. */
  #restoreWindows(
    node: PlanNode,
    stamp: number,
    range: Pick<PartRange, "rowStart" | "laneStart" | "laneEnd">,
  ): boolean {
    const next = range.rowStart + 1;
    if (!this.#setup.kernels.snapshots || this.#stamps[stamp + this.#partCount] !== next) return false;
    this.#stamps[stamp] = next;
    const [to, from, bytes] = this.#windowBytes(node, range);
    this.#bytes.copyWithin(to, from, from + bytes);
    return true;
  }

  /** Offsets of the window vectors of a part's lanes and of their snapshot, and their bytes. */
  #windowBytes(
    { id }: PlanNode,
    { laneStart, laneEnd }: Pick<PartRange, "laneStart" | "laneEnd">,
  ): readonly [number, number, number] {
    const { windows, windowByteOffset, snapshotByteOffset } = this.#setup.kernels.states.get(id)!;
    const groupBytes = windows.length * GROUP_BYTES;
    const first = Math.floor(laneStart / GROUP_LANES) * groupBytes;
    const bytes = Math.ceil(laneEnd / GROUP_LANES) * groupBytes - first;
    return [windowByteOffset + first, snapshotByteOffset! + first, bytes];
  }

  #runRows(node: PlanNode, part: number, range: PartRange, block: Block): void {
    const { run, host } = this.#rowsOf(node);
    const { rowStart, rowEnd } = range;
    const tileRows = node.outputs.length === 0 ? rowEnd - rowStart : this.#tileRows;
    for (let row = rowStart; row < rowEnd; row += tileRows) {
      const end = Math.min(rowEnd, row + tileRows);
      if (run === null) for (let one = row; one < end; one++) host.run(one);
      else run(row, end);
      const isWhole = end - row === rowEnd - rowStart;
      this.#handOver(node, part, isWhole ? range : { ...range, rowStart: row, rowEnd: end }, block);
    }
  }

  #rowsOf(node: PlanNode): RowNode {
    const { plan, registry, kernels } = this.#setup;
    let rows = this.#rows.get(node.id);
    if (!rows) {
      const task = plan.tasks[node.tasks[0]!]!;
      const operator = registry.kernel(task.operator) as CrossSectionDefinition;
      rows = {
        run: kernels.compiledRows.has(node.id)
          ? rowFunction(plan, node, this.#functions[node.id] as (...values: number[]) => void)
          : null,
        host: new HostRows(operator, task, plan, this.#arena),
      };
      this.#rows.set(node.id, rows);
    }
    return rows;
  }

  #digest(output: number, part: number, { rowStart, rowEnd, laneStart, laneEnd }: PartRange): void {
    const { plan, kernels } = this.#setup;
    const { column } = plan.outputs[output]!;
    const index = part * plan.outputs.length + output;
    const digests = kernels.digestByteOffset + index * plan.rowBytes + 8 * laneStart;
    for (let row = rowStart; row < rowEnd; row++) {
      const values = 8 * (this.#arena.rowStart(column, row) + laneStart);
      this.#digestRow(values, digests, 8 * (laneEnd - laneStart), row);
    }
  }

  /** Finishes the block's last row if it is in this range. */
  #finish(output: number, { rowStart, rowEnd, laneStart, laneEnd }: PartRange, block: Block): void {
    const { plan, kernels } = this.#setup;
    const row = block.firstRow + block.rowCount - 1;
    if (row < rowStart || row >= rowEnd || laneStart === laneEnd) return;
    const { values, valid, infinite } = this.#finished[output]!;
    const at = kernels.finishedByteOffset;
    const source = 8 * (this.#arena.rowStart(plan.outputs[output]!.column, row) + laneStart);
    const bits = at + laneStart / STEP_LANES;
    this.#finishRow(
      source,
      at + values + 8 * laneStart,
      bits + valid,
      bits + infinite,
      8 * (laneEnd - laneStart),
    );
  }

  #copyResult(output: number, { rowStart, rowEnd, laneStart, laneEnd }: PartRange, block: Block): void {
    const { plan, results } = this.#setup;
    const target = results[output];
    if (!target) return;
    const { column } = plan.outputs[output]!;
    for (let row = rowStart; row < rowEnd; row++) {
      const start = this.#arena.rowStart(column, row);
      const values = this.#arena.values.subarray(start + laneStart, start + laneEnd);
      target.set(values, (block.outputRow + row - block.firstRow) * plan.laneCount + laneStart);
    }
  }
}

/** The functions that kernels call: arguments are numbers of tasks and states, rows, and bytes of a lane in its row. */
function hostFunctions(
  { plan, registry }: RunnerSetup,
  arena: Arena,
  windows: WindowStates,
  scratch: number,
) {
  const cells = new HostCells(plan, registry, arena, scratch);
  const { values } = arena;
  const result = scratch / Float64Array.BYTES_PER_ELEMENT;
  // The last lanes may lie beyond the panel.
  const lanesFrom = (first: number) => Math.min(plan.laneCount - first, STEP_LANES);
  return {
    evaluate(task: number, row: number, laneByte: number, from: number, to: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      values.fill(Number.NaN, result + count, result + STEP_LANES);
      for (let i = 0; i < count; i++) {
        values[result + i] = cells.evaluate(task, row, first + i, (from >>> 0) + 8 * i, (to >>> 0) + 8 * i);
      }
    },
    ensure(state: number, row: number, laneByte: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) windows.ensureBounds(state, row, first + i);
    },
    shrink(state: number, row: number, laneByte: number, lanes: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) {
        if (((lanes >> i) & 1) === 1) windows.shrinkBounds(state, row, first + i);
      }
    },
    evaluateOpen(task: number, row: number, laneByte: number, lanes: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) {
        if (((lanes >> i) & 1) === 1) values[result + i] = cells.evaluateOpen(task, row, first + i);
      }
    },
  };
}

/** Prepares an arena for row 0: earlier rows are null, recurrences and windows are empty. */
export function initializeArena(
  plan: Plan,
  kernels: Pick<KernelSet, "constants" | "rings" | "states">,
  memory: WebAssembly.Memory,
): void {
  const { values } = new Arena(plan, memory);
  const rowLength = plan.rowBytes / Float64Array.BYTES_PER_ELEMENT;
  const head = ARENA_HEAD_BYTES / Float64Array.BYTES_PER_ELEMENT;
  writeConstants(memory, kernels.constants);
  values.fill(Number.NaN, head, plan.columnBytes / Float64Array.BYTES_PER_ELEMENT);
  for (const { byteOffset, ringRows, initial } of kernels.rings) {
    const start = byteOffset / Float64Array.BYTES_PER_ELEMENT;
    values.fill(initial, start, start + ringRows * rowLength);
  }
  for (const { recurrences, recurrenceByteOffsets, windows, windowByteOffset } of kernels.states.values()) {
    for (const start of recurrenceByteOffsets) fillVectors(values, start, recurrences, rowLength);
    fillVectors(values, windowByteOffset, windows, rowLength);
  }
}

function fillVectors(
  values: Float64Array,
  byteOffset: number,
  vectors: readonly number[],
  rowLength: number,
): void {
  const start = byteOffset / Float64Array.BYTES_PER_ELEMENT;
  vectors.forEach((value, i) => {
    values.fill(value, start + i * GROUP_LANES, start + (i + 1) * GROUP_LANES);
  });
  // The first group is copied to the second, both to the next two, and so on.
  const length = vectors.length * rowLength;
  for (let done = vectors.length * GROUP_LANES; done > 0 && done < length; done *= 2) {
    values.copyWithin(start + done, start, start + Math.min(done, length - done));
  }
}
