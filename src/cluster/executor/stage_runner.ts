import { builtInRegistry } from "../../../operators/index.ts";
import { InternalError } from "../../errors.ts";
import { memoryShort } from "../../evaluation/memory/memory_need.ts";
import { openRunner, type PartRunner } from "../../execution/part_runner.ts";
import { failureOf, partFailure, userOperatorsOf } from "../../execution/plan_failures.ts";
import type { PlanData } from "../../execution/protocol.ts";
import { compileKernels } from "../../kernel/compile/compile_kernels.ts";
import type { Block, KernelSet } from "../../kernel/memory/kernel_set.ts";
import type { PlanArena } from "../../kernel/memory/plan_arena.ts";
import { initializeArena } from "../../kernel/run/initialize_arena.ts";
import { unpackOperator } from "../../operator/transfer.ts";
import { wholeShare } from "../../plan/join_plans.ts";
import { generationsOf, type Plan, type PlanNode } from "../../plan/plan.ts";
import { atOnce } from "../../steps.ts";
import type { ColumnRows } from "../protocol/column_rows.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import {
  packStageState,
  type StagePosition,
  type StateRanges,
  stateLength,
  stateRanges,
  unpackStageState,
} from "../protocol/stage_state.ts";
import type { Rows } from "../protocol/tiles.ts";
import { StampFile } from "./stamp_file.ts";

const PAGE_BYTES = 65_536;

/** Moves rows into and out of the arena of a runner; `inputs` and `outputs` are views of it. */
export interface RowExchange {
  /** Sets the inputs, by name: fields, and codes of groups, NaN for null. */
  fill(rows: Rows, inputs: ReadonlyMap<string, ColumnRows>): void;
  /** Copies the outputs, in the order of the plan. */
  take(rows: Rows, outputs: readonly ColumnRows[]): void;
}

interface WatchedNode {
  readonly operators: readonly string[];
  ns: number;
  partCount: number;
}

/** Runs the plan of one stage on this thread; its arena keeps the state between runs. */
export class StageRunner {
  readonly plan: Plan;
  /** Names of the inputs that `RowExchange.fill` sets. */
  readonly inputs: readonly string[];
  readonly #params: ClusterJob["params"];
  readonly #data: PlanData;
  readonly #arena: PlanArena;
  readonly #values: Float64Array;
  readonly #runner: PartRunner;
  readonly #ranges: StateRanges;
  readonly #stateBuffer = new ReusedBuffer();
  readonly #stamps = new StampFile();
  readonly #stage: number;
  /** By node: its operators of users, and how long its parts have taken. */
  readonly #watched: readonly (WatchedNode | null)[];
  #next: StagePosition = { row: 0, generation: 0 };
  /** Name of the task that has just ended; null while or after the arena is changed otherwise. */
  #endedTask: string | null = null;

