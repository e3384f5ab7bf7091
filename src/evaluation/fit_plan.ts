/**
 * Fits a program into memory: the one place that forms, sizes, emits and divides plans. For each size of blocks, the best
 * one first, columns are counted, then kernels are emitted, then outputs are divided where one memory does not hold them.
 */
import type { Dag } from "../dag/dag.ts";
import { propagateConditions } from "../dag/passes/propagate_conditions.ts";
import { pruneDag } from "../dag/prune.ts";
import type { ExecutorPool } from "../execution/executor_pool.ts";
import { type EmittedKernels, emitKernels } from "../kernel/compile/compile_kernels.ts";
import { compiled } from "../kernel/compile/compile_optimised.ts";
import type { PlanArena } from "../kernel/memory/plan_arena.ts";
import { initializeArena } from "../kernel/run/initialize_arena.ts";
import type { Registry } from "../operator/registry.ts";
import type { CostModel } from "../plan/cost_model.ts";
import { divideOutputs } from "../plan/divide_outputs.ts";
import { type DraftShape, draftPlan, type PlanDraft } from "../plan/form.ts";
import { joinPlans, type PlanShare, wholeShare } from "../plan/join_plans.ts";
import type { Plan } from "../plan/plan.ts";
import { inSteps, Pauses } from "../steps.ts";
import { suppressUnhandled } from "./awaiting.ts";
import type { MemoryBudget } from "./memory/memory_budget.ts";
import { formatBytes, isMemoryShort, type MemoryNeed, memoryShort } from "./memory/memory_need.ts";
import type { KernelChoice } from "./options.ts";

/**
 * Rows of a block: enough that handing out parts costs little compared with running them, few enough that a block's
 * results stay in caches.
 */
export const BLOCK_ROWS_BEST = 64;
const BLOCK_ROWS_MIN = 16;

/** Bytes that a block should write at most, over all columns. */
const BLOCK_BYTES_TARGET = 256 * 2 ** 20;

/**
 * Columns take 55 to 80 % of the arenas of the published formulas, state and scratch memory the rest: a group of outputs
 * that is chosen by its columns has so much room for them.
 */
const COLUMNS_SHARE = 0.6;

const WASM_PAGE_BYTES = 65_536;

/** A graph and how its plan is formed, for panels of one width. */
export interface PlanSpec extends Omit<DraftShape, "executorCount" | "costs"> {
  readonly dag: Dag;
  readonly registry: Registry;
  readonly kernel?: KernelChoice | undefined;
  /** Keeps window state as it was before the newest block, which often runs again. Default false. */
  readonly snapshots?: boolean;
  /** Rows of every output that are provided as Arrow columns (`finishedRow`). Default 0. */
  readonly finishedRows?: number;
}

/** A plan to be fitted into the memory that there is. */
export interface FitSpec extends PlanSpec {
  /** Number of rows; blocks need not be larger. */
  readonly rowCount: number;
  readonly blockRows?: number | undefined;
  /** Memory beside the arenas, by block size. */
  readonly memoryNeed: (blockRows: number) => MemoryNeed;
}

/** What plans are formed for. */
export interface PlanTarget {
  readonly threads: number;
  readonly costs: CostModel;
  /** The largest memory of a plan. */
  readonly arenaBytesMax: number;
}

/** Whose threads and memory a plan takes. */
interface PlanOwner extends Omit<PlanTarget, "arenaBytesMax"> {
  readonly pool: ExecutorPool;
  readonly budget: MemoryBudget;
}

/** Some outputs of a program, with kernels that fit into one memory and are not compiled yet. */
export interface EmittedShare extends PlanShare {
  readonly kernels: EmittedKernels;
}

export interface FittedPlan {
  /** The plans of all arenas, joined. */
  readonly plan: Plan;
  /** Ready for row 0. */
  readonly arenas: readonly PlanArena[];
  /** Wall time of compiling the kernels; the arenas are prepared meanwhile. */
  readonly kernelMs: number;
  /** Releases the reserved memory. */
  readonly release: () => void;
}

/**
 * Forms and compiles the plan with the largest block size that memory allows, and reserves what it needs.
 *
 * @throws ResourceError E401, with need and limit, if memory is short; UsageError E549.
 */
