import { MAGNITUDES } from "../../exact/magnitudes.ts";
import type { RowBuilder } from "../../operator/lowering.ts";
import type { Plan, PlanNode, PlanTask } from "../../plan/plan.ts";
import type { Code } from "../emit/code.ts";
import { parameter } from "../emit/expressions.ts";
import type { HostFunctions } from "../emit/host_functions.ts";
import type { Library } from "../emit/library.ts";
import { forSome } from "../emit/loops.ts";
import { takes } from "../emit/module.ts";
import { operandColumn } from "../fallback/host_cells.ts";
import { GroupLayout } from "./groups/group_layout.ts";
import { emitGroupRanks } from "./groups/group_ranks.ts";
import { emitGroups } from "./groups/group_rows.ts";
import { emitWholeRow } from "./layout/padded_row.ts";
import { rowParameters } from "./layout/row_parameters.ts";
import type { RowScratch } from "./layout/row_scratch.ts";
import { SEGMENT, SegmentCode } from "./layout/segment.ts";
import { SORT_LANES_MAX } from "./sort/sort_frame.ts";
import { emitDeviations, emitRowMean, emitRowSum } from "./statistics/deviations.ts";
import { emitLargest, emitRangeShares, emitRowCount, emitSmallest } from "./statistics/extremes.ts";
import { emitWithinMedianDistances, hasMedianLimits } from "./statistics/median_limits.ts";
import { emitRank } from "./statistics/rank.ts";
import { emitShares, hasShares } from "./statistics/shares.ts";
import {
  emitStandardDeviation,
  emitStandardScores,
  emitWithinDeviations,
} from "./statistics/standard_scores.ts";

/** Rows of more lanes use the reference: numbers derived from their count would not fit a double. */
const STATISTIC_LANES_MAX = 2 ** 16;

/** Runs rows of a row node: the first, and the row after the last. */
export type RowFunction = (firstRow: number, endRow: number) => void;

/** Binds a shared row function to one node: ring offset and length of each of `rowColumns`, then the node id. */
export function rowFunction(
  plan: Plan,
  { id, tasks }: PlanNode,
  shared: (...values: number[]) => void,
): RowFunction {
  const places = rowColumns(plan, plan.tasks[tasks[0]!]!).flatMap((column) => {
    const { byteOffset, ringRows } = plan.columns[column]!;
    return [byteOffset, ringRows];
  });
  return shared.bind(undefined, ...places, id);
}

/** The columns whose row addresses a row node gets: its arguments, the group's codes if it has a group, its result. */
function rowColumns(plan: Plan, { operands, group, column }: PlanTask): number[] {
  const read = operands.map((operand) => operandColumn(plan, operand));
  return [...read, ...(group === null ? [] : [group]), column as number];
}

/** Shared by the kernels of all row nodes. */
export interface RowKernelSetup {
  readonly library: Library;
  readonly plan: Plan;
  readonly scratch: RowScratch;
  readonly host: Pick<HostFunctions, "segment" | "row">;
}

/**
 * Finds the function that computes rows of a node. Nodes that do the same to rows of the same kind share it: ranks
 * alone are ten thousand bytes of code, which are still in the cache when the next node calls them.
 */
export class RowKernel implements RowBuilder {
  readonly #setup: RowKernelSetup;
  /** Number of columns whose row addresses are passed. */
  readonly #columnCount: number;
  /** Column of the group codes; null: the row is one group. */
  readonly #group: number | null;
  /** Index of the function; null if there is none. */
  index: number | null = null;

  constructor(setup: RowKernelSetup, task: PlanTask) {
    this.#setup = setup;
    this.#columnCount = rowColumns(setup.plan, task).length;
    this.#group = task.group;
  }

  relativeRanks(): boolean {
    const { library, scratch } = this.#setup;
    const laneCount = this.#laneCount;
    if (laneCount > SORT_LANES_MAX) return false;
    return this.#share("ranks", (code) => {
      if (this.#group === null) emitRank(code, library, laneCount, scratch);
      else emitGroupRanks(code, library, laneCount, this.#layOut(code, this.#group), scratch);
    });
  }