  /**
   * @throws UsageError E510, E515, E557 if users' operators cannot be loaded; ResourceError E401 if the system refuses the
   *   memory.
   */
  constructor(job: ClusterJob, stage: number) {
    const { plan } = job.stages[stage]!;
    const { operators, reference } = job;
    const registry = builtInRegistry.with(operators.map(unpackOperator));
    const [kernels, memory] = withMemory(stage, () => {
      const compiled = compileKernels(plan, registry, { reference, executorCount: 1 });
      const pages = compiled.arenaBytes / PAGE_BYTES;
      return [compiled, new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })];
    });
    this.plan = plan;
    this.#stage = stage;
    this.inputs = plan.columns.flatMap(({ source }) =>
      source.kind === "field" || source.kind === "group" ? [source.name] : [],
    );
    this.#params = job.params;
    this.#arena = { ...wholeShare(plan), kernels, memory };
    this.#values = new Float64Array(memory.buffer);
    // Inputs and outputs are copied to and from the arena itself.
    const results = plan.outputs.map(() => null);
    this.#data = {
      plan,
      arenas: [this.#arena],
      operators,
      // The state of a stage is used within one run only, in which the code is the same.
      codeDigest: "",
      fields: new Map(),
      groups: new Map(),
      params: {},
      results,
    };
    this.#watched = plan.nodes.map(({ id }) => {
      const users = userOperatorsOf(this.#data, id);
      return users.length === 0 ? null : { operators: users, ns: 0, partCount: 0 };
    });
    this.#ranges = stateRanges(plan, kernels);
    atOnce(initializeArena(plan, kernels, memory));
    try {
      this.#runner = openRunner(this.#data, 0);
    } catch (error) {
      throw partFailure(this.#data, 0, failureOf("load", error));
    }
  }

  /** Moves to a row without any history. */
  start(row: number): void {
    const { plan, kernels, memory } = this.#arena;
    this.#endedTask = null;
    if (this.#ranges.length > 0) {
      atOnce(initializeArena(plan, kernels, memory));
      this.#clearStamps();
    }
    this.#next = { row, generation: 0 };
  }

  /** True if the state is that after the task: nothing has run since `markEnded(task)`. */
  isAfter(task: string): boolean {
    return this.#endedTask === task;
  }

  markEnded(task: string): void {
    this.#endedTask = task;
  }

  /** The state for the rows that follow; valid until the next call. */
  save(): Uint8Array {
    const target = this.#stateBuffer.bytes(stateLength(this.#ranges));
    packStageState(target, new Uint8Array(this.#arena.memory.buffer), this.#ranges, this.#next);
    return target;
  }

  /** Restores a saved state. @throws InternalError if it is of another stage. */
  restore(state: Uint8Array): void {
    this.#endedTask = null;
    this.#next = unpackStageState(state, new Uint8Array(this.#arena.memory.buffer), this.#ranges);
    this.#clearStamps();
  }

  /**
   * Runs rows of the panel, which follow those of the last run.
   *
   * @throws UsageError E515 if a user's operator throws; InternalError if another operator does.
   */
  run({ first, end }: Rows, exchange: RowExchange): void {
    this.#endedTask = null;
    const { blockRows, outputs } = this.plan;
    for (let panelRow = first; panelRow < end; panelRow += blockRows) {
      const { row: firstRow, generation } = this.#next;
      const rowCount = Math.min(blockRows, end - panelRow);
      const rows = { first: panelRow, end: panelRow + rowCount };
      exchange.fill(rows, this.#inputRows(firstRow, rowCount));
      this.#runBlock({ firstRow, rowCount, generation, inputRow: panelRow, outputRow: 0 });
      exchange.take(
        rows,
        outputs.map(({ column }) => this.#rowsOf(column, firstRow, rowCount)),
      );
      this.#next = { row: firstRow + rowCount, generation: (generation + 1) % generationsOf(this.plan) };
    }
  }

  #runBlock(block: Block): void {
    for (const node of this.plan.nodes) {
      if (node.kind === "input") {
        this.#fillNumbers(node, block);
        continue;
      }
      try {
        for (let part = 0; part < node.partCount; part++) this.#runPart(node, part, block);
      } catch (error) {
        throw partFailure(this.#data, node.id, failureOf("run", error));
      }
    }
  }

  /** Stamps parts that run operators of users: these alone may never return. */
  #runPart({ id, costNs, partCount }: PlanNode, part: number, block: Block): void {
    const watched = this.#watched[id]!;
    if (watched === null) {
      this.#runner.run(id, part, block);
      return;
    }
    const measuredNs = watched.ns / Math.max(1, watched.partCount);
    const estimatedMs = Math.max(costNs / partCount, measuredNs) / 1e6;
    this.#stamps.begin({ stage: this.#stage, node: id, operators: watched.operators, estimatedMs });
    const started = performance.now();
    try {
      this.#runner.run(id, part, block);
    } finally {
      this.#stamps.end();
    }
    watched.ns += 1e6 * (performance.now() - started);
    watched.partCount++;
  }

  /** Sets the columns of numbers and params, which are equal in all lanes. */
  #fillNumbers({ columns }: PlanNode, { firstRow, rowCount, inputRow }: Block): void {
    for (const column of columns) {
      const { source } = this.plan.columns[column]!;
      if (source.kind !== "number" && source.kind !== "param") continue;
      const value = source.kind === "number" ? source.value : this.#params[source.name]!;
      let row = inputRow;
      for (const { values, width } of this.#rowsOf(column, firstRow, rowCount)) {
        for (let start = 0; start < values.length; start += width) {
          values.fill(typeof value === "number" ? value : value[row]!, start, start + this.plan.laneCount);
          row++;
        }
      }
    }
  }

  #inputRows(firstRow: number, rowCount: number): Map<string, ColumnRows> {
    const inputs = new Map<string, ColumnRows>();
    this.plan.columns.forEach(({ source }, column) => {
      if (source.kind !== "field" && source.kind !== "group") return;
      if (inputs.has(source.name)) throw new InternalError(`a stage has two columns of ${source.name}`);
      inputs.set(source.name, this.#rowsOf(column, firstRow, rowCount));
    });
    return inputs;
  }

  /** Views of rows in the ring of their column. */
  #rowsOf(column: number, firstRow: number, rowCount: number): ColumnRows {
    const { ringRows, byteOffset } = this.plan.columns[column]!;
    const width = this.plan.rowBytes / Float64Array.BYTES_PER_ELEMENT;
    const slot = firstRow % ringRows;
    const strip = (first: number, end: number) => {
      const start = byteOffset / Float64Array.BYTES_PER_ELEMENT;
      return { values: this.#values.subarray(start + first * width, start + end * width), width };
    };
    const end = Math.min(slot + rowCount, ringRows);
    const rest = slot + rowCount - end;
    return rest === 0 ? [strip(slot, end)] : [strip(slot, end), strip(0, rest)];
  }

  /** Marks all parts as not started (`KernelSet.stampByteOffset`): else they rebuild their windows, which is slow. */
  #clearStamps(): void {
    const { plan, kernels, memory } = this.#arena;
    const partCount = plan.nodes.reduce((sum, node) => sum + node.partCount, 0);
    new Int32Array(memory.buffer, kernels.stampByteOffset, partCount).fill(0);
  }
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
    throw memoryShort(message, "evaluate fewer symbols or factors at once", cause);
  }
}