export async function fitPlan(owner: PlanOwner, spec: FitSpec): Promise<FittedPlan> {
  const { budget } = owner;
  const draft = draftOf(spec, owner, spec.dag);
  const pauses = new Pauses();
  let refusal: unknown = null;
  for (const blockRows of blockRowsToTry(draft, spec)) {
    await pauses.afterStep();
    const needOf = (arenaBytes: number): MemoryNeed => {
      const need = spec.memoryNeed(blockRows);
      return { ...need, bytes: { "columns and state": arenaBytes, ...need.bytes } };
    };
    try {
      // The columns alone may be too large: kernels are emitted only if they may fit.
      budget.expectRoom(needOf(draft.columnBytes(blockRows)));
      const started = performance.now();
      const shares = await fitShares(
        spec,
        { ...owner, arenaBytesMax: budget.arenaBytesMax },
        draft,
        blockRows,
      );
      const arenaBytes = shares.reduce((sum, { kernels }) => sum + kernels.arenaBytes, 0);
      const giveBack = budget.reserve(needOf(arenaBytes));
      let isReserved = true;
      const release = () => {
        if (isReserved) budget.noteClosed(arenaBytes, owner.pool);
        isReserved = false;
        giveBack();
      };
      try {
        const { plan, arenas } = await prepareArenas(shares);
        return { plan, arenas, kernelMs: performance.now() - started, release };
      } catch (error) {
        release();
        throw error;
      }
    } catch (error) {
      if (!isMemoryShort(error) || budget.isProcessFull(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** Block sizes to try, best first; the smaller ones are for short memory. */
export function blockRowsToTry(
  draft: PlanDraft,
  { rowCount, blockRows }: Pick<FitSpec, "rowCount" | "blockRows">,
): number[] {
  const most = Math.max(1, rowCount);
  if (blockRows) return [Math.min(blockRows, most)];
  const affordable = Math.floor(BLOCK_BYTES_TARGET / Math.max(1, draft.rowBytes));
  const best = Math.min(Math.max(affordable, BLOCK_ROWS_MIN), BLOCK_ROWS_BEST, most);
  const sizes: number[] = [];
  for (let size = best; size > 1; size = Math.floor(size / 4)) sizes.push(size);
  return [...sizes, 1];
}

export function draftOf(
  spec: PlanSpec,
  { threads, costs }: Omit<PlanTarget, "arenaBytesMax">,
  dag: Dag,
): PlanDraft {
  return draftPlan(dag, { ...spec, executorCount: threads, costs });
}

/**
 * Forms a plan for one size of blocks and emits its kernels. If its arena would be larger than one memory, its outputs are
 * divided into groups, each a plan by itself, and these again if their state turns out to be too large.
 *
 * @param draft of the graph of `spec`
 * @throws ResourceError E401 if a single output does not fit; UsageError E549.
 */
export async function fitShares(
  spec: PlanSpec,
  target: PlanTarget,
  draft: PlanDraft,
  blockRows: number,
): Promise<EmittedShare[]> {
  const { arenaBytesMax, threads } = target;
  const { registry, kernel, snapshots = false, finishedRows = 0 } = spec;
  const options = { reference: kernel === "reference", executorCount: threads, snapshots, finishedRows };
  const pauses = new Pauses();
  const sharesOf = async (dag: Dag, { plan, outputs }: PlanShare): Promise<EmittedShare[]> => {
    await pauses.afterStep();
    const fits = plan.columnBytes <= arenaBytesMax;
    const kernels = fits ? await inSteps(emitKernels(plan, registry, options)) : null;
    const isAlone = outputs.length === 1;
    if (kernels && (isAlone ? kernels.arenaBytes : kernels.neededBytes) <= arenaBytesMax)
      return [{ plan, kernels, outputs }];
    if (isAlone) throw outputTooLarge(plan, kernels?.arenaBytes ?? plan.columnBytes, arenaBytesMax);
    const neededBytes = kernels?.neededBytes ?? plan.columnBytes / COLUMNS_SHARE;
    const shares: EmittedShare[] = [];
    for (const group of divideOutputs(plan, arenaBytesMax / neededBytes)) {
      const part = graphOf(dag, group);
      const formed = draftOf(spec, target, part).plan(blockRows);
      shares.push(...(await sharesOf(part, { plan: formed, outputs: group.map((at) => outputs[at]!) })));
    }
    return shares;
  };
  return await sharesOf(spec.dag, wholeShare(draft.plan(blockRows)));
}

/** The graph of some outputs; what is needed under which conditions is decided by these alone. */
function graphOf(dag: Dag, outputs: readonly number[]): Dag {
  const wanted = new Set(outputs);
  const pruned = pruneDag(dag, (_, output) => wanted.has(output));
  return dag.conditionSets ? propagateConditions(pruned) : pruned;
}

function outputTooLarge({ outputs }: Plan, bytes: number, arenaBytesMax: number) {
  return memoryShort(
    `${outputs[0]!.name} needs ${formatBytes(bytes)} of columns and state, one memory holds ${formatBytes(arenaBytesMax)}`,
    "evaluate fewer symbols at once, or shorten the windows of this factor",
  );
}

/** Allocates the memories; while V8's threads compile the kernels, this one prepares them for row 0. */
async function prepareArenas(
  shares: readonly EmittedShare[],
): Promise<Omit<FittedPlan, "kernelMs" | "release">> {
  const memories = shares.map(({ kernels }) => allocateArena(kernels.arenaBytes));
  const compiling = suppressUnhandled(Promise.all(shares.map(({ kernels }) => compiled(kernels.compile()))));
  for (const [index, { plan, kernels }] of shares.entries())
    await inSteps(initializeArena(plan, kernels, memories[index]!));
  const compiledKernels = await compiling;
  const joined = joinPlans(shares);
  const arenas = joined.shares.map((share, index) => {
    return { ...share, kernels: compiledKernels[index]!, memory: memories[index]! };
  });
  return { plan: joined.plan, arenas };
}

/** @throws ResourceError E401 if the system refuses the memory. */
function allocateArena(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  } catch (cause) {
    const message = `the system refused ${formatBytes(bytes)} for columns and state`;
    throw memoryShort(message, "evaluate fewer symbols or factors at once", cause);
  }
}
