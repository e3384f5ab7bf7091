import type { ExecutorPool } from "../../execution/executor_pool.ts";
import type { PlanArena } from "../../kernel/memory/plan_arena.ts";
import { initializeArena } from "../../kernel/run/initialize_arena.ts";
import type { CostModel } from "../../plan/cost_model.ts";
import { joinPlans } from "../../plan/join_plans.ts";
import type { Plan } from "../../plan/plan.ts";
import { inSteps, Pauses } from "../../steps.ts";
import { suppressUnhandled } from "../awaiting.ts";
import type { MemoryBudget } from "../memory/memory_budget.ts";
import { formatBytes, isMemoryShort, type MemoryNeed, memoryShort } from "../memory/memory_need.ts";
import { blockRowsToTry } from "./block_rows.ts";
import { type EmittedShare, emitShares, formShare, type PlanSpec } from "./emit_shares.ts";

/** A plan to be fitted into the memory that there is. */
export interface FitSpec extends PlanSpec {
  /** Number of rows; blocks need not be larger. */
  readonly rowCount: number;
  readonly blockRows?: number | undefined;
  /** Memory beside the arenas, by block size. */
  readonly memoryNeed: (blockRows: number) => MemoryNeed;
}

/** Whose threads and memory a plan takes. */
interface PlanOwner {
  readonly pool: ExecutorPool;
  readonly budget: MemoryBudget;
  readonly threads: number;
  readonly costs: CostModel;
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

const WASM_PAGE_BYTES = 65_536;

/**
 * Forms and compiles the plan with the largest block size that memory allows, and reserves what it needs.
 *
 * @throws ResourceError E401, with need and limit, if memory is short; UsageError E569.
 */
export async function fitPlan(owner: PlanOwner, spec: FitSpec): Promise<FittedPlan> {
  const wanted = spec.blockRows && Math.min(spec.blockRows, Math.max(1, spec.rowCount));
  const pauses = new Pauses();
  let refusal: unknown = null;
  for (const blockRows of wanted === undefined ? blockRowsToTry(spec) : [wanted]) {
    await pauses.afterStep();
    try {
      return await fitBlocks(owner, spec, blockRows, pauses);
    } catch (error) {
      if (!isMemoryShort(error) || owner.budget.isProcessFull(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

async function fitBlocks(
  owner: PlanOwner,
  spec: FitSpec,
  blockRows: number,
  pauses: Pauses,
): Promise<FittedPlan> {
  const { budget } = owner;
  const needOf = (arenaBytes: number): MemoryNeed => {
    const need = spec.memoryNeed(blockRows);
    return { ...need, bytes: { "columns and state": arenaBytes, ...need.bytes } };
  };
  const target = { ...owner, blockRows, arenaBytesMax: budget.arenaBytesMax };
  const whole = formShare(spec, target, spec.dag);
  await pauses.afterStep();
  // The columns alone may be too large: kernels are emitted only if they may fit.
  budget.expectRoom(needOf(whole.columnBytes));
  const started = performance.now();
  const shares = await emitShares(spec, target, whole);
  const arenaBytes = shares.reduce((sum, { kernels }) => sum + kernels.arenaBytes, 0);
  const giveBack = budget.reserve(needOf(arenaBytes));
  let isReserved = true;
  const release = () => {
    if (isReserved) budget.noteClosed(arenaBytes, owner.pool);
    isReserved = false;
    giveBack();
  };
  try {
    const joined = joinPlans(shares);
    const prepared = await prepareArenas(shares);
    const arenas = joined.shares.map((share, index) => ({ ...share, ...prepared[index]! }));
    return { plan: joined.plan, arenas, kernelMs: performance.now() - started, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Allocates the memories; while V8's threads compile the kernels, this one prepares them for row 0. */
async function prepareArenas(
  shares: readonly EmittedShare[],
): Promise<Pick<PlanArena, "kernels" | "memory">[]> {
  const memories = shares.map(({ kernels }) => allocateArena(kernels.arenaBytes));
  const compiling = suppressUnhandled(Promise.all(shares.map(({ kernels }) => kernels.compile())));
  for (const [index, { plan, kernels }] of shares.entries())
    await inSteps(initializeArena(plan, kernels, memories[index]!));
  const compiled = await compiling;
  return memories.map((memory, index) => ({ memory, kernels: compiled[index]! }));
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
