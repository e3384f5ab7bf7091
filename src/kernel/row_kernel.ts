import type { RowBuilder } from "../operator/lowering.ts";
import type { Plan, PlanTask } from "../plan/plan.ts";
import { columnOf } from "./host_cells.ts";
import type { Library } from "./library.ts";
import { emitDeviations, emitRowMean, emitRowSum } from "./rows/deviations.ts";
import { emitLargest, emitRangeShares, emitRowCount, emitSmallest } from "./rows/extremes.ts";
import { LayoutEmitter } from "./rows/group_layout.ts";
import { emitGroupRanks } from "./rows/group_ranks.ts";
import { emitGroups } from "./rows/group_rows.ts";
import { emitRank } from "./rows/rank.ts";
import { rowParameters } from "./rows/row_parameters.ts";
import type { RowScratch } from "./rows/row_scratch.ts";
import { SEGMENT, SegmentCode } from "./rows/segment.ts";
import { emitShares, hasShares } from "./rows/shares.ts";
import { SORT_LANES_MAX } from "./rows/sort_lanes.ts";
import { emitStandardDeviation, emitStandardScores } from "./rows/standard_scores.ts";
import { emitWholeRow } from "./rows/whole_row.ts";
import type { Code } from "./wasm/code.ts";
import type { Signature } from "./wasm/module.ts";

/** Rows of more lanes are left to the reference: numbers that follow from their count would not fit a double. */
const STATISTIC_LANES_MAX = 2 ** 16;

/**
 * Addresses of the row in each argument's column, in that of the group codes if there are any, and in that of the
 * result; then the number of the node. Returns 1 if the row is left to the reference, else 0.
 */
export function rowSignature(addressCount: number): Signature {
  return { parameters: Array.from({ length: addressCount + 1 }, () => "i32" as const), results: ["i32"] };
}

/** The columns that a row node gets addresses of: its arguments, the group's codes if it has a group, its result. */
export function rowColumns(plan: Plan, { operands, group, column }: PlanTask): number[] {
  const read = operands.map((operand) => columnOf(plan, operand));
  return [...read, ...(group === null ? [] : [group]), column as number];
}

/** What the kernels of all row nodes share. */
export interface RowKernelSetup {
  readonly library: Library;
  readonly laneCount: number;
  readonly scratch: RowScratch;
  /** The function of the host that runs a node's reference on a segment. */
  readonly hostFunction: number;
}

/**
 * Finds the function that computes a row of a node. Nodes that do the same to rows of one kind share it: ranks alone are
 * ten thousand bytes of code, which are in the cache when the next node asks for them.
 */
export class RowKernel implements RowBuilder {
  readonly #setup: RowKernelSetup;
  readonly #signature: Signature;
  /** Column of the group codes; null: the row is one group. */
  readonly #group: number | null;
  #index: number | null = null;

  constructor(setup: RowKernelSetup, signature: Signature, group: number | null) {
    this.#setup = setup;
    this.#signature = signature;
    this.#group = group;
  }

  /** Index of the function; null if there is none. */
  get index(): number | null {
    return this.#index;
  }

  relativeRanks(): boolean {
    const { library, laneCount, scratch } = this.#setup;
    if (laneCount > SORT_LANES_MAX) return false;
    return this.#share("ranks", (code) => {
      if (this.#group === null) emitRank(code, library, laneCount, scratch);
      else emitGroupRanks(code, library, laneCount, this.#layOut(code, this.#group), scratch);
    });
  }

  count(): boolean {
    return this.#statistic("count", emitRowCount);
  }

  sum(): boolean {
    return this.#statistic("sum", emitRowSum);
  }

  mean(): boolean {
    return this.#statistic("mean", emitRowMean);
  }

  standardDeviation(): boolean {
    return this.#statistic("standard deviation", emitStandardDeviation);
  }

  largest(): boolean {
    return this.#statistic("largest", emitLargest);
  }

  smallest(): boolean {
    return this.#statistic("smallest", emitSmallest);
  }

  shares(factor: number): boolean {
    return hasShares(factor) && this.#statistic(`shares of ${factor}`, (on) => emitShares(on, factor));
  }

  rangeShares(): boolean {
    return this.#statistic("range shares", emitRangeShares);
  }

  deviations(limit: number): boolean {
    return this.#statistic(`deviations to ${limit}`, (on) => emitDeviations(on, limit));
  }

  standardScores(limit: number): boolean {
    return this.#statistic(`standard scores to ${limit}`, (on) => emitStandardScores(on, limit));
  }

  #statistic(name: string, emit: (on: SegmentCode) => void): boolean {
    const { library, laneCount, scratch, hostFunction } = this.#setup;
    if (laneCount > STATISTIC_LANES_MAX) return false;
    const index = library.helper(`row statistic: ${name}`, (module) =>
      module.function(SEGMENT, (code) => {
        const on = new SegmentCode(code, library, hostFunction, laneCount);
        on.decide(() => emit(on));
      }),
    );
    return this.#share(name, (code) => {
      if (this.#group === null) emitWholeRow(code, laneCount, scratch, index);
      else emitGroups(code, laneCount, this.#layOut(code, this.#group), index);
    });
  }

  #share(name: string, emit: (code: Code) => void): true {
    const group = this.#group === null ? "the row" : `groups of ${this.#group}`;
    const key = `${name} of ${group}, ${this.#signature.parameters.length} parameters`;
    this.#index = this.#setup.library.helper(key, (module) =>
      module.function(this.#signature, (code) => {
        emit(code);
        code.i32(0);
      }),
    );
    return true;
  }

  #layOut(code: Code, group: number): LayoutEmitter {
    const { laneCount, scratch } = this.#setup;
    const layout = new LayoutEmitter(code, laneCount, group, rowParameters(code).codes, scratch);
    layout.emit();
    return layout;
  }
}
