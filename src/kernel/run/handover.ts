import type { Plan, PlanNode } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";
import type { Block, KernelSet } from "../memory/kernel_set.ts";
import { STEP_LANES } from "../memory/vectors.ts";
import { FINISH_NAME, type FinishedPlaces, finishedPlaces } from "./finished_rows.ts";
import type { PartRange } from "./part_range.ts";

/** For each output of the plan its values `[resultRows x lanes]`, or null if they are not kept. */
export type Results = readonly (Float64Array<SharedArrayBuffer> | null)[];

/** Copies and finishes the outputs of nodes, for rows of the block only. */
export class Handover {
  readonly #plan: Plan;
  readonly #kernels: KernelSet;
  readonly #arena: Arena;
  readonly #results: Results;
  /** By the parameters of `FINISH`. */
  readonly #finishRow: (...numbers: number[]) => void;
  /** By row, then by output. */
  readonly #finished: readonly (readonly FinishedPlaces[])[];

  constructor(plan: Plan, kernels: KernelSet, arena: Arena, results: Results, exports: WebAssembly.Exports) {
    this.#plan = plan;
    this.#kernels = kernels;
    this.#arena = arena;
    this.#results = results;
    this.#finishRow = exports[FINISH_NAME] as (...numbers: number[]) => void;
    this.#finished = Array.from({ length: kernels.finishedRows }, (_, row) =>
      plan.outputs.map((_, output) => finishedPlaces(plan, row, output)),
    );
  }

  /** Hands over a node's outputs in some rows and lanes, while they are in a cache. */
  run(node: PlanNode, range: PartRange, block: Block): void {
    if (node.outputs.length === 0) return;
    const wanted = range.rowStart < block.firstRow ? { ...range, rowStart: block.firstRow } : range;
    for (const output of node.outputs) {
      this.#copyResult(output, wanted, block);
      if (this.#kernels.finishedRows > 0) this.#finish(output, wanted, block);
    }
  }

  /** Finishes the block's last row if it is in this range. */
  #finish(output: number, { rowStart, rowEnd, laneStart, laneEnd }: PartRange, block: Block): void {
    const [plan, kernels] = [this.#plan, this.#kernels];
    const row = block.firstRow + block.rowCount - 1;
    if (row < rowStart || row >= rowEnd || laneStart === laneEnd) return;
    const { values, valid, infinite } = this.#finished[block.outputRow % kernels.finishedRows]![output]!;
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
    const [plan, results] = [this.#plan, this.#results];
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
