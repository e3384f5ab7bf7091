import { builtInRegistry } from "../../operators/index.ts";
import { formulaSet, graphOf } from "../../src/bench/budget/formula_sets.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../src/execution/shared/block_slots.ts";
import { emitKernels } from "../../src/kernel/compile/compile_kernels.ts";
import { ROW_SLOTS } from "../../src/live/live_plan.ts";
import { formPlan } from "../../src/plan/form.ts";
import { inSteps } from "../../src/steps.ts";

/** What one row of a session takes, by the measured costs of operators. */
export interface SessionSize {
  readonly set: string;
  readonly formulas: number;
  readonly nodes: number;
  readonly parts: number;
  /** One thread for the whole row. */
  readonly workNs: number;
  /** The longest chain of parts: no number of threads is quicker. */
  readonly pathNs: number;
  /** Columns, window state, finished rows, scratch memory of every thread. */
  readonly arenaBytes: number;
  /** Window state, all of which a row reads and writes. */
  readonly stateBytes: number;
}

export interface SizesOptions {
  readonly lanes: number;
  readonly threads: number;
}

/** The plan that a session opens of a formula set. @throws UsageError E506 for an unknown set. */
export async function sessionSize(set: string, { lanes, threads }: SizesOptions): Promise<SessionSize> {
  const dag = graphOf(formulaSet(set));
  const plan = formPlan(dag, {
    laneCount: lanes,
    blockRows: 1,
    keptBlocks: OVERLAPPING_BLOCKS_MAX,
    executorCount: threads,
  });
  const { arenaBytes, stateBytes } = await inSteps(
    emitKernels(plan, builtInRegistry, {
      reference: false,
      executorCount: threads,
      snapshots: true,
      finishedRows: ROW_SLOTS,
    }),
  );
  return {
    set,
    formulas: plan.outputs.length,
    nodes: plan.nodes.length,
    parts: plan.nodes.reduce((sum, { partCount }) => sum + partCount, 0),
    workNs: plan.nodes.reduce((sum, { costNs }) => sum + costNs, 0),
    pathNs: plan.nodes.reduce((longest, { weight }) => Math.max(longest, weight), 0),
    arenaBytes,
    stateBytes,
  };
}
