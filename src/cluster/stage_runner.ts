import { builtInRegistry } from "../../operators/index.ts";
import { ResourceError } from "../errors.ts";
import { sharedCodes, sharedColumn } from "../evaluation/shared_columns.ts";
import { openRunner, type PartRunner } from "../execution/part_runner.ts";
import { checkPlanData } from "../execution/plan_checks.ts";
import { failureOf, partFailure } from "../execution/plan_failures.ts";
import type { PlanData } from "../execution/protocol.ts";
import { compileKernels } from "../kernel/compile_kernels.ts";
import type { Block, KernelSet } from "../kernel/kernel_set.ts";
import { initializeArena } from "../kernel/node_runner.ts";
import { unpackOperator } from "../operator/transfer.ts";
import type { Plan } from "../plan/plan.ts";
import type { ClusterJob } from "./protocol.ts";
import { ReusedBuffer } from "./reused_buffer.ts";
import {
  packState,
  type StagePosition,
  type StateRanges,
  stateLength,
  stateRanges,
  unpackState,
} from "./stage_state.ts";

const PAGE_BYTES = 65_536;

type SharedDoubles = Float64Array<SharedArrayBuffer>;

/** A group column on its way to the kernels: `codes` are made of `staged`. */
interface StagedGroup {
  readonly staged: SharedDoubles;
  readonly codes: Int32Array<SharedArrayBuffer>;
}

/** Runs the plan of one stage on this thread: staged rows in, results out, what it carries kept in its arena. */
export class StageRunner {
  readonly plan: Plan;
  /**
   * Input by name `[stagedRows x lanes of the plan]`, to be filled before `run`: fields, and codes of
   * groups, NaN for null.
   */
  readonly inputs: ReadonlyMap<string, Float64Array>;
  /** For each output of the plan what `run` left `[stagedRows x lanes of the plan]`. */
  readonly results: readonly Float64Array[];
  readonly #data: PlanData;
  readonly #runner: PartRunner;
  readonly #groups: readonly StagedGroup[];
  /** Params that differ from row to row: their values for all rows of the panel, and for the staged ones. */
  readonly #params: readonly { readonly values: Float64Array; readonly staged: SharedDoubles }[];
  readonly #ranges: StateRanges;
  readonly #stateRoom = new ReusedBuffer();
  #next: StagePosition = { row: 0, generation: 0 };
  /** The task after which the arena stands, by name; null where it does not stand after a whole one. */
  #standing: string | null = null;