  count = () => this.#statistic("count", emitRowCount);
  sum = () => this.#statistic("sum", emitRowSum);
  mean = () => this.#statistic("mean", emitRowMean);
  standardDeviation = () => this.#statistic("standard deviation", emitStandardDeviation);
  largest = () => this.#statistic("largest", emitLargest);
  smallest = () => this.#statistic("smallest", emitSmallest);
  rangeShares = () => this.#statistic("range shares", emitRangeShares);

  shares(factor: number): boolean {
    return hasShares(factor) && this.#statistic(`shares of ${factor}`, (on) => emitShares(on, factor));
  }

  deviations(limit: number): boolean {
    return this.#statistic(`deviations to ${limit}`, (on) => emitDeviations(on, limit));
  }

  standardScores(limit: number): boolean {
    return this.#statistic(`standard scores to ${limit}`, (on) => emitStandardScores(on, limit));
  }

  withinDeviations(factor: number): boolean {
    if (!(factor >= 0 && factor <= MAGNITUDES.deviationFactorMax)) return false;
    return this.#statistic(`within ${factor} deviations`, (on) => emitWithinDeviations(on, factor));
  }

  withinMedianDistances(factor: number, scale: number): boolean {
    const { library, scratch } = this.#setup;
    const laneCount = this.#laneCount;
    if (this.#group !== null || laneCount > SORT_LANES_MAX || !hasMedianLimits(factor, scale)) return false;
    return this.#share(`within ${factor} * ${scale} median distances`, (code) => {
      emitWithinMedianDistances(code, library, laneCount, scratch, [factor, scale]);
    });
  }

  #statistic(name: string, emit: (on: SegmentCode) => void): boolean {
    const { library, scratch, host } = this.#setup;
    const laneCount = this.#laneCount;
    if (laneCount > STATISTIC_LANES_MAX) return false;
    const index = library.helper(`row statistic: ${name}`, SEGMENT, (code) => {
      const on = new SegmentCode(code, library, laneCount);
      on.withFallback(host.segment, () => emit(on));
    });
    return this.#share(name, (code) => {
      if (this.#group === null) emitWholeRow(code, laneCount, scratch, index);
      else emitGroups(code, laneCount, this.#layOut(code, this.#group), index);
    });
  }

  get #laneCount(): number {
    return this.#setup.plan.laneCount;
  }

  #share(name: string, emit: (code: Code) => void): true {
    const { library, plan, host } = this.#setup;
    const group = this.#group === null ? "the row" : `groups of ${this.#group}`;
    const key = `${name} of ${group}, ${this.#columnCount} columns`;
    const ofRow = library.helper(key, { ...takes(this.#columnCount + 1), results: ["i32"] }, (code) => {
      emit(code);
      code.i32(0);
    });
    this.index = library.helper(`rows: ${key}`, takes(2 * this.#columnCount + 3), (code) => {
      emitRowLoop(code, this.#columnCount, plan.rowBytes, ofRow, host.row);
    });
    return true;
  }

  #layOut(code: Code, group: number): GroupLayout {
    const { scratch } = this.#setup;
    const layout = new GroupLayout(this.#laneCount, group, rowParameters(code).codes, scratch);
    layout.emit();
    return layout;
  }
}

/**
 * Calls a row function for every row, at least one, with the addresses of the row in the columns. Where it returns 1,
 * the reference computes the row.
 */
function emitRowLoop(
  code: Code,
  columnCount: number,
  rowBytes: number,
  ofRow: number,
  rowByReference: number,
): void {
  const [node, row, end] = [parameter(code, -3), parameter(code, -2), parameter(code, -1)];
  forSome(row, end, () => {
    for (let column = 0; column < columnCount; column++) {
      const [offset, ringRows] = [parameter(code, 2 * column), parameter(code, 2 * column + 1)];
      row.remainder(ringRows).mul(rowBytes).add(offset).push();
    }
    code.get(node).call(ofRow);
    code.if(() => code.get(node).get(row).call(rowByReference));
  });
}
