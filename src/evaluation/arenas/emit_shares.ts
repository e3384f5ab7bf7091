import type { Dag } from "../../dag/dag.ts";
import { propagateConditions } from "../../dag/passes/propagate_conditions.ts";
import { pruneDag } from "../../dag/prune.ts";
import { type EmittedKernels, emitKernels, stampBytes } from "../../kernel/compile/compile_kernels.ts";
import type { Registry } from "../../operator/registry.ts";
import type { CostModel } from "../../plan/cost_model.ts";
import { formPlan } from "../../plan/form.ts";
import { type PlanShare, wholeShare } from "../../plan/join_plans.ts";
import type { Plan } from "../../plan/plan.ts";
import { inSteps, Pauses } from "../../steps.ts";
import { formatBytes, memoryShort } from "../memory/memory_need.ts";
import type { KernelChoice } from "../options.ts";
import { divideOutputs } from "./divide_outputs.ts";

/** A graph and how its plan is formed, for panels of one width. */
export interface PlanSpec {
  readonly dag: Dag;
  readonly laneCount: number;
  readonly registry: Registry;
  readonly kernel?: KernelChoice | undefined;
  /** Passes to leave out (`Program.disabledPasses`). */
  readonly disabledPasses?: ReadonlySet<string> | undefined;
  /** Keeps window state as it was before the newest block, which often runs again. Default false. */
  readonly snapshots?: boolean;
  /** Runs may skip rows of nodes for good (`PlanShape.skipsRows`). Default false. */
  readonly skipsRows?: boolean | undefined;
  /** Rows of every output that are provided as Arrow columns (`finishedRow`). Default 0. */
  readonly finishedRows?: number;
  /** `Plan.undoBlocks`. Default 0. */
  readonly undoBlocks?: number;
}

/** What plans are formed for. */
export interface PlanTarget {
  readonly blockRows: number;
  readonly threads: number;
  readonly costs: CostModel;
  /** The largest memory of a plan. */
  readonly arenaBytesMax: number;
}

/** Some outputs of a program, with kernels that fit into one memory and are not compiled yet. */
export interface EmittedShare extends PlanShare {
  readonly kernels: EmittedKernels;
}

/**
 * Columns take 55 to 80 % of the arenas of the published formulas, state and scratch memory the rest: a group of outputs
 * that is chosen by its columns has so much room for them.
 */
const COLUMNS_SHARE = 0.6;

/** Of an arena, for scratch memory of more threads: 1 MiB each over 5,000 symbols. */
const THREADS_SHARE = 1 / 16;

/** Forms the plan of a graph of the program: of all outputs or of some. */
export function formShare(spec: PlanSpec, target: PlanTarget, dag: Dag): Plan {
  const { laneCount, undoBlocks, disabledPasses, skipsRows } = spec;
  const { blockRows, threads, costs } = target;
  return formPlan(dag, {
    laneCount,
    blockRows,
    undoBlocks,
    executorCount: threads,
    costs,
    disabledPasses,
    skipsRows,
  });
}

/**
 * Emits the kernels of a plan. If its arena would be larger than one memory, its outputs are divided into groups, each a
 * plan by itself, and these again if their state turns out to be too large.
 *
 * @throws ResourceError E401 if a single output does not fit; UsageError E569.
 */
export async function emitShares(spec: PlanSpec, target: PlanTarget, whole: Plan): Promise<EmittedShare[]> {
  return await emitGroup(spec, target, { ...wholeShare(whole), dag: spec.dag });
}

async function emitGroup(
  spec: PlanSpec,
  target: PlanTarget,
  { dag, plan, outputs }: PlanShare & { readonly dag: Dag },
): Promise<EmittedShare[]> {
  const { arenaBytesMax } = target;
  const kernels =
    plan.columnBytes <= arenaBytesMax
      ? await inSteps(emitKernels(plan, spec.registry, kernelOptions(spec, target)))
      : null;
  const isAlone = outputs.length === 1;
  if (kernels && (isAlone ? kernels.arenaBytes : neededBytes(plan, kernels, target.threads)) <= arenaBytesMax)
    return [{ plan, kernels, outputs }];
  if (isAlone) throw outputTooLarge(plan, kernels?.arenaBytes ?? plan.columnBytes, arenaBytesMax);
  const needed = kernels ? neededBytes(plan, kernels, target.threads) : plan.columnBytes / COLUMNS_SHARE;
  const shares: EmittedShare[] = [];
  const pauses = new Pauses();
  for (const group of divideOutputs(plan, arenaBytesMax / needed)) {
    const part = graphOf(dag, group);
    const share = {
      dag: part,
      plan: formShare(spec, target, part),
      outputs: group.map((at) => outputs[at]!),
    };
    await pauses.afterStep();
    shares.push(...(await emitGroup(spec, target, share)));
  }
  return shares;
}

/**
 * Bytes of an arena with room for snapshots and for more threads: a program is divided alike with and without them, so
 * that all its sessions take the same checkpoints.
 */
function neededBytes(plan: Plan, kernels: EmittedKernels, threads: number): number {
  const { snapshots, states, scratchByteOffset, scratchBytes } = kernels;
  let lasting = scratchByteOffset - stampBytes(plan, snapshots);
  if (!snapshots) for (const { windows } of states.values()) lasting += windows.length * plan.rowBytes;
  const ofThreads = threads * scratchBytes + stampBytes(plan, true);
  return Math.max(lasting + ofThreads, lasting / (1 - THREADS_SHARE));
}

/** The graph of some outputs; what is needed under which conditions is decided by these alone. */
function graphOf(dag: Dag, outputs: readonly number[]): Dag {
  const wanted = new Set(outputs);
  const pruned = pruneDag(
    dag,
    dag.outputs.map((_, output) => wanted.has(output)),
  );
  return dag.conditionSets ? propagateConditions(pruned) : pruned;
}

function kernelOptions({ kernel, snapshots = false, finishedRows = 0 }: PlanSpec, { threads }: PlanTarget) {
  return { reference: kernel === "reference", executorCount: threads, snapshots, finishedRows };
}

function outputTooLarge({ outputs }: Plan, bytes: number, arenaBytesMax: number) {
  return memoryShort(
    `${outputs[0]!.name} needs ${formatBytes(bytes)} of columns and state, one memory holds ${formatBytes(arenaBytesMax)}`,
    "evaluate fewer symbols at once, or shorten the windows of this factor",
  );
}