  /**
   * @param stagedRows most rows of a `run`
   * @throws UsageError E510, E515 if operators of the user cannot be loaded; ResourceError E401 if the system refuses the
   *   memory.
   */
  constructor(job: ClusterJob, stage: number, stagedRows: number) {
    const { plan } = job.stages[stage]!;
    const { operators, reference } = job;
    const registry = builtInRegistry.with(operators.map(unpackOperator));
    const [kernels, memory] = withMemory(stage, () => {
      const compiled = compileKernels(plan, registry, { reference, executorCount: 1 });
      const pages = compiled.arenaBytes / PAGE_BYTES;
      return [compiled, new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })];
    });
    const cells = stagedRows * plan.laneCount;
    const fields = new Map(namesRead(plan, "field").map((name) => [name, sharedColumn(cells)]));
    const groups = new Map<string, StagedGroup>(
      namesRead(plan, "group").map((name) => [
        name,
        { staged: sharedColumn(cells), codes: sharedCodes(cells) },
      ]),
    );
    const params = namesRead(plan, "param").map((name) => {
      const values = job.params[name]!;
      return { name, values, staged: typeof values === "number" ? values : sharedColumn(stagedRows) };
    });
    const results = plan.outputs.map(() => sharedColumn(cells));
    this.plan = plan;
    this.results = results;
    this.inputs = new Map([...fields, ...[...groups].map(([name, { staged }]) => [name, staged] as const)]);
    this.#groups = [...groups.values()];
    this.#params = params.flatMap(({ values, staged }) =>
      typeof values === "number" || typeof staged === "number" ? [] : [{ values, staged }],
    );
    this.#data = {
      plan,
      kernels,
      memory,
      operators,
      fields,
      groups: new Map(
        // Kernels compare codes and ask for no labels.
        [...groups].map(([name, { codes }]) => [name, { name, labels: [], codes, changesOverTime: true }]),
      ),
      params: Object.fromEntries(params.map(({ name, staged }) => [name, staged])),
      results,
    };
    checkPlanData(this.#data);
    this.#ranges = stateRanges(plan, kernels);
    initializeArena(plan, kernels, memory);
    this.#runner = this.#blamingLoad(() => openRunner(this.#data, 0));
  }

  /** Goes to a row of the run as if no row were before it. */
  start(row: number): void {
    const { plan, kernels, memory } = this.#data;
    this.#standing = null;
    if (stateLength(this.#ranges) > stateLength([])) {
      initializeArena(plan, kernels, memory);
      this.#clearStamps();
    }
    this.#next = { row, generation: 0 };
  }

  /** True if nothing has run since `stand` was told the same. */
  standsAfter(task: string): boolean {
    return this.#standing === task;
  }

  stand(task: string): void {
    this.#standing = task;
  }

  /** What is carried to the rows that follow; holds until the next call. */
  save(): Uint8Array {
    const target = this.#stateRoom.bytes(stateLength(this.#ranges));
    packState(target, new Uint8Array(this.#data.memory.buffer), this.#ranges, this.#next);
    return target;
  }

  /** Goes to where a state was saved. @throws InternalError if it is none of this stage. */
  restore(state: Uint8Array): void {
    this.#standing = null;
    this.#next = unpackState(state, new Uint8Array(this.#data.memory.buffer), this.#ranges);
    this.#clearStamps();
  }

  /**
   * Runs the staged rows, the first of which is this row of the panel: they follow those of the last run.
   *
   * @throws UsageError E515 if an operator of the user throws; InternalError if another operator does.
   */
  run(panelRow: number, rowCount: number): void {
    this.#standing = null;
    this.#stageCodes(rowCount);
    for (const { values, staged } of this.#params) staged.set(values.subarray(panelRow, panelRow + rowCount));
    for (let row = 0; row < rowCount; row += this.plan.blockRows) {
      const { row: firstRow, generation } = this.#next;
      const count = Math.min(this.plan.blockRows, rowCount - row);
      this.#runBlock({ firstRow, rowCount: count, generation, inputRow: row, outputRow: row });
      this.#next = { row: firstRow + count, generation: generation === 0 ? 1 : 0 };
    }
  }

  #runBlock(block: Block): void {
    for (const { id, partCount } of this.plan.nodes) {
      try {
        for (let part = 0; part < partCount; part++) this.#runner.run(id, part, block);
      } catch (error) {
        throw partFailure(this.#data, id, failureOf("run", error));
      }
    }
  }

  #stageCodes(rowCount: number): void {
    const cells = rowCount * this.plan.laneCount;
    for (const { staged, codes } of this.#groups) {
      for (let cell = 0; cell < cells; cell++) {
        const code = staged[cell]!;
        codes[cell] = Number.isNaN(code) ? -1 : code;
      }
    }
  }

  /** No part has begun with any row (`KernelSet.stampByteOffset`): windows would be made anew, which takes long. */
  #clearStamps(): void {
    const { plan, kernels, memory } = this.#data;
    const partCount = plan.nodes.reduce((sum, node) => sum + node.partCount, 0);
    new Int32Array(memory.buffer, kernels.stampByteOffset, partCount).fill(0);
  }

  #blamingLoad<T>(load: () => T): T {
    try {
      return load();
    } catch (error) {
      throw partFailure(this.#data, 0, failureOf("load", error));
    }
  }
}

/** Names that the plan reads of the panel, each once. */
function namesRead({ columns }: Plan, kind: "field" | "group" | "param"): string[] {
  return [...new Set(columns.flatMap(({ source }) => (source.kind === kind ? [source.name] : [])))];
}

/** @throws ResourceError E401 if the system refuses the memory, or one memory cannot be so large. */
function withMemory(
  stage: number,
  allocate: () => [KernelSet, WebAssembly.Memory],
): [KernelSet, WebAssembly.Memory] {
  try {
    return allocate();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `the system refused the columns and state of stage ${stage}: ${cause.message}`;
    throw new ResourceError("E401", message, "evaluate fewer symbols or factors at once", { cause });
  }
}
